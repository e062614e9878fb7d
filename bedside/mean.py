"""The mean, exactly rounded: from Python 3.12 on `sum` rounds otherwise than before."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value, the same on every Python."""
    return fsum(values) / len(values)
