"""The columns of an export: one declaration for JSON Lines, Parquet and the check of each value.

A column is a kind of value, `[column]` for a list of it, or a mapping for an object. Every value
may be null; every declared key is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import isfinite
from reprlib import repr as short
from typing import Any, Final

from replay.export.errors import ExportError


class Kind(StrEnum):
    """What a single value is."""

    WHOLE = "int64"
    NUMBER = "float64"
    TEXT = "string"
    FLAG = "bool"


Column = Kind | list[Any] | Mapping[str, Any]
Columns = Mapping[str, Column]

_WHOLE, _NUMBER, _TEXT, _FLAG = Kind.WHOLE, Kind.NUMBER, Kind.TEXT, Kind.FLAG
_TEXTS: Final = [_TEXT]

READING: Final[Columns] = {"value": _NUMBER, "age_s": _NUMBER, "source": _TEXT}
READINGS: Final = (
    "heart_rate_bpm",
    "hrv_rmssd_ms",
    "movement_g",
    "temperature_c",
    "noise_dba",
    "light_lux",
    "humidity_pct",
    "skin_temperature_c",
    "co2_ppm",
)
"""Keys of an observation that a trace writes as `[value, age_s, source]`."""

OBSERVATION: Final[Columns] = {
    "clock_s": _NUMBER,
    "has_reading": _FLAG,
    "stage": _TEXT,
    "fine_stage": _TEXT,
    "confidence": _NUMBER,
    "minutes_in_stage": _NUMBER,
    "rem_epochs_in_row": _WHOLE,
    "rem_period": _WHOLE,
    "cues_in_rem_period": _WHOLE,
    "minutes_since_onset": _NUMBER,
    "cues": _WHOLE,
    "minutes_since_cue": _NUMBER,
    "last_outcome": _TEXT,
    "budget_left": _WHOLE,
    "reported_awake": _FLAG,
    "paused_until_clock_s": _NUMBER,
    "minutes_to_wake": _NUMBER,
    **dict.fromkeys(READINGS, READING),
    "still_s": _NUMBER,
}
EPOCH: Final[Columns] = {
    "stage": _TEXT,
    "fine": _TEXT,
    "coverage": _NUMBER,
    "frozen": _FLAG,
    "eeg": [{"band": _TEXT, "uv2": [_NUMBER]}],
}
ACTION: Final[Columns] = {
    "kind": _TEXT,
    "volume": _TEXT,
    "line": _TEXT,
    "object": _TEXT,
    "reason": _TEXT,
}
DELIVERY: Final[Columns] = {
    "t": _NUMBER,
    "shown": _TEXT,
    "shown_age_s": _NUMBER,
    "rules": _TEXTS,
    "rules_delivered": _TEXTS,
    "limits": _TEXTS,
    "would_refuse": _FLAG,
    "refused_by": _TEXTS,
    "rewritten": _FLAG,
    "lowered_from": _TEXT,
    "delivered": ACTION,
    "cue": _WHOLE,
}
CALL: Final[Columns] = {
    "t": _NUMBER,
    "number": _WHOLE,
    "service": _TEXT,
    "model": _TEXT,
    "latency_s": _NUMBER,
    "attempts": _WHOLE,
    "usage": [{"name": _TEXT, "count": _WHOLE}],
    "error": _TEXT,
    "refused": _TEXT,
}
EVENT: Final[Columns] = {
    "t": _NUMBER,
    "event": _TEXT,
    "cue": _WHOLE,
    "status": _TEXT,
    "onset_t": _NUMBER,
    "ended_t": _NUMBER,
    "level_dba": _NUMBER,
    "detail": _TEXT,
    "signs": _TEXTS,
    "act": _TEXT,
    "minutes": _NUMBER,
}
REWARD: Final[Columns] = dict.fromkeys(
    ("body", "theme", "waking", "violation", "progress"), _NUMBER
)
STEP: Final[Columns] = {
    "episode": _WHOLE,
    "step": _WHOLE,
    "t": _NUMBER,
    "is_first": _FLAG,
    "is_last": _FLAG,
    "is_terminal": _FLAG,
    "valid": _FLAG,
    "observation_from": _TEXT,
    "observation": OBSERVATION,
    "epoch": EPOCH,
    "action": ACTION,
    "requested": ACTION,
    "decision": {"status": _TEXT, "latency_s": _NUMBER, "error": _TEXT},
    "delivery": DELIVERY,
    "calls": [CALL],
    "events": [EVENT],
    "reward": _NUMBER,
    "reward_components": REWARD,
    "discount": _NUMBER,
}
_CUE: Final[Columns] = {"t": _NUMBER, "cue": _WHOLE}
_ROLL: Final[Columns] = {**_CUE, "value": _NUMBER, "chance": _NUMBER}
_SPAN: Final[Columns] = {"from_t": _NUMBER, "until_t": _NUMBER}
HAPPENED: Final[Mapping[str, tuple[str, Columns]]] = {
    "roll": (
        "rolls",
        {
            **_CUE,
            "stream": _TEXT,
            "value": _NUMBER,
            "chance": _NUMBER,
            "stage": _TEXT,
            "imputed": _FLAG,
            "woken": _FLAG,
        },
    ),
    "waking": ("wakings", {"t": _NUMBER, **_SPAN}),
    "awake_already": ("awake_already", _CUE),
    "disturbed": ("disturbed", {"t": _NUMBER, "fault": _TEXT}),
    "fault": ("faults", {"t": _NUMBER, "fault": _TEXT, "cue": _WHOLE, "late_s": _NUMBER}),
    "onset_roll": ("onset_rolls", _ROLL),
    "onset_delay": ("onset_delays", {**_ROLL, **_SPAN}),
    "stage_change": ("stage_changes", {**_CUE, "from_t": _NUMBER}),
    "arousal": ("arousals", _CUE),
}
"""Hidden events that have a column: its name, and what it holds of each."""
HIDDEN: Final[Columns] = {
    "episode": _WHOLE,
    "step": _WHOLE,
    "true_stage": _TEXT,
    "inserted": _FLAG,
    "dropped": _FLAG,
    **{column: [columns] for column, columns in HAPPENED.values()},
    "other": [{"t": _NUMBER, "event": _TEXT, "details": _TEXT}],
    "reward_waking": _NUMBER,
}
EPISODE: Final[Columns] = {
    "episode": _WHOLE,
    "source": _TEXT,
    "run": _TEXT,
    "session": _TEXT,
    "task": _TEXT,
    "agent": _TEXT,
    "seed": _WHOLE,
    "wake_scale": _NUMBER,
    "dropout": _NUMBER,
    "comparability_key": _TEXT,
    "training_exposure": _TEXTS,
    "transitions": _WHOLE,
    "records": _WHOLE,
    "ending": _TEXT,
    "truncated": _FLAG,
    "ended_t": _NUMBER,
    "session_kind": _TEXT,
    "mode": _TEXT,
    "epoch_s": _NUMBER,
    "start_clock_s": _NUMBER,
    "start_assumed": _FLAG,
    "theme": _TEXT,
    "memory": _TEXT,
    "lines": _TEXTS,
    "volume_cap": _TEXT,
    "cue_budget": _WHOLE,
    "powers": _TEXT,
    "planned_wake_clock_s": _NUMBER,
    "digest": _TEXTS,
    "puffs": _WHOLE,
    "record_only": _FLAG,
    "sound_s": _NUMBER,
    "whisper_s": _NUMBER,
    "object_s": _NUMBER,
    "decision_limit_s": _NUMBER,
    "streams": [
        {
            "stream": _TEXT,
            "source": _TEXT,
            "interval_s": _NUMBER,
            "channels": _TEXTS,
            "rate_hz": _NUMBER,
            "simulated": _FLAG,
        }
    ],
    "night": {
        "id": _TEXT,
        "kind": _TEXT,
        "origin": _TEXT,
        "synthetic": _FLAG,
        "first_epoch": _WHOLE,
    },
    "trace_sha256": _TEXT,
    "hidden_sha256": _TEXT,
}


def shaped(value: Any, column: Column, where: str) -> Any:
    """The value with every declared key in its order, absent ones null; numbers as declared.

    Raises:
        ExportError: naming `where` and the key, for a key or a kind that is not declared, so that
            nothing is lost unseen.
    """
    if value is None:
        return None
    if isinstance(column, Kind):
        return _single(value, column, where)
    if isinstance(column, list):
        if not isinstance(value, list | tuple):
            raise ExportError(f"{where}: a list was expected, got {short(value)}")
        return [shaped(one, column[0], where) for one in value]
    return _object(value, column, where)


def _object(value: Any, columns: Columns, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ExportError(f"{where}: an object was expected, got {short(value)}")
    if not value.keys() <= columns.keys():
        unknown = sorted(map(str, value.keys() - columns.keys()))
        raise ExportError(f"{where}: key {short(unknown[0])} has no column; update Paprika")
    return {
        key: shaped(value.get(key), column, f"{where}, {key}") for key, column in columns.items()
    }


def _single(value: Any, kind: Kind, where: str) -> Any:
    if kind is Kind.TEXT and isinstance(value, str):
        if value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value):
            return str(value)
        raise ExportError(f"{where}: text holds half a character; correct the trace")
    if kind is Kind.FLAG and isinstance(value, bool):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if kind is Kind.NUMBER and abs(value) < 1e300 and isfinite(value):
            return float(value)
        if kind is Kind.WHOLE and isinstance(value, int) and -(2**63) <= value < 2**63:
            return value
    raise ExportError(f"{where}: {kind} was expected, got {short(value)}")
