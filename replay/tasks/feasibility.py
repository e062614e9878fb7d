"""Which tasks can be passed at all, and which ask for restraint."""

from __future__ import annotations

from replay.recorded_night import RecordedNight
from replay.tasks.oracle import oracle_actions
from replay.tasks.task import Task
from replay.wake_rule import WakeTable


def feasible(night: RecordedNight, task: Task, wake_table: WakeTable, *, dropout: float) -> bool:
    """Whether some step shows true REM and a low sound there does not wake; else the task asks
    for restraint. Counted on the un-cued night, after dropout, under the task's faults."""
    return oracle_actions(night, task, wake_table, dropout=dropout) is not None
