"""The last minutes of every stream, by arrival."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from bedside.hub import Hub
from devices.types import Sample, Stream, StreamInfo

KEPT_S: Final = 150.0
"""How far back a window reaches: RMSSD's two minutes, or a minute before a cue, and an epoch."""
MOST_KEPT: Final = 8192
"""Of a flooded stream only the newest samples count. Assumed: 50 a second for `KEPT_S`."""
KEPT_STREAMS: Final = (
    Stream.STAGE,
    Stream.HEART_RATE,
    Stream.MOVEMENT,
    Stream.SKIN_TEMPERATURE,
    Stream.CONTACT,
    Stream.ROOM,
)

_time_of = itemgetter(1)


class Windows:
    """Recent samples of the streams an epoch is made of.

    Args:
        streams: all that the sources declare, the preferred source of a stream first.
    """

    def __init__(self, streams: Sequence[StreamInfo]) -> None:
        self._samples: dict[Stream, list[Sample]] = {stream: [] for stream in KEPT_STREAMS}
        self._infos: dict[Stream, list[StreamInfo]] = {stream: [] for stream in Stream}
        self._cut: dict[tuple[Stream, float, float], list[Sample]] = {}
        for info in streams:
            self._infos[info.stream].append(info)

    def listen(self, hub: Hub) -> None:
        for stream, samples in self._samples.items():
            hub.subscribe(samples.append, (stream,), keeps=samples.extend)

    def sources(self, stream: Stream) -> list[StreamInfo]:
        return self._infos[stream]

    def interval_s(self, stream: Stream, source: str) -> float | None:
        """The interval that `source` declared for this stream; None: irregular or undeclared."""
        infos = self._infos[stream]
        return next((info.interval_s for info in infos if info.source == source), None)

    def every(self, stream: Stream, start_t: float, end_t: float) -> list[Sample]:
        """Samples of all sources with start_t ≤ t < end_t, the newest `MOST_KEPT` at most.

        end_t: not after now, so that no sample can still join the window. Not to be changed.
        """
        asked = stream, start_t, end_t
        found = self._cut.get(asked)
        if found is None:
            found = self._cut[asked] = self._between(self._samples[stream], start_t, end_t)
        return found

    def of(self, stream: Stream, source: str, start_t: float, end_t: float) -> list[Sample]:
        """Samples of one source with start_t ≤ t < end_t."""
        samples = self.every(stream, start_t, end_t)
        if len(self._infos[stream]) < 2:
            return samples if not samples or samples[-1].source == source else []
        return [sample for sample in samples if sample.source == source]

    def preferred(self, stream: Stream, start_t: float, end_t: float) -> list[Sample]:
        """As `every`, of the most preferred source that sent anything."""
        if len(self._infos[stream]) < 2:
            return self.every(stream, start_t, end_t)
        by_source = (self.of(stream, i.source, start_t, end_t) for i in self._infos[stream])
        return next(filter(None, by_source), [])

    def _between(self, samples: list[Sample], start_t: float, end_t: float) -> list[Sample]:
        if not samples:
            return []
        low = bisect_left(samples, start_t, key=_time_of)
        high = bisect_left(samples, end_t, low, key=_time_of)
        return samples[max(low, high - MOST_KEPT) : high]

    def forget(self, end_t: float) -> None:
        """Drop what is older than `KEPT_S` before `end_t`."""
        self._cut.clear()
        for samples in self._samples.values():
            old = bisect_left(samples, end_t - KEPT_S, key=_time_of)
            del samples[: max(old, len(samples) - MOST_KEPT)]
