"""An agent that acts by chance, the same chance in every run."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from agents.types import (
    Action,
    BedsideObject,
    Observation,
    PlaySound,
    Session,
    UseObject,
    Wait,
    Whisper,
)
from devices.types import Volume

_WAIT: Final = Wait("the dice say wait")
_VOLUMES: Final = tuple(Volume)
_OBJECTS: Final = tuple(BedsideObject)


class RandomCues:
    """Waits, plays, whispers one of the lines or uses an object, by a hash of what it has seen.

    Never stops. `one_in`: how many steps lie between two cues on average. Assumed: 4.
    """

    name = "random"

    def __init__(self, one_in: int = 4, seed: int = 1) -> None:
        self._one_in = one_in
        self._seed = seed
        self._seen = sha256()

    def reset(self, session: Session) -> None:
        self._seen = sha256(f"paprika-random-agent/1\0{self._seed}".encode())

    async def decide(self, observation: Observation) -> Action:
        self._seen.update(
            f"\0{observation.stage}\0{observation.minutes_in_stage}\0{observation.cue_count}".encode()
        )
        roll = int.from_bytes(self._seen.digest()[:8], "big")
        roll, unlucky = divmod(roll, self._one_in)
        return _WAIT if unlucky else _cue(roll, observation.lines)


def _cue(roll: int, lines: tuple[str, ...]) -> Action:
    roll, kind = divmod(roll, 3)
    if kind == 0:
        return UseObject(_OBJECTS[roll % len(_OBJECTS)], "the dice say object")
    roll, which = divmod(roll, len(_VOLUMES))
    if kind == 1 and lines:
        return Whisper(lines[roll % len(lines)], _VOLUMES[which], "the dice say whisper")
    return PlaySound(_VOLUMES[which], "the dice say sound")
