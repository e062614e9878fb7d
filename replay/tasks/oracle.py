"""The actions that pass a task, worked out from what nobody may see.

A task is passed by a heard cue in true REM, with no waking and no rule broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from agents.types import Action, PlaySound
from bedside.safety.gate import Mode
from bedside.stage_rule import LEAST_COVERAGE
from devices.types import EPOCH_S, CueKind, Stage, Stream, Volume
from replay.faults.strikes import Faults
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.rolls import RollStream
from replay.tasks.task import STEPS, Task
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
    mode: Mode = Mode.OBSERVE,
    latency: LatencyModel | None = None,
    shown: tuple[Stage, ...] | None = None,
) -> tuple[tuple[int, Action], ...] | None:
    """The fewest low sounds that pass the task, by step, as early as can be; None: none do.

    One sound, and before it one for each that a failing device will miss.
    shown: the task's `shown_stages`, where they are known already.
    """
    if shown is None:
        shown = shown_stages(night, task, dropout)
    sounds = _Sounds(night, task, shown, mode, latency)
    spare = [step for step in range(STEPS) if sounds.may_begin(step)]
    for step in spare:
        if shown[step] is Stage.REM and sounds.passes(step, wake_table):
            steps = _led_up_to(step, spare, sounds.faults.missed)
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


@dataclass(frozen=True)
class _Sounds:
    """What becomes of a low sound that is decided at a step of the un-cued task."""

    night: RecordedNight
    task: Task
    shown: tuple[Stage, ...]
    mode: Mode
    latency: LatencyModel | None

    @cached_property
    def faults(self) -> Faults:
        return Faults(self.task.condition, dice_of(self.night, self.task))

    def may_begin(self, step: int) -> bool:
        """Whether it is decided in time, breaks no rule, and is not refused."""
        latency_s = self._latency_s(step)
        if latency_s >= EPOCH_S or step in self._before_onset:
            return False
        stop_t, t = self.faults.stop_t, (step + 1) * EPOCH_S + latency_s
        stopped = stop_t is not None and t >= stop_t
        return not stopped and self._shown_at_delivery(step, latency_s) in ALLOWED

    def passes(self, step: int, table: WakeTable) -> bool:
        """Whether it begins in true REM and wakes nobody, if no device misses it."""
        stop_t = self.faults.stop_t
        onset_t = (step + 1) * EPOCH_S + self._latency_s(step) + self.faults.late_s(step)
        if stop_t is not None and onset_t >= stop_t:
            return False
        if self._hidden_before(onset_t) is not Stage.REM:
            return False
        chance = table.chance(Stage.REM, CueKind.SOUND, Volume.LOW)
        return chance is None or self.faults.dice.roll(RollStream.WAKE, step) >= chance

    def _latency_s(self, step: int) -> float:
        return 0.0 if self.latency is None else self.latency.latency_s(self.faults.dice, step)

    def _shown_at_delivery(self, step: int, latency_s: float) -> Stage:
        """The epoch rule over the 30 s before delivery, as if all readings of an epoch were one."""
        before, after = self.shown[step : step + 2]
        if self._told_once:
            return before if latency_s <= EPOCH_S / 2 else after
        before_s = 0.0 if before is Stage.UNKNOWN else EPOCH_S - latency_s
        after_s = 0.0 if after is Stage.UNKNOWN else latency_s
        if before_s + after_s < LEAST_COVERAGE * EPOCH_S:
            return Stage.UNKNOWN
        return after if after_s >= before_s else before

    @cached_property
    def _told_once(self) -> bool:
        """Whether an epoch has one label, in its middle."""
        told = (one for one in self.night.info.streams if one.stream is Stream.STAGE)
        return all(one.interval_s is None or one.interval_s >= EPOCH_S for one in told)

    @cached_property
    def _before_onset(self) -> frozenset[int]:
        """Steps before sustained onset, at which `enforce` refuses."""
        if self.mode is not Mode.ENFORCE:
            return frozenset()
        history, steps = self.night.history_before(self.task.start.epoch), set()
        for step, stage in enumerate(self.shown):
            history = history.after(step, stage)
            if history.sustained_onset is None:
                steps.add(step)
        return frozenset(steps)

    def _hidden_before(self, t: float) -> Stage:
        """The coarse hidden stage of the instant before `t`; in a gap the last known one."""
        hidden = self.night.hidden
        last = self.task.start.epoch + -int(-t // EPOCH_S) - 1
        known = (hidden[k] for k in range(last, -1, -1) if hidden[k] is not Stage.UNKNOWN)
        return next(known, Stage.UNKNOWN).coarse
