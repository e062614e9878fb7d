"""pass^k: the chance that an agent passes a task k times out of k.

Source: Yao et al. 2024, tau-bench: C(c, k) / C(n, k), averaged over tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from replay.scores.estimators import ScoreError


@dataclass(frozen=True, slots=True)
class Tally:
    """One start point over its planned seeds: passed, still open, and how many there are."""

    passed: int
    open: int
    planned: int


def pass_k(passed: int, planned: int, k: int) -> float:
    """Unbiased estimate for one task.

    Raises:
        ScoreError: fewer seeds are planned than k, or more passed than were planned.
    """
    if not 1 <= k <= planned:
        raise ScoreError(f"pass^{k} of {planned} planned seeds: k must be 1 to {planned}")
    if not 0 <= passed <= planned:
        raise ScoreError(f"pass^{k}: {passed} of {planned} planned seeds cannot have passed")
    return comb(passed, k) / comb(planned, k)


def pass_k_bounds(tally: Tally, k: int) -> tuple[float, float]:
    """With every open seed failed, and with every one passed; `planned` stays what it is."""
    lower = pass_k(tally.passed, tally.planned, k)
    return lower, pass_k(tally.passed + tally.open, tally.planned, k)


def mean_pass_k(tallies: Sequence[Tally], k: int) -> tuple[float, float]:
    """Both bounds, averaged over tasks.

    Raises:
        ScoreError: there is no task, or one has fewer planned seeds than k.
    """
    if not tallies:
        raise ScoreError(f"pass^{k} of no task")
    bounds = [pass_k_bounds(tally, k) for tally in tallies]
    return sum(a for a, _ in bounds) / len(bounds), sum(b for _, b in bounds) / len(bounds)
