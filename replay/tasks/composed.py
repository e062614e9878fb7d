"""Composed tasks: a start point with at most one fault of each exclusive group, and whether such
a task measures anything: untouched it fails, the oracle passes it, and no oracle action is spare.

Source: τ²-bench, which composes and verifies its tasks so (`seeds/004`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING

from agents.types import Action
from bedside.safety.gate import Mode
from bedside.trace import MemorySink, Trace
from replay.attempt import attempt
from replay.conditions import PLAIN, TASK_ACTS, ActuatorFault, Condition, SignalFault
from replay.controls.oracle import Oracle
from replay.experiment.counting import Evidence
from replay.recorded_night import RecordedNight
from replay.rolls import RollStream, roll
from replay.tasks.judging import passes
from replay.tasks.oracle import oracle_actions
from replay.tasks.task import Task
from replay.tasks.task_set import task_setting
from replay.wake_rule import WakeTable

if TYPE_CHECKING:
    from collections.abc import Iterable


Actions = tuple[tuple[int, Action], ...]
"""By step; an agent that takes them waits at the others."""


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
    oracle: Actions = ()
    problems: tuple[str, ...] = ()


def composed_conditions(*, sample: int | None = None) -> tuple[Condition, ...]:
    """Every choice of at most one fault a group with one fault at least; in order of the enums.

    sample: only so many, drawn by seeded rolls.
    """
    choices = product((None, *SignalFault), (None, *ActuatorFault), (None, *TASK_ACTS))
    found = tuple(
        condition for condition in (Condition(*one) for one in choices) if condition != PLAIN
    )
    if sample is None:
        return found
    rolls = [roll("composed", 1, RollStream.DISTURBANCE, k) for k in range(len(found))]
    drawn = sorted(range(len(found)), key=rolls.__getitem__)[:sample]
    return tuple(found[k] for k in sorted(drawn))


def single_faults() -> tuple[Condition, ...]:
    """Every fault alone."""
    return (
        *(Condition(signal=fault) for fault in SignalFault),
        *(Condition(actuator=fault) for fault in ActuatorFault),
        *(Condition(person=act) for act in TASK_ACTS),
    )


def self_check(
    night: RecordedNight, task: Task, *, wake_table: WakeTable, dropout: float
) -> SelfCheck:
    """Play a task untouched, as the oracle, and without each of the oracle's actions."""
    oracle = oracle_actions(night, task, wake_table, dropout=dropout)
    if oracle is None:
        return SelfCheck(task, Standing.RESTRAINT)

    def passed(actions: Actions) -> bool:
        return passes(task, _lived(night, task, actions, wake_table, dropout), night.shown)

    problems = ["an agent that waits passes"] if passed(()) else []
    problems += [] if passed(oracle) else ["the oracle fails"]
    spare = [step for step, left in _each_left_out(oracle) if left and passed(left)]
    problems += [f"the action at step {step} is not needed" for step in spare]
    standing = Standing.INVALID if problems else Standing.VALID
    return SelfCheck(task, standing, oracle, tuple(problems))


def _each_left_out(actions: Actions) -> Iterable[tuple[int, Actions]]:
    """The lists with one action missing, and its step; that of one action is to wait."""
    for number, (step, _) in enumerate(actions):
        yield step, (*actions[:number], *actions[number + 1 :])


def _lived(
    night: RecordedNight, task: Task, actions: Actions, wake_table: WakeTable, dropout: float
) -> Evidence:
    setting = task_setting(task, night, wake_table=wake_table, mode=Mode.OBSERVE, dropout=dropout)
    trace, hidden = MemorySink(), MemorySink()
    attempt(
        night,
        Oracle(dict(actions)),
        setting,
        session_id="self-check",
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    return Evidence(trace.bytes(), hidden.bytes())
