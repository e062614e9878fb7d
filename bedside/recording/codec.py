"""Values of the small streams as JSON and back.

Canonical: fixed key order, no spaces, numbers as floats, what is None left out. Equal values have
equal bytes, so a reader may remember what bytes meant.
"""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecoder, JSONEncoder
from typing import Any, Final, TypeVar

from devices.types import (
    Battery,
    Contact,
    Cue,
    CueKind,
    CuePurpose,
    CueSounded,
    HeartRate,
    Movement,
    Outcome,
    OutcomeStatus,
    PersonAct,
    PersonEvent,
    Room,
    SkinTemperature,
    Stage,
    StageReading,
    Stream,
    Value,
    Volume,
)

Fields = dict[str, Any]
_Word = TypeVar("_Word", PersonAct, CueKind, CuePurpose, Volume, OutcomeStatus)


def encoder(stream: Stream) -> Callable[[Any], bytes]:
    """Value to bytes; raises ValueError, TypeError or AttributeError on what JSON cannot hold."""
    fields = _FIELDS[stream]
    return lambda value: dumps(fields(value))


def decoder(stream: Stream) -> Callable[[bytes], Value]:
    """Bytes to value; raises ValueError, TypeError, KeyError or AttributeError on anything else."""
    return _DECODERS[stream]


def truth_payload(stage: Stage) -> bytes:
    return dumps({"stage": Stage(stage).value})


def truth_stage(payload: bytes) -> Stage:
    return _STAGES[loads(payload)["stage"]]


def dumps(fields: Fields) -> bytes:
    return _to_text(fields).encode("ascii")


def loads(payload: bytes) -> Fields:
    """One JSON object; ValueError on anything else, on NaN and on infinities."""
    text = payload.decode("utf-8")
    try:
        fields, end = _scan(text, 0)
    except (StopIteration, RecursionError) as error:
        raise ValueError(f"not JSON of ours: {text[:60]!r}") from error
    if end != len(text) or type(fields) is not dict:
        raise ValueError(f"not one JSON object: {text[:60]!r}")
    return fields


_STAGES: Final = {stage.value: stage for stage in Stage}


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


_to_text: Final = JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_decoder: Any = JSONDecoder(parse_constant=_refuse)
_scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once


def _sparse(**given: object) -> Fields:
    return {name: value for name, value in given.items() if value is not None}


def _float(value: Any) -> float:
    """The plain float; adding zero turns -0.0 into 0.0."""
    return float(value) + 0.0


def _maybe(value: Any) -> float | None:
    return None if value is None else float(value) + 0.0


def _number(value: object) -> float:
    if type(value) is float and value - value == 0.0:
        return value
    if type(value) is int:
        return float(value)
    raise ValueError(f"a number is expected, not {value!r}")


def _number_or_none(value: object) -> float | None:
    return None if value is None else _number(value)


def _whole(value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"a whole number is expected, not {value!r}")
    return value


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError(f"a text is expected, not {value!r}")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _truth_value(value: object) -> bool:
    if type(value) is not bool:
        raise ValueError(f"true or false is expected, not {value!r}")
    return value


def _word(words: type[_Word], value: object) -> _Word:
    return words(_text(value))


def _stage_fields(value: StageReading) -> Fields:
    return _sparse(stage=Stage(value.stage).value, confidence=_maybe(value.confidence))


def _stage(payload: bytes) -> StageReading:
    fields = loads(payload)
    confidence = fields.get("confidence")
    if type(confidence) is not float or confidence - confidence != 0.0:
        confidence = _number_or_none(confidence)
    return StageReading(_STAGES[fields["stage"]], confidence)


def _heart_rate_fields(value: HeartRate) -> Fields:
    rr_ms = [float(rr) + 0.0 for rr in value.rr_ms]
    return _sparse(bpm=_maybe(value.bpm), rr_ms=rr_ms or None)


def _heart_rate(payload: bytes) -> HeartRate:
    fields = loads(payload)
    bpm, rr_ms = fields.get("bpm"), tuple(fields.get("rr_ms", ()))
    if type(bpm) is not float or bpm - bpm != 0.0:
        bpm = _number_or_none(bpm)
    for rr in rr_ms:
        if type(rr) is not float or rr - rr != 0.0:
            raise ValueError(f"a number is expected, not {rr!r}")
    return HeartRate(bpm, rr_ms)


def _movement_fields(value: Movement) -> Fields:
    return {"g": _float(value.g)}


def _movement(payload: bytes) -> Movement:
    return Movement(_number(loads(payload)["g"]))


def _skin_temperature_fields(value: SkinTemperature) -> Fields:
    return {"celsius": _float(value.celsius)}


def _skin_temperature(payload: bytes) -> SkinTemperature:
    return SkinTemperature(_number(loads(payload)["celsius"]))


def _contact_fields(value: Contact) -> Fields:
    return _sparse(on_skin=None if value.on_skin is None else bool(value.on_skin))


def _contact(payload: bytes) -> Contact:
    on_skin = loads(payload).get("on_skin")
    return Contact(None if on_skin is None else _truth_value(on_skin))


def _battery_fields(value: Battery) -> Fields:
    return {"percent": _float(value.percent)}


def _battery(payload: bytes) -> Battery:
    return Battery(_number(loads(payload)["percent"]))


def _room_fields(value: Room) -> Fields:
    return _sparse(
        temperature_c=_maybe(value.temperature_c),
        noise_dba=_maybe(value.noise_dba),
        light_lux=_maybe(value.light_lux),
        humidity_pct=_maybe(value.humidity_pct),
        co2_ppm=_maybe(value.co2_ppm),
        noise_calibrated=bool(value.noise_calibrated),
    )


def _room(payload: bytes) -> Room:
    fields = loads(payload)
    return Room(
        temperature_c=_number_or_none(fields.get("temperature_c")),
        noise_dba=_number_or_none(fields.get("noise_dba")),
        light_lux=_number_or_none(fields.get("light_lux")),
        humidity_pct=_number_or_none(fields.get("humidity_pct")),
        co2_ppm=_number_or_none(fields.get("co2_ppm")),
        noise_calibrated=_truth_value(fields.get("noise_calibrated", False)),
    )


def _person_fields(value: PersonEvent) -> Fields:
    return _sparse(
        act=PersonAct(value.act).value,
        minutes=_maybe(value.minutes),
        text=None if value.text is None else str(value.text),
        volume=None if value.volume is None else Volume(value.volume).value,
        held=bool(value.held) or None,
    )


def _person(payload: bytes) -> PersonEvent:
    fields = loads(payload)
    volume = fields.get("volume")
    return PersonEvent(
        act=_word(PersonAct, fields["act"]),
        minutes=_number_or_none(fields.get("minutes")),
        text=_text_or_none(fields.get("text")),
        volume=None if volume is None else _word(Volume, volume),
        held=_truth_value(fields.get("held", False)),
    )


def _sounded_fields(value: CueSounded) -> Fields:
    cue, outcome = value.cue, value.outcome
    return {
        "cue": _sparse(
            number=int(cue.number),
            kind=CueKind(cue.kind).value,
            volume=Volume(cue.volume).value,
            theme=str(cue.theme),
            duration_s=_float(cue.duration_s),
            line=None if cue.line is None else str(cue.line),
            level_db=_maybe(cue.level_db),
            deadline_s=_float(cue.deadline_s),
            step=int(cue.step),
            purpose=CuePurpose(cue.purpose).value,
        ),
        "outcome": _sparse(
            status=OutcomeStatus(outcome.status).value,
            onset_t=_maybe(outcome.onset_t),
            ended_t=_float(outcome.ended_t),
            level_dba=_maybe(outcome.level_dba),
            detail=str(outcome.detail) or None,
        ),
    }


def _sounded(payload: bytes) -> CueSounded:
    fields = loads(payload)
    cue, outcome = fields["cue"], fields["outcome"]
    return CueSounded(
        Cue(
            number=_whole(cue["number"]),
            kind=_word(CueKind, cue["kind"]),
            volume=_word(Volume, cue["volume"]),
            theme=_text(cue["theme"]),
            duration_s=_number(cue["duration_s"]),
            line=_text_or_none(cue.get("line")),
            level_db=_number_or_none(cue.get("level_db")),
            deadline_s=_number(cue["deadline_s"]),
            step=_whole(cue["step"]),
            purpose=_word(CuePurpose, cue["purpose"]),
        ),
        Outcome(
            status=_word(OutcomeStatus, outcome["status"]),
            onset_t=_number_or_none(outcome.get("onset_t")),
            ended_t=_number(outcome["ended_t"]),
            level_dba=_number_or_none(outcome.get("level_dba")),
            detail=_text(outcome.get("detail", "")),
        ),
    )


_FIELDS: Final[dict[Stream, Callable[[Any], Fields]]] = {
    Stream.STAGE: _stage_fields,
    Stream.HEART_RATE: _heart_rate_fields,
    Stream.MOVEMENT: _movement_fields,
    Stream.SKIN_TEMPERATURE: _skin_temperature_fields,
    Stream.CONTACT: _contact_fields,
    Stream.BATTERY: _battery_fields,
    Stream.ROOM: _room_fields,
    Stream.PERSON: _person_fields,
    Stream.CUE: _sounded_fields,
}
_DECODERS: Final[dict[Stream, Callable[[bytes], Value]]] = {
    Stream.STAGE: _stage,
    Stream.HEART_RATE: _heart_rate,
    Stream.MOVEMENT: _movement,
    Stream.SKIN_TEMPERATURE: _skin_temperature,
    Stream.CONTACT: _contact,
    Stream.BATTERY: _battery,
    Stream.ROOM: _room,
    Stream.PERSON: _person,
    Stream.CUE: _sounded,
}
