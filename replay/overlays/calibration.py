"""Makes the errors of a confusion model as frequent as they were found to be.

A chain fitted step by step keeps the lengths of errors but makes too many of them: a stager that
sees the whole night moves with the truth, a chain only follows it. So the odds of an error are
multiplied, by one factor for each true stage, until the shares come out right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from devices.types import Stage
from replay.overlays.agreement import Counts, kappa
from replay.overlays.confusion import TOLD, Chain, Row
from replay.overlays.expectation import Expectation, stacked

ROUNDS: Final = 4
"""Turns over all factors: each changes a little what the others come to."""
_HALVINGS: Final = 14
_ODDS: Final = (1 / 256, 256.0)


def with_odds(chain: Chain, factors: Mapping[Stage, float]) -> Chain:
    """The chain with the odds of an error multiplied by a factor of the true stage."""
    return {
        true: {before: _with_odds(row, true, factors[true]) for before, row in rows.items()}
        for true, rows in chain.items()
    }


def with_inertia(chain: Chain, inertia: float) -> Chain:
    """The chain that keeps what it showed with this chance, and else goes on as before."""
    return {
        true: {before: _kept(row, before, inertia) for before, row in rows.items()}
        for true, rows in chain.items()
    }


def matched(
    chain: Chain, nights: Sequence[Sequence[Stage]], found: Mapping[Stage, float | None]
) -> Chain:
    """The chain whose shares of each true stage that is shown as it are these."""
    true = stacked(nights)
    factors = dict.fromkeys(TOLD, 1.0)

    def share(stage: Stage, factor: float) -> float:
        made = with_odds(chain, {**factors, stage: factor})
        return _found(Expectation(made, true).counts(), stage)

    for _ in range(ROUNDS):
        for stage in TOLD:
            wanted = found[stage]
            if wanted is not None and 0.0 < wanted < 1.0:
                factors[stage] = _falling_to(partial(share, stage), wanted)
    return with_odds(chain, factors)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a device comes to on some nights.

    wake_found: share of true wake that is shown. changes: of the shown stage, an epoch.
    """

    wake_found: float
    kappa: float
    changes: float
    delay_epochs: int


def lowered(chain: Chain, nights: Sequence[Sequence[Stage]], wanted: Wanted) -> Chain:
    """The chain of a device that comes to what is wanted.

    One factor is for wake, one for all other stages; inertia keeps what is shown. The kinds of
    errors stay.
    """
    true = stacked(nights)
    wake = other = 1.0
    inertia = 0.0

    def made(wake: float, other: float, inertia: float) -> Chain:
        odds = {**dict.fromkeys(TOLD, other), Stage.AWAKE: wake}
        return with_inertia(with_odds(chain, odds), inertia)

    def changes(inertia: float) -> float:
        return Expectation(made(wake, other, inertia), true).changes()

    def wake_found(factor: float) -> float:
        found = Expectation(made(factor, other, inertia), true)
        return _found(found.counts(wanted.delay_epochs), Stage.AWAKE)

    def reached_kappa(factor: float) -> float:
        found = Expectation(made(wake, factor, inertia), true)
        return kappa(found.counts(wanted.delay_epochs)) or 0.0

    for _ in range(2 * ROUNDS):
        inertia = _falling_to(changes, wanted.changes, (0.0, 1.0))
        wake = _falling_to(wake_found, wanted.wake_found)
        other = _falling_to(reached_kappa, wanted.kappa)
    return made(wake, other, inertia)


def _falling_to(
    value: Callable[[float], float], wanted: float, within: tuple[float, float] = _ODDS
) -> float:
    """The argument at which a value that falls with it reaches what is wanted."""
    low, high = within
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5 if low else (low + high) / 2
        low, high = (middle, high) if value(middle) > wanted else (low, middle)
    return (low + high) / 2


def _found(counts: Counts, true: Stage) -> float:
    total = sum(counts[true].values())
    return counts[true][true] / total if total else 0.0


def _with_odds(row: Row, true: Stage, factor: float) -> Row:
    right = row[TOLD.index(true)]
    total = right + factor * (1.0 - right)
    a, b, c, d = (
        (chance if said is true else factor * chance) / total
        for said, chance in zip(TOLD, row, strict=True)
    )
    return a, b, c, d


def _kept(row: Row, before: Stage, inertia: float) -> Row:
    if before is Stage.UNKNOWN:
        return row
    a, b, c, d = (
        (1.0 - inertia) * chance + inertia * (said is before)
        for said, chance in zip(TOLD, row, strict=True)
    )
    return a, b, c, d
