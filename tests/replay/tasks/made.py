"""Tasks on small nights, and rolls worked out beside the code."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from bedside.trace import MemorySink, Trace
from replay.attempt import attempt
from replay.conditions import PLAIN, Condition
from replay.experiment.counting import Evidence
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from replay.tasks.judging import passes
from replay.tasks.task import StartKind, StartPoint, Task
from replay.tasks.task_set import task_setting
from replay.wake_rule import WakeTable, wake_table
from tests.replay.nights import Line, Lived, Scripted, lines_of

TABLE = wake_table(default_toml("wake_table"))
NOBODY = wake_table(default_toml("wake_table"), 0.0)
"""No cue wakes."""


@cache
def bundled_night() -> RecordedNight:
    return RecordedNight(sample_night())


def rolled(night: RecordedNight, start: int, seed: int, stream: str, number: int) -> float:
    """The roll of `replay-environment.md`, from its words."""
    slept = "".join(stage.letter for stage in night.hidden)
    key = f"{hashlib.sha256(slept.encode()).hexdigest()[:16]}:{start}"
    message = "\0".join(["paprika-roll/1", key, str(seed), stream, str(number)]).encode()
    return (int.from_bytes(hashlib.sha256(message).digest()[:8], "big") >> 11) / 2**53


def task_at(
    epoch: int, *, seed: int = 1, condition: Condition = PLAIN, night: str = "night-a"
) -> Task:
    start = StartPoint(StartKind.REM_ONSET, epoch, "2300", 1)
    return Task(night, start, "cat", 3, seed, condition)


def tried(
    night: RecordedNight,
    task: Task,
    script: Mapping[int, Any] | Scripted,
    *,
    table: WakeTable = NOBODY,
    dropout: float = 0.0,
    mode: Mode = Mode.OBSERVE,
    latency: LatencyModel | None = None,
) -> Lived:
    """One attempt at a task."""
    agent = script if isinstance(script, Scripted) else Scripted(script)
    made = task_setting(task, night, wake_table=table, mode=mode, dropout=dropout, latency=latency)
    trace, hidden = MemorySink(), MemorySink()
    done = attempt(night, agent, made, session_id="task", trace=Trace(trace), hidden=Trace(hidden))
    return Lived(done, trace.bytes(), hidden.bytes())


def passed(night: RecordedNight, task: Task, done: Lived) -> bool:
    """By the checker of every run."""
    return passes(task, Evidence(done.trace_bytes, done.hidden_bytes), night.shown)


def outcomes(done: Lived) -> list[Line]:
    return [line for line in lines_of(done.trace_bytes) if line.get("event") == "outcome"]


def noted(done: Lived, event: str) -> list[Line]:
    return [line for line in done.hidden if line.get("event") == event]
