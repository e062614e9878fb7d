"""The one assumed step of the replay: the chance that a cue wakes the sleeper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from devices.types import CueKind, PaprikaError, Stage, Volume

ROLLED: Final = (Stage.LIGHT, Stage.REM, Stage.DEEP)
OBJECT: Final = "object"
"""The column of scent, light and diffuser; the others are named by volume."""


class WakeTableError(PaprikaError):
    """A wake table lacks a number or holds one that cannot be."""


@dataclass(frozen=True, slots=True)
class WakeTable:
    """Chance of waking by hidden coarse stage and column, times `scale`, at most 1.

    awake_epochs: AWAKE epochs that a waking inserts.
    """

    chances: Mapping[Stage, Mapping[str, float]]
    awake_epochs: int
    scale: float = 1.0

    def chance(self, stage: Stage, kind: CueKind, volume: Volume) -> float | None:
        """The chance in 0..1, or None where nothing is rolled: awake, or no stage known."""
        row = self.chances.get(stage.coarse)
        if row is None:
            return None
        return min(1.0, self.scale * row[volume.value if kind.is_heard else OBJECT])


def wake_table(table: Mapping[str, Any], scale: float = 1.0) -> WakeTable:
    """The table of `config/wake_table.toml`.

    Raises:
        WakeTableError: naming the key that is missing or cannot be.
    """
    if not 0.0 <= scale < float("inf"):
        raise WakeTableError(f"wake scale {scale:g} (--wake-scale): give a number of 0 or more")
    epochs = table.get("awake_epochs")
    if not isinstance(epochs, int) or not 1 <= epochs <= 100:
        raise WakeTableError("wake table: awake_epochs must be a whole number from 1 to 100")
    columns = (*(volume.value for volume in Volume), OBJECT)
    chances = {
        stage: {column: _chance(table, stage, column) for column in columns} for stage in ROLLED
    }
    return WakeTable(chances, epochs, scale)


def _chance(table: Mapping[str, Any], stage: Stage, column: str) -> float:
    value = table.get("chances", {}).get(stage.value, {}).get(column)
    if not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise WakeTableError(f"wake table: chances.{stage.value}.{column} must be 0 to 1")
    return float(value)
