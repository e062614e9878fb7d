"""The night's clock: seconds since the start of the session, on any event loop.

Wall time is an annotation beside it, never followed: a step of the wall clock is noticed and
logged, and moves nothing.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

NS: Final = 1_000_000_000
DAY_S: Final = 86_400
NOON_S: Final = 43_200
ASSUMED_START_CLOCK_S: Final = 39_600.0
"""23:00, in seconds after noon. Assumed: when a recording does not say when it began."""

WALL_STEP_S: Final = 2.0
"""Assumed: more than slewing does between two readings, less than a step that matters."""


@dataclass(frozen=True, slots=True)
class SessionStart:
    """When t = 0 was on the wall: UTC nanoseconds and the local offset; None: not known."""

    wall_ns: int | None
    utc_offset_s: int = 0

    @property
    def assumed(self) -> bool:
        """Whether the time of day is a guess."""
        return self.wall_ns is None


def clock_s(start: SessionStart) -> float:
    """The start as seconds after local noon of the start day: 12:00 is 0, 11:59 is 86340."""
    if start.wall_ns is None:
        return ASSUMED_START_CLOCK_S
    local_ns = start.wall_ns + (start.utc_offset_s - NOON_S) * NS
    return local_ns % (DAY_S * NS) / NS


class SessionClock:
    """`devices.ports.Clock` over an event loop, in whole milliseconds.

    What is judged is what is written: a trace has three decimals, and a rerun of it must decide
    the same.

    t: the session time now; after a crash, the time at which the night goes on.
    loop: the night's loop, by default the running one.
    """

    def __init__(
        self,
        start: SessionStart,
        *,
        t: float = 0.0,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.start: Final = start
        self._loop = asyncio.get_running_loop() if loop is None else loop
        self._t0 = self._loop.time() - t

    def t(self) -> float:
        """Seconds since the start of the session."""
        return _whole_ms(self._loop.time() - self._t0)

    async def until(self, t: float) -> None:
        """Wait until `t()` is at least t, in whole milliseconds; where it is, others run once."""
        # Exactly this instant: a delay counted from now would miss it by a rounding.
        when = self._t0 + _whole_ms(t)
        if self._loop.time() >= when:
            await asyncio.sleep(0)
        while self._loop.time() < when:
            await self._timer(when)

    async def _timer(self, when: float) -> None:
        reached = self._loop.create_future()
        timer = self._loop.call_at(when, _reach, reached)
        try:
            await reached
        finally:
            timer.cancel()


@dataclass(frozen=True, slots=True)
class WallReading:
    """The wall clock read beside the night's clock: UTC nanoseconds at t."""

    wall_ns: int
    t: float


def wall_now_ns() -> int:
    """UTC nanoseconds now; the only place where the wall clock is read."""
    return time.time_ns()


def wall_step_s(before: WallReading, after: WallReading) -> float | None:
    """How far the wall clock stepped between two readings, or None up to `WALL_STEP_S`.

    Positive: it went forward of the night's clock, or the machine slept.
    """
    passed_ns = round((after.t - before.t) * NS)
    step_s = (after.wall_ns - before.wall_ns - passed_ns) / NS
    return step_s if abs(step_s) > WALL_STEP_S else None


class WallWatch:
    """Compares each wall reading with the one before it; slow slewing is no step."""

    def __init__(self, first: WallReading) -> None:
        self._last = first

    def step_s(self, reading: WallReading) -> float | None:
        """The step since the last reading, or None."""
        before, self._last = self._last, reading
        return wall_step_s(before, reading)


def _reach(reached: asyncio.Future[None]) -> None:
    if not reached.done():
        reached.set_result(None)


def _whole_ms(seconds: float) -> float:
    return round(seconds * 1e3) / 1e3


def real_s() -> float:
    """Real seconds from an arbitrary start; only for reports of speed, never for the night."""
    return time.perf_counter()
