"""Sums and means that come out the same on every Python: from 3.12 on, `sum` rounds otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def total(values: Iterable[float]) -> float:
    """The sum, added from left to right."""
    so_far = 0.0
    for value in values:
        so_far += value
    return so_far


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return total(values) / len(values)
