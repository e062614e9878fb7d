"""The folder of a run: what it was made of, what happened, and what that is worth.

    manifest.json                                     what the run is made of
    spec.json                                         how it was asked for, and where its nights lay
    attempts/NIGHT/TASK/AGENT/xSCALE.trace.jsonl.zst  and .hidden.jsonl.zst
    failed.jsonl                                      attempts that left no trace, and why
    ledger.jsonl                                      what was really paid for, where anything was
    verdicts/0001-….jsonl                             verdict sets, never overwritten
    results.sqlite                                    built from the above at any time
    page/                                             `paprika report`

All but `spec.json`, `ledger.jsonl` and `page/` are the same bytes for the same run, wherever it
was made; where a paid service was asked, `results.sqlite` also holds what was really paid.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bedside.home import home
from devices.types import PaprikaError
from replay.experiment.results import read_results, write_results
from replay.experiment.rows import Row, Unit
from replay.experiment.verdict_sets import VerdictSet, read_verdicts, verdict_sets
from replay.scores.verdicts import Verdict
from replay.trace_lines import Line, read_lines

if TYPE_CHECKING:
    from replay.experiment.run import Run
    from replay.recorded_night import RecordedNight
    from replay.setting import Setting

MANIFEST: Final = "manifest.json"
SPEC: Final = "spec.json"
RESULTS: Final = "results.sqlite"
FAILED: Final = "failed.jsonl"
LEDGER: Final = "ledger.jsonl"
SCHEMA: Final = 1


class FolderError(PaprikaError):
    """No run is there, or not a whole one; the message names the folder."""


class RunFolder:
    """A finished run, read from its folder."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run in a folder.

        Raises:
            FolderError: no manifest there, or a newer schema.
        """
        return cls(path, read_manifest(path))

    def rows(self) -> list[Row]:
        """Every planned attempt, in plan order."""
        return list(self._rows)

    def verdict_sets(self) -> list[VerdictSet]:
        """Oldest first; the newest counts."""
        return verdict_sets(self.path)

    def verdicts(self, set_id: str | None = None) -> dict[str, Verdict]:
        """The verdicts of a set, by default the newest, by key of the unit."""
        sets = self.verdict_sets()
        found = [one for one in sets if set_id in (None, one.id)]
        if not found:
            known = ", ".join(one.id for one in sets) or "none"
            raise FolderError(f"{self.path}: no verdict set {set_id}; there are: {known}")
        return read_verdicts(found[-1])

    def unit(self, key: str) -> Unit:
        """The planned unit of that key."""
        for row in self._rows:
            if row.unit.key == key:
                return row.unit
        raise FolderError(f"{self.path}: no attempt {key}; `paprika report` lists them")

    def trace(self, key: str) -> list[Line]:
        """The lines of an attempt's trace."""
        return read_lines(trace_path(self.path, key))

    def hidden(self, key: str) -> list[Line]:
        """The lines of an attempt's hidden trace."""
        return read_lines(hidden_path(self.path, key))

    def setting(self, key: str) -> Setting:
        """The setting an attempt was made under, worked out again from the spec."""
        from replay.experiment.run import setting_of

        planned = next((one for one in self._run.planned if one.unit.key == key), None)
        if planned is None:
            raise FolderError(f"{self.path}: no attempt {key}; `paprika report` lists them")
        return setting_of(self._run.spec, planned, self.recorded_night(planned.unit.night))

    def recorded_night(self, night_id: str) -> RecordedNight:
        """A night of the run as its attempts met it, overlay and all."""
        from replay.experiment.nights import opened

        spec = self._run.spec
        return opened(self._run.nights[night_id].path, spec.overlay, in_memory=True)

    @cached_property
    def _run(self) -> Run:
        from replay.experiment.run import resolve
        from replay.experiment.spec import read_spec

        run = resolve(read_spec(self.path / SPEC))
        if run.id != self.manifest["id"]:
            raise FolderError(
                f"{self.path}: what the run was made of has changed since; `paprika plan "
                f"{self.path}` says what"
            )
        return run

    @cached_property
    def _rows(self) -> Sequence[Row]:
        path = self.path / RESULTS
        if not path.is_file():
            raise FolderError(
                f"{self.path}: no {RESULTS}: broken off, or deleted; `paprika run … --resume`, or "
                f"`paprika regrade {self.path}`, builds it"
            )
        return read_results(path)


def trace_path(folder: Path, key: str) -> Path:
    """The trace of an attempt in a run's folder."""
    return folder / "attempts" / f"{key}.trace.jsonl.zst"


def hidden_path(folder: Path, key: str) -> Path:
    """Its hidden trace."""
    return folder / "attempts" / f"{key}.hidden.jsonl.zst"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run, checked."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FolderError(f"{folder}: no {MANIFEST} there; give a run's folder") from None
    except (OSError, ValueError) as error:
        raise FolderError(f"{path}: cannot be read ({error})") from error
    schema = manifest.get("schema") if isinstance(manifest, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise FolderError(f"{path}: schema {schema} is newer than {SCHEMA}; update Paprika")
    if schema != SCHEMA or not {"id", "units"} <= manifest.keys():
        raise FolderError(f"{path}: not the manifest of a run")
    return dict(manifest)


def runs_folder() -> Path:
    """Where runs are kept when nothing else is said."""
    return home() / "runs"


def newest_run() -> Path:
    """The run that was written last."""
    found = sorted(runs_folder().glob(f"*/{RESULTS}"), key=lambda path: path.stat().st_mtime_ns)
    if not found:
        raise FolderError(f"{runs_folder()}: no run yet; `paprika run` makes one, or name a folder")
    return found[-1].parent


def write_database(folder: Path, rows: Sequence[Row]) -> None:
    """Build the results database from the rows and the verdict sets of a folder."""
    sets = {one.id: read_verdicts(one).values() for one in verdict_sets(folder)}
    write_results(folder / RESULTS, rows, sets)
