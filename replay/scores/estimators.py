"""Estimators for few and small samples: exact where that is possible, never a normal curve.

Source: Clopper and Pearson 1934; McNemar 1947 in its exact form; Holm 1979; Kendall 1945 (tau-b).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from devices.types import PaprikaError

ALPHA: Final = 0.05
"""One minus the level of every interval and bound, and where a difference is called one."""


class ScoreError(PaprikaError):
    """A figure was asked for that its numbers cannot give; the message says which and why."""


def clopper_pearson(events: float, of: float, *, alpha: float = ALPHA) -> tuple[float, float]:
    """Two-sided interval of a share; `events` may be a fraction of a count."""
    from scipy.special import betaincinv

    _check_share(events, of)
    low = 0.0 if events == 0 else float(betaincinv(events, of - events + 1, alpha / 2))
    high = 1.0 if events == of else float(betaincinv(events + 1, of - events, 1 - alpha / 2))
    return low, high


def upper_bound(events: int, of: int, *, alpha: float = ALPHA) -> float:
    """One-sided upper bound of a share: 0 of 15 still leaves 18 %, 0 of 75 leaves 3.9 %."""
    return clopper_pearson(events, of, alpha=2 * alpha)[1]


def resolution(of: int) -> float:
    """What one flipped attempt changes in a share: 1 of 15 is 0.067."""
    if of < 1:
        raise ScoreError(f"resolution of a share of {of} attempts: there must be at least one")
    return 1.0 / of


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p: whether pairs that one alone passed fall evenly to both."""
    from scipy.special import bdtr

    if min(only_first, only_second) < 0:
        raise ScoreError(f"McNemar of {only_first} and {only_second} pairs: counts are 0 or more")
    pairs = only_first + only_second
    return min(1.0, 2.0 * float(bdtr(float(min(only_first, only_second)), pairs, 0.5)))


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Each p adjusted for the number of tests, in the order given; a None is no test."""
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    highest = 0.0
    for done, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - done) * p))
        adjusted[place] = highest
    return adjusted


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Tau-b of two rankings of the same things; None where one of them ranks nothing."""
    if len(first) != len(second):
        raise ScoreError(f"Kendall's tau of {len(first)} and {len(second)} values: give as many")
    pairs = [
        (_sign(first[i] - first[j]), _sign(second[i] - second[j]))
        for i in range(len(first))
        for j in range(i)
    ]
    untied = sum(a != 0 for a, _ in pairs) * sum(b != 0 for _, b in pairs)
    if not untied:
        return None
    return float(sum(a * b for a, b in pairs) / untied**0.5)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _check_share(events: float, of: float) -> None:
    if not 0 <= events <= of or of <= 0:
        raise ScoreError(f"a share of {events:g} of {of:g}: give 0 or more, of at least as many")
