"""The simulated sleeper of one night: sleeps on epoch by epoch and answers every cue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from math import ceil
from typing import Any, Final

from bedside.sleep_history import SUSTAINED_EPOCHS
from bedside.trace import Trace, rounded
from devices.types import EPOCH_S, Cue, Stage
from replay.rolls import Dice, RollStream, roll
from replay.simulation.answers import Answer, Answers, ThemeModel
from replay.simulation.sleep import Profile, Sleep, Sleeping
from replay.sleeper import Waking
from replay.wake_rule import WakeTable, column

THEME_STREAM: Final = "theme"
RECALL_STREAM: Final = "recall"
_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class SyntheticDream:
    """What a simulation says of a night's dreams. No person dreamt it.

    presence: mean hidden presence of the theme over REM epochs. chance: that the theme was in it.
    theme: whether it was. recalled: whether it is told in the morning.
    """

    presence: float
    chance: float
    theme: bool
    recalled: bool

    @property
    def report(self) -> str:
        """The morning's report, labelled."""
        if not self.recalled:
            return "[synthetic report] nothing recalled"
        return f"[synthetic report] the theme was {'in it' if self.theme else 'not in it'}"


class SimulatedSleeper:
    """Sleeps by a profile and answers by assumptions.

    Args:
        dice: the attempt's rolls; their night is the key of the sleep's own rolls too.
        presence: hidden presence of the theme left from the evening before.
        trace: the hidden trace.

    Attributes:
        stages: the true stage of every epoch up to now. dream: None until `close`.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        dice: Dice,
        table: WakeTable,
        answers: Answers,
        theme: ThemeModel,
        trace: Trace,
        presence: float = 0.0,
    ) -> None:
        self._sleep = Sleep(profile, dice.night, dice.seed)
        self._now = Sleeping()
        self._dice, self._table, self._answers = dice, table, answers
        self._theme, self._trace = theme, trace
        self._raised = [(0.0, presence + theme.talk)]
        self._kept_awake: list[Waking] = []
        self._lightened: int | None = None
        self.stages: list[Stage] = []
        self.wakings: list[Waking] = []
        self.dream: SyntheticDream | None = None

    def sleep_on(self) -> Stage:
        """Begin the next epoch, after all that happened up to its start; its true stage."""
        epoch = len(self.stages)
        if any(w.from_t <= epoch * EPOCH_S < w.until_t for w in self._kept_awake):
            self._now = self._now.after(Stage.AWAKE) if epoch else self._now
        elif self._lightened == epoch:
            self._now = self._now.after(Stage.LIGHT)
        elif epoch:
            self._now = self._sleep.after(self._now, epoch)
        self.stages.append(self._now.stage)
        return self._now.stage

    def hear(self, cue: Cue, t: float) -> Waking | None:
        """Answer a cue that reached the sleeper at `t`; a waking, or None."""
        if cue.kind.is_heard:
            self._raised.append((t, self._theme.cue))
        if any(waking.t < t <= waking.until_t for waking in self._kept_awake):
            self._event("awake_already", t, cue=cue.number)
            return None
        stage = self._stage_before(t)
        chance = self._table.chance(stage, cue.kind, cue.volume, self._slept_s())
        value = None if chance is None else self._dice.roll(RollStream.WAKE, cue.step)
        answer = Answer.NONE
        if value is not None and chance is not None:
            answer = self._answers.answer(value, chance)
        self._event(
            "roll",
            t,
            step=cue.step,
            cue=cue.number,
            stream=RollStream.WAKE.value,
            value=value,
            chance=chance,
            stage=stage.value,
            imputed=False,
            woken=answer is Answer.WAKING,
        )
        return self._answered(answer, cue, t, stage)

    def presence_at(self, t: float) -> float:
        """Hidden presence of the theme."""
        return self._theme.presence(self._raised, t)

    def close(self, t: float) -> None:
        """Settle the night's dream, and write the truth and the end of the hidden trace."""
        self.dream = dream = self._dreamt()
        self._event("truth", t, letters="".join(stage.letter for stage in self.stages))
        self._event("synthetic_dream", t, **_told(dream))
        footer = {
            "t": rounded(t, "t"),
            "wakings": len(self.wakings),
            "recorded_epochs": len(self.stages),
            "inserted_epochs": 0,
        }
        self._trace.line("footer", footer)

    def _answered(self, answer: Answer, cue: Cue, t: float, stage: Stage) -> Waking | None:
        if answer is Answer.WAKING:
            waking = self._keep_awake(t)
            self.wakings.append(waking)
            self._event("waking", t, from_t=waking.from_t, until_t=waking.until_t)
            return waking
        self._delay_onset(cue, t, stage)
        if answer is Answer.STAGE_CHANGE and stage in (Stage.DEEP, Stage.REM):
            self._lightened = ceil(t / EPOCH_S)
            self._event("stage_change", t, cue=cue.number, from_t=self._lightened * EPOCH_S)
        elif answer is not Answer.NONE:
            self._event("arousal", t, cue=cue.number)
        return None

    def _delay_onset(self, cue: Cue, t: float, stage: Stage) -> None:
        option = self._answers.onset_delay
        if option is None or not self._falls_asleep(stage, option.light_s):
            return
        chance = min(1.0, self._table.scale * option.chances[column(cue.kind, cue.volume)])
        if self._dice.roll(RollStream.ONSET, cue.step) < chance:
            delay = self._keep_awake(t)
            self._event(
                "onset_delay", t, cue=cue.number, from_t=delay.from_t, until_t=delay.until_t
            )

    def _keep_awake(self, t: float) -> Waking:
        from_t = ceil(t / EPOCH_S) * EPOCH_S
        awake = Waking(t, from_t, from_t + self._table.awake_epochs * EPOCH_S)
        self._kept_awake.append(awake)
        return awake

    def _falls_asleep(self, stage: Stage, light_s: float) -> bool:
        """Whether sleep has not been sustained yet, in wake or in the first of light sleep."""
        row = longest = 0
        for one in self.stages:
            row = row + 1 if one.is_sleep else 0
            longest = max(longest, row)
        if longest >= SUSTAINED_EPOCHS:
            return False
        light = takewhile(lambda one: one is Stage.LIGHT, reversed(self.stages))
        first_of_light = stage is Stage.LIGHT and sum(EPOCH_S for _ in light) <= light_s
        return stage is Stage.AWAKE or first_of_light

    def _stage_before(self, t: float) -> Stage:
        epoch = min(ceil(t / EPOCH_S), len(self.stages)) - 1
        return self.stages[epoch] if epoch >= 0 else Stage.AWAKE

    def _slept_s(self) -> float:
        if self._table.time_of_night is None:
            return 0.0
        return EPOCH_S * sum(stage.is_sleep for stage in self.stages)

    def _dreamt(self) -> SyntheticDream:
        rem = [k * EPOCH_S + 15.0 for k, stage in enumerate(self.stages) if stage is Stage.REM]
        presence = sum(map(self.presence_at, rem)) / len(rem) if rem else 0.0
        chance = self._theme.incorporation(presence)
        return SyntheticDream(
            presence=round(presence, _DECIMALS),
            chance=round(chance, _DECIMALS),
            theme=self._roll(THEME_STREAM) < chance,
            recalled=self._roll(RECALL_STREAM) < self._theme.recall,
        )

    def _roll(self, stream: str) -> float:
        return roll(self._dice.night, self._dice.seed, stream, 0)

    def _event(self, name: str, t: float, **fields: object) -> None:
        self._trace.line("event", {"t": rounded(t, "t"), "event": name, **fields})


def _told(dream: SyntheticDream) -> Mapping[str, Any]:
    return {
        "synthetic": True,
        "presence": dream.presence,
        "chance": dream.chance,
        "theme": dream.theme,
        "recalled": dream.recalled,
        "report": dream.report,
    }
