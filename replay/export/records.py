"""The steps of one trace as records in the RLDS shape: N transitions, N + 1 records.

A record holds an observation and what went out from it: the action, and the reward and discount
that came back. The last record has an observation only; what would go out from it is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bedside.plan import Ending
from replay.export.columns import READINGS, STEP, shaped
from replay.export.errors import ExportError
from replay.trace_lines import Line, read_lines

MOST_STEPS: Final = 100_000
"""Steps of a session, over a month; more is no session. Assumed."""
NO_REWARD: Final = 0.0
"""The environment's own reward. Its components stand beside it."""
WAIT: Final = {"kind": "wait", "reason": "nothing reached an actuator"}

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TraceRecords:
    """The records of a whole trace, and its first and last line."""

    header: Line
    footer: Line
    ending: Ending
    records: list[Record]


@dataclass(slots=True)
class _Grouped:
    """Lines of a trace by the step they belong to."""

    header: Line
    footer: Line
    steps: list[tuple[int, Line]]
    calls: list[list[Line]]
    events: list[list[Line]]
    last: tuple[int, Line] | None


def trace_records(path: Path, episode: int) -> TraceRecords:
    """The records of one whole trace.

    Raises:
        ExportError: naming file and line, where a key has no column.
        TraceError: where it is broken off, or no trace.
    """
    lines = _grouped(path)
    ending = _ending(path, lines)
    seen = [*lines.steps] if lines.last is None else [*lines.steps, lines.last]
    count = len(lines.steps)
    first = lines.steps[0][1]["step"] if lines.steps else 0
    records = []
    for index in range(count + 1):
        number, line = seen[index] if index < len(seen) else (0, None)
        record: Record = {
            "episode": episode,
            "step": first + index,
            "is_first": index == 0,
            "is_last": index == count,
            "is_terminal": index == count and not ending.is_truncation,
            "valid": index < count,
            **_seen(line, "last" if index == count else "step"),
        }
        if index < count and line is not None:
            ends = index == count - 1 and not ending.is_truncation
            record |= _outgoing(line, ends)
            record |= {"calls": lines.calls[index], "events": lines.events[index]}
        records.append(shaped(record, STEP, f"{path}: line {number}"))
    return TraceRecords(lines.header, lines.footer, ending, records)


def _grouped(path: Path) -> _Grouped:
    found = _Grouped({}, {}, [], [], [[]], None)
    calls: list[Line] = []
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        match line.get("kind"):
            case "header":
                found.header = line
            case "step":
                _check_step(path, number, line, found)
                found.steps.append((number, line))
                found.calls.append(calls)
                found.events.append([])
                calls = []
            case "last":
                found.last = (number, line)
            case "call":
                calls.append(_call(line))
            case "event":
                found.events[max(0, len(found.steps) - 1)].append(_bare(line))
            case "footer" if number == len(lines):
                found.footer = line
            case other:
                raise ExportError(f"{path}: line {number}: kind {other!r} is unknown")
    if calls and found.calls:
        found.calls[-1] += calls  # asked for a decision that was never finished
    return found


def _check_step(path: Path, number: int, line: Line, found: _Grouped) -> None:
    step = line.get("step")
    due = found.steps[-1][1]["step"] + 1 if found.steps else step
    if not isinstance(step, int) or isinstance(step, bool) or step != due:
        raise ExportError(f"{path}: line {number}: step {step!r}, and {due} was due; not exported")
    if len(found.steps) >= MOST_STEPS:
        raise ExportError(f"{path}: line {number}: over {MOST_STEPS} steps; no session is so long")


def _ending(path: Path, lines: _Grouped) -> Ending:
    told, steps = lines.footer.get("ending"), lines.footer.get("steps")
    if told not in list(Ending):
        raise ExportError(f"{path}: last line: ending {told!r} is unknown")
    if steps != len(lines.steps):
        raise ExportError(f"{path}: last line: {steps!r} steps, and there are {len(lines.steps)}")
    return Ending(told)


def _seen(line: Line | None, source: str) -> Record:
    if line is None:
        return {"observation_from": "none"}
    observation, epoch = line.get("observation"), line.get("epoch")
    return {
        "t": line.get("t"),
        "observation_from": source,
        "observation": _observation(observation),
        "epoch": _epoch(epoch),
    }


def _outgoing(line: Line, ends: bool) -> Record:
    """What went out from a step, and what came back."""
    delivery = line.get("delivery")
    action = line.get("action")
    applied = action
    if isinstance(delivery, Mapping):
        applied = delivery.get("delivered") or WAIT
    violations = len(delivery.get("rules") or ()) if isinstance(delivery, Mapping) else 0
    return {
        "action": applied,
        "requested": action,
        "decision": line.get("decision"),
        "delivery": delivery,
        "reward": NO_REWARD,
        "reward_components": {"violation": violations},
        "discount": 0.0 if ends else 1.0,
    }


def _observation(seen: Any) -> Any:
    if not isinstance(seen, Mapping):
        return seen
    return {key: _reading(value) if key in READINGS else value for key, value in seen.items()}


def _reading(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 3:
        return dict(zip(("value", "age_s", "source"), value, strict=True))
    return value


def _epoch(epoch: Any) -> Any:
    if not isinstance(epoch, Mapping) or not isinstance(epoch.get("eeg"), Mapping):
        return epoch
    bands = [{"band": band, "uv2": powers} for band, powers in epoch["eeg"].items()]
    return {**epoch, "eeg": bands}


def _bare(line: Line) -> Line:
    return {key: value for key, value in line.items() if key != "kind"}


def _call(line: Line) -> Line:
    """Its usage as a list, because services count under names of their own."""
    usage = line.get("usage")
    if isinstance(usage, Mapping):
        usage = [{"name": name, "count": count} for name, count in usage.items()]
    return {**_bare(line), "usage": usage}
