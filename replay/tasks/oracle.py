"""The actions that pass a task, worked out from what nobody may see.

A task is passed by a heard cue in true REM, with no waking and no rule broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from agents.types import Action, PlaySound
from devices.types import EPOCH_S, CueKind, Stage, Volume
from replay.recorded_night import RecordedNight
from replay.rolls import RollStream
from replay.tasks.faults import Faults
from replay.tasks.task import Task
from replay.tasks.uncued import dice_of, shown_stages
from replay.wake_rule import WakeTable

CUE: Final = PlaySound(Volume.LOW, "worked out beforehand")
ALLOWED: Final = (Stage.REM, Stage.LIGHT)
"""Shown stages in which a low sound breaks no rule."""
APART: Final = 3
"""Steps between two sounds: as `enforce` allows after a failed one."""


def oracle_actions(
    night: RecordedNight,
    task: Task,
    wake_table: WakeTable,
    *,
    dropout: float,
    shown: tuple[Stage, ...] | None = None,
) -> tuple[tuple[int, Action], ...] | None:
    """The fewest low sounds that pass the task, by step, as early as can be; None: none do.

    One sound, and before it one for each that a failing device will miss.
    shown: the task's `shown_stages`, where they are known already.
    """
    faults = Faults(task.condition, dice_of(night, task))
    if shown is None:
        shown = shown_stages(night, task, dropout)
    spare = [step for step, stage in enumerate(shown) if stage in ALLOWED]
    for step in _quiet_rem(night, task, wake_table, faults, shown):
        steps = _led_up_to(step, spare, faults.missed)
        if steps is not None:
            return tuple((one, CUE) for one in steps)
    return None


def _led_up_to(step: int, spare: Sequence[int], missed: int) -> tuple[int, ...] | None:
    """This step and as many before it as will be missed, the latest that are far enough apart."""
    steps = [step]
    for earlier in reversed(spare):
        if len(steps) <= missed and earlier <= steps[0] - APART:
            steps.insert(0, earlier)
    return tuple(steps) if len(steps) == missed + 1 else None


def _quiet_rem(
    night: RecordedNight, task: Task, table: WakeTable, faults: Faults, shown: tuple[Stage, ...]
) -> Iterator[int]:
    """Steps that show REM, in which a low sound begins in true REM and wakes nobody."""
    stop_t = faults.stop_t
    for step, stage in enumerate(shown):
        onset_t = (step + 1) * EPOCH_S + faults.late_s(step)
        pressed = stop_t is not None and onset_t >= stop_t
        if stage is not Stage.REM or pressed:
            continue
        if _hidden_before(night, task, onset_t) is not Stage.REM:
            continue
        chance = table.chance(Stage.REM, CueKind.SOUND, Volume.LOW)
        if chance is None or faults.dice.roll(RollStream.WAKE, step) >= chance:
            yield step


def _hidden_before(night: RecordedNight, task: Task, t: float) -> Stage:
    """The coarse hidden stage of the instant before `t`; in a gap the last known one."""
    last = task.start.epoch + -int(-t // EPOCH_S) - 1
    known = (night.hidden[k] for k in range(last, -1, -1) if night.hidden[k] is not Stage.UNKNOWN)
    return next(known, Stage.UNKNOWN).coarse
