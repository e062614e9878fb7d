"""What a device with a confusion model shows on the average: exact, without a roll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from devices.types import Stage
from replay.overlays.agreement import Counts
from replay.overlays.confusion import BEFORE, TOLD, Chain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NUMBERS = {stage: number for number, stage in enumerate(TOLD)}


@dataclass(frozen=True)
class Expectation:
    """A chain on nights of true stages, without delay."""

    chain: Chain
    true: NDArray[np.int8]

    @cached_property
    def shown(self) -> NDArray[np.float64]:
        """Chances of each shown stage, shape (n_nights, n_epochs, 4); all 0 without a reading."""
        import numpy as np

        chances = _array(self.chain)
        shown = np.zeros((*self.true.shape, len(TOLD)))
        before = np.zeros((len(self.true), len(TOLD)))
        known = self.true >= 0
        for epoch in range(self.true.shape[1]):
            rows = chances[self.true[:, epoch]]
            follows = before.sum(axis=1)[:, None] > 0.0
            now = np.where(follows, (before[:, :, None] * rows[:, 1:]).sum(axis=1), rows[:, 0])
            before = np.where(known[:, epoch, None], now, 0.0)
            shown[:, epoch] = before
        return shown

    def counts(self, delay_epochs: int = 0) -> Counts:
        """Epochs by true and shown stage, where the shown one comes so many epochs late."""
        true = self.true[:, delay_epochs:]
        shown = self.shown[:, : true.shape[1]]
        return {
            stage: dict(zip(TOLD, shown[true == number].sum(axis=0).tolist(), strict=True))
            for stage, number in _NUMBERS.items()
        }

    def changes(self) -> float:
        """How often the shown stage changes, an epoch that follows one."""
        import numpy as np

        staying = np.diagonal(_array(self.chain)[:, 1:], axis1=1, axis2=2)
        before, true = self.shown[:, :-1], self.true[:, 1:]
        follows = (before.sum(axis=2) > 0.0) & (true >= 0)
        kept = (before * staying[true]).sum(axis=2)[follows]
        return float(1.0 - kept.mean()) if kept.size else 0.0


def stacked(nights: Sequence[Sequence[Stage]]) -> NDArray[np.int8]:
    """True stages as numbers of `TOLD`, -1 without a label, shape (n_nights, n_epochs)."""
    import numpy as np

    longest = max(map(len, nights), default=0)
    true = np.full((len(nights), longest), -1, dtype=np.int8)
    for row, night in zip(true, nights, strict=True):
        row[: len(night)] = [_NUMBERS.get(stage.coarse, -1) for stage in night]
    return true


def _array(chain: Chain) -> NDArray[np.float64]:
    """Shape (4, 5, 4): true, shown before, shown now."""
    import numpy as np

    return np.array([[chain[true][before] for before in BEFORE] for true in TOLD])
