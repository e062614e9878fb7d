"""What a recording says of itself, and recordings in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, Protocol

from devices.types import Sample, Stream, StreamInfo, Truth

STAGE_LETTERS: Final = frozenset("W12LDR?")
MOST_EPOCHS: Final = 20_160
"""A week. Assumed: no recording of a night is longer."""
DAY_S: Final = 86_400
_BATCH: Final = 512
_time_of = itemgetter(1)


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """Known before the first sample is read.

    kind: what the night is made of, e.g. `headband_4stage`, `synthetic`, `live`.
    origin: file name (never a machine path) or device.
    epochs: number of 30-s epochs where known up front; None: live.
    start_wall_ns: UTC nanoseconds at t = 0. truth_origin: who scored the truth, None: no truth.
    stages: the shown stage of each epoch in letters (W, 1, 2, L, D, R, ?), where somebody worked it
        out before the night was written; None: read the stage stream.
    notes: for people.
    """

    night_id: str
    kind: str
    origin: str
    epochs: int | None
    streams: tuple[StreamInfo, ...]
    start_wall_ns: int | None = None
    utc_offset_s: int | None = None
    synthetic: bool = False
    truth_origin: str | None = None
    stages: str | None = None
    notes: tuple[str, ...] = ()


class Recording(Protocol):
    """A night that can be played: a night file, or samples in memory."""

    @property
    def info(self) -> RecordingInfo: ...

    def samples(self, streams: frozenset[Stream] | None = None) -> Iterator[Sample]:
        """Samples in order of t, of all streams or of those named; may be called again."""
        ...

    def batches(self, from_t: float = 0.0) -> Iterator[Sequence[Sample]]:
        """All samples as `samples` gives them, many at a time, from about `from_t` on."""
        ...

    def truth(self) -> tuple[Truth, ...]:
        """The expert's stage of each epoch, at t = 30k + 15; empty where nobody scored."""
        ...


class MemoryRecording:
    """A recording whose samples are held in memory, in order of t."""

    __slots__ = ("_samples", "_truth", "info")

    def __init__(
        self, info: RecordingInfo, samples: tuple[Sample, ...], truth: tuple[Truth, ...] = ()
    ) -> None:
        self.info = info
        self._samples = samples
        self._truth = truth

    def samples(self, streams: frozenset[Stream] | None = None) -> Iterator[Sample]:
        if streams is None:
            return iter(self._samples)
        return (sample for sample in self._samples if sample.stream in streams)

    def batches(self, from_t: float = 0.0) -> Iterator[Sequence[Sample]]:
        samples, start = self._samples, bisect_left(self._samples, from_t, key=_time_of)
        for begin in range(start, len(samples), _BATCH):
            yield samples[begin : begin + _BATCH]

    def truth(self) -> tuple[Truth, ...]:
        return self._truth

    def told(self, info: RecordingInfo) -> MemoryRecording:
        """The same samples with other words about them."""
        return MemoryRecording(info, self._samples, self._truth)


def info_as_dict(info: RecordingInfo) -> dict[str, Any]:
    """The info in JSON's types; `info_from_dict` gives it back."""
    return {
        "night_id": info.night_id,
        "kind": info.kind,
        "origin": info.origin,
        "epochs": info.epochs,
        "streams": [stream_as_dict(stream) for stream in info.streams],
        "start_wall_ns": info.start_wall_ns,
        "utc_offset_s": info.utc_offset_s,
        "synthetic": info.synthetic,
        "truth_origin": info.truth_origin,
        "stages": info.stages,
        "notes": list(info.notes),
    }


def info_from_dict(given: dict[str, Any]) -> RecordingInfo:
    """KeyError, TypeError or ValueError on anything but an info; unknown keys are ignored."""
    return RecordingInfo(
        night_id=_text(given["night_id"]),
        kind=_text(given["kind"]),
        origin=_text(given["origin"]),
        epochs=_bounded(given["epochs"], 0, MOST_EPOCHS),
        streams=tuple(stream_from_dict(stream) for stream in given["streams"]),
        start_wall_ns=_bounded(given.get("start_wall_ns"), 0, 2**62),
        utc_offset_s=_bounded(given.get("utc_offset_s"), -DAY_S, DAY_S),
        synthetic=given.get("synthetic", False) is True,
        truth_origin=_text_or_none(given.get("truth_origin")),
        stages=_letters_or_none(given.get("stages"), given["epochs"]),
        notes=tuple(_text(note) for note in given.get("notes", ())),
    )


def stream_as_dict(stream: StreamInfo) -> dict[str, Any]:
    return {
        "stream": stream.stream.value,
        "interval_s": stream.interval_s,
        "source": stream.source,
        "channels": list(stream.channels),
        "rate_hz": stream.rate_hz,
        "simulated": stream.simulated,
    }


def stream_from_dict(given: dict[str, Any]) -> StreamInfo:
    return StreamInfo(
        stream=Stream(given["stream"]),
        interval_s=_positive_or_none(given["interval_s"]),
        source=_text(given["source"]),
        channels=tuple(_text(name) for name in given.get("channels", ())),
        rate_hz=_positive_or_none(given.get("rate_hz")),
        simulated=given.get("simulated", False) is True,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is expected, not {value!r}")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _letters_or_none(value: object, epochs: object) -> str | None:
    letters = _text_or_none(value)
    if letters is not None and (set(letters) - STAGE_LETTERS or len(letters) != epochs):
        raise ValueError("one stage letter an epoch is expected")
    return letters


def _bounded(value: object, least: int, most: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"a whole number from {least} to {most} is expected")
    return value


def _positive_or_none(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12:
        return value
    raise ValueError(f"a positive number is expected, not {value!r}")
