"""A task: a part of a recorded night with its dice, theme and faults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from replay.conditions import PLAIN, STEPS, Condition

__all__ = [
    "DEVELOPMENT_SEEDS",
    "HELD_OUT_SEEDS",
    "STEPS",
    "StartKind",
    "StartPoint",
    "Task",
]

DEVELOPMENT_SEEDS: Final = (1, 2, 3, 4, 5)
HELD_OUT_SEEDS: Final = (6, 7, 8)
"""New dice, not new sleep. Source: `replay-environment.md`, E4."""


class StartKind(StrEnum):
    """What the night does where a task starts."""

    SLEEP_ONSET = "sleep_onset"
    REM_ONSET = "rem_onset"
    LONGEST_LIGHT = "longest_light"
    LONGEST_DEEP = "longest_deep"
    N1_ONSET = "n1_onset"


@dataclass(frozen=True, slots=True)
class StartPoint:
    """An epoch of a recording at which a task starts.

    clock: local time of day as four digits, for the task's name.
    cluster: start points whose windows overlap, directly or by way of others, share one.
    """

    kind: StartKind
    epoch: int
    clock: str
    cluster: int


@dataclass(frozen=True, slots=True)
class Task:
    """theme: name of a bundled theme; theme_number: its place from 1 among them."""

    night: str
    start: StartPoint
    theme: str
    theme_number: int
    seed: int
    condition: Condition = PLAIN

    @property
    def name(self) -> str:
        """The human name, such as `rem_onset-0941-t3-s1`; agents never see it."""
        plain = f"{self.start.kind}-{self.start.clock}-t{self.theme_number}-s{self.seed}"
        return plain if self.condition == PLAIN else f"{plain}-{self.condition.name}"

    @property
    def held_out(self) -> bool:
        """Whether its seed is a held-out one."""
        return self.seed in HELD_OUT_SEEDS
