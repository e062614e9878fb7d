"""The hidden sleeper: what the agent must never see, and how it answers a cue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, fsum

from bedside.trace import Trace, rounded
from devices.types import EPOCH_S, Cue, Stage
from replay.hypnogram import first_sustained_sleep_epoch
from replay.rolls import Dice, RollStream
from replay.wake_rule import WakeTable, column


@dataclass(frozen=True, slots=True)
class Waking:
    """A waking by a cue at `t`: AWAKE in [from_t, until_t), the rest of the night later."""

    t: float
    from_t: float
    until_t: float


class Sleeper:
    """Holds the true stages of a recording and decides by seeded rolls whether a cue wakes.

    Args:
        hidden: true stage of every epoch of the recording: the experts', else the recorded one
            before any dropout.
        first_epoch: epoch of the recording in which the session starts.
        dice, table: the rolls and the wake rule. trace: the hidden trace.
    """

    def __init__(
        self,
        hidden: Sequence[Stage],
        *,
        first_epoch: int,
        dice: Dice,
        table: WakeTable,
        trace: Trace,
    ) -> None:
        self._hidden = hidden
        self._first_epoch = first_epoch
        self._dice = dice
        self._table = table
        self._trace = trace
        self.wakings: list[Waking] = []
        self._inserted: list[Waking] = []
        self._sustained = first_sustained_sleep_epoch(hidden)
        if table.options:
            trace.line("event", {"t": 0.0, "event": "assumptions", **table.options})

    @property
    def awake_epochs(self) -> int:
        """AWAKE epochs that a waking inserts."""
        return self._table.awake_epochs

    def hear(self, cue: Cue, t: float) -> Waking | None:
        """Roll for a cue that reached the sleeper at `t`; a waking, or None.

        The roll is indexed by the step whose decision the cue is, so every agent that cues at
        that step of this task meets the same number.
        """
        if self.is_woken(t):
            self._event("awake_already", t, cue=cue.number)
            return None
        stage, imputed = self.stage_before(t)
        chance = self._table.chance(stage, cue.kind, cue.volume, self._slept_s(t))
        value = None if chance is None else self._dice.roll(RollStream.WAKE, cue.step)
        woken = value is not None and chance is not None and value < chance
        self._event(
            "roll",
            t,
            step=cue.step,
            cue=cue.number,
            stream=RollStream.WAKE.value,
            value=value,
            chance=chance,
            stage=stage.value,
            imputed=imputed,
            woken=woken,
        )
        if woken:
            return self._wake(t)
        self._delay_onset(cue, t, stage)
        return None

    def stage_before(self, t: float) -> tuple[Stage, bool]:
        """The true stage that covers the instant before `t`, and whether it was imputed.

        In a gap of the recording the last known stage counts.
        """
        epoch = ceil(self.recorded_s(t) / EPOCH_S) - 1
        for index in range(min(epoch, len(self._hidden) - 1), -1, -1):
            if self._hidden[index] is not Stage.UNKNOWN:
                return self._hidden[index], index != epoch
        return Stage.UNKNOWN, True

    def recorded_s(self, t: float) -> float:
        """Position in the recording (s) at session time `t`, outside inserted wake."""
        inserted_s = fsum(min(t, w.until_t) - w.from_t for w in self._inserted if t > w.from_t)
        return self._first_epoch * EPOCH_S + t - inserted_s

    def is_woken(self, t: float) -> bool:
        """Whether a cue has woken or kept awake the sleeper before `t`, and that is not over."""
        return any(waking.t < t <= waking.until_t for waking in self._inserted)

    def inserted_at(self, t: float) -> Waking | None:
        """The waking, or delay of onset, whose inserted epochs cover the instant from `t` on."""
        return next((w for w in self._inserted if w.from_t <= t < w.until_t), None)

    def close(self, t: float) -> None:
        """Write the truth and the end of the hidden trace."""
        self._event("truth", t, letters="".join(stage.letter for stage in self._hidden))
        footer = {
            "t": rounded(t, "t"),
            "wakings": len(self.wakings),
            "recorded_epochs": len(self._hidden),
            "inserted_epochs": self.awake_epochs * len(self._inserted),
        }
        self._trace.line("footer", footer)

    def _wake(self, t: float) -> Waking:
        waking = self._insert(t)
        self.wakings.append(waking)
        self._event("waking", t, from_t=waking.from_t, until_t=waking.until_t)
        return waking

    def _insert(self, t: float) -> Waking:
        from_t = ceil(t / EPOCH_S) * EPOCH_S
        inserted = Waking(t, from_t, from_t + self.awake_epochs * EPOCH_S)
        self._inserted.append(inserted)
        return inserted

    def _delay_onset(self, cue: Cue, t: float, stage: Stage) -> None:
        """Roll for a cue that may keep the sleeper from falling asleep."""
        option = self._table.onset_delay
        if option is None or not self._falls_asleep(t, stage, option.light_s):
            return
        chance = min(1.0, self._table.scale * option.chances[column(cue.kind, cue.volume)])
        value = self._dice.roll(RollStream.ONSET, cue.step)
        rolled = {"step": cue.step, "cue": cue.number, "value": value, "chance": chance}
        if value >= chance:
            self._event("onset_roll", t, **rolled)
            return
        delay = self._insert(t)
        self._event("onset_delay", t, **rolled, from_t=delay.from_t, until_t=delay.until_t)

    def _falls_asleep(self, t: float, stage: Stage, light_s: float) -> bool:
        """Whether a cue at `t` comes before sustained onset, in wake or in the first of light."""
        epoch = ceil(self.recorded_s(t) / EPOCH_S) - 1
        if self._sustained is not None and epoch >= self._sustained + light_s / EPOCH_S:
            return False
        if stage is Stage.AWAKE:
            return self._sustained is None or epoch < self._sustained
        return stage.coarse is Stage.LIGHT and self._light_epochs(epoch) * EPOCH_S <= light_s

    def _light_epochs(self, epoch: int) -> int:
        """LIGHT epochs in a row that end with this one."""
        before = reversed(self._hidden[: epoch + 1])
        return sum(1 for _ in takewhile(lambda stage: stage.coarse is Stage.LIGHT, before))

    def _slept_s(self, t: float) -> float:
        """Sleep of the recording before `t`; counted only where the table asks for it."""
        if self._table.time_of_night is None:
            return 0.0
        epochs = ceil(self.recorded_s(t) / EPOCH_S)
        return EPOCH_S * sum(stage.is_sleep for stage in self._hidden[:epochs])

    def _event(self, name: str, t: float, **fields: object) -> None:
        self._trace.line("event", {"t": rounded(t, "t"), "event": name, **fields})
