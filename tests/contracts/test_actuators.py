"""The contract test of an actuator, run on one that keeps its promises and on ones that do not."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from devices.ports import Actuator, Clock
from devices.testing import check_actuator
from devices.types import Cue, CueKind, Outcome, OutcomeStatus

QUICK = {"duration_s": 0.3, "patience_s": 0.5}
HEARD = frozenset({CueKind.SOUND, CueKind.WHISPER})


class Lamp:
    """An actuator in memory: a flag that any thread may set, looked at every 5 ms."""

    name: Any = "lamp"
    kinds: Any = frozenset({CueKind.LIGHT, CueKind.SCENT, CueKind.DIFFUSER})
    onset_s = 0.01
    clock: Clock

    def __init__(self) -> None:
        self.off = threading.Event()
        self.silent = threading.Event()

    @asynccontextmanager
    async def ready(self, clock: Clock) -> AsyncIterator[None]:
        self.clock = clock
        yield

    async def perform(self, cue: Cue) -> object:
        if self.silent.is_set():
            return Outcome(OutcomeStatus.SILENCED, None, self.clock.t())
        self.off.clear()
        await asyncio.sleep(self.onset_s)
        onset_t = self.clock.t()
        await self.shine(onset_t, cue)
        status = OutcomeStatus.SILENCED if self.off.is_set() else OutcomeStatus.UNCONFIRMED
        return self.told(status, onset_t)

    async def shine(self, onset_t: float, cue: Cue) -> None:
        while not self.off.is_set() and self.clock.t() < onset_t + cue.duration_s:
            await asyncio.sleep(0.005)

    def told(self, status: OutcomeStatus, onset_t: float) -> Outcome:
        return Outcome(status, onset_t, self.clock.t())

    def fade_out(self) -> object:
        self.off.set()

    def silence(self) -> object:
        self.silent.set()
        self.off.set()

    def rearm(self) -> None:
        self.silent.clear()


class Speaker(Lamp):
    name = "speaker"
    kinds = HEARD


class Broken(Lamp):
    """A lamp whose device never answers: it says FAILED, and that keeps the promise."""

    async def perform(self, cue: Cue) -> Outcome:
        await asyncio.sleep(0.01)
        if self.silent.is_set():
            return Outcome(OutcomeStatus.SILENCED, None, self.clock.t())
        return Outcome(OutcomeStatus.FAILED, None, self.clock.t(), detail="no such lamp")


@pytest.mark.parametrize("make", [Lamp, Speaker, Broken])
async def test_an_actuator_that_keeps_its_promises_passes(make: Callable[[], Actuator]) -> None:
    await check_actuator(make, **QUICK)


class Nameless(Lamp):
    name = ""


class KindsInWords(Lamp):
    kinds = frozenset({"sound"})


class NoKinds(Lamp):
    kinds = frozenset()


class NotReady(Lamp):
    def ready(self, clock: Clock) -> object:
        return None


class Raises(Lamp):
    async def perform(self, cue: Cue) -> object:
        raise OSError("lamp unplugged")


class SaysDone(Lamp):
    async def perform(self, cue: Cue) -> object:
        return True


class NoOnset(Lamp):
    def told(self, status: OutcomeStatus, onset_t: float) -> Outcome:
        return Outcome(status, None, self.clock.t())


class OnsetAfterEnd(Lamp):
    def told(self, status: OutcomeStatus, onset_t: float) -> Outcome:
        return Outcome(status, self.clock.t() + 5.0, self.clock.t())


class WallClock(Lamp):
    def told(self, status: OutcomeStatus, onset_t: float) -> Outcome:
        return Outcome(status, onset_t, 1_700_000_000.0)


class Slow(Lamp):
    onset_s = 2.3


class ReturnsAtOnce(Lamp):
    async def shine(self, onset_t: float, cue: Cue) -> None:
        pass


class Endless(Lamp):
    async def shine(self, onset_t: float, cue: Cue) -> None:
        while not self.off.is_set():
            await asyncio.sleep(0.05)


class NoFade(Lamp):
    def fade_out(self) -> None:
        pass


class Deaf(Lamp):
    def silence(self) -> None:
        pass


class Forgets(Lamp):
    """Stops now, and plays the next cue as if nobody had asked for silence."""

    def silence(self) -> None:
        self.off.set()


class AsyncSilence(Lamp):
    def silence(self) -> object:
        return asyncio.get_running_loop().create_future()


class NeedsTheLoop(Lamp):
    """Sets its flag through the loop's own calls, which a thread may not use."""

    def silence(self) -> None:
        asyncio.get_running_loop().call_soon(self.off.set)


class SilenceWaits(Lamp):
    """Waits for the loop to say that it is off; the loop waits for it."""

    @asynccontextmanager
    async def ready(self, clock: Clock) -> AsyncIterator[None]:
        self.loop = asyncio.get_running_loop()
        async with super().ready(clock):
            yield

    def silence(self) -> None:
        if not hasattr(self, "loop"):
            return
        said = threading.Event()
        self.loop.call_soon_threadsafe(said.set)
        said.wait()


class Stubborn(Lamp):
    async def shine(self, onset_t: float, cue: Cue) -> None:
        while not self.off.is_set() and self.clock.t() < onset_t + cue.duration_s:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)

    async def perform(self, cue: Cue) -> object:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(self.onset_s)
        self.off.clear()
        onset_t = self.clock.t()
        await self.shine(onset_t, cue)
        return self.told(OutcomeStatus.UNCONFIRMED, onset_t)


class LeavesWork(Lamp):
    @asynccontextmanager
    async def ready(self, clock: Clock) -> AsyncIterator[None]:
        LEFT.append(asyncio.create_task(asyncio.sleep(60), name="lamp keeper"))
        async with super().ready(clock):
            yield


LEFT: list[asyncio.Task[None]] = []


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Nameless, "named: its name is ''"),
        (KindsInWords, "declares_kinds: kinds is frozenset({'sound'})"),
        (NoKinds, "declares_kinds: kinds is frozenset()"),
        (NotReady, "opens: a NoneType is no async context manager"),
        (Raises, "performs: perform raised OSError('lamp unplugged'); say FAILED"),
        (SaysDone, "performs: perform returned a bool, not an Outcome"),
        (NoOnset, "performs: it played, but has no onset_t"),
        (OnsetAfterEnd, "performs: onset_t is "),
        (WallClock, "performs: ended_t is 1700000000.000 s"),
        (Slow, "performs: it began past its deadline and is not FAILED"),
        (ReturnsAtOnce, "returns_after_end: perform returned after 0.0"),
        (Endless, "ends_by_itself: a 0.3 s diffuser was on after 2.8 s"),
        (NoFade, "fades_out: the cue was still on 0.5 s later"),
        (Deaf, "silences: the cue was still on 0.5 s later"),
        (Forgets, "stays_silent: a cue asked for after `silence` began to play"),
        (AsyncSilence, "silences: it "),
        (NeedsTheLoop, "silences: it raised RuntimeError('no running event loop')"),
        (SilenceWaits, "silences: it waits for the loop; it must return at once"),
        (Stubborn, "gives_up: perform went on for 0.5 s after it was cancelled"),
        (LeavesWork, "leaves_no_tasks: still running once closed: lamp keeper"),
    ],
)
async def test_a_broken_promise_is_named(make: Callable[[], Actuator], told: str) -> None:
    made: list[Any] = []
    before = asyncio.all_tasks()
    try:
        with pytest.raises(AssertionError) as broken:
            await check_actuator(lambda: made.append(make()) or made[-1], **QUICK)
    finally:
        for each in made:
            each.off.set()
        for task in LEFT:
            task.cancel()
        LEFT.clear()
        for task in asyncio.all_tasks() - before:
            await asyncio.wait((task,), timeout=5)
    assert str(broken.value).startswith(told)
