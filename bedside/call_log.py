"""Writes every call to the outside world into the trace."""

from __future__ import annotations

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
        reply = await self._outside.call(request)
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
        return reply
