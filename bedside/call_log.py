"""Writes every call to the outside world into the trace."""

from __future__ import annotations

import asyncio

from agents.types import Outside, Reply, Request
from bedside.trace import Trace, rounded
from devices.ports import Clock


class LoggedOutside:
    """An `Outside` whose calls are `call` lines of the trace, numbered from 1."""

    def __init__(self, outside: Outside, trace: Trace, clock: Clock) -> None:
        self._outside = outside
        self._trace = trace
        self._clock = clock
        self._number = 0

    async def call(self, request: Request) -> Reply:
        self._number += 1
        number = self._number
        asked_t = self._clock.t()
        try:
            reply = await self._outside.call(request)
        except asyncio.CancelledError:
            waited_s = round(self._clock.t() - asked_t, 3)
            self._write(number, request, Reply(None, waited_s, "cancelled"))
            raise
        self._write(number, request, reply)
        return reply

    def _write(self, number: int, request: Request, reply: Reply) -> None:
        self._trace.line(
            "call",
            {
                "t": rounded(self._clock.t(), "t"),
                "number": number,
                "service": request.service,
                "latency_s": rounded(reply.latency_s, "latency_s"),
                "attempts": reply.attempts,
                "usage": dict(reply.usage),
                "cached": reply.cached,
                "error": reply.error,
            },
        )
