"""A silent room: actuators of every kind that take their real time and reach the hidden sleeper."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from devices.ports import Clock
from devices.types import Cue, CueKind, Outcome, OutcomeStatus
from replay.sleeper import Sleeper


class SilentRoom:
    """Performs every cue without a sound and lets the sleeper answer it."""

    name = "silent-room"
    kinds = frozenset(CueKind)

    def __init__(self, sleeper: Sleeper) -> None:
        self._sleeper = sleeper
        self._sounding: dict[int, asyncio.Future[OutcomeStatus]] = {}

    def ready(self, clock: Clock) -> AbstractAsyncContextManager[None]:
        return self._ready(clock)

    @asynccontextmanager
    async def _ready(self, clock: Clock) -> AsyncIterator[None]:
        self._clock, self._loop = clock, asyncio.get_running_loop()
        try:
            yield
        finally:
            self._end(OutcomeStatus.SILENCED)

    async def perform(self, cue: Cue) -> Outcome:
        onset_t = self._clock.t()
        self._sleeper.hear(cue, onset_t)
        ending = self._sounding[cue.number] = self._loop.create_future()
        timer = self._loop.call_later(cue.duration_s, _settle, ending, OutcomeStatus.CONFIRMED)
        try:
            status = await ending
        finally:
            timer.cancel()
            del self._sounding[cue.number]
        return Outcome(status, onset_t=onset_t, ended_t=self._clock.t())

    def fade_out(self) -> None:
        self._loop.call_soon_threadsafe(self._end, OutcomeStatus.SILENCED)

    def silence(self) -> None:
        self._loop.call_soon_threadsafe(self._end, OutcomeStatus.SILENCED)

    def _end(self, status: OutcomeStatus) -> None:
        for ending in self._sounding.values():
            _settle(ending, status)


def _settle(ending: asyncio.Future[OutcomeStatus], status: OutcomeStatus) -> None:
    if not ending.done():
        ending.set_result(status)
