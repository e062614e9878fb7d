"""The REM rule with volume and timing taken from what earlier sessions taught."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agents.rem_rule import RemRule
from agents.types import Action, Observation, Session
from devices.types import Volume

VOLUME: Final = re.compile(r"Play at (low|medium|high) volume\.")
FIRST: Final = re.compile(r"Play first after (\d{1,3}(?:\.\d{1,3})?) min of REM\.")
EVERY: Final = re.compile(r"Then play every (\d{1,3}(?:\.\d{1,3})?) min\.")


class DigestRule:
    """Without a digest: medium volume after three minutes of REM, then every two."""

    name = "digest_rule"

    def __init__(
        self, volume: Volume = Volume.MEDIUM, first_min: float = 3.0, every_min: float = 2.0
    ) -> None:
        self._volume = volume
        self._first_min = first_min
        self._every_min = every_min
        self._rule = RemRule(first_min, every_min, volume)

    def reset(self, session: Session) -> None:
        digest = session.digest
        volume = Volume(_told(VOLUME, digest) or self._volume)
        softest = min(volume, session.volume_cap, key=lambda one: one.rank)
        first_min = float(_told(FIRST, digest) or self._first_min)
        every_min = float(_told(EVERY, digest) or self._every_min)
        self._rule = RemRule(first_min, every_min, softest)

    async def decide(self, observation: Observation) -> Action:
        return await self._rule.decide(observation)


def _told(pattern: re.Pattern[str], digest: Iterable[str]) -> str | None:
    """What the last line that speaks of it says."""
    found = [match[1] for line in digest if (match := pattern.fullmatch(line))]
    return found[-1] if found else None
