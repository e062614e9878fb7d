"""The way out of a replayed night: the clock is held for a real call, then charged for it.

OutsideError (bedside.outside)
├── NotOnVirtualTime    called on an ordinary loop
└── ChargesRanOut       a rerun asks more often than the run whose charges it replays
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

from agents.types import Reply, Request
from bedside.outside import LATENCY_DECIMALS, Answer, OutsideError, SecondLoop, Service, ask, late
from replay.clock import VirtualTimeLoop


class NotOnVirtualTime(OutsideError):
    """A held call needs a clock that can be held."""


class ChargesRanOut(OutsideError):
    """No usable charge is recorded for a call."""


class HeldOutside:
    """`agents.types.Outside` in virtual time: ask for real, with the clock held, then charge.

    Each call then takes virtual time: what it took in real time, or, for a rerun, what `charges`
    says (in the order of the calls, or by call number from 1). A charge is in whole milliseconds
    and at most `request.timeout_s`; one that reaches it is a timeout, whatever was answered.

    charged: what each call so far was charged, in the order of the calls; a rerun with them waits
        as long. A call cancelled before its charge was known has 0.0.
    fault: why this is not the run it should be, though the agent lived on; None: it is.
    """

    def __init__(
        self,
        services: Mapping[str, Service],
        *,
        charges: Iterable[float] | Mapping[int, float] | None = None,
        second: SecondLoop | None = None,
    ) -> None:
        self._services = services
        self._second = SecondLoop() if second is None else second
        self._by_number = charges if isinstance(charges, Mapping) else None
        self._in_order: Iterator[float] | None = None
        if charges is not None and not isinstance(charges, Mapping):
            self._in_order = iter(charges)
        self.charged: list[float] = []
        self.fault: OutsideError | None = None

    def close(self) -> None:
        """End the second loop; later calls get an error."""
        self._second.close()

    async def call(self, request: Request) -> Reply:
        """Ask; a service that fails gives a Reply with `error`, charged like any other."""
        return await self.charge(request, lambda: self.ask(request))

    async def charge(self, request: Request, answering: Callable[[], Awaitable[Answer]]) -> Reply:
        """The answer that `answering` finds within this instant, as a call that takes its time."""
        _virtual_loop()
        recorded_s = self._recorded_s(len(self.charged) + 1)
        self.charged.append(0.0)
        place = len(self.charged) - 1
        answer = await answering()
        latency_s = answer.took_s if recorded_s is None else recorded_s
        answer, self.charged[place] = _within_deadline(answer, latency_s, request)
        await asyncio.sleep(self.charged[place])
        return answer.reply(self.charged[place])

    async def ask(self, request: Request) -> Answer:
        """Ask for real, with the clock held; no virtual time goes by."""
        return await _virtual_loop().entering(ask(self._second, self._services, request))

    async def enter(self, answer: Answer) -> Answer:
        """An answer known before; it enters at the same place of the instant as a real one."""
        known: concurrent.futures.Future[Answer] = concurrent.futures.Future()
        known.set_result(answer)
        return await _virtual_loop().entering(known)

    def failed(self, error: OutsideError) -> OutsideError:
        """Keep the first error that makes this another run; the attempt ends with it."""
        self.fault = self.fault or error
        return error

    def _recorded_s(self, number: int) -> float | None:
        if self._by_number is not None:
            charge = self._by_number.get(number)
        elif self._in_order is not None:
            charge = next(self._in_order, None)
        else:
            return None
        if charge is None:
            told = f"no charge is recorded for call {number}: not the same run"
            raise self.failed(ChargesRanOut(told))
        if not 0.0 <= charge < math.inf:
            told = f"the charge of call {number} is {charge}, not a time in seconds"
            raise self.failed(ChargesRanOut(told))
        return charge


def _virtual_loop() -> VirtualTimeLoop:
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualTimeLoop):
        raise NotOnVirtualTime("HeldOutside works on a VirtualTimeLoop only; live: LiveOutside")
    return loop


def _within_deadline(answer: Answer, latency_s: float, request: Request) -> tuple[Answer, float]:
    # In whole milliseconds on both sides: a rerun from the stored charge must decide the same.
    limit_s = round(max(request.timeout_s, 0.0), LATENCY_DECIMALS)
    charge_s = round(latency_s, LATENCY_DECIMALS)
    if charge_s >= limit_s:
        return late(request, limit_s, answer.attempts), limit_s
    return answer, charge_s
