"""An agent that knows how long the sleep has lasted, and no stage."""

from __future__ import annotations

from typing import Final

from agents.types import Action, Observation, PlaySound, Session, Wait
from devices.types import Volume

CYCLE_MIN: Final = 90.0
"""Source: Carskadon and Dement, "Normal human sleep: an overview": cycles of about 90 min."""
REM_MIN: Final = 20.0
"""REM at the end of each cycle. Assumed."""
EVERY_MIN: Final = 2.0
SLACK_MIN: Final = 0.25
"""Assumed: due from half an epoch early, as in `agents.rem_rule`."""


class ClockOnly:
    """A low sound every two minutes in the last twenty of each ninety since sleep onset."""

    name = "clock_only"

    def reset(self, session: Session) -> None:
        """Nothing to begin."""

    async def decide(self, observation: Observation) -> Action:
        asleep_min = observation.minutes_since_onset
        if asleep_min is None:
            return Wait("not yet asleep")
        in_cycle_min = asleep_min % CYCLE_MIN
        told = f"minute {in_cycle_min:.1f} of a cycle of {CYCLE_MIN:g}"
        if in_cycle_min < CYCLE_MIN - REM_MIN:
            return Wait(told)
        since_min = observation.minutes_since_cue
        if since_min is not None and since_min < EVERY_MIN - SLACK_MIN:
            return Wait(f"{told}, last cue {since_min:.1f} min ago")
        return PlaySound(Volume.LOW, told)
