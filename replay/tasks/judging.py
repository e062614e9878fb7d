"""An attempt at a task judged as in every run: its row counted from the traces, then checked."""

from __future__ import annotations

from collections.abc import Sequence

from devices.types import Stage
from replay.decisions.prices import bundled_prices
from replay.experiment.counting import Evidence, row_of
from replay.experiment.rows import Row, Unit
from replay.scores.checker import check
from replay.scores.verdicts import Value
from replay.tasks.task import Task


def unit_of(task: Task, agent: str, *, scale: float = 1.0, feasible: bool = True) -> Unit:
    """The unit of an agent at a task."""
    return Unit(
        night=task.night,
        task=task.name,
        kind=task.start.kind,
        start_epoch=task.start.epoch,
        cluster=task.start.cluster,
        theme=task.theme,
        seed=task.seed,
        condition=task.condition.name,
        held_out=task.held_out,
        feasible=feasible,
        agent=agent,
        scale=scale,
    )


def row_at(unit: Unit, evidence: Evidence, shown: Sequence[Stage]) -> Row:
    """The row of an attempt at a night that shows these stages."""
    return row_of(unit, evidence, shown, bundled_prices())


def passes(task: Task, evidence: Evidence, shown: Sequence[Stage]) -> bool:
    """Whether an attempt passes the task, taken as one that can be passed."""
    verdict = check(row_at(unit_of(task, "self-check"), evidence, shown))
    return verdict.overall is Value.PASS
