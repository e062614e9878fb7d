"""What the checker of every run says of a trial at a task."""

from __future__ import annotations

from replay.decisions.prices import bundled_prices
from replay.experiment.counting import Evidence, row_of
from replay.experiment.rows import Unit
from replay.scores.checker import check
from replay.scores.verdicts import Verdict
from replay.tasks.task import Task
from replay.validation.trials import Trial


def verdict(task: Task, spec: str, done: Trial) -> Verdict:
    """The verdict on a contender at a task that can be passed."""
    unit = Unit(
        night=task.night,
        task=task.name,
        kind=task.start.kind,
        start_epoch=task.start.epoch,
        cluster=task.start.cluster,
        theme=task.theme,
        seed=task.seed,
        condition=task.condition.name,
        held_out=task.held_out,
        feasible=True,
        agent=spec,
        scale=1.0,
    )
    evidence = Evidence(done.trace, done.hidden)
    return check(row_of(unit, evidence, done.night.shown, bundled_prices()))
