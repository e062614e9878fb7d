"""What the epochs so far add up to: stage runs, sleep onset, REM periods. Causal throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from devices.types import EPOCH_S, Stage

SUSTAINED_EPOCHS: Final = 10
"""Sustained onset is the first of so many sleep epochs in a row."""
REM_GAP_EPOCHS: Final = 30
"""REM runs joined over at most so many other epochs (15 min) are one REM period."""


@dataclass(frozen=True, slots=True)
class SleepHistory:
    """State after the last closed epoch; positions are epoch indices, which may be negative.

    epochs_in_stage: readings of the current coarse stage; held, neither reset nor counted on,
        through epochs without a reading.
    rem_in_row, deep_in_row, sleep_in_row: up to and including the last epoch.
    rem_period: number of the current or last REM period, 0 before the first.
    """

    stage: Stage = Stage.UNKNOWN
    epochs_in_stage: int = 0
    rem_in_row: int = 0
    deep_in_row: int = 0
    sleep_in_row: int = 0
    rem_period: int = 0
    last_rem: int | None = None
    onset: int | None = None
    sustained_onset: int | None = None

    def after(self, index: int, stage: Stage) -> SleepHistory:
        """The history when epoch `index` has closed with this coarse stage."""
        known = stage is not Stage.UNKNOWN
        asleep = stage.is_sleep
        rem = stage is Stage.REM
        sleep_in_row = self.sleep_in_row + 1 if asleep else 0
        new_period = rem and (self.last_rem is None or index - self.last_rem - 1 > REM_GAP_EPOCHS)
        sustained = self.sustained_onset
        if sustained is None and sleep_in_row >= SUSTAINED_EPOCHS:
            sustained = index - SUSTAINED_EPOCHS + 1
        return SleepHistory(
            stage=stage if known else self.stage,
            epochs_in_stage=self._epochs_in(stage) if known else self.epochs_in_stage,
            rem_in_row=self.rem_in_row + 1 if rem else 0,
            deep_in_row=self.deep_in_row + 1 if stage is Stage.DEEP else 0,
            sleep_in_row=sleep_in_row,
            rem_period=self.rem_period + new_period,
            last_rem=index if rem else self.last_rem,
            onset=index if self.onset is None and asleep else self.onset,
            sustained_onset=sustained,
        )

    def _epochs_in(self, stage: Stage) -> int:
        return self.epochs_in_stage + 1 if stage is self.stage else 1

    def moved(self, epochs: int) -> SleepHistory:
        """The same history in a session whose epoch 0 is `epochs` later."""

        def shifted(index: int | None) -> int | None:
            return None if index is None else index - epochs

        return SleepHistory(
            self.stage,
            self.epochs_in_stage,
            self.rem_in_row,
            self.deep_in_row,
            self.sleep_in_row,
            self.rem_period,
            shifted(self.last_rem),
            shifted(self.onset),
            shifted(self.sustained_onset),
        )

    def minutes_since_onset(self, index: int) -> float | None:
        """From sustained onset to the end of epoch `index`."""
        if self.sustained_onset is None:
            return None
        return (index + 1 - self.sustained_onset) * EPOCH_S / 60
