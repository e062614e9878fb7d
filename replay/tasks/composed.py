"""Composed tasks: a start point with at most one fault of each exclusive group, and whether such
a task measures anything: untouched it fails, the oracle passes it, and no oracle action is spare.

Source: τ²-bench, which composes and verifies its tasks so (`seeds/004`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, Final

from agents.types import Action
from bedside.safety.gate import Mode
from bedside.trace import MemorySink, Trace
from replay.conditions import PLAIN, ActuatorFault, Condition, PersonAct, SignalFault
from replay.recorded_night import RecordedNight
from replay.rolls import RollStream, roll
from replay.setting import Setting
from replay.tasks.oracle import oracle_actions
from replay.tasks.task import Task
from replay.tasks.task_set import task_setting
from replay.trace_lines import Line, parsed
from replay.wake_rule import WakeTable

if TYPE_CHECKING:
    from collections.abc import Iterable

HEARD: Final = ("sound", "whisper")
"""Kinds that count as a cue in REM."""


class Standing(StrEnum):
    """What a task is good for. restraint: no action list passes it, and to wait is right."""

    VALID = "valid"
    RESTRAINT = "restraint"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """oracle: actions by step, empty where there are none. problems: why it is invalid."""

    task: Task
    standing: Standing
    oracle: tuple[tuple[int, Action], ...] = ()
    problems: tuple[str, ...] = ()


def composed_conditions(*, sample: int | None = None, seed: int = 1) -> tuple[Condition, ...]:
    """Every choice of at most one fault a group with one fault at least; in order of the enums.

    sample: only so many, drawn by the seed.
    """
    choices = product((None, *SignalFault), (None, *ActuatorFault), (None, *PersonAct))
    found = tuple(
        condition for condition in (Condition(*one) for one in choices) if condition != PLAIN
    )
    if sample is None:
        return found
    rolls = [roll("composed", seed, RollStream.DISTURBANCE, k) for k in range(len(found))]
    drawn = sorted(range(len(found)), key=rolls.__getitem__)[:sample]
    return tuple(found[k] for k in sorted(drawn))


def single_faults() -> tuple[Condition, ...]:
    """Every fault alone."""
    return (
        *(Condition(signal=fault) for fault in SignalFault),
        *(Condition(actuator=fault) for fault in ActuatorFault),
        *(Condition(person=act) for act in PersonAct),
    )


def self_check(
    night: RecordedNight, task: Task, *, wake_table: WakeTable, dropout: float
) -> SelfCheck:
    """Play a task untouched, as the oracle, and without each of the oracle's actions."""
    oracle = oracle_actions(night, task, wake_table, dropout=dropout)
    if oracle is None:
        return SelfCheck(task, Standing.RESTRAINT)
    setting = task_setting(task, night, wake_table=wake_table, mode=Mode.OBSERVE, dropout=dropout)
    problems = []
    if _passes(night, setting, ()):
        problems.append("an agent that waits passes")
    if not _passes(night, setting, oracle):
        problems.append("the oracle fails")
    spare = [
        left for left in _each_left_out(oracle) if left[1] and _passes(night, setting, left[1])
    ]
    problems += [f"the action at step {step} is not needed" for step, _ in spare]
    standing = Standing.INVALID if problems else Standing.VALID
    return SelfCheck(task, standing, oracle, tuple(problems))


def passed(trace: Sequence[Line], hidden: Sequence[Line]) -> bool:
    """Whether an attempt had a heard cue in true REM, no waking, and broke no rule."""
    steps = {line["step"]: line for line in trace if line["kind"] == "step"}
    rolls = [line for line in hidden if line.get("event") == "roll"]
    in_rem = any(
        line["stage"] == "rem" and steps[line["step"]]["action"]["kind"] in HEARD for line in rolls
    )
    woken = any(line["woken"] for line in rolls)
    return in_rem and not woken and not sum(trace[-1]["violations"].values())


def _each_left_out(
    actions: tuple[tuple[int, Action], ...],
) -> Iterable[tuple[int, tuple[tuple[int, Action], ...]]]:
    """The lists with one action missing, and its step; that of one action is to wait."""
    for number, (step, _) in enumerate(actions):
        yield step, (*actions[:number], *actions[number + 1 :])


def _passes(
    night: RecordedNight, setting: Setting, actions: tuple[tuple[int, Action], ...]
) -> bool:
    from replay.attempt import attempt
    from replay.controls.oracle import Oracle

    trace, hidden = MemorySink(), MemorySink()
    attempt(
        night,
        Oracle(dict(actions)),
        setting,
        session_id="self-check",
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    return passed(parsed(trace.bytes(), "trace"), parsed(hidden.bytes(), "hidden trace"))
