"""What the calls of an attempt came to: nominal from its trace, paid from the run's ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.process import SERVICE
from replay.decisions.ledger import Paid
from replay.decisions.prices import CACHE_READ, CACHE_WRITE, DECIMALS, IN, OUT, Prices
from replay.trace_lines import Line

__all__ = ["Costs", "Prices", "costs"]


@dataclass(frozen=True, slots=True)
class Costs:
    """Counts of one attempt.

    calls: to paid services, those refused for want of calls or dollars left out; client_calls:
    requests made for them, retries included; cached: calls that nothing was asked for;
    failed_calls: without an answer; limit_waits: steps that waited because a call was refused.
    tokens_in: those read from and written to a provider's own cache included.
    cost_paid, cost_nominal: US dollars; None: unknown. Nominal: as if nothing had been cached.
    """

    calls: int
    client_calls: int
    cached: int
    failed_calls: int
    limit_waits: int
    tokens_in: int
    tokens_out: int
    cost_paid: float | None
    cost_nominal: float | None


def costs(lines: Sequence[Line], prices: Prices, paid: Sequence[Paid] | None = None) -> Costs:
    """Count the calls in a trace.

    What an agent's own process (`cmd:`) is asked is the agent itself, no call. Assumed: a service
    bills nothing that it did not answer.

    paid: what the ledger has of this attempt; None: there is none, so what was paid is unknown
        where anything was called.
    """
    logged = [line for line in lines if line["kind"] == "call" and line["service"] != SERVICE]
    called = [line for line in logged if line["refused"] is None]
    asked = sum(line["attempts"] > 0 for line in called)
    nominal = _sum(_nominal(line, prices) for line in called)
    return Costs(
        calls=len(called),
        client_calls=sum(line["attempts"] for line in called),
        cached=0 if paid is None else max(0, asked - len({one.call for one in paid})),
        failed_calls=sum(line["error"] is not None for line in called),
        limit_waits=_limit_waits(lines),
        tokens_in=_tokens(called, IN, CACHE_WRITE, CACHE_READ),
        tokens_out=_tokens(called, OUT),
        cost_paid=_paid(called, prices, paid),
        cost_nominal=nominal,
    )


def _nominal(line: Line, prices: Prices) -> float | None:
    if line["error"] is not None and not line["usage"]:
        return 0.0
    return prices.cost(line["model"], line["usage"])


def _paid(called: Sequence[Line], prices: Prices, paid: Sequence[Paid] | None) -> float | None:
    if paid is None:
        return None if called else 0.0
    return _sum(one.cost(prices) for one in paid)


def _sum(costs: Iterable[float | None]) -> float | None:
    known = 0.0
    for cost in costs:
        if cost is None:
            return None
        known += cost
    return round(known, DECIMALS)


def _tokens(called: Sequence[Line], *names: str) -> int:
    return sum(line["usage"].get(name, 0) for line in called for name in names)


def _limit_waits(lines: Sequence[Line]) -> int:
    """Steps that waited after a refused call; the calls of a step stand before it."""
    waits, refused = 0, False
    for line in lines:
        if line["kind"] == "call":
            refused |= line["refused"] is not None
        elif line["kind"] == "step":
            waits += refused and line["action"]["kind"] == "wait"
            refused = False
    return waits
