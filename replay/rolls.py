"""Seeded rolls: the same night, seed, stream and step give the same number to every agent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256


class RollStream(StrEnum):
    """What a roll decides; streams are independent of each other."""

    WAKE = "wake"
    DROPOUT = "dropout"
    LATENCY = "latency"
    PERSON = "person"
    DISTURBANCE = "disturbance"
    ONSET = "onset"
    SILENT = "silent"


@lru_cache(1 << 14)
def roll(night: str, seed: int, stream: str, step: int) -> float:
    """A number in [0, 1) from the night's key, seed, stream and task step.

    Source: `replay-environment.md`, "Roll": first 8 bytes of SHA-256, 53 bits of them.
    """
    message = f"paprika-roll/1\0{night}\0{seed}\0{stream}\0{step}".encode()
    return (int.from_bytes(sha256(message).digest()[:8], "big") >> 11) / 2**53


def roll_night(stage4_sha256: str, first_epoch: int) -> str:
    """The night's key: what slept, not what it is called, and where the task starts."""
    return f"{stage4_sha256[:16]}:{first_epoch}"


@dataclass(frozen=True, slots=True)
class Dice:
    """All rolls of one attempt."""

    night: str
    seed: int

    def roll(self, stream: RollStream, step: int) -> float:
        return roll(self.night, self.seed, stream.value, step)
