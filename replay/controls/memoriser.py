"""An agent that has learned by heart when development nights were in REM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from agents.types import Action, Observation, PlaySound, Session, Wait
from bedside.clock import SessionStart, clock_s
from devices.types import EPOCH_S, Stage, Volume
from replay.hypnogram import letters
from replay.recorded_night import RecordedNight

EVERY_MIN: Final = 2.0
SLACK_MIN: Final = 0.25
"""Assumed: due from half an epoch early, as in `agents.rem_rule`."""
OFF_GRID_S: Final = 1e-3
UNSCORED: Final = "?"


@dataclass(frozen=True, slots=True)
class Learned:
    """A development night: when it began and what it showed, one letter an epoch."""

    start_clock_s: float
    letters: str

    def letter(self, at_clock_s: float) -> str | None:
        """The stage of the epoch that ends at this clock; None where the night has no such one."""
        epochs = (at_clock_s - self.start_clock_s) / EPOCH_S - 1
        epoch = round(epochs)
        if not 0 <= epoch < len(self.letters):
            return None
        return self.letters[epoch]

    def is_on_grid(self, at_clock_s: float) -> bool:
        """Whether its epochs begin and end at the same seconds as those of this clock."""
        epochs = (at_clock_s - self.start_clock_s) / EPOCH_S
        return abs(epochs - round(epochs)) * EPOCH_S < OFF_GRID_S


def learned(night: RecordedNight) -> Learned:
    """What the memoriser keeps of a night."""
    start = SessionStart(night.info.start_wall_ns, night.info.utc_offset_s or 0)
    return Learned(clock_s(start), letters(night.shown))


class Memoriser:
    """Cues by the clock alone, every two minutes while the night it believes to be in had REM.

    It believes in the first learned night that fits the first reading of the session; where none
    fits, it takes an instant for REM if at least half of the learned nights had REM then.
    Privileged: built from recordings, which no agent sees.
    """

    name = "memoriser"

    def __init__(self, nights: Sequence[Learned]) -> None:
        self._nights = tuple(nights)
        self._learned_sha256 = _digest(self._nights)
        self._believed: list[Learned] | None = None

    def reset(self, session: Session) -> None:
        self._believed = None

    async def decide(self, observation: Observation) -> Action:
        if self._believed is None:
            self._believed = self._fitting(observation)
        if not self._is_rem(observation.clock_s):
            return Wait("no REM by heart at this time")
        since_min = observation.minutes_since_cue
        if since_min is not None and since_min < EVERY_MIN - SLACK_MIN:
            return Wait(f"REM by heart, last cue {since_min:.1f} min ago")
        return PlaySound(Volume.LOW, "REM by heart at this time")

    def _fitting(self, seen: Observation) -> list[Learned]:
        """The night that this one must be, or none."""
        stage = UNSCORED if seen.stage is None else seen.stage.letter
        for night in self._nights:
            letter = night.letter(seen.clock_s)
            if (
                night.is_on_grid(seen.clock_s)
                and letter is not None
                and stage in (UNSCORED, letter)
            ):
                return [night]
        return []

    def _is_rem(self, at_clock_s: float) -> bool:
        nights = self._believed or self._nights
        told = [letter for night in nights if (letter := night.letter(at_clock_s)) is not None]
        return 2 * told.count(Stage.REM.letter) >= max(len(told), 1)


def _digest(nights: Sequence[Learned]) -> str:
    lines = (f"{night.start_clock_s:.3f} {night.letters}\n" for night in nights)
    return sha256("".join(lines).encode()).hexdigest()
