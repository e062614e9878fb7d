"""Asking a paid service during an attempt: allowance, then cache, then a real call.

A call that the cache answers counts against the allowance like any other, so that a run repeated
from its cache takes the same path.

OutsideError (bedside.outside)
├── PriceUnknown       a cap in dollars cannot be kept
└── SpendCapReached    the run has spent what it may; the attempt is not made to its end
"""

from __future__ import annotations

import asyncio
from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Protocol

from agents.types import Reply, Request
from bedside.call_log import model_of
from bedside.outside import Answer, BoundedRequest, OutsideError, Refusal
from replay.decisions.cache import CacheMode, DecisionCache, Stored
from replay.decisions.ledger import Ledger, Paid
from replay.decisions.limits import Allowance, UsedUp
from replay.decisions.options import DecisionOptions
from replay.decisions.question import Place, Question, canonical, question
from replay.outside import HeldOutside


class PriceUnknown(OutsideError):
    """A cap in dollars was given, and what the model costs is not known."""


class SpendCapReached(OutsideError):
    """The run has spent what it may."""


class History(Protocol):
    @property
    def digest(self) -> str:
        """Of everything the agent has seen."""
        ...


@dataclass(frozen=True, slots=True)
class Attempted:
    """The attempt for which is asked. unit: its name in the ledger. paid: what went out so far."""

    place: Place
    unit: str
    history: History
    paid: list[Paid]


class Asking:
    """`agents.types.Outside` of one attempt. names: of paid services; others pass by."""

    def __init__(
        self,
        options: DecisionOptions,
        attempted: Attempted,
        names: Set[str],
        held: HeldOutside,
    ) -> None:
        self._options = options
        self._attempted = attempted
        self._held = held
        self._names = names
        self._allowance = Allowance(options.call_limit, options.task_cap_usd)
        self._cache: DecisionCache | None = None
        if options.mode is not CacheMode.OFF and options.cache is not None:
            self._cache = DecisionCache(options.cache, options.mode, options.fill)
        self._ledger = None if options.ledger is None else ledger_at(options.ledger)
        self._calls = 0
        # One call after the other, in the order they were made, so that what is left of the
        # allowance does not depend on which came out of the cache. The clock stands still.
        self._turn = asyncio.Lock()

    async def call(self, request: Request) -> Reply:
        if request.service not in self._names:
            return await self._held.call(request)
        self._calls += 1
        one = _Call(self, request, self._calls, self._attempted.history.digest)
        reply = await self._held.charge(request, one.answer)
        if one.refused is None:
            return replace(reply, cached=one.cached)
        return Refusal(None, reply.latency_s, reply.error, attempts=0, refused=one.refused)

    async def turn(self, one: _Call) -> Answer:
        """Answer one call when the earlier ones are answered."""
        async with self._turn:
            if self._held.fault is not None:  # this attempt is lost: it may cost nothing more
                raise self._held.fault
            one.refused = self._allowance.used_up
            if one.refused is not None:
                return await self._held.enter(_refusal(one.request, one.refused))
            self._refuse_unknown_price(one)
            answer = await self._answer(one)
            self._count(one, answer)
            return answer

    async def _answer(self, one: _Call) -> Answer:
        key = self._key(one)
        if key is None:
            return await self._held.enter(_not_json(one.request))
        known = None if self._cache is None else self._cache.known(key)
        if known is not None:
            one.cached = True
            return await self._held.enter(_answer(known))
        self._keep_run_cap()
        answer = _json_only(one.request, await self._held.ask(self._bounded(one.request)))
        self._write_down(one, answer)
        if self._cache is None:
            return answer
        return _answer(self._cache.keep(key, _stored(answer, self._options.fill)))

    def _key(self, one: _Call) -> Question | None:
        """None: the body is not JSON."""
        try:
            place, request = self._attempted.place, one.request
            return question(place, one.history, one.number, request.service, request.body)
        except (TypeError, ValueError, RecursionError):
            return None

    def _refuse_unknown_price(self, one: _Call) -> None:
        model = model_of(one.request.body, None)
        if self._is_capped and not self._options.prices.knows(model):
            raise PriceUnknown(
                f"{one.request.service}: the price of {model or 'a model without a name'} is not "
                "known, so no cap in dollars can be kept; give it with --prices, or no cap"
            )

    def _keep_run_cap(self) -> None:
        options = self._options
        if options.run_cap_usd is None or self._ledger is None:
            return
        spent_usd = self._ledger.spent_usd(options.prices)
        if spent_usd >= options.run_cap_usd:
            raise SpendCapReached(
                f"the run has spent {spent_usd:.4f} of {options.run_cap_usd:g} US dollars; "
                "give a higher --spend-cap and --resume"
            )

    def _bounded(self, request: Request) -> Request:
        left = self._allowance.calls_left
        if left is None:
            return request
        return BoundedRequest(request.service, request.body, request.timeout_s, left)

    def _write_down(self, one: _Call, answer: Answer) -> None:
        if not answer.attempts:
            return
        paid = Paid(
            unit=self._attempted.unit,
            call=one.number,
            model=model_of(one.request.body, answer.body),
            usage=answer.usage,
            attempts=answer.attempts,
            failed=answer.error is not None,
        )
        self._attempted.paid.append(paid)
        if self._ledger is not None:
            self._ledger.add(paid)

    def _count(self, one: _Call, answer: Answer) -> None:
        cost_usd = None
        if self._is_capped and answer.error is None:
            model = model_of(one.request.body, None)
            cost_usd = self._options.prices.cost(model, answer.usage)
            if cost_usd is None:
                raise PriceUnknown(
                    f"{one.request.service}: answered without counts of tokens that have a price, "
                    "so no cap in dollars can be kept; see docs/reference/decision-cache.md"
                )
        self._allowance.count(answer.attempts, cost_usd)

    @property
    def _is_capped(self) -> bool:
        options = self._options
        run_cap_usd = options.run_cap_usd if options.mode.asks else None
        return options.task_cap_usd is not None or run_cap_usd is not None

    def failed(self, error: OutsideError) -> OutsideError:
        return self._held.failed(error)


class _Call:
    """One call on its way: refused or cached, once it is answered. history: as it was asked."""

    def __init__(self, asking: Asking, request: Request, number: int, history: str) -> None:
        self._asking = asking
        self.request = request
        self.number = number
        self.history = history
        self.refused: UsedUp | None = None
        self.cached = False

    async def answer(self) -> Answer:
        try:
            return await self._asking.turn(self)
        except OutsideError as error:
            raise self._asking.failed(error) from None


@cache
def ledger_at(path: Path) -> Ledger:
    """This process's view of a ledger, which it reads once."""
    return Ledger(path)


def _refusal(request: Request, used_up: UsedUp) -> Answer:
    what = "client call" if used_up is UsedUp.CALL_LIMIT else "dollar"
    return Answer(0.0, error=f"{request.service}: no {what} is left in this task", attempts=0)


def _not_json(request: Request) -> Answer:
    return Answer(0.0, error=f"{request.service}: the request is not JSON", attempts=0)


def _json_only(request: Request, answer: Answer) -> Answer:
    """The answer, or an error in its place where it is nothing that could be stored."""
    try:
        canonical([answer.body, answer.usage])
    except (TypeError, ValueError, RecursionError):
        told = f"{request.service}: the answer is not JSON"
        return Answer(answer.took_s, error=told, attempts=answer.attempts)
    return answer


def _answer(stored: Stored) -> Answer:
    return Answer(stored.latency_s, stored.body, stored.usage, stored.error, stored.attempts)


def _stored(answer: Answer, fill: int | None) -> Stored:
    latency_s = round(answer.took_s, 3)
    return Stored(latency_s, answer.body, answer.usage, answer.attempts, answer.error, fill or 0)
