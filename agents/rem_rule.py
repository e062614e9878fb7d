"""The sound once REM has lasted three minutes, then every two while REM goes on.

Source: the seed's agent table (rem_rule).
"""

from __future__ import annotations

from typing import Final

from agents.types import Action, Observation, PlaySound, Session, Wait
from devices.types import EPOCH_S, Stage, Volume

NO_READING: Final = Wait("no reading, so no cue")
NOT_REM: Final = {stage: Wait(f"the stage is {stage}, not rem") for stage in Stage}

SLACK_MIN: Final = EPOCH_S / 2 / 60.0
"""Assumed: a cue is due from half an epoch early, so that the milliseconds between a decision and
its sound do not push the next one to the step after."""


class RemRule:
    """Counts the first sound from the start of the REM run, held over steps without a reading,
    and each later one from the last cue of that run (a cue before the run does not count).
    """

    name = "rem_rule"

    def __init__(
        self, first_min: float = 3.0, every_min: float = 2.0, volume: Volume = Volume.LOW
    ) -> None:
        self._first_min = first_min
        self._every_min = every_min
        self._volume = volume

    def reset(self, session: Session) -> None:
        """Nothing to begin: every number it needs stands in the observation."""

    async def decide(self, observation: Observation) -> Action:
        stage = observation.stage
        if stage is None or not observation.has_reading:
            return NO_READING
        if stage is not Stage.REM:
            return NOT_REM[stage]
        in_rem_min = observation.minutes_in_stage
        if in_rem_min < self._first_min:
            return Wait(f"REM for {in_rem_min:.1f} min, first sound at {self._first_min:g}")
        since_min = observation.minutes_since_cue
        if since_min is None or since_min >= in_rem_min:
            return self._play(f"REM for {in_rem_min:.1f} min, no cue yet in this run")
        told = f"REM for {in_rem_min:.1f} min, last cue {since_min:.1f} min ago"
        if since_min < self._every_min - SLACK_MIN:
            return Wait(f"{told}, next at {self._every_min:g}")
        return self._play(told)

    def _play(self, reason: str) -> PlaySound:
        return PlaySound(self._volume, reason)
