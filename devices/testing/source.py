"""The contract test of a source."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from math import isfinite

from devices.ports import Source
from devices.testing.promises import (
    LATE_S,
    LoopClock,
    Promise,
    broken,
    is_filled,
    keep,
    keep_named,
    no_tasks_left,
    opened,
)
from devices.types import (
    VALUE_TYPES,
    EegBlock,
    HeartRate,
    Sample,
    StageReading,
    Stream,
    StreamInfo,
)


async def check_source(
    make_source: Callable[[], Source], *, listen_s: float = 2.0, expect_samples: bool = True
) -> None:
    """Open two new sources and check what they promise; AssertionError names the broken promise.

    listen_s: long enough for the slowest stream to send something.
    expect_samples: false where the device may be absent.
    """
    before = asyncio.all_tasks()
    source = make_source()
    declared = _declared(source)
    heard = _Heard(source, declared)
    async with opened(source.pushing(heard, heard.clock)):
        await asyncio.sleep(listen_s)
    heard.closed = True
    await asyncio.sleep(listen_s)
    heard.judge()
    keep(
        bool(heard.samples) or not expect_samples,
        Promise.SENDS_SAMPLES,
        f"nothing came within {listen_s:g} s; give it longer by listen_s",
    )
    now = _declared(source)
    keep(now == declared, Promise.DECLARES_STREAMS, "its streams changed once it was open")
    await _lets_errors_through(make_source())
    await no_tasks_left(before)


class _Heard:
    """Where the source pushes: notes each sample with when and from where it came."""

    def __init__(self, source: Source, declared: tuple[StreamInfo, ...]) -> None:
        self.clock = LoopClock()
        self.samples: list[object] = []
        self.closed = False
        self._streams = {info.stream: info for info in declared}
        self._names = {source.name, *(info.source for info in declared)}
        self._thread = threading.get_ident()
        self._faults: list[tuple[Promise, str]] = []

    def __call__(self, sample: Sample, /) -> None:
        """Never raises: a fault is told once listening is over, not inside the source."""
        if threading.get_ident() != self._thread:
            self._faults.append((Promise.OWN_THREAD, "it pushed from a thread of its own"))
        if self.closed:
            self._faults.append((Promise.SILENT_AFTER_CLOSE, f"it pushed {sample!r} once closed"))
        fault = self._fault(sample)
        if fault is not None:
            self._faults.append((Promise.WELL_FORMED, fault))
        else:
            self._note_stamp(sample)
        self.samples.append(sample)

    def judge(self) -> None:
        for promise, detail in self._faults:
            broken(promise, detail)

    def _note_stamp(self, sample: Sample) -> None:
        now = self.clock.t()
        if sample.t >= 0 and abs(sample.t - now) > LATE_S:
            detail = f"a {sample.stream} sample says {sample.t:.3f} s, it came at {now:.3f} s"
            self._faults.append((Promise.STAMPED_ON_ARRIVAL, detail))

    def _fault(self, sample: object) -> str | None:
        if not isinstance(sample, Sample):
            return f"it pushed a {type(sample).__name__}, not a Sample"
        info = self._streams.get(sample.stream)
        if info is None:
            return f"it pushed {sample.stream!r}, which it does not declare"
        if sample.source not in self._names:
            return f"a sample's source is {sample.source!r}, not the source's name"
        t: object = sample.t
        if not isinstance(t, int | float) or not isfinite(t):
            return f"a {sample.stream} sample has t = {t!r}"
        if not isinstance(sample.value, VALUE_TYPES[sample.stream]):
            return f"a {sample.stream} sample carries a {type(sample.value).__name__}"
        return _value_fault(sample.value, info)


def _value_fault(value: object, info: StreamInfo) -> str | None:
    match value:
        case StageReading(confidence=float(sure)) if not 0.0 <= sure <= 1.0:
            return f"confidence is {sure}, not within 0 to 1"
        case HeartRate(bpm=float(bpm)) if not (isfinite(bpm) and bpm > 0):
            return f"bpm is {bpm}; no reading is None"
        case EegBlock():
            shape = value.counts.shape
            if len(shape) != 2 or shape[0] != len(info.channels):
                return f"an EEG block has shape {shape}, for {len(info.channels)} channels"
            if len(value.scale_uv) != shape[0] or value.counts.dtype.kind not in "iu":
                return "an EEG block needs integer counts and one scale a channel"
    return None


def _declared(source: Source) -> tuple[StreamInfo, ...]:
    keep_named(source.name)
    streams = source.streams
    good = is_filled(streams, tuple, StreamInfo)
    keep(good, Promise.DECLARES_STREAMS, f"streams is {streams!r}")
    for info in streams:
        interval = info.interval_s
        regular = interval is None or (isfinite(interval) and interval > 0)
        keep(regular, Promise.DECLARES_STREAMS, f"interval_s of {info.stream} is {interval}")
        if info.stream is Stream.EEG:
            whole = bool(info.channels) and bool(info.rate_hz)
            keep(whole, Promise.DECLARES_STREAMS, "an EEG stream needs channels and rate_hz")
    return streams


async def _lets_errors_through(source: Source) -> None:
    """An error inside the context must come out of it, as must a cancellation."""

    class Passing(Exception):
        pass

    heard = _Heard(source, source.streams)
    try:
        async with opened(source.pushing(heard, heard.clock)):
            raise Passing
    except Passing:
        return
    broken(Promise.LETS_ERRORS_THROUGH, "its context swallowed an error of the caller")
