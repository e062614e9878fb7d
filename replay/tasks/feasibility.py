"""Which tasks can be passed at all, and which ask for restraint."""

from __future__ import annotations

from bedside.safety.gate import Mode
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.tasks.oracle import oracle_actions
from replay.tasks.task import Task
from replay.wake_rule import WakeTable


def feasible(
    night: RecordedNight,
    task: Task,
    wake_table: WakeTable,
    *,
    dropout: float,
    mode: Mode = Mode.OBSERVE,
    latency: LatencyModel | None = None,
) -> bool:
    """Whether some step shows REM, and a low sound decided there begins in true REM, breaks no
    rule, is not refused and does not wake; else the task asks for restraint. Counted on the
    un-cued night, after dropout, under the task's faults."""
    found = oracle_actions(night, task, wake_table, dropout=dropout, mode=mode, latency=latency)
    return found is not None
