"""What validation puts to the test, as values that can be replaced: the seam for broken ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bedside.trace import Trace
from replay.recorded_night import RecordedNight
from replay.rolls import roll
from replay.setting import Setting
from replay.wake_rule import WakeTable, wake_table
from replay.world import World, recorded_world


class WorldBuilder(Protocol):
    """Builds the world of one attempt, on the loop that plays it."""

    def __call__(
        self, night: RecordedNight, setting: Setting, *, session_id: str, hidden: Trace
    ) -> World: ...


@dataclass(frozen=True, slots=True)
class Environment:
    """The parts of an environment. Functions of modules, so that another process finds them.

    world: a night under a setting. wake_table: the table of the settings file at a scale.
    roll: night key, seed, stream and step to a number.
    """

    world: WorldBuilder = recorded_world
    wake_table: Callable[[Mapping[str, Any], float], WakeTable] = wake_table
    roll: Callable[[str, int, str, int], float] = roll


REAL = Environment()
"""The environment of every run."""
