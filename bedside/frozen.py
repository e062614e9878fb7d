"""Whether a source that still sends has stopped measuring."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from devices.types import Sample

STUCK_S: Final = 60.0
"""A counter or device clock that does not advance for so long is frozen."""
SAME_CONFIDENCE_S: Final = 300.0
"""A reported confidence that stays the same to the bit for so long is frozen."""


class FrozenWatch:
    """Follows the stage samples of one source. Source of both limits: `design.md` §5."""

    def __init__(self) -> None:
        self._seq: int | None = None
        self._seq_t = 0.0
        self._device_t: float | None = None
        self._device_t_t = 0.0
        self._confidence: float | None = None
        self._confidence_t = 0.0
        self._last_t = 0.0

    @property
    def frozen(self) -> bool:
        """True while a value that should move has stood still for too long."""
        now = self._last_t
        return (
            (self._seq is not None and now - self._seq_t >= STUCK_S)
            or (self._device_t is not None and now - self._device_t_t >= STUCK_S)
            or (self._confidence is not None and now - self._confidence_t >= SAME_CONFIDENCE_S)
        )

    def follow(self, samples: Iterable[Sample]) -> None:
        """Take in stage samples in the order of their `t`."""
        last_seq, last_device_t, last_confidence = self._seq, self._device_t, self._confidence
        for _, t, value, _, device_t, seq in samples:
            if seq != last_seq:
                last_seq, self._seq_t = seq, t
            if device_t != last_device_t:
                last_device_t, self._device_t_t = device_t, t
            confidence = value.confidence  # type: ignore[union-attr]
            if confidence != last_confidence:
                last_confidence, self._confidence_t = confidence, t
            self._last_t = t
        self._seq, self._device_t, self._confidence = last_seq, last_device_t, last_confidence
