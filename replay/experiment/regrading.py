"""What must be done again after something changed: nothing, the verdicts, or the attempts.

Regrading reads the same traces with the present checker. It is allowed only where the checker
alone changed and the evidence is there; whatever else changed asks for a new run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from devices.types import PaprikaError
from replay.experiment.folder import (
    SPEC,
    RunFolder,
    read_manifest,
    trace_path,
)
from replay.experiment.run import Planned, Run, resolve
from replay.experiment.running import (
    conclude,
    counted,
    differences,
    failed_before,
    rows_of_failed,
    with_ledger,
)
from replay.experiment.spec import read_spec
from replay.experiment.verdict_sets import checker_sha256, verdict_sets
from replay.experiment.worker import kept
from replay.progress import Report
from replay.staging import alone


class RegradingError(PaprikaError):
    """The verdicts of a run cannot be made anew; the message says why."""


class Need(StrEnum):
    """What an attempt needs: nothing, a new verdict, to be made again, or to be made."""

    KEEP = "keep"
    REGRADE = "regrade"
    RERUN = "rerun"
    MAKE = "make"


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """needs: by key, in plan order. why: what changed since the run was made.

    checker: whether the verdicts are by another checker than the present one.
    """

    run: Run
    needs: Mapping[str, Need]
    why: tuple[str, ...]
    checker_changed: bool

    @property
    def counts(self) -> dict[str, int]:
        """How many attempts need what."""
        counts = Counter(self.needs.values())
        return {need.value: counts[need] for need in Need}


def work_plan(
    folder: Path, *, wake_table: Path | None = None, progress: Report | None = None
) -> WorkPlan:
    """Compare a run with what the same command would make now; nothing is written.

    wake_table: ask what another wake table would need.
    """
    before = read_manifest(folder)
    spec = with_ledger(read_spec(folder / SPEC), folder)
    if wake_table is not None:
        spec = replace(spec, wake_table=wake_table)
    run = resolve(spec, progress)
    sets = verdict_sets(folder)
    judged_by = sets[-1].checker_sha256 if sets else None
    changed = judged_by != checker_sha256()
    failed = failed_before(folder)
    same = before["id"] == run.id
    needs = {}
    for number, planned in enumerate(run.planned):
        needs[planned.unit.key] = _need(folder, planned, changed, same, failed)
        if progress is not None:
            progress(number + 1, len(run.planned), "looking at traces")
    why = tuple(differences(before, run.manifest))
    return WorkPlan(run, needs, why, changed)


def regrade(folder: Path, progress: Report | None = None) -> tuple[RunFolder, WorkPlan]:
    """Judge a run by the present checker: a new verdict set beside the old ones.

    Raises:
        RegradingError: more than the checker changed, or evidence is missing.
    """
    with alone(folder):
        return _regraded(folder, work_plan(folder, progress=progress))


def _regraded(folder: Path, plan: WorkPlan) -> tuple[RunFolder, WorkPlan]:
    counts = plan.counts
    if counts[Need.RERUN] or counts[Need.MAKE]:
        why = "; ".join(plan.why[:3]) or "traces are missing or broken"
        raise RegradingError(
            f"{folder}: {counts[Need.RERUN] + counts[Need.MAKE]} of {len(plan.needs)} attempts "
            f"would have to be made again ({why}); `paprika run` makes a new run"
        )
    rows, missing = counted(plan.run, folder)
    by_key = {row.unit.key: row for row in (*rows, *rows_of_failed(plan.run, missing, folder))}
    ordered = [by_key[planned.unit.key] for planned in plan.run.planned]
    conclude(folder, ordered)
    return RunFolder.open(folder), plan


def _need(
    folder: Path,
    planned: Planned,
    checker_changed: bool,
    same: bool,
    failed: Mapping[str, object],
) -> Need:
    if kept(folder, planned) is not None or (same and planned.unit.key in failed):
        return Need.REGRADE if checker_changed else Need.KEEP
    made_otherwise = trace_path(folder, planned.unit.key).is_file()
    return Need.RERUN if made_otherwise else Need.MAKE
