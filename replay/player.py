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
from operator import attrgetter
from typing import Final

from bedside.recording import Recording
from devices.ports import Clock, Push
from devices.types import EPOCH_S, PaprikaError, Sample, Stage, StageReading, Stream, StreamInfo
from replay.clock import VirtualTimeLoop
from replay.sleeper import Sleeper

WARM_EPOCHS: Final = 8
"""Epochs before the session that are pushed at its start, so that trailing windows are full."""


_time_of = attrgetter("t")


class PlayerError(PaprikaError):
    """A recording can only be played on a virtual-time loop."""


class Player:
    """Plays a recording from `first_epoch` on, epoch by epoch, with wakings inserted.

    Args:
        recording: what to play; memory does not grow with its length. shown: its stage labels.
        sleeper: says where wakings are inserted.
        dropped: whether step k of the session loses its stage readings.
    """

    name = "recording"

    def __init__(
        self,
        recording: Recording,
        *,
        shown: Sequence[Stage],
        sleeper: Sleeper,
        dropped: Callable[[int], bool],
        first_epoch: int = 0,
    ) -> None:
        self._sleeper = sleeper
        self._dropped = dropped
        self._pages = _Pages(recording, max(0, first_epoch - WARM_EPOCHS))
        self._first_epoch = first_epoch
        self._recorded = first_epoch
        self._epoch = 0
        self._buffer: list[Sample] = []
        self._position = 0
        self._wake = _OwnWake(recording.info.streams, shown, sleeper.awake_epochs)
        self.streams: tuple[StreamInfo, ...] = recording.info.streams
        self._epochs = len(shown)

    def pushing(self, push: Push, clock: Clock) -> AbstractAsyncContextManager[None]:
        return self._pushing(push)

    @asynccontextmanager
    async def _pushing(self, push: Push) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            raise PlayerError("a recording is played on replay.clock.VirtualTimeLoop only")
        self._loop, self._push = loop, push
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
        advance = loop.advance
        while True:
            buffer, position, end = self._buffer, self._position, len(self._buffer)
            while position < end:
                sample = buffer[position]
                if sample[1] >= limit:
                    self._position = position
                    return
                position += 1
                advance(sample[1])
                push(sample)
                if loop.interrupted:
                    self._position = position
                    return
            self._position = position
            if self._recorded >= self._epochs or self._epoch * EPOCH_S >= limit:
                return
            self._turn_page()

    def _warm(self) -> None:
        for recorded in range(max(0, self._first_epoch - WARM_EPOCHS), self._first_epoch):
            samples = self._pages.take(recorded)
            self._wake.keep(recorded, samples)
            for sample in _moved(samples, -self._first_epoch * EPOCH_S):
                self._push(sample)

    def _turn_page(self) -> None:
        """Load the next epoch of the session. Called after all that happened at its start."""
        epoch, start_t = self._epoch, self._epoch * EPOCH_S
        waking = self._sleeper.inserted_at(start_t)
        if waking is not None:
            samples = self._wake.epoch(round((start_t - waking.from_t) / EPOCH_S), start_t)
        else:
            recorded = self._recorded
            page = self._pages.take(recorded)
            self._wake.keep(recorded, page)
            samples = _moved(page, start_t - recorded * EPOCH_S)
            self._recorded += 1
        if self._dropped(epoch):
            samples = [sample for sample in samples if sample.stream is not Stream.STAGE]
        self._buffer, self._position = samples, 0
        self._epoch += 1


class _Pages:
    """The recording, an epoch at a time, in rising order."""

    def __init__(self, recording: Recording, first: int) -> None:
        self._batches = recording.batches(from_t=first * EPOCH_S)
        self._ahead: Sequence[Sample] = ()

    def take(self, epoch: int) -> list[Sample]:
        """The samples of this epoch; earlier ones that were not taken are passed over."""
        start_t, end_t = epoch * EPOCH_S, (epoch + 1) * EPOCH_S
        taken: list[Sample] = []
        batch = self._ahead
        while True:
            split = bisect_left(batch, end_t, key=_time_of)
            taken += batch[bisect_left(batch, start_t, 0, split, key=_time_of) : split]
            if split < len(batch):
                self._ahead = batch[split:]
                return taken
            following = next(self._batches, None)
            if following is None:
                self._ahead = ()
                return taken
            batch = following


class _OwnWake:
    """What an inserted AWAKE epoch looks like: AWAKE labels at the recording's own rate, all else
    from the last stretch of wake that was played, or a gap before there was one."""

    def __init__(self, streams: Sequence[StreamInfo], shown: Sequence[Stage], epochs: int) -> None:
        self._epochs = epochs
        self._shown = shown
        self._infos = [info for info in streams if info.stream is Stream.STAGE]
        self._recent: deque[tuple[int, list[Sample]]] = deque(maxlen=epochs)
        self._stretch: list[tuple[int, list[Sample]]] = []

    def keep(self, recorded: int, samples: list[Sample]) -> None:
        awake = recorded < len(self._shown) and self._shown[recorded] is Stage.AWAKE
        if not awake:
            self._recent.clear()
            return
        self._recent.append((recorded, samples))
        if len(self._recent) == self._epochs:
            self._stretch = list(self._recent)

    def epoch(self, number: int, start_t: float) -> list[Sample]:
        """Inserted epoch `number` (from 0) of a waking, at session time `start_t`."""
        samples = [label for info in self._infos for label in _awake_labels(info, start_t)]
        if self._stretch:
            recorded, own = self._stretch[number]
            body = [
                s._replace(device_t=None, seq=None) for s in own if s.stream is not Stream.STAGE
            ]
            samples += _moved(body, start_t - recorded * EPOCH_S)
        return sorted(samples, key=lambda sample: sample.t)


def _awake_labels(info: StreamInfo, start_t: float) -> Iterator[Sample]:
    interval_s = info.interval_s or EPOCH_S
    for number in range(round(EPOCH_S / interval_s)):
        t = start_t + (number + 0.5) * interval_s
        yield Sample(Stream.STAGE, t, StageReading(Stage.AWAKE), info.source)


def _moved(samples: list[Sample], by_s: float) -> list[Sample]:
    if not by_s:
        return samples
    make = tuple.__new__
    return [make(Sample, (s[0], s[1] + by_s, s[2], s[3], s[4], s[5])) for s in samples]
