"""The recorded decisions that a branch repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bedside.decider import DecisionStatus
from replay.branching.errors import BranchError
from replay.branching.following import Recorded
from replay.branching.parent import Written
from replay.trace_lines import Line

LONGEST_S: Final = 1e9
"""Seconds; a longer time is none. Assumed."""


def prefix_of(trace: Written, at: int) -> list[Recorded]:
    """The recorded decisions up to and with step `at`."""
    found: list[Recorded] = []
    calls: list[Line] = []
    where = trace.path
    for number, line in enumerate(trace.lines, 1):
        if line.get("kind") == "call":
            calls.append(_call(where, number, line))
        elif line.get("kind") == "step":
            found.append(_recorded(where, number, line, calls))
            calls = []
            if line["step"] == at:
                _check_asked(where, found[-1])
                return _with_holds(found)
    last = found[-1].step if found else -1
    raise BranchError(f"{where}: no step {at}; give --at 0 to {last}")


def _check_asked(path: Path, recorded: Recorded) -> None:
    if recorded.status is DecisionStatus.BUSY:
        step = recorded.step
        raise BranchError(f"{path}: nobody is asked at step {step} (busy); give another --at")


def _recorded(path: Path, number: int, line: Line, calls: Sequence[Line]) -> Recorded:
    decision, action, step = line.get("decision"), line.get("action"), line.get("step")
    if not (isinstance(decision, Mapping) and isinstance(action, Mapping) and _is_step(step)):
        raise BranchError(f"{path}: line {number}: not a step that can be repeated")
    status, error = decision.get("status"), decision.get("error")
    if status not in list(DecisionStatus) or not isinstance(error, str | None):
        raise BranchError(f"{path}: line {number}: decision {status!r} cannot be repeated")
    latency_s = _time(path, number, decision, "latency_s")
    return Recorded(line["step"], action, DecisionStatus(status), latency_s, error, tuple(calls))


def _call(path: Path, number: int, line: Line) -> Line:
    for key in ("t", "latency_s"):
        _time(path, number, line, key)
    return {key: value for key, value in line.items() if key != "kind"}


def _is_step(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _time(path: Path, number: int, line: Mapping[str, Any], key: str) -> float:
    value = line.get(key)
    if isinstance(value, int | float) and 0.0 <= value < LONGEST_S:
        return float(value)
    raise BranchError(f"{path}: line {number}: {key} is no time, got {value!r}")


def _with_holds(found: Sequence[Recorded]) -> list[Recorded]:
    """Where nobody was asked, the step before had not let go; its record says for how long."""
    held = list(found)
    for index in range(len(held) - 1, 0, -1):
        busy, before = held[index], held[index - 1]
        if busy.status is DecisionStatus.BUSY:
            calls = before.calls + busy.calls
            held[index - 1] = replace(before, held_steps=busy.held_steps + 1, calls=calls)
            held[index] = replace(busy, calls=())
    return held
