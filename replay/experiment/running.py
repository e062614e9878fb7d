"""Makes a run: what is not there yet is played, everything is counted, judged and kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bedside.agent_loading import NAMES
from bedside.clock import real_s
from bedside.trace import TraceError
from devices.types import PaprikaError
from replay.controls.contenders import control_names
from replay.decisions import Ledger
from replay.experiment.counting import row_without_traces
from replay.experiment.folder import (
    FAILED,
    LEDGER,
    MANIFEST,
    RESULTS,
    SPEC,
    RunFolder,
    read_manifest,
    write_database,
)
from replay.experiment.pool import attempts
from replay.experiment.rows import Row, Status
from replay.experiment.run import Planned, Run
from replay.experiment.spec import RunSpec, read_spec
from replay.experiment.verdict_sets import (
    add_verdicts,
    checker_sha256,
    read_verdicts,
    verdict_sets,
)
from replay.experiment.worker import Bench, count, kept, ledger_of
from replay.manifest import write_json
from replay.progress import Report
from replay.scores.checker import check
from replay.scores.verdicts import Property, Value, Verdict
from replay.staging import alone, write_whole
from replay.tasks.exposure import Exposed, Exposure, exposures

SHOWN_DIFFERENCES: Final = 3


class RunningError(PaprikaError):
    """The folder cannot take this run; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Made:
    """A run that is whole. made, kept: attempts played now, and found in the folder.

    wall_s: real seconds of playing them.
    """

    folder: RunFolder
    made: int
    kept: int
    wall_s: float


def make(
    run: Run,
    folder: Path,
    *,
    processes: int = 0,
    resume: bool = False,
    exposure: Exposure | None = None,
    progress: Report | None = None,
) -> Made:
    """Make every planned attempt into the folder; a run that is whole already is only opened.

    processes: how many play; 0: this one, for agents that are trusted to let go and live.
    resume: go on with a run that was broken off, and try again what a service or a process failed.
    exposure: where looks at held-out seeds are written down, each allowed once.

    Raises:
        RunningError: another run is in the folder, or a broken one and `resume` was not asked for.
        ExposureError: an agent build had its look at a held-out seed in another run.
    """
    folder = folder.absolute()  # an agent may change the working folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder):
            if _is_whole(run, folder, resume):
                return Made(RunFolder.open(folder), 0, len(run.planned), 0.0)
            if exposure is not None:
                exposure.record(looks_of(run))
            run = replace(run, spec=_begun(run.spec, folder))
            write_json(folder / MANIFEST, run.manifest)
            write_json(folder / SPEC, run.spec.as_dict())
            started_s = real_s()
            rows, found = _play(run, folder, processes, progress)
            wall_s = real_s() - started_s
            conclude(folder, rows)
    except OSError as error:
        raise RunningError(
            f"{error.filename or folder}: {error.strerror}; free some space or choose another --out"
        ) from error
    return Made(RunFolder.open(folder), len(rows) - found, found, wall_s)


def looks_of(run: Run) -> tuple[Exposed, ...]:
    """The looks at held-out seeds that a run takes. Agents of the house and controls that learn
    nothing take none: they are what others are compared with, and are not tuned."""
    fixed = {*NAMES, *control_names()} - {"memoriser"}
    tried = (
        {**one, "name": one["given_as"]}  # not the name that it gives itself
        for one in run.manifest["agents"].values()
        if one["given_as"] not in fixed
    )
    return exposures(tried, run.nights, run.spec.seeds, run.id)


def with_ledger(spec: RunSpec, folder: Path) -> RunSpec:
    """The spec, its ledger in the run's folder where the run can pay for anything."""
    if not spec.decisions.services:
        return spec
    return replace(spec, decisions=replace(spec.decisions, ledger=folder / LEDGER))


def conclude(folder: Path, rows: Sequence[Row]) -> None:
    """Keep what left no trace, judge all by the present checker, and build the database."""
    failed = [row for row in rows if not row.evidence]
    _write_failed(folder / FAILED, failed)
    verdicts = [_checked(row) for row in rows]
    sets = verdict_sets(folder)
    newest = sets[-1] if sets else None
    if (
        newest is None
        or newest.checker_sha256 != checker_sha256()
        or list(read_verdicts(newest).values()) != verdicts
    ):
        add_verdicts(folder, verdicts)
    write_database(folder, rows)


def counted(run: Run, folder: Path) -> tuple[list[Row], list[Planned]]:
    """The rows of all attempts whose traces are in the folder, and the plans of the others."""
    ledger, rows, missing = ledger_of(run.spec), [], []
    for planned in run.planned:
        row = _counted(run, folder, planned, ledger)
        if row is None:
            missing.append(planned)
        else:
            rows.append(row)
    return rows, missing


def _counted(run: Run, folder: Path, planned: Planned, ledger: Ledger | None) -> Row | None:
    evidence = kept(folder, planned)
    if evidence is None:
        return None
    try:
        return count(run.spec, planned, run.nights[planned.unit.night], evidence, ledger)
    except TraceError:
        return None


def failed_before(folder: Path) -> dict[str, tuple[Status, str]]:
    """Status and detail of every attempt of a finished run that left no trace, by key."""
    path = folder / FAILED
    if not path.is_file():
        return {}
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            one = json.loads(line)
            found[one["key"]] = Status(one["status"]), str(one["detail"])
        except (ValueError, KeyError, TypeError) as error:
            raise RunningError(f"{path}: line {number}: cannot be read ({error})") from error
    return found


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In what two manifests differ, as `key: before → now`, shortened."""
    return list(_differences(before, now, ""))


def _play(run: Run, folder: Path, processes: int, progress: Report | None) -> tuple[list[Row], int]:
    found, missing = counted(run, folder)
    again = {row.unit.key for row in found if row.status is Status.PROVIDER_ERROR}
    rows = {row.unit.key: row for row in found if row.unit.key not in again}
    missing = [one for one in run.planned if one.unit.key not in rows]
    jobs = [(planned, run.nights[planned.unit.night]) for planned in missing]
    total, kept_before = len(run.planned), len(rows)
    for planned, row in attempts(Bench(run.spec, folder), jobs, min(processes, len(jobs))):
        rows[planned.unit.key] = row
        if progress is not None:
            progress(len(rows), total, planned.unit.night)
    return [rows[planned.unit.key] for planned in run.planned], kept_before


def _begun(spec: RunSpec, folder: Path) -> RunSpec:
    """The spec as its processes get it; a resumed run goes on with the fill it began."""
    spec = with_ledger(spec, folder)
    if (folder / SPEC).is_file():
        begun = read_spec(folder / SPEC).decisions.fill
        spec = replace(spec, decisions=replace(spec.decisions, fill=begun))
    return replace(spec, decisions=spec.decisions.begun())


def _is_whole(run: Run, folder: Path, resume: bool) -> bool:
    """Whether this very run is in the folder already, and whole."""
    if not (folder / MANIFEST).exists():
        strange = next((path for path in folder.iterdir() if path.suffix != ".part"), None)
        if strange is not None:
            raise RunningError(f"{folder}: not empty and no run; choose another --out")
        return False
    before = read_manifest(folder)
    if before["id"] != run.id:
        told = differences(before, run.manifest)
        more = f" and {len(told) - SHOWN_DIFFERENCES} more" if len(told) > SHOWN_DIFFERENCES else ""
        raise RunningError(
            f"{folder}: holds run {before['id']}, not this one ({run.id}): "
            f"{'; '.join(told[:SHOWN_DIFFERENCES])}{more}; choose another --out"
        )
    if (folder / RESULTS).is_file():
        return not (resume and _has_failed(folder))
    if not resume:
        raise RunningError(f"{folder}: holds this run, broken off; add --resume to go on with it")
    return False


def _has_failed(folder: Path) -> bool:
    """Whether trying again may help."""
    rows = RunFolder.open(folder).rows()
    return any(not row.evidence or row.status is Status.PROVIDER_ERROR for row in rows)


def _write_failed(path: Path, rows: Sequence[Row]) -> None:
    if not rows:
        path.unlink(missing_ok=True)
        return
    lines = [
        {"key": row.unit.key, "status": row.status.value, "detail": row.detail} for row in rows
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_whole(path, text.encode(errors="backslashreplace"))


def _checked(row: Row) -> Verdict:
    try:
        return check(row)
    except Exception as error:
        values = dict.fromkeys(Property, Value.CHECKER_ERROR)
        return Verdict(row.unit.key, values, f"{type(error).__name__}: {error}")


def _differences(before: Any, now: Any, place: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, Mapping):
        for key in dict.fromkeys((*before, *now)):
            inner = f"{place}.{key}" if place else str(key)
            if key in ("id", "comparability_key") and not place:
                continue
            yield from _differences(before.get(key), now.get(key), inner)
    elif _plain(before) != _plain(now):
        yield f"{place}: {_short(before)} → {_short(now)}"


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}…"


def rows_of_failed(run: Run, missing: Sequence[Planned], folder: Path) -> list[Row]:
    """Rows for attempts of a finished run that left no trace."""
    why = failed_before(folder)
    return [
        row_without_traces(planned.unit, *why[planned.unit.key])
        for planned in missing
        if planned.unit.key in why
    ]
