"""The one assumed step of the replay: the chance that a cue wakes the sleeper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from devices.types import CueKind, PaprikaError, Stage, Volume

ROLLED: Final = (Stage.LIGHT, Stage.REM, Stage.DEEP)
OBJECT: Final = "object"
"""The column of scent, light and diffuser; the others are named by volume."""


class WakeTableError(PaprikaError):
    """A wake table lacks a number or holds one that cannot be."""


class WakeOption(StrEnum):
    """What a wake table can do besides; each is an assumption and off by default."""

    TIME_OF_NIGHT = "time_of_night"
    ONSET_DELAY = "onset_delay"


@dataclass(frozen=True, slots=True)
class TimeOfNight:
    """Thresholds fall with accumulated sleep: a factor on every chance of waking. Assumption.

    per_hour: what the factor grows by in an hour of sleep, from 1. most: where it ends.
    """

    per_hour: float
    most: float

    def factor(self, slept_s: float) -> float:
        return min(self.most, 1.0 + self.per_hour * slept_s / 3600.0)


@dataclass(frozen=True, slots=True)
class OnsetDelay:
    """A cue at the wrong time delays sleep: before sustained onset, while AWAKE or in the first
    `light_s` of LIGHT, it inserts AWAKE epochs with these chances by column. Assumption."""

    chances: Mapping[str, float]
    light_s: float


@dataclass(frozen=True, slots=True)
class WakeTable:
    """Chance of waking by hidden coarse stage and column, times `scale`, at most 1.

    awake_epochs: AWAKE epochs that a waking, or a delay of onset, inserts.
    time_of_night, onset_delay: None: off.
    """

    chances: Mapping[Stage, Mapping[str, float]]
    awake_epochs: int
    scale: float = 1.0
    time_of_night: TimeOfNight | None = None
    onset_delay: OnsetDelay | None = None

    def chance(
        self, stage: Stage, kind: CueKind, volume: Volume, slept_s: float = 0.0
    ) -> float | None:
        """The chance in 0..1, or None where nothing is rolled: awake, or no stage known.

        slept_s: sleep up to now.
        """
        row = self.chances.get(stage.coarse)
        if row is None:
            return None
        falling = 1.0 if self.time_of_night is None else self.time_of_night.factor(slept_s)
        return min(1.0, self.scale * falling * row[column(kind, volume)])

    @property
    def options(self) -> dict[str, dict[str, Any]]:
        """What is on, with its numbers, as JSON values; empty by default."""
        given = {
            WakeOption.TIME_OF_NIGHT.value: self.time_of_night,
            WakeOption.ONSET_DELAY.value: self.onset_delay,
        }
        return {name: asdict(option) for name, option in given.items() if option is not None}


def column(kind: CueKind, volume: Volume) -> str:
    """The column of a cue."""
    return volume.value if kind.is_heard else OBJECT


def wake_table(
    table: Mapping[str, Any], scale: float = 1.0, options: Iterable[str] = ()
) -> WakeTable:
    """The table of `config/wake_table.toml`, with these options on.

    Raises:
        WakeTableError: naming the key that is missing or cannot be.
    """
    if not 0.0 <= scale < float("inf"):
        raise WakeTableError(f"wake scale {scale:g} (--wake-scale): give a number of 0 or more")
    epochs = table.get("awake_epochs")
    if not isinstance(epochs, int) or not 1 <= epochs <= 100:
        raise WakeTableError("wake table: awake_epochs must be a whole number from 1 to 100")
    rows = table.get("chances", {})
    chances = {stage: _row(rows.get(stage.value, {}), f"chances.{stage.value}") for stage in ROLLED}
    on = {_option(name) for name in options}
    return WakeTable(
        chances,
        epochs,
        scale,
        _time_of_night(table) if WakeOption.TIME_OF_NIGHT in on else None,
        _onset_delay(table) if WakeOption.ONSET_DELAY in on else None,
    )


def _row(row: Mapping[str, Any], key: str) -> dict[str, float]:
    columns = (*(volume.value for volume in Volume), OBJECT)
    return {name: _number(row, name, f"{key}.{name}", 0.0, 1.0) for name in columns}


def _option(name: str) -> WakeOption:
    if name not in list(WakeOption):
        known = ", ".join(WakeOption)
        raise WakeTableError(f"wake option {name!r} is unknown; known: {known}")
    return WakeOption(name)


def _given(table: Mapping[str, Any], option: WakeOption) -> Mapping[str, Any]:
    given = table.get(option.value)
    if not isinstance(given, Mapping):
        raise WakeTableError(
            f"wake table: [{option.value}] is missing, and the option is asked for"
        )
    return given


def _time_of_night(table: Mapping[str, Any]) -> TimeOfNight:
    key = WakeOption.TIME_OF_NIGHT
    given = _given(table, key)
    return TimeOfNight(
        _number(given, "per_hour", f"{key}.per_hour", 0.0, 10.0),
        _number(given, "most", f"{key}.most", 1.0, 100.0),
    )


def _onset_delay(table: Mapping[str, Any]) -> OnsetDelay:
    key = WakeOption.ONSET_DELAY
    given = _given(table, key)
    light_min = _number(given, "light_min", f"{key}.light_min", 0.0, 60.0)
    return OnsetDelay(_row(given, key), 60.0 * light_min)


def _number(given: Mapping[str, Any], name: str, key: str, least: float, most: float) -> float:
    value = given.get(name)
    if not isinstance(value, int | float) or not least <= value <= most:
        raise WakeTableError(f"wake table: {key} must be {least:g} to {most:g}")
    return float(value)
