"""Where two traces of one task part: the first step at which not the same was done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from replay.trace_lines import Line


@dataclass(frozen=True, slots=True)
class Parting:
    """first, second: what each did there, in words. clock_s: of the step, seconds after noon."""

    step: int
    clock_s: float
    first: str
    second: str


def parting(first: Iterable[Line], second: Iterable[Line]) -> Parting | None:
    """The first step with another stage, action or delivery; None where there is none.

    Reasons do not count: two agents may do the same for different ones.
    """
    for a, b in zip_longest(_steps(first), _steps(second)):
        if a is None or b is None or _done(a) != _done(b):
            there = a if a is not None else b
            return Parting(
                there["step"], there["observation"]["clock_s"], _in_words(a), _in_words(b)
            )
    return None


def _steps(lines: Iterable[Line]) -> Sequence[Line]:
    return [line for line in lines if line["kind"] == "step"]


def _done(step: Line) -> tuple[Any, ...]:
    delivery = step["delivery"]
    return step["epoch"]["stage"], _without_reason(step["action"]), _delivered(delivery)


def _without_reason(action: Line | None) -> dict[str, Any] | None:
    if action is None:
        return None
    return {name: value for name, value in action.items() if name != "reason"}


def _delivered(delivery: Line | None) -> tuple[Any, ...] | None:
    if delivery is None:
        return None
    return delivery["t"], delivery["shown"], _without_reason(delivery["delivered"])


def _in_words(step: Line | None) -> str:
    """`sound low in rem`, `wait in light, late`, or that the attempt had ended."""
    if step is None:
        return "ended"
    action, status = step["action"], step["decision"]["status"]
    parts = [str(action.get(name)) for name in ("kind", "object", "volume") if action.get(name)]
    refused = ", refused" if step["delivery"] and step["delivery"]["delivered"] is None else ""
    return f"{' '.join(parts)} in {step['epoch']['stage']}{refused}" + (
        "" if status == "ok" else f", {status}"
    )
