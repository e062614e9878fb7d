"""Writes every call to the outside world into the trace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from agents.types import Outside, Reply, Request
from bedside.outside import Refusal
from bedside.trace import Trace, rounded
from devices.ports import Clock

LONGEST_MODEL: Final = 100
"""Characters of a model's name. Assumed."""


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
                "model": model_of(request.body, reply.body),
                "latency_s": rounded(reply.latency_s, "latency_s"),
                "attempts": reply.attempts,
                "usage": dict(reply.usage),
                "error": reply.error,
                "refused": reply.refused if isinstance(reply, Refusal) else None,
            },
        )


def model_of(asked: Mapping[str, Any], answered: Mapping[str, Any] | None) -> str | None:
    """The model that the request names, else the one that the answer does."""
    for body in (asked, answered or {}):
        name = body.get("model")
        if isinstance(name, str) and name:
            return name[:LONGEST_MODEL]
    return None
