"""The paired permutation test: what the difference would be with names drawn by lot in each pair.

Exact for whole numbers of any amount and for few pairs; else by seeded draws, whose p counts the
observed arrangement as one of them.
Source: Phipson and Smyth 2010 for (b + 1) / (m + 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRAWS: Final = 4_999
"""Arrangements drawn where they cannot all be counted."""
FEW_PAIRS: Final = 12
"""Up to so many pairs all 2^n arrangements of fractions are counted."""
_CELLS: Final = 500_000
"""Signs held at a time."""
_NEAR: Final = 1e-9
"""Sums of fractions this close to the observed one count as equal to it."""


def permutation_p(differences: Sequence[float], *, seed: int, draws: int = DRAWS) -> float:
    """Two-sided p of the sum of paired differences under exchange within each pair.

    Pairs without a difference change nothing; without any difference p is 1.
    """
    given = [abs(one) for one in differences if one]
    observed = abs(sum(differences))
    if not given:
        return 1.0
    if all(float(one).is_integer() for one in given):
        return _counted(Counter(int(one) for one in given), round(observed))
    reached = observed - _NEAR * max(1.0, sum(given))
    if len(given) <= FEW_PAIRS:
        return _enumerated(given, reached)
    return _drawn(given, reached, seed, draws)


def _counted(sizes: Counter[int], observed: int) -> float:
    """From the whole distribution of the sum, one size of difference after the other."""
    import numpy as np

    chances = np.ones(1)
    for size, times in sorted(sizes.items()):
        spread = np.zeros(2 * size * times + 1)
        spread[:: 2 * size] = _halves(times)
        chances = np.convolve(chances, spread)
    furthest = sum(size * times for size, times in sizes.items())
    sums = np.abs(np.arange(-furthest, furthest + 1))
    return min(1.0, float(chances[sums >= observed].sum()))


def _halves(times: int) -> NDArray[np.float64]:
    """Binomial chances of 0 to `times` heads of a fair coin."""
    import numpy as np
    from scipy.special import gammaln

    heads = np.arange(times + 1)
    logs = gammaln(times + 1) - gammaln(heads + 1) - gammaln(times - heads + 1)
    chances: NDArray[np.float64] = np.exp(logs - times * np.log(2.0))
    return chances


def _enumerated(given: Sequence[float], reached: float) -> float:
    import numpy as np

    arrangements = np.arange(2 ** len(given))[:, None]
    signs = 2.0 * ((arrangements >> np.arange(len(given))) & 1) - 1.0
    return float((np.abs(signs @ np.asarray(given)) >= reached).mean())


def _drawn(given: Sequence[float], reached: float, seed: int, draws: int) -> float:
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    sizes, width = np.asarray(given), -(-len(given) // 8)
    at_once = max(1, _CELLS // len(given))
    as_far = 0
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        octets = np.frombuffer(rng.bytes(rows * width), np.uint8).reshape(rows, width)
        kept = np.unpackbits(octets, axis=1, count=len(given)).astype(np.float64) @ sizes
        as_far += int((np.abs(2.0 * kept - sizes.sum()) >= reached).sum())
    return (as_far + 1) / (draws + 1)
