"""Change over sessions, and the difference memory makes, with intervals.

Slope: ordinary least squares over the session number. Interval: 95 % percentile bootstrap over
sessions. p: permutation of the sessions (slope), or of the signs of the differences (mean).
Assumed: sessions are exchangeable where nothing changes; nights of one person are not quite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES: Final = 5000
FEWEST: Final = 4
"""Sessions below which nothing is estimated. Assumed."""

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Estimate:
    """value, and its 95 % interval [low, high]; p of the hypothesis that it is 0; n sessions."""

    value: float
    low: float
    high: float
    p: float
    n: int


def slope(values: Values, seed: int = 1) -> Estimate | None:
    """Change a session; sessions without a value are left out. None: too few of them."""
    import numpy as np

    known = [(place, value) for place, value in enumerate(values, 1) if value is not None]
    if len(known) < FEWEST:
        return None
    x, y = (np.array(column, float) for column in zip(*known, strict=True))
    found = _slopes(x[None], y[None])[0]
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = rng.integers(0, len(x), (RESAMPLES, len(x)))
    low, high = np.nanpercentile(_slopes(x[drawn], y[drawn]), (2.5, 97.5))
    shuffled = rng.permuted(np.tile(y, (RESAMPLES, 1)), axis=1)
    others = _slopes(np.broadcast_to(x, shuffled.shape), shuffled)
    return Estimate(*_rounded(found, low, high, _p(others, found)), len(x))


def mean_difference(values: Values, against: Values, seed: int = 1) -> Estimate | None:
    """Mean of `values` − `against` over the sessions that have both. None: too few of them."""
    import numpy as np

    pairs = zip(values, against, strict=True)
    known = [a - b for a, b in pairs if a is not None and b is not None]
    if len(known) < FEWEST:
        return None
    differences = np.array(known, float)
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = rng.integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), (2.5, 97.5))
    signs = rng.choice((-1.0, 1.0), (RESAMPLES, len(differences)))
    found = float(differences.mean())
    others = (signs * differences).mean(axis=1)
    return Estimate(*_rounded(found, low, high, _p(others, found)), len(differences))


def _slopes(x: Floats, y: Floats) -> Floats:
    """Of each row; NaN where all x of a row are one."""
    import numpy as np

    centred = x - x.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (centred * y).sum(axis=1) / np.where(spread == 0.0, np.nan, spread)
    return found


def _p(others: Floats, found: float) -> float:
    as_far = abs(others) >= abs(found) - 1e-12
    return float((1 + as_far.sum()) / (1 + len(others)))


def _rounded(*values: Any) -> tuple[float, float, float, float]:
    value, low, high, p = (round(float(one), 6) + 0.0 for one in values)
    return value, low, high, p
