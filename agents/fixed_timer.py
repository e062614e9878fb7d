"""The sound every five minutes of the session, whatever the stage.

Source: the timer of Dormio (Haar Horowitz et al. 2020); five minutes as in the seed's agent table.
"""

from __future__ import annotations

from typing import Final

from agents.types import Action, Observation, PlaySound, Session, Wait
from devices.types import EPOCH_S, Volume

ROUNDING_S: Final = 1e-3
"""Assumed: clock sums may fall short of a multiple by less than a millisecond."""


class FixedTimer:
    """Plays once for each multiple of `every_min` that the session clock has crossed.

    A step that never reached the agent only delays the sound to the next step; several multiples
    crossed at once give one sound. A multiple that lies more than an epoch before the first
    observation of a session is gone, so that a resumed night does not begin with a sound.
    """

    name = "fixed_timer"

    def __init__(self, every_min: float = 5.0, volume: Volume = Volume.LOW) -> None:
        if not every_min > 0:
            raise ValueError(f"every_min must be above 0, got {every_min}")
        self._every_s = every_min * 60.0
        self._volume = volume
        self._start_clock_s = 0.0
        self._crossed: int | None = None
        self._until_next = Wait()

    def reset(self, session: Session) -> None:
        self._start_clock_s = session.start_clock_s
        self._crossed = None

    async def decide(self, observation: Observation) -> Action:
        elapsed_s = observation.clock_s - self._start_clock_s
        crossed = self._multiples(elapsed_s)
        before = self._crossed
        if before == crossed:
            return self._until_next
        if before is None:
            before = max(0, self._multiples(elapsed_s - EPOCH_S))
        every_min = self._every_s / 60.0
        self._crossed = crossed
        self._until_next = Wait(f"next sound at {(crossed + 1) * every_min:g} min of the session")
        if crossed > before:
            return PlaySound(self._volume, f"{crossed * every_min:g} min of the session are over")
        return self._until_next

    def _multiples(self, elapsed_s: float) -> int:
        return int((elapsed_s + ROUNDING_S) // self._every_s)
