"""The cluster bootstrap: what a figure would be on other sleep of the same kind.

Start points whose windows overlap share one stretch of sleep, so they are drawn together. With
several nights, nights are drawn first and then clusters within each drawn night.
Source: Davison and Hinkley 1997, section 3.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from replay.scores.estimators import ALPHA, clopper_pearson
from replay.scores.figures import Interval, Method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]

RESAMPLES: Final = 2_000
FEW_CLUSTERS: Final = 10
"""Below so many clusters the intervals are known to be too narrow. Assumed."""

Place = tuple[str, int]
"""Night and cluster."""


class Resampling:
    """Draws of clusters, made once: every figure of a scoreboard is taken on the same draws."""

    def __init__(self, places: Sequence[Place], *, seed: int, resamples: int = RESAMPLES) -> None:
        self.places: Final = tuple(sorted(set(places)))
        self.number: Final = {place: number for number, place in enumerate(self.places)}
        self._times = _drawn_times(self.places, seed, resamples)

    def summed(self, places: Iterable[Place], values: Iterable[float]) -> Counts:
        """Values added up by cluster."""
        import numpy as np

        numbers = [self.number[place] for place in places]
        weights = np.fromiter(values, np.float64, len(numbers))
        return np.bincount(numbers, weights, len(self.places)).astype(np.float64)

    def ratio(self, above: Counts, below: Counts) -> Interval | None:
        """Interval of sum(above) / sum(below), both given by cluster; None without a spread."""
        low, high = self._quantiles(above, below)
        clusters = int((below > 0).sum())
        if clusters < 2 or low == high:
            return None
        return Interval(low, high, Method.BOOTSTRAP, clusters)

    def share(self, lower: Counts, upper: Counts, below: Counts) -> Interval | None:
        """Interval around a share known between two bounds; None with fewer than two clusters.

        Where all clusters agree a bootstrap knows no spread: exact over clusters instead.
        """
        clusters = int((below > 0).sum())
        if clusters < 2:
            return None
        low, high = self._quantiles(lower, below)[0], self._quantiles(upper, below)[1]
        if _agree(lower, below) or _agree(upper, below):
            total = float(below.sum())
            exact_low = clopper_pearson(_within(lower.sum() / total) * clusters, clusters)[0]
            exact_high = clopper_pearson(_within(upper.sum() / total) * clusters, clusters)[1]
            return Interval(
                min(low, exact_low), max(high, exact_high), Method.CLOPPER_PEARSON, clusters
            )
        return Interval(low, high, Method.BOOTSTRAP, clusters)

    def _quantiles(self, above: Counts, below: Counts) -> tuple[float, float]:
        import numpy as np

        sums = self._times @ np.stack([above, below], axis=1)
        drawn = sums[sums[:, 1] > 0]
        if not len(drawn):
            return 0.0, 0.0
        low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [ALPHA / 2, 1 - ALPHA / 2])
        return float(low), float(high)


def _drawn_times(places: Sequence[Place], seed: int, resamples: int) -> Counts:
    """How often each cluster is drawn, a row a resample."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    nights = sorted({night for night, _ in places})
    sizes = [sum(night == of for of, _ in places) for night in nights]
    drawn = rng.multinomial(len(nights), [1 / len(nights)] * len(nights), resamples)
    times = [
        rng.multinomial(drawn[:, number] * size, [1 / size] * size)
        for number, size in enumerate(sizes)
    ]
    return np.concatenate(times, axis=1).astype(np.float64)


def _agree(above: Counts, below: Counts) -> bool:
    shares = above[below > 0] / below[below > 0]
    return bool(shares.max() - shares.min() < 1e-12)


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
