"""The contract test of a source, run on one that keeps its promises and on ones that do not."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from devices.ports import Clock, Push, Source
from devices.testing import check_source
from devices.types import (
    EegBlock,
    HeartRate,
    Movement,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Truth,
)

LISTEN_S = 0.15
STAGES = StreamInfo(Stream.STAGE, 0.02, "pad")
EEG = StreamInfo(Stream.EEG, 0.02, "pad", ("Fp1", "Fp2"), 256.0)


class Pad:
    """A source in memory: a stage every 20 ms while it is open."""

    name: Any = "pad"
    streams: Any = (STAGES,)

    def pushing(self, push: Push, clock: Clock) -> object:
        return self._pushing(push, clock)

    @asynccontextmanager
    async def _pushing(self, push: Push, clock: Clock) -> AsyncIterator[None]:
        task = asyncio.create_task(self._run(push, clock), name="pad")
        try:
            yield
        finally:
            await self.close(task)

    async def close(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        await asyncio.wait((task,))

    async def _run(self, push: Push, clock: Clock) -> None:
        while True:
            await asyncio.sleep(0.02)
            self.send(push, clock)

    def send(self, push: Push, clock: Clock) -> None:
        push(self.made(clock.t()))

    def made(self, t: float) -> Sample:
        return Sample(Stream.STAGE, t, StageReading(Stage.REM, 0.8), "pad")


class Band(Pad):
    """EEG beside the stage."""

    streams = (STAGES, EEG)
    channels = 2

    def made(self, t: float) -> Sample:
        counts = np.zeros((self.channels, 4), dtype=np.int16)
        return Sample(Stream.EEG, t, EegBlock(counts, (0.1,) * self.channels, 256.0), "pad")


@pytest.mark.parametrize("make", [Pad, Band])
async def test_a_source_that_keeps_its_promises_passes(make: Callable[[], Source]) -> None:
    await check_source(make, listen_s=LISTEN_S)


class Strap(Pad):
    streams = (StreamInfo(Stream.HEART_RATE, 1.0, "pad"),)
    sent: Sample | object

    def made(self, t: float) -> object:
        return self.sent._replace(t=t) if isinstance(self.sent, Sample) else self.sent


def strap(sent: object) -> Callable[[], Source]:
    return type("Sending", (Strap,), {"sent": sent})


def with_streams(*streams: object) -> Callable[[], Source]:
    return type("Declaring", (Pad,), {"streams": streams})


class Nameless(Pad):
    name = ""


class Numbered(Pad):
    name = 7


class ListsStreams(Pad):
    streams = [STAGES]  # noqa: RUF012


class Mute(Pad):
    def send(self, push: Push, clock: Clock) -> None:
        pass


class Chatty(Pad):
    """Goes on for a while after its context has closed."""

    async def close(self, task: asyncio.Task[None]) -> None:
        asyncio.get_running_loop().call_later(0.05, task.cancel)


class Lingering(Pad):
    async def _run(self, push: Push, clock: Clock) -> None:
        self.send(push, clock)
        await asyncio.sleep(30)

    async def close(self, task: asyncio.Task[None]) -> None:
        LEFT.append(task)


LEFT: list[asyncio.Task[None]] = []


class Threaded(Pad):
    def send(self, push: Push, clock: Clock) -> None:
        thread = threading.Thread(target=push, args=(self.made(clock.t()),))
        thread.start()
        thread.join()


class DeviceClock(Pad):
    def made(self, t: float) -> Sample:
        return super().made(t + 3600.0)


class Swallowing(Pad):
    @asynccontextmanager
    async def _pushing(self, push: Push, clock: Clock) -> AsyncIterator[None]:
        try:
            async with super()._pushing(push, clock):
                yield
        except Exception:
            pass


class Absent(Pad):
    @asynccontextmanager
    async def _pushing(self, push: Push, clock: Clock) -> AsyncIterator[None]:
        raise OSError("no such strap")
        yield


class NoContext(Pad):
    def pushing(self, push: Push, clock: Clock) -> object:
        return None


class ChangesItsMind(Pad):
    def send(self, push: Push, clock: Clock) -> None:
        super().send(push, clock)
        self.streams = (STAGES, replace(STAGES, stream=Stream.BATTERY))


class OneChannel(Band):
    channels = 1


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Nameless, "named: its name is ''"),
        (Numbered, "named: its name is 7"),
        (ListsStreams, "declares_streams: streams is ["),
        (with_streams(), "declares_streams: streams is ()"),
        (with_streams(replace(STAGES, interval_s=0.0)), "declares_streams: interval_s of stage"),
        (with_streams(replace(EEG, rate_hz=None)), "declares_streams: an EEG stream needs"),
        (ChangesItsMind, "declares_streams: its streams changed once it was open"),
        (NoContext, "opens: a NoneType is no async context manager"),
        (Absent, "opens: opening gave OSError('no such strap'); an absent device is no error"),
        (Mute, "sends_samples: nothing came within 0.15 s"),
        (Chatty, "silent_after_close: it pushed Sample"),
        (Threaded, "own_thread: it pushed from a thread of its own"),
        (DeviceClock, "stamped_on_arrival: a stage sample says 36"),
        (Swallowing, "lets_errors_through: its context swallowed an error"),
        (Lingering, "leaves_no_tasks: still running once closed: pad"),
        (OneChannel, "well_formed: an EEG block has shape (1, 4), for 2 channels"),
        (strap(Truth(0.0, Stage.REM)), "well_formed: it pushed a Truth, not a Sample"),
        (strap(None), "well_formed: it pushed a NoneType, not a Sample"),
        (
            strap(Sample(Stream.MOVEMENT, 0.0, Movement(0.1), "pad")),
            "well_formed: it pushed <Stream.MOVEMENT: 'movement'>, which it does not declare",
        ),
        (
            strap(Sample(Stream.HEART_RATE, 0.0, HeartRate(60.0), "")),
            "well_formed: a sample's source is '', not the source's name",
        ),
        (
            strap(Sample(Stream.HEART_RATE, 0.0, Movement(0.1), "pad")),
            "well_formed: a heart_rate sample carries a Movement",
        ),
        (
            strap(Sample(Stream.HEART_RATE, 0.0, HeartRate(float("nan")), "pad")),
            "well_formed: bpm is nan; no reading is None",
        ),
    ],
)
async def test_a_broken_promise_is_named(make: Callable[[], Source], told: str) -> None:
    try:
        with pytest.raises(AssertionError) as broken:
            await check_source(make, listen_s=LISTEN_S)
    finally:
        for task in LEFT:
            task.cancel()
        LEFT.clear()
    assert str(broken.value).startswith(told)


async def test_an_absent_device_may_send_nothing_where_that_is_expected() -> None:
    await check_source(Mute, listen_s=LISTEN_S, expect_samples=False)


async def test_a_confidence_of_a_hundred_is_a_percentage_and_refused() -> None:
    class Percent(Pad):
        def made(self, t: float) -> Sample:
            return Sample(Stream.STAGE, t, StageReading(Stage.REM, 80.0), "pad")

    with pytest.raises(
        AssertionError, match=r"well_formed: confidence is 80\.0, not within 0 to 1"
    ):
        await check_source(Percent, listen_s=LISTEN_S)
