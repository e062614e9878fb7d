"""Channels of a night file: one for each stream of a source, and what each is called.

A channel says everything about itself, so that a night whose head is lost can still be read.
Samples with a device time and samples without have channels of their own: publish time means
device time in the first, and repeats log time in the second.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from bedside.recording import eeg_blocks, mcap_records
from bedside.recording.info import stream_as_dict, stream_from_dict
from devices.types import VALUE_TYPES, Stream, StreamInfo

TRUTH: Final = "truth"
EEG_SUMMARY: Final = "eeg_summary"


@dataclass(frozen=True, slots=True)
class Channel:
    """kind: a stream's value, `truth` or `eeg_summary`. base_ns: log time of t = 0."""

    number: int
    kind: str
    source: str
    base_ns: int
    clocked: bool = False
    declared: StreamInfo | None = None

    @property
    def stream(self) -> Stream | None:
        """The stream its samples belong to; None: no samples of ours."""
        return None if self.kind in (TRUTH, EEG_SUMMARY) else Stream(self.kind)

    @property
    def topic(self) -> str:
        return f"/{self.kind}/{self.source}" if self.source else f"/{self.kind}"

    def definition(self) -> bytes:
        """Its records: the schema, where there is one, and the channel."""
        about = {"kind": self.kind, "source": self.source, "base_ns": str(self.base_ns)}
        if self.clocked:
            about["publish_time"] = "device_t"
        if self.declared is not None:
            about["declared"] = json.dumps(stream_as_dict(self.declared), separators=(",", ":"))
        if self.kind == Stream.EEG:
            encoding, schema_number, schema = eeg_blocks.ENCODING, 0, b""
        else:
            encoding, schema_number = "json", _SCHEMA_NUMBERS[self.kind]
            name, document = _SCHEMAS[self.kind]
            raw = json.dumps(document, separators=(",", ":")).encode()
            schema = mcap_records.schema(schema_number, name, "jsonschema", raw)
        return schema + mcap_records.channel(
            self.number, schema_number, self.topic, encoding, about
        )


def read_channel(body: bytes) -> Channel | None:
    """The channel that a record defines, None: another program's; ValueError where it is broken."""
    fields = mcap_records.Fields(body)
    number, _ = fields.number(2), fields.number(2)
    fields.text(), fields.text()
    about = fields.texts()
    if "kind" not in about:
        return None
    try:
        declared = json.loads(about["declared"]) if "declared" in about else None
        channel = Channel(
            number=number,
            kind=about["kind"],
            source=about["source"],
            base_ns=int(about["base_ns"]),
            clocked=about.get("publish_time") == "device_t",
            declared=None if declared is None else stream_from_dict(declared),
        )
        _ = channel.stream
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"channel {number} cannot be read ({error})") from error
    return channel


_NUMBER: Final = {"type": "number"}
_TEXT: Final = {"type": "string"}


def _record(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _numbers(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _NUMBER)


_CUE: Final = _record(
    ("number", "kind", "volume", "theme", "duration_s", "deadline_s", "step", "purpose"),
    kind=_TEXT, volume=_TEXT, theme=_TEXT, line=_TEXT, purpose=_TEXT,
    **_numbers("number", "duration_s", "level_db", "deadline_s", "step"),
)  # fmt: skip
_OUTCOME: Final = _record(
    ("status", "ended_t"),
    status=_TEXT, detail=_TEXT, **_numbers("onset_t", "ended_t", "level_dba"),
)  # fmt: skip
_DOCUMENTS: Final[dict[str, dict[str, Any]]] = {
    Stream.STAGE.value: _record(("stage",), stage=_TEXT, confidence=_NUMBER),
    Stream.HEART_RATE.value: _record((), bpm=_NUMBER, rr_ms={"type": "array", "items": _NUMBER}),
    Stream.MOVEMENT.value: _record(("g",), g=_NUMBER),
    Stream.SKIN_TEMPERATURE.value: _record(("celsius",), celsius=_NUMBER),
    Stream.CONTACT.value: _record((), on_skin={"type": "boolean"}),
    Stream.BATTERY.value: _record(("percent",), percent=_NUMBER),
    Stream.ROOM.value: _record(
        (),
        **_numbers("temperature_c", "noise_dba", "light_lux", "humidity_pct", "co2_ppm"),
        noise_calibrated={"type": "boolean"},
    ),
    Stream.PERSON.value: _record(
        ("act",), act=_TEXT, minutes=_NUMBER, text=_TEXT, volume=_TEXT, held={"type": "boolean"}
    ),
    Stream.CUE.value: _record(("cue", "outcome"), cue=_CUE, outcome=_OUTCOME),
    TRUTH: _record(("stage",), stage=_TEXT),
    EEG_SUMMARY: _record(
        ("channels",),
        channels={
            "type": "array",
            "items": _record((), **_numbers("rms_uv", "min_uv", "max_uv")),
        },
    ),
}
_NAMES: Final = {stream.value: kind.__name__ for stream, kind in VALUE_TYPES.items()}
_SCHEMAS: Final = {
    kind: (f"paprika.{_NAMES.get(kind) or kind.title().replace('_', '')}", document)
    for kind, document in _DOCUMENTS.items()
}
_SCHEMA_NUMBERS: Final = {kind: number for number, kind in enumerate(_SCHEMAS, start=1)}
