"""A silent room: actuators of every kind that take their real time and reach the hidden sleeper."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from threading import Event
from typing import Protocol

from bedside.trace import Trace, rounded
from devices.ports import Clock
from devices.types import Cue, CueKind, Outcome, OutcomeStatus
from replay.conditions import ActuatorFault
from replay.faults.strikes import Faults


class Hearing(Protocol):
    """Who is asleep in the room."""

    def hear(self, cue: Cue, t: float) -> object:
        """Answer a cue that begins at `t`."""
        ...


class SilentRoom:
    """Performs every cue without a sound and lets the sleeper answer it."""

    name = "silent-room"
    kinds = frozenset(CueKind)

    def __init__(self, sleeper: Hearing) -> None:
        self._sleeper = sleeper
        self._silent = Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sounding: dict[int, asyncio.Future[OutcomeStatus]] = {}

    def ready(self, clock: Clock) -> AbstractAsyncContextManager[None]:
        return self._ready(clock)

    @asynccontextmanager
    async def _ready(self, clock: Clock) -> AsyncIterator[None]:
        self._clock, self._loop = clock, asyncio.get_running_loop()
        try:
            yield
        finally:
            self._end()
            self._loop = None

    async def perform(self, cue: Cue) -> Outcome:
        onset_t = self._clock.t()
        if self._silent.is_set():
            return Outcome(OutcomeStatus.SILENCED, None, onset_t, detail="silenced")
        self._sleeper.hear(cue, onset_t)
        loop = asyncio.get_running_loop()
        ending = self._sounding[cue.number] = loop.create_future()
        timer = loop.call_later(cue.duration_s, _settle, ending, OutcomeStatus.CONFIRMED)
        try:
            status = await ending
        finally:
            timer.cancel()
            del self._sounding[cue.number]
        return Outcome(status, onset_t=onset_t, ended_t=self._clock.t())

    def fade_out(self) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nothing sounds
                loop.call_soon_threadsafe(self._end)

    def silence(self) -> None:
        self._silent.set()
        self.fade_out()

    def rearm(self) -> None:
        self._silent.clear()

    def _end(self) -> None:
        for ending in self._sounding.values():
            _settle(ending, OutcomeStatus.SILENCED)


class FaultyRoom(SilentRoom):
    """A room whose first cues fail or hang, or whose cues begin late."""

    def __init__(self, sleeper: Hearing, faults: Faults, hidden: Trace) -> None:
        super().__init__(sleeper)
        self._faults = faults
        self._hidden = hidden
        self._waiting: dict[int, asyncio.Future[OutcomeStatus]] = {}

    async def perform(self, cue: Cue) -> Outcome:
        fault, t = self._faults.condition.actuator, self._clock.t()
        if self._silent.is_set() or fault is None:
            return await super().perform(cue)
        if fault is ActuatorFault.CUE_LATE:
            return await self._late(cue, t)
        if cue.number > self._faults.missed:
            return await super().perform(cue)
        self._event(fault, t, cue)
        if fault is ActuatorFault.CUE_HANGS:
            await asyncio.get_running_loop().create_future()
        return Outcome(OutcomeStatus.FAILED, None, t, detail="the device did not answer")

    async def _late(self, cue: Cue, t: float) -> Outcome:
        late_s = self._faults.late_s(cue.step or 0)
        self._event(ActuatorFault.CUE_LATE, t, cue, late_s=late_s)
        loop = asyncio.get_running_loop()
        waiting = self._waiting[cue.number] = loop.create_future()
        timer = loop.call_later(late_s, _settle, waiting, OutcomeStatus.CONFIRMED)
        try:
            if await waiting is OutcomeStatus.SILENCED:
                return Outcome(OutcomeStatus.SILENCED, None, self._clock.t(), detail="silenced")
        finally:
            timer.cancel()
            del self._waiting[cue.number]
        return await super().perform(cue)

    def _end(self) -> None:
        super()._end()
        for waiting in self._waiting.values():
            _settle(waiting, OutcomeStatus.SILENCED)

    def _event(self, fault: ActuatorFault, t: float, cue: Cue, **fields: float) -> None:
        what = {"fault": fault, "step": cue.step, "cue": cue.number, **fields}
        self._hidden.line("event", {"t": rounded(t, "t"), "event": "fault", **what})


def _settle(ending: asyncio.Future[OutcomeStatus], status: OutcomeStatus) -> None:
    if not ending.done():
        ending.set_result(status)
