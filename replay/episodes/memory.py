"""What earlier sessions taught, as lines for the agent and a hash for the manifest.

The memory of the live program comes from elsewhere and fits the same protocol.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Protocol

from devices.types import Volume
from replay.episodes.scripted import MorningReport
from replay.episodes.seen import SeenNight

MOST_AWAKE: Final = 0.1
"""Share of cues after which wake may be shown before the memory asks for less. Assumed."""
FEWEST_CUES: Final = 10
"""Cues at one volume before their share means anything. Assumed."""
WIDER_MIN: Final = 2.0
WIDEST_MIN: Final = 10.0
"""Minutes by which cues are set apart, step by step, and at most. Assumed."""


@dataclass(frozen=True, slots=True)
class MemoryState:
    """lines: for `Session.digest`. sha256: of all that is remembered, also of what is not told."""

    lines: tuple[str, ...]
    sha256: str


class EpisodeMemory(Protocol):
    """Carries what was learnt from one session of a person to the next.

    The same sessions in the same order give the same states: no clock, no dice.
    """

    @property
    def name(self) -> str: ...

    def before(self, session: int) -> MemoryState:
        """What is known before a session, counted from 1."""
        ...

    def after(self, seen: SeenNight, report: MorningReport) -> None:
        """Take in a night, as far as it was seen, and what was told in the morning."""
        ...


class WakingMemory:
    """Scripted: asks for softer, then for fewer cues where wake was often shown after them."""

    name = "waking_memory"

    def __init__(self, volume: Volume = Volume.MEDIUM) -> None:
        self._volume = volume
        self._first_min = 3.0
        self._every_min = 2.0
        self._cues: Counter[str] = Counter()
        self._awake: Counter[str] = Counter()
        self._reports = 0

    def before(self, session: int) -> MemoryState:
        lines = (*self._experience(), *self._advice())
        remembered = {
            "lines": lines,
            "cues": dict(sorted(self._cues.items())),
            "awake": dict(sorted(self._awake.items())),
            "reports": self._reports,
        }
        text = json.dumps(remembered, ensure_ascii=False, separators=(",", ":"))
        return MemoryState(lines, sha256(text.encode()).hexdigest())

    def after(self, seen: SeenNight, report: MorningReport) -> None:
        self._reports += report.theme is not None
        for cue in seen.cues:
            if cue.volume is not None:
                self._cues[cue.volume] += 1
                self._awake[cue.volume] += cue.awake_after
        cues, awake = self._cues[self._volume], self._awake[self._volume]
        if cues >= FEWEST_CUES and awake > MOST_AWAKE * cues:
            self._ask_for_less()

    def _ask_for_less(self) -> None:
        if self._volume is not Volume.LOW:
            self._volume = Volume.MEDIUM if self._volume is Volume.HIGH else Volume.LOW
            return
        self._every_min = min(self._every_min + WIDER_MIN, WIDEST_MIN)
        self._first_min = min(self._first_min + WIDER_MIN, WIDEST_MIN)
        self._cues.clear()  # what was learnt of closer cues does not judge the wider ones
        self._awake.clear()

    def _experience(self) -> list[str]:
        return [
            f"After {self._awake[volume]} of {count} cues at {volume} volume wake was shown."
            for volume, count in sorted(self._cues.items())
            if count
        ]

    def _advice(self) -> tuple[str, ...]:
        return (
            f"Play at {self._volume} volume.",
            f"Play first after {self._first_min:g} min of REM.",
            f"Then play every {self._every_min:g} min.",
        )
