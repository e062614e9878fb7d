"""Heart-rate variability from RR intervals."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import fsum, sqrt
from typing import Final

SHORTEST_RR_MS: Final = 300.0
LONGEST_RR_MS: Final = 2000.0
"""RR outside these is an artefact (200 and 30 beats a minute)."""
LARGEST_CHANGE: Final = 0.2
"""A beat that differs by more from the one before is ectopic or missed. Source: the 20 % filter
of heart-rate variability practice (Task Force of ESC and NASPE, 1996)."""
FEWEST_PAIRS: Final = 20
"""Fewer good successive pairs give no RMSSD. Assumed."""
RR_BREAK_S: Final = 3.0
"""Heart-rate samples further apart are not one train of beats. Assumed."""


class Variability:
    """RMSSD over the last few epochs, from sums kept an epoch each.

    Args:
        epochs: how many epochs the window has.
    """

    def __init__(self, epochs: int) -> None:
        self._sums: deque[tuple[float, int]] = deque(maxlen=epochs)
        self._last_rr_ms = 0.0
        self._last_t = float("-inf")

    def take(self, arrived_t: Sequence[float], trains: Sequence[tuple[float, ...]]) -> None:
        """Take in one epoch: when each of its samples arrived, and its RR intervals (ms)."""
        squares, pairs = 0.0, 0
        before, last_t = self._last_rr_ms, self._last_t
        for t, rr_ms in zip(arrived_t, trains, strict=True):
            if t - last_t > RR_BREAK_S:
                before = 0.0
            last_t = t
            for after in rr_ms:
                if not SHORTEST_RR_MS <= after <= LONGEST_RR_MS:
                    before = 0.0
                    continue
                change = after - before
                if before and abs(change) <= LARGEST_CHANGE * before:
                    squares += change * change
                    pairs += 1
                before = after
        self._last_rr_ms, self._last_t = before, last_t
        self._sums.append((squares, pairs))

    def rmssd_ms(self) -> float | None:
        """Root mean square of successive RR differences in ms, artefacts rejected."""
        pairs = sum(count for _, count in self._sums)
        if pairs < FEWEST_PAIRS:
            return None
        return sqrt(fsum(squares for squares, _ in self._sums) / pairs)
