"""A person who presses stop, once, as on the phone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from bedside.trace import Trace, rounded
from devices.ports import Clock, Push
from devices.types import PersonAct, PersonEvent, Sample, Stream, StreamInfo
from replay.conditions import PersonAct as Act


class StopPress:
    """A source that pushes one `stop` at session time `t`."""

    name = "phone"

    def __init__(self, t: float, hidden: Trace) -> None:
        self._t = t
        self._hidden = hidden
        self.streams = (StreamInfo(Stream.PERSON, None, self.name, simulated=True),)

    def pushing(self, push: Push, clock: Clock) -> AbstractAsyncContextManager[None]:
        return self._pushing(push, clock)

    @asynccontextmanager
    async def _pushing(self, push: Push, clock: Clock) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        timer = loop.call_at(loop.time() + self._t - clock.t(), self._press, push)
        try:
            yield
        finally:
            timer.cancel()

    def _press(self, push: Push) -> None:
        t = rounded(self._t, "t")
        self._hidden.line("event", {"t": t, "event": "fault", "fault": Act.STOP_PRESSED})
        push(Sample(Stream.PERSON, self._t, PersonEvent(PersonAct.STOP), self.name))
