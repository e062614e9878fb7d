"""Observations, sessions and actions as JSON values, and the check of anything called an action.

Keys stand in the order of docs/reference/agent-protocol.md; enums are their words; a body or
room reading that is no number is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import isfinite
from reprlib import repr as short
from typing import Any, Final, TypeVar

from agents.types import (
    Action,
    AgentError,
    BedsideObject,
    GivenCue,
    Observation,
    PlaySound,
    Reading,
    Session,
    Stop,
    UseObject,
    Wait,
    Whisper,
)
from devices.types import Volume

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "wait": (),
    "sound": ("volume",),
    "whisper": ("volume", "line"),
    "object": ("object",),
    "stop": (),
}
"""The keys of each kind of action, beside `kind` and `reason`."""

LONGEST_TEXT: Final = 500
"""Characters of a line or a reason; longer is nonsense. Assumed."""

_KNOWN: Final = ("kind", "volume", "line", "object", "reason")
_Word = TypeVar("_Word", bound=StrEnum)


def action_to_json(action: object) -> dict[str, str]:
    """The action as a JSON object: kind, volume, line, object, reason; only keys that apply."""
    checked = checked_action(action)
    match checked:
        case Wait():
            return {"kind": "wait", "reason": checked.reason}
        case PlaySound():
            return {"kind": "sound", "volume": checked.volume.value, "reason": checked.reason}
        case Whisper():
            volume, line = checked.volume.value, checked.line
            return {"kind": "whisper", "volume": volume, "line": line, "reason": checked.reason}
        case UseObject():
            return {"kind": "object", "object": checked.object.value, "reason": checked.reason}
        case Stop():
            return {"kind": "stop", "reason": checked.reason}


def action_from_json(obj: object) -> Action:
    """The action that a JSON value means; AgentError says what is wrong with it.

    Volume is low where absent. A null counts as absent. Keys of no use to the kind are refused,
    because a misspelt or misplaced key is a mistake that nobody would see at night.
    """
    if not isinstance(obj, Mapping):
        raise AgentError(f"an action is an object with a kind, got {short(obj)}")
    kind = obj.get("kind")
    if not isinstance(kind, str) or kind not in KEYS:
        raise AgentError(f"kind must be one of {', '.join(KEYS)}, got {short(kind)}")
    _refuse_other_keys(kind, obj)
    reason = _text("reason", obj.get("reason"), "")
    match kind:
        case "wait":
            return Wait(reason)
        case "sound":
            return PlaySound(_volume(obj), reason)
        case "whisper":
            return Whisper(_line(obj.get("line")), _volume(obj), reason)
        case "object":
            return UseObject(_word(BedsideObject, "object", obj.get("object")), reason)
        case _:
            return Stop(reason)


def checked_action(action: object) -> Action:
    """The same action, or AgentError where it is something else or wrongly filled."""
    if isinstance(action, Wait | Stop):
        pass
    elif isinstance(action, PlaySound):
        _member(Volume, "volume", action.volume)
    elif isinstance(action, Whisper):
        _member(Volume, "volume", action.volume)
        _line(action.line)
    elif isinstance(action, UseObject):
        _member(BedsideObject, "object", action.object)
    else:
        raise AgentError(
            f"decide must return Wait, PlaySound, Whisper, UseObject or Stop, got {short(action)}"
        )
    _text("reason", action.reason, None)
    return action


def session_to_json(session: Session) -> dict[str, Any]:
    """Every field of the session, under its own name."""
    return {
        "kind": session.kind.value,
        "start_clock_s": session.start_clock_s,
        "theme": session.theme,
        "memory": session.memory,
        "lines": list(session.lines),
        "volume_cap": session.volume_cap.value,
        "cue_budget": session.cue_budget,
        "planned_wake_clock_s": session.planned_wake_clock_s,
        "digest": list(session.digest),
    }


def observation_to_json(observation: Observation) -> dict[str, Any]:
    """Every field of the observation, under its own name."""
    seen = observation
    return {
        "clock_s": seen.clock_s,
        "session_kind": seen.session_kind.value,
        "has_reading": seen.has_reading,
        "stage": _value(seen.stage),
        "fine_stage": _value(seen.fine_stage),
        "confidence": seen.confidence,
        "minutes_in_stage": seen.minutes_in_stage,
        "rem_epochs_in_row": seen.rem_epochs_in_row,
        "rem_period": seen.rem_period,
        "cues_in_rem_period": seen.cues_in_rem_period,
        "minutes_since_onset": seen.minutes_since_onset,
        "theme": seen.theme,
        "memory": seen.memory,
        "lines": list(seen.lines),
        "cues": [_given(cue) for cue in seen.cues],
        "minutes_since_cue": seen.minutes_since_cue,
        "last_outcome": _value(seen.last_outcome),
        "budget_left": seen.budget_left,
        "volume_cap": seen.volume_cap.value,
        "reported_awake": seen.reported_awake,
        "paused_until_clock_s": seen.paused_until_clock_s,
        "minutes_to_wake": seen.minutes_to_wake,
        "heart_rate_bpm": _reading(seen.heart_rate_bpm),
        "hrv_rmssd_ms": _reading(seen.hrv_rmssd_ms),
        "movement_g": _reading(seen.movement_g),
        "still_s": seen.still_s,
        "skin_temperature_c": _reading(seen.skin_temperature_c),
        "temperature_c": _reading(seen.temperature_c),
        "noise_dba": _reading(seen.noise_dba),
        "light_lux": _reading(seen.light_lux),
        "humidity_pct": _reading(seen.humidity_pct),
        "co2_ppm": _reading(seen.co2_ppm),
        "digest": list(seen.digest),
    }


def _value(word: StrEnum | None) -> str | None:
    return None if word is None else word.value


def _given(cue: GivenCue) -> dict[str, Any]:
    return {
        "clock_s": cue.clock_s,
        "kind": cue.kind.value,
        "volume": cue.volume.value,
        "failed": cue.failed,
    }


def _reading(reading: Reading | None) -> dict[str, Any] | None:
    if reading is None or not isfinite(reading.value):
        return None
    return {"value": reading.value, "age_s": reading.age_s, "source": reading.source}


def _refuse_other_keys(kind: str, obj: Mapping[Any, Any]) -> None:
    for key, value in obj.items():
        if key not in _KNOWN:
            raise AgentError(f"unknown key {short(key)} in an action; keys: {', '.join(_KNOWN)}")
        if value is not None and key not in ("kind", "reason", *KEYS[kind]):
            raise AgentError(f"an action of kind {kind} has no {key}")


def _volume(obj: Mapping[Any, Any]) -> Volume:
    asked = obj.get("volume")
    return Volume.LOW if asked is None else _word(Volume, "volume", asked)


def _word(vocabulary: type[_Word], key: str, value: object) -> _Word:
    for word in vocabulary:
        if isinstance(value, str) and value == word.value:
            return word
    raise AgentError(f"{key} must be one of {', '.join(vocabulary)}, got {short(value)}")


def _member(vocabulary: type[_Word], key: str, value: object) -> None:
    if not isinstance(value, vocabulary):
        raise AgentError(f"{key} must be a {vocabulary.__name__}, got {short(value)}")


def _line(value: object) -> str:
    if value is None:
        raise AgentError("a whisper needs its line")
    line = _text("line", value, None)
    if not line.strip():
        raise AgentError("the line of a whisper is empty")
    return line


def _text(key: str, value: object, absent: str | None) -> str:
    """A string that can be written as UTF-8: half a surrogate pair from `\\ud800` cannot."""
    if value is None and absent is not None:
        return absent
    if not isinstance(value, str):
        raise AgentError(f"{key} must be text, got {short(value)}")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise AgentError(f"{key} holds half a character, got {short(value)}")
    if len(value) > LONGEST_TEXT:
        raise AgentError(f"{key} has {len(value)} characters, {LONGEST_TEXT} at most")
    return value
