"""The mean, exactly rounded: from Python 3.12 on `sum` rounds otherwise than before."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, nan


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value, the same on every Python; NaN where there is none."""
    try:
        return fsum(values) / len(values)
    except (OverflowError, ValueError):
        return nan  # endless or too large a number: no device may end the night
