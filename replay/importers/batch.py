"""Many files at once: find the recordings, import the good ones, name each bad one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bedside.recording import (
    MemoryRecording,
    NightFile,
    RecordingError,
    RecordingInfo,
    write_night,
)
from replay.hypnogram import (
    counts4,
    fine_letters,
    rem_run_starts,
    shown_stages,
    stage4_sha256,
    true_stages,
)
from replay.importers.intake import Importer, ImportFailed, ImportOptions
from replay.importers.registry import candidates, named, only

CHUNK_S: Final = 600.0
"""Length of a chunk of an imported night: nothing can be lost in it, so larger than live."""

Progress = Callable[[int, int, str], None]
"""Told how many sources are done, of how many, and the one that is read now ("" at the end)."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something to import: a file or a DOD folder; or why there is nothing in what was given.

    source: the path as given, for reports.
    """

    source: str
    path: Path
    importer: Importer | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search found, and how many files in folders were no recording."""

    found: tuple[Found, ...]
    skipped: int


@dataclass(frozen=True, slots=True)
class ImportedNight:
    """A night that was written, with the figures of its truth, or of its stages without one."""

    id: str
    file: str
    source: str
    epochs: int
    counts4: dict[str, int]
    stage4_sha256: str
    rem_run_starts: tuple[int, ...]
    kind: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What became of a batch; failed: source and error."""

    nights: tuple[ImportedNight, ...]
    failed: tuple[tuple[str, str], ...]
    skipped: int = 0

    def as_dict(self) -> dict[str, list[dict[str, object]]]:
        """The object that `import --json` prints."""
        keys = ("id", "file", "source", "epochs", "counts4", "stage4_sha256")
        return {
            "nights": [
                {key: getattr(night, key) for key in keys}
                | {"rem_run_starts": list(night.rem_run_starts)}
                for night in self.nights
            ],
            "failed": [{"source": source, "error": error} for source, error in self.failed],
        }


def find(paths: Sequence[str | Path], format_name: str | None = None) -> Findings:
    """Look through files and folders, in order. What a person named must be a recording; what only
    lies in a folder may be something else."""
    importer = named(format_name) if format_name is not None else None
    found: list[Found] = []
    skipped = 0
    for given in map(Path, paths):
        if given.is_dir() and not _fits(given, importer):
            inside, others = _inside(given, importer)
            found += inside or [_nothing_in(given)]
            skipped += others
        else:
            found.append(_named_by_person(given, importer))
    return Findings(tuple(found), skipped)


def import_all(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    format: str | None = None,
    lenient: bool = False,
    device_stage: str = "auto_f4_o2",
    progress: Progress | None = None,
) -> ImportResult:
    """Import every recording under `paths` to `<out>/<id>.mcap`."""
    options = ImportOptions(lenient=lenient, device_stage=device_stage)
    findings = find(paths, format)
    folder = _made(Path(out))
    nights: dict[str, ImportedNight] = {}
    failed: list[tuple[str, str]] = []
    for number, found in enumerate(findings.found):
        if progress is not None:
            progress(number, len(findings.found), found.source)
        for outcome in _outcomes(found, options):
            try:
                night = _written(outcome, found.source, folder, nights)
            except ImportFailed as failure:
                failed.append((found.source, str(failure)))
            else:
                nights[night.id] = night
    if progress is not None:
        progress(len(findings.found), len(findings.found), "")
    return ImportResult(tuple(nights.values()), tuple(failed), findings.skipped)


def _fits(folder: Path, importer: Importer | None) -> bool:
    """Whether a folder is a night itself."""
    found = candidates(folder)
    return bool(found) and (importer is None or importer in found)


def _inside(folder: Path, importer: Importer | None) -> tuple[list[Found], int]:
    found: list[Found] = []
    skipped = 0
    for top, folders, files in os.walk(folder):
        here = Path(top)
        nights = sorted(name for name in folders if _fits(here / name, importer))
        folders[:] = sorted(
            name for name in folders if name not in nights and not name.startswith(".")
        )
        visible = [name for name in files if not name.startswith(".")]
        for name in visible + nights:
            one = _lying(here / name, importer)
            skipped += one is None
            found += [one] if one is not None else []
    return sorted(found, key=lambda one: one.path), skipped


def _lying(path: Path, importer: Importer | None) -> Found | None:
    try:
        recognising = candidates(path)
        if not recognising or (importer is not None and importer not in recognising):
            return None
        return Found(str(path), path, importer or only(path, recognising))
    except ImportFailed as failure:
        return Found(str(path), path, error=str(failure))


def _named_by_person(path: Path, importer: Importer | None) -> Found:
    try:
        if not path.exists():
            raise ImportFailed(f"{path}: no such file or folder; check the path")
        return Found(str(path), path, importer or only(path, candidates(path)))
    except ImportFailed as failure:
        return Found(str(path), path, error=str(failure))


def _nothing_in(folder: Path) -> Found:
    return Found(
        str(folder), folder, error=f"{folder}: no recordings in this folder; give another path"
    )


def _made(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImportFailed(f"{out}: cannot be the folder to write to: {error.strerror}") from None
    return out


def _outcomes(found: Found, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    if found.importer is None:
        yield ImportFailed(found.error or f"{found.source}: not a recording")
        return
    try:
        yield from found.importer.read(found.path, options)
    except ImportFailed as failure:
        yield failure


def _refuse_another(file: Path, info: RecordingInfo) -> None:
    """An earlier import of the same night may be replaced, another night of that name never."""
    try:
        earlier = NightFile.open(file).info if file.exists() else info
    except RecordingError as error:
        raise ImportFailed(f"{file}: is there and no night file of ours; move it away") from error
    if replace(earlier, notes=()) != replace(info, notes=()):
        raise ImportFailed(f"{file}: holds another night already; name another folder by --out")


def _written(
    outcome: MemoryRecording | ImportFailed,
    source: str,
    folder: Path,
    before: dict[str, ImportedNight],
) -> ImportedNight:
    if isinstance(outcome, ImportFailed):
        raise outcome
    night_id = outcome.info.night_id
    if night_id in before:
        raise ImportFailed(
            f"{source}: night {night_id} came already from {before[night_id].source}; "
            "import it to another folder"
        )
    shown = shown_stages(outcome)
    stages = true_stages(outcome) or shown
    night = outcome.told(replace(outcome.info, stages=fine_letters(shown) if shown else None))
    file = folder / f"{night_id}.mcap"
    _refuse_another(file, night.info)
    try:
        write_night(file, night, chunk_s=CHUNK_S)
    except (OSError, RecordingError) as error:
        raise ImportFailed(f"{file}: cannot be written: {error}") from None
    return ImportedNight(
        id=night_id,
        file=str(file),
        source=source,
        epochs=len(stages),
        counts4=counts4(stages),
        stage4_sha256=stage4_sha256(stages),
        rem_run_starts=rem_run_starts(stages),
        kind=outcome.info.kind,
        notes=outcome.info.notes,
    )
