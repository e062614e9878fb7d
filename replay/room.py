"""A silent room: actuators of every kind that take their real time and reach the hidden sleeper."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from threading import Event

from devices.ports import Clock
from devices.types import Cue, CueKind, Outcome, OutcomeStatus
from replay.sleeper import Sleeper


class SilentRoom:
    """Performs every cue without a sound and lets the sleeper answer it."""

    name = "silent-room"
    kinds = frozenset(CueKind)

    def __init__(self, sleeper: Sleeper) -> None:
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


def _settle(ending: asyncio.Future[OutcomeStatus], status: OutcomeStatus) -> None:
    if not ending.done():
        ending.set_result(status)
