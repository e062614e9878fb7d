"""Caps on what an actuator is asked for: how long, how loud, how bright. Lowest cap wins.

Constants stand in no settings file. What is not a number becomes the lowest there is.
Source: safety.md 12 and 15, and its table of figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from types import MappingProxyType
from typing import Final

from devices.types import CueKind

LONGEST_S: Final[Mapping[CueKind, float]] = MappingProxyType(
    {
        CueKind.SOUND: 20.0,
        CueKind.WHISPER: 8.0,
        CueKind.SCENT: 60.0,
        CueKind.LIGHT: 20.0,
        CueKind.DIFFUSER: 60.0,
    }
)
MAX_LEVEL_DBA: Final = 45.0
"""LAmax at the pillow. Source: WHO, Guidelines for Community Noise, bedrooms at night."""
ABOVE_ROOM_DB: Final = 10.0
UNMEASURED_ROOM_DBA: Final = 35.0
"""Assumed: the default low level, where nobody has measured the room."""
LIGHT_LUX: Final = 5.0
LIGHT_UNCALIBRATED: Final = 0.01
"""Share of full red, for a lamp whose lux at the pillow is not known."""
LIGHT_FADE_S: Final = 2.0


class Cap(StrEnum):
    """Why a value was changed."""

    NOT_A_NUMBER = "not_a_number"
    DURATION = "duration"
    LEVEL = "level"
    ROOM_LEVEL = "room_level"
    ROOM_UNMEASURED = "room_unmeasured"
    LIGHT = "light"
    LIGHT_UNCALIBRATED = "light_uncalibrated"
    LIGHT_FADE = "light_fade"


@dataclass(frozen=True, slots=True)
class Capped:
    """A value inside its caps, and the cap that changed it (None: as asked)."""

    value: float
    by: Cap | None = None


def duration_s(kind: CueKind, asked_s: float) -> Capped:
    """How long a cue of that kind may last."""
    return _at_most(asked_s, LONGEST_S[kind], Cap.DURATION)


def level_dba(asked_dba: float, room_l90_dba: float | None) -> Capped:
    """The level at the pillow, with the room's quiet level (L90) where it is measured."""
    if room_l90_dba is None:
        return _lowest(asked_dba, UNMEASURED_ROOM_DBA, Cap.ROOM_UNMEASURED)
    room_cap = room_l90_dba + ABOVE_ROOM_DB
    if room_cap < MAX_LEVEL_DBA:
        return _lowest(asked_dba, room_cap, Cap.ROOM_LEVEL)
    return _lowest(asked_dba, MAX_LEVEL_DBA, Cap.LEVEL)


def light_lux(asked_lux: float) -> Capped:
    """The light at the pillow, of a calibrated lamp."""
    return _at_most(asked_lux, LIGHT_LUX, Cap.LIGHT)


def light_share(asked: float) -> Capped:
    """The share of full red, of a lamp that is not calibrated."""
    return _at_most(asked, LIGHT_UNCALIBRATED, Cap.LIGHT_UNCALIBRATED)


def light_fade_s(asked_s: float) -> Capped:
    """How long a change of light takes: never a flash."""
    return Capped(asked_s) if asked_s >= LIGHT_FADE_S else Capped(LIGHT_FADE_S, Cap.LIGHT_FADE)


def _at_most(asked: float, cap: float, by: Cap) -> Capped:
    return _lowest(asked, cap, by) if asked >= 0.0 else Capped(0.0, Cap.NOT_A_NUMBER)


def _lowest(asked: float, cap: float, by: Cap) -> Capped:
    if isnan(asked):
        return Capped(0.0, Cap.NOT_A_NUMBER)
    return Capped(cap, by) if asked > cap else Capped(asked)
