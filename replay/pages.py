"""A recording, an epoch at a time, moved to where the session needs it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Final

from bedside.recording import MemoryRecording, Recording
from devices.types import EPOCH_S, VALUE_TYPES, Sample, Stream

PAGES_KEPT: Final = 1024
"""Moved pages that attempts on the same recording share. Assumed: 15 tasks of 40 steps fit."""

Pages = Callable[[int, float], list[Sample]]
"""The samples of an epoch of the recording, their times moved by so many seconds."""

_time_of = itemgetter(1)


class Page(list[Sample]):
    """Samples of an epoch in order. Never changed once made, so its parts are worked out once."""

    @cached_property
    def by_stream(self) -> dict[Stream, list[Sample]] | None:
        """The samples of each stream; None where a value is not of its stream's type."""
        parts: dict[Stream, list[Sample]] = {}
        for sample in self:
            if type(sample.value) is not VALUE_TYPES.get(sample.stream):
                return None
            parts.setdefault(sample.stream, []).append(sample)
        return parts


def shared_pages(recording: MemoryRecording) -> Pages:
    """Pages of a recording in memory, in any order; those asked for again are made once."""
    samples = tuple(recording.samples())

    @lru_cache(PAGES_KEPT)
    def page(epoch: int, by_s: float) -> list[Sample]:
        return Page(moved(_within(samples, epoch), by_s))

    return page


class PagesOnce:
    """Pages of any recording, read once: epochs must be asked for in rising order."""

    def __init__(self, recording: Recording, first: int) -> None:
        self._batches = recording.batches(from_t=first * EPOCH_S)
        self._ahead: Sequence[Sample] = ()

    def __call__(self, epoch: int, by_s: float) -> list[Sample]:
        end_t = (epoch + 1) * EPOCH_S
        taken: list[Sample] = []
        batch = self._ahead
        while True:
            if batch and epoch * EPOCH_S <= batch[0].t and batch[-1].t < end_t:
                taken += batch
            else:
                taken += _within(batch, epoch)
            if batch and batch[-1].t >= end_t:
                self._ahead = batch[bisect_left(batch, end_t, key=_time_of) :]
                return moved(taken, by_s)
            following = next(self._batches, None)
            if following is None:
                self._ahead = ()
                return moved(taken, by_s)
            batch = following


def moved(samples: list[Sample], by_s: float) -> list[Sample]:
    """The same samples, arriving `by_s` later."""
    if not by_s:
        return samples
    make = tuple.__new__
    return [make(Sample, (s[0], s[1] + by_s, s[2], s[3], s[4], s[5])) for s in samples]


def _within(samples: Sequence[Sample], epoch: int) -> list[Sample]:
    low = bisect_left(samples, epoch * EPOCH_S, key=_time_of)
    high = bisect_left(samples, (epoch + 1) * EPOCH_S, low, key=_time_of)
    return list(samples[low:high])
