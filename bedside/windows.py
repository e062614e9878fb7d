"""The last minutes of every stream, by arrival."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from bedside.hub import Hub
from devices.types import HeartRate, Sample, Stage, StageReading, Stream, StreamInfo

KEPT_S: Final = 240.0
"""How far back a window reaches: a minute of baseline before a cue of the minute before."""
KEPT_STREAMS: Final = (
    Stream.STAGE,
    Stream.HEART_RATE,
    Stream.MOVEMENT,
    Stream.CONTACT,
    Stream.ROOM,
)

_time_of = attrgetter("t")


class Windows:
    """Recent samples of the streams an epoch is made of.

    Args:
        streams: all that the sources declare, the preferred source of a stream first.
    """

    def __init__(self, streams: Sequence[StreamInfo]) -> None:
        self._samples: dict[Stream, list[Sample]] = {stream: [] for stream in KEPT_STREAMS}
        self._infos: dict[Stream, list[StreamInfo]] = {stream: [] for stream in Stream}
        for info in streams:
            self._infos[info.stream].append(info)

    def listen(self, hub: Hub) -> None:
        for stream, samples in self._samples.items():
            hub.subscribe(samples.append, (stream,))

    def sources(self, stream: Stream) -> list[StreamInfo]:
        return self._infos[stream]

    def interval_s(self, stream: Stream, source: str) -> float | None:
        """The interval that `source` declared for this stream; None: irregular or undeclared."""
        infos = self._infos[stream]
        return next((info.interval_s for info in infos if info.source == source), None)

    def every(self, stream: Stream, start_t: float, end_t: float) -> list[Sample]:
        """Samples of all sources with start_t ≤ t < end_t."""
        samples = self._samples[stream]
        low = bisect_left(samples, start_t, key=_time_of)
        return samples[low : bisect_left(samples, end_t, low, key=_time_of)]

    def between(
        self, stream: Stream, start_t: float, end_t: float, but: frozenset[str] = frozenset()
    ) -> list[Sample]:
        """As `every`, of the most preferred source that told something and is not in `but`."""
        samples = self.every(stream, start_t, end_t)
        infos = self._infos[stream]
        if len(infos) < 2 and not but:
            return samples
        trusted = [info.source for info in infos if info.source not in but]
        by_source = [[s for s in samples if s.source == source] for source in trusted]
        telling = (picked for picked in by_source if any(map(tells, picked)))
        return next(telling, by_source[0] if by_source else [])

    def forget(self, end_t: float) -> None:
        """Drop what is older than `KEPT_S` before `end_t`."""
        for samples in self._samples.values():
            del samples[: bisect_left(samples, end_t - KEPT_S, key=_time_of)]


def tells(sample: Sample) -> bool:
    """Whether a sample carries a reading rather than the news that there is none."""
    value = sample.value
    if isinstance(value, StageReading):
        return value.stage is not Stage.UNKNOWN
    return not isinstance(value, HeartRate) or value.bpm is not None
