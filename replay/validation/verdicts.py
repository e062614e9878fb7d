"""What the checker of every run says of a trial at a task."""

from __future__ import annotations

from replay.experiment.counting import Evidence
from replay.experiment.rows import Row
from replay.tasks.judging import row_at, unit_of
from replay.tasks.task import Task
from replay.validation.trials import Trial


def row(task: Task, spec: str, done: Trial, *, feasible: bool = True) -> Row:
    """The row of a contender at a task; `replay.scores.checker.check` has its verdict."""
    unit = unit_of(task, spec, feasible=feasible)
    return row_at(unit, Evidence(done.trace, done.hidden), done.night.shown)
