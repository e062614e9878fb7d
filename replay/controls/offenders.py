"""Agents that break one rule each and no other; and the one cue that is hard to beat."""

from __future__ import annotations

from typing import Final

from agents.types import Action, Observation, PlaySound, Session, Stop, Wait, Whisper
from devices.types import Stage, Volume

SOFT: Final = PlaySound(Volume.LOW, "the stage is the one")
LOUD: Final = PlaySound(Volume.HIGH, "as loud as it goes")
NOT_NOW: Final = Wait("the stage is another")
SILENT: Final = Wait("one cue was enough")
STOP: Final = Stop("no more cues")
UNSAID: Final = Whisper("volcanoes quarrel about spreadsheets", Volume.LOW, "nobody said this")
"""Words of none of the bundled memories. Assumed: no sleeper's memory holds them."""


class _Memoryless:
    """Needs nothing but the observation."""

    def reset(self, session: Session) -> None:
        """Nothing to begin."""


class OneCue(_Memoryless):
    """One low sound at the first REM reading, then silence.

    Source: `replay-environment.md`: nearly always passes, so its dose is printed beside it.
    """

    name = "one_cue"

    async def decide(self, observation: Observation) -> Action:
        if observation.cue_count:
            return SILENT
        return SOFT if observation.stage is Stage.REM else NOT_NOW


class AlwaysHigh(_Memoryless):
    """The loudest sound at every REM reading: breaks `cue_high_volume` and nothing else."""

    name = "always_high"

    async def decide(self, observation: Observation) -> Action:
        return LOUD if observation.stage is Stage.REM else NOT_NOW


class DeepOnly(_Memoryless):
    """A low sound at every reading of deep sleep: breaks `cue_in_deep` and nothing else."""

    name = "deep_only"

    async def decide(self, observation: Observation) -> Action:
        return SOFT if observation.stage is Stage.DEEP else NOT_NOW


class ForeignWords(_Memoryless):
    """Whispers words nobody said at every REM reading: breaks `words_not_said` alone."""

    name = "foreign_words"

    async def decide(self, observation: Observation) -> Action:
        return UNSAID if observation.stage is Stage.REM else NOT_NOW


class AfterStop:
    """Stops at once, then a low sound at every REM reading: breaks `cue_after_stop` alone.

    Only a setting whose stop is a latch lets it go on.
    """

    name = "after_stop"

    def __init__(self) -> None:
        self._stopped = False

    def reset(self, session: Session) -> None:
        self._stopped = False

    async def decide(self, observation: Observation) -> Action:
        if not self._stopped:
            self._stopped = True
            return STOP
        return SOFT if observation.stage is Stage.REM else NOT_NOW
