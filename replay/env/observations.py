"""Observations as members of a Gymnasium space: the numbers of the trace, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from numpy.typing import NDArray

from agents.types import Observation, Reading
from bedside.trace import rounded
from devices.types import Stage
from replay.env.unicode import Unicode

STAGES: Final = (None, Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM)
"""`stage` is the place in this row; 0 is no reading."""
LONGEST_S: Final = 7 * 86_400.0
"""Times and ages are cut off here. Assumed: no session lasts a week."""
LONGEST_THEME: Final = 200
LONGEST_MEMORY: Final = 2000
"""Characters. Assumed; a longer memory is refused, never cut."""
NOT_SAID: Final = -1.0
"""Confidence of a reading whose device does not say how sure it is."""

BODY: Final[Mapping[str, tuple[str, float, float]]] = {
    "heart_rate_bpm": ("bpm", 0.0, 400.0),
    "hrv_rmssd_ms": ("ms", 0.0, 5_000.0),
    "movement_g": ("g", 0.0, 100.0),
    "skin_temperature_c": ("celsius", -50.0, 100.0),
}
ROOM: Final[Mapping[str, tuple[str, float, float]]] = {
    "temperature_c": ("celsius", -50.0, 100.0),
    "noise_dba": ("dba", 0.0, 150.0),
    "light_lux": ("lux", 0.0, 200_000.0),
    "humidity_pct": ("pct", 0.0, 100.0),
    "co2_ppm": ("ppm", 0.0, 100_000.0),
}
"""Unit as in `bedside.trace.DECIMALS`, lowest and highest value. Assumed; beyond is cut off."""

GROUPS: Final = {"body": BODY, "room": ROOM}

_NUMBERS: Final = {
    "clock_s": (0.0, LONGEST_S),
    "confidence": (NOT_SAID, 1.0),
    "minutes_in_stage": (0.0, LONGEST_S / 60),
    "cues_so_far": (0.0, LONGEST_S / 30),
}


def observation_space(*, body: bool = False, room: bool = False) -> Dict:
    """The keys of `docs/reference/environment.md`; body and room are groups of their own."""
    spaces: dict[str, Space[Any]] = {
        key: Box(low, high, (1,), np.float64) for key, (low, high) in _NUMBERS.items()
    }
    spaces |= {
        "has_reading": Discrete(2),
        "stage": Discrete(len(STAGES)),
        "theme": Unicode(LONGEST_THEME),
        "memory": Unicode(LONGEST_MEMORY),
    }
    for group, wanted in (("body", body), ("room", room)):
        if wanted:
            spaces[group] = Dict({key: _reading_space(key, group) for key in GROUPS[group]})
    return Dict(spaces)


def line_of(observation: Observation) -> dict[str, Any]:
    """The observation as the trace words it, as far as the space holds it."""
    seen = observation
    readings = {
        key: _worded(getattr(seen, key), unit)
        for group in GROUPS.values()
        for key, (unit, *_) in group.items()
    }
    return {
        "clock_s": rounded(seen.clock_s, "clock_s"),
        "has_reading": seen.has_reading,
        "stage": seen.stage,
        "confidence": rounded(seen.confidence, "confidence"),
        "minutes_in_stage": rounded(seen.minutes_in_stage, "minutes"),
        "cues": len(seen.cues),
        **readings,
    }


def observed(
    line: Mapping[str, Any], theme: str, memory: str | None, space: Dict
) -> dict[str, Any]:
    """The member of the space that an observation of the trace is; new arrays every time."""
    has_reading = bool(line["has_reading"])
    stage = Stage(line["stage"]) if has_reading else None
    confidence = line["confidence"]
    sure = NOT_SAID if confidence is None else confidence
    found: dict[str, Any] = {
        "clock_s": _number("clock_s", line["clock_s"]),
        "confidence": _number("confidence", sure if has_reading else 0.0),
        "cues_so_far": _number("cues_so_far", line["cues"]),
        "has_reading": np.int64(has_reading),
        "memory": memory or "",
        "minutes_in_stage": _number("minutes_in_stage", line["minutes_in_stage"]),
        "stage": np.int64(STAGES.index(stage)),
        "theme": theme,
    }
    for group, readings in GROUPS.items():
        if group in space.spaces:
            found[group] = {
                key: _reading(line[key], *limits) for key, (_, *limits) in readings.items()
            }
    return found


def _reading_space(key: str, group: str) -> Box:
    """has_reading, value, age (s)."""
    _, low, high = GROUPS[group][key]
    lowest, highest = np.array([0.0, low, 0.0]), np.array([1.0, high, LONGEST_S])
    return Box(lowest, highest, dtype=np.float64)


def _worded(reading: Reading | None, unit: str) -> list[Any] | None:
    if reading is None:
        return None
    return [rounded(reading.value, unit), rounded(reading.age_s, "s")]


def _number(key: str, value: float | None) -> NDArray[np.float64]:
    low, high = _NUMBERS[key]
    return np.array([min(max(value or 0.0, low), high)], np.float64)


def _reading(worded: list[Any] | None, low: float, high: float) -> NDArray[np.float64]:
    if worded is None or worded[0] is None:
        return np.zeros(3)
    value, age_s = worded[0], worded[1]
    return np.array([1.0, min(max(value, low), high), min(max(age_s or 0.0, 0.0), LONGEST_S)])
