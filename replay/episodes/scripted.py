"""The talk before sleep and the morning after it, scripted and labelled synthetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from bedside.themes import Theme
from replay.episodes.seen import SeenNight
from replay.rolls import Dice, RollStream

RECALL_STEP: Final = 1_000_000
THEME_STEP: Final = 1_000_001
"""Places of the morning's rolls, behind the steps of any night."""


class Talk(Protocol):
    """What is settled before sleep: theme, memory and approved lines."""

    def theme(self, session: int) -> Theme: ...


@dataclass(frozen=True, slots=True)
class ScriptedTalk:
    """The same theme every evening, all its lines approved."""

    chosen: Theme

    def theme(self, session: int) -> Theme:
        return self.chosen


@dataclass(frozen=True, slots=True)
class MorningReport:
    """theme: how far the dream was about it, 0 to 1; None where nothing was reported."""

    theme: float | None
    synthetic: bool = True


class Morning(Protocol):
    """What a person tells after a night."""

    def report(self, seen: SeenNight, dice: Dice) -> MorningReport: ...


@dataclass(frozen=True, slots=True)
class ScriptedMorning:
    """Reports by seeded rolls.

    recall: chance of any report. Assumed. per_cue: what a cue in shown REM adds to the theme; 0 by
    default, because no recording tells of an effect, and an agent must not look better without.
    """

    recall: float = 0.6
    per_cue: float = 0.0

    def report(self, seen: SeenNight, dice: Dice) -> MorningReport:
        if dice.roll(RollStream.PERSON, RECALL_STEP) >= self.recall:
            return MorningReport(None)
        in_rem = sum(cue.in_rem for cue in seen.cues)
        theme = dice.roll(RollStream.PERSON, THEME_STEP) + self.per_cue * in_rem
        return MorningReport(round(min(1.0, theme), 4))
