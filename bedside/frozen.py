"""Whether a source that still sends has stopped measuring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

from devices.types import Sample

STUCK_S: Final = 60.0
"""A counter or device clock that does not advance for so long is frozen."""
SAME_CONFIDENCE_S: Final = 300.0
"""A reported confidence that stays the same to the bit for so long is frozen."""

_WATCHED: Final[tuple[tuple[Callable[[Any], Any], float], ...]] = (
    (attrgetter("seq"), STUCK_S),
    (attrgetter("device_t"), STUCK_S),
    (attrgetter("value.confidence"), SAME_CONFIDENCE_S),
)


class FrozenWatch:
    """Follows the stage samples of one source. Source of both limits: `design.md` §5.

    frozen: whether a value that should move has stood still for too long.
    """

    def __init__(self) -> None:
        self._same: list[tuple[Any, float]] = [(None, 0.0)] * len(_WATCHED)
        self.frozen = False

    def follow(self, samples: Sequence[Sample]) -> None:
        """Take in stage samples in the order of their `t`."""
        if not samples:
            return
        frozen, last_t = False, samples[-1].t
        for number, (read, limit_s) in enumerate(_WATCHED):
            value, since_t = self._same[number] = _since(self._same[number], samples, read)
            frozen |= value is not None and last_t - since_t >= limit_s
        self.frozen = frozen


def _since(
    before: tuple[Any, float], samples: Sequence[Sample], read: Callable[[Any], Any]
) -> tuple[Any, float]:
    """The newest value and when it began; a value that moves is found in one step back."""
    newest, since_t = read(samples[-1]), samples[-1].t
    if newest is None:
        return None, since_t
    for sample in reversed(samples):
        if read(sample) != newest:
            return newest, since_t
        since_t = sample.t
    return before if before[0] == newest else (newest, since_t)
