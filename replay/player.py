"""A recorded night as a source.

Replayed time is the recording's own: what was recorded t seconds into the session arrives at
virtual time t, also while the agent decides; only a waking by a cue makes the rest later.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from operator import attrgetter, itemgetter
from typing import Final, Protocol

from devices.ports import BulkPush, Clock, Push
from devices.types import EPOCH_S, PaprikaError, Sample, Stage, StageReading, Stream, StreamInfo
from replay.clock import VirtualTimeLoop
from replay.pages import Page, Pages, moved
from replay.sleeper import Sleeper

INSERTED: Final = frozenset(Stream) - {Stream.STAGE, Stream.PERSON, Stream.CUE}
"""Streams that an inserted waking takes from the recording's own wake: nobody acts twice."""
WARM_EPOCHS: Final = 5
"""Epochs before the session that are pushed at its start, so that trailing windows are full."""


_time_of = itemgetter(1)


class PlayerError(PaprikaError):
    """A recording can only be played on a virtual-time loop."""


class LabelPath(Protocol):
    """What stage labels suffer on their way to the night; the rest of the recording does not."""

    def before(self, labels: list[Sample]) -> None:
        """Labels of an epoch before the session."""
        ...

    def through(self, step: int, labels: list[Sample]) -> list[Sample]:
        """What arrives in a step in place of its labels; asked for each step in order."""
        ...


class Player:
    """Plays a recording from `first_epoch` on, epoch by epoch, with wakings inserted.

    Args:
        streams, pages: what the recording holds, an epoch at a time; shown: its stage labels.
        sleeper: says where wakings are inserted.
        dropped: whether step k of the session loses its stage readings.
        labels: what else they suffer, before that; None: nothing.
    """

    name = "recording"

    def __init__(
        self,
        streams: tuple[StreamInfo, ...],
        pages: Pages,
        *,
        shown: Sequence[Stage],
        sleeper: Sleeper,
        dropped: Callable[[int], bool],
        first_epoch: int = 0,
        labels: LabelPath | None = None,
    ) -> None:
        self._sleeper = sleeper
        self._labels = labels
        self._dropped = dropped
        self._pages = pages
        self._has_cues = any(info.stream is Stream.CUE for info in streams)
        self._first_epoch = first_epoch
        self._recorded = first_epoch
        self._epoch = 0
        self._buffer: list[Sample] = []
        self._position = 0
        self._wake = _OwnWake(streams, shown, sleeper.awake_epochs)
        self.streams = streams
        self._epochs = len(shown)

    def pushing(self, push: Push, clock: Clock) -> AbstractAsyncContextManager[None]:
        return self._pushing(push)

    @asynccontextmanager
    async def _pushing(self, push: Push) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            raise PlayerError("a recording is played on replay.clock.VirtualTimeLoop only")
        self._loop, self._push = loop, push
        bulk = push if isinstance(push, BulkPush) else None
        self._keep = _one_by_one if bulk is None else bulk.keep
        self._keep_all = None if bulk is None else bulk.keep_all
        self._warm()
        loop.feed = self
        try:
            yield
        finally:
            loop.feed = None

    def next_t(self) -> float | None:
        if self._position < len(self._buffer):
            return self._buffer[self._position][1]
        return None if self._recorded >= self._epochs else self._epoch * EPOCH_S

    def deliver(self, limit: float) -> None:
        loop, push = self._loop, self._push
        while True:
            buffer, position = self._buffer, self._position
            end = bisect_left(buffer, limit, position, key=_time_of)
            if not position and 0 < end == len(buffer) and self._is_kept_whole(buffer):
                loop.advance(buffer[-1].t)
                position = self._position = end
            while position < end:
                acted_on = self._keep(buffer, position, end)
                if acted_on > position:
                    loop.advance(buffer[acted_on - 1].t)
                    position = self._position = acted_on
                if position < end:
                    sample = buffer[position]
                    position = self._position = position + 1
                    loop.advance(sample.t)
                    push(sample)
                    if loop.interrupted:
                        return
            if end < len(buffer) or self._recorded >= self._epochs:
                return
            if self._epoch * EPOCH_S >= limit:
                return
            self._turn_page()

    def _warm(self) -> None:
        for recorded in range(max(0, self._first_epoch - WARM_EPOCHS), self._first_epoch):
            page = self._page(recorded, (recorded - self._first_epoch) * EPOCH_S)
            if self._labels is not None:
                self._labels.before([one for one in page if one.stream is Stream.STAGE])
            if not self._is_kept_whole(page):
                for sample in page:
                    self._push(sample)

    def _is_kept_whole(self, samples: list[Sample]) -> bool:
        """Publish a whole page at once, where nobody acts on any of its samples."""
        if self._keep_all is None or not isinstance(samples, Page):
            return False
        parts = samples.by_stream
        return parts is not None and self._keep_all(parts)

    def _page(self, recorded: int, start_t: float) -> list[Sample]:
        """A page of the recording that begins at `start_t` of the session."""
        page = self._pages(recorded, start_t - recorded * EPOCH_S)
        self._wake.keep(recorded, page, start_t)
        if self._has_cues:
            return [sample for sample in page if sample.stream is not Stream.CUE]
        return page

    def _turn_page(self) -> None:
        """Load the next epoch of the session. Called after all that happened at its start."""
        epoch, start_t = self._epoch, self._epoch * EPOCH_S
        waking = self._sleeper.inserted_at(start_t)
        if waking is not None:
            samples = self._wake.epoch(round((start_t - waking.from_t) / EPOCH_S), start_t)
        else:
            samples = self._page(self._recorded, start_t)
            self._recorded += 1
        if self._labels is not None:
            samples = _through(self._labels, epoch, samples)
        if self._dropped(epoch):
            samples = [sample for sample in samples if sample.stream is not Stream.STAGE]
        self._buffer, self._position = samples, 0
        self._epoch += 1


def _through(path: LabelPath, step: int, samples: list[Sample]) -> list[Sample]:
    labels = [sample for sample in samples if sample.stream is Stream.STAGE]
    others = [sample for sample in samples if sample.stream is not Stream.STAGE]
    return sorted([*path.through(step, labels), *others], key=_time_of)


def _one_by_one(samples: Sequence[Sample], start: int, end: int) -> int:
    return start


class _OwnWake:
    """What an inserted AWAKE epoch looks like: AWAKE labels at the recording's own rate, with its
    own confidences; body and room of the last stretch of wake that was played, or a gap."""

    def __init__(self, streams: Sequence[StreamInfo], shown: Sequence[Stage], epochs: int) -> None:
        self._epochs = epochs
        self._shown = shown
        self._infos = [info for info in streams if info.stream is Stream.STAGE]
        self._recent: deque[tuple[list[Sample], float]] = deque(maxlen=epochs)
        self._stretch: list[tuple[list[Sample], float]] = []
        self._last: tuple[list[Sample], float] = ([], 0.0)

    def keep(self, recorded: int, page: list[Sample], start_t: float) -> None:
        """Remember a page of the recording that began at `start_t` of the session."""
        self._last = (page, start_t) if page else self._last
        if recorded >= len(self._shown) or self._shown[recorded] is not Stage.AWAKE:
            self._recent.clear()
            return
        self._recent.append((page, start_t))
        if len(self._recent) == self._epochs:
            self._stretch = list(self._recent)

    def epoch(self, number: int, start_t: float) -> list[Sample]:
        """Inserted epoch `number` (from 0) of a waking, at session time `start_t`."""
        own, began_t = self._stretch[number] if self._stretch else self._last
        samples = [label for info in self._infos for label in _labels(info, own, start_t)]
        if self._stretch:
            body = [s._replace(device_t=None, seq=None) for s in own if s.stream in INSERTED]
            samples += moved(body, start_t - began_t)
        return sorted(samples, key=attrgetter("t"))


def _labels(info: StreamInfo, own: list[Sample], start_t: float) -> Iterator[Sample]:
    confidences = [
        sample.value.confidence
        for sample in own
        if isinstance(sample.value, StageReading) and sample.source == info.source
    ] or [None]
    interval_s = info.interval_s or EPOCH_S
    for number in range(round(EPOCH_S / interval_s)):
        t = start_t + (number + 0.5) * interval_s
        reading = StageReading(Stage.AWAKE, confidences[number % len(confidences)])
        yield Sample(Stream.STAGE, t, reading, info.source)
