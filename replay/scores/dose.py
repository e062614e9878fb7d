"""Dose: how much of the REM there was an agent cued.

One low cue and then silence nearly always passes; beside the pass rate stands what it gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from devices.types import EPOCH_S
from replay.experiment.rows import Row
from replay.scores.figures import Dose, Interval


def dose(rows: Sequence[Row], interval: Interval | None = None) -> Dose:
    """Over whole attempts; interval: of the cues per REM minute."""
    cues, periods = sum(row.rem_cues for row in rows), sum(row.rem_periods for row in rows)
    minutes = sum(rem_minutes(row) for row in rows)
    cued = sum(row.rem_periods_cued for row in rows)
    first = [row.first_cue_s for row in rows if row.first_cue_s is not None]
    return Dose(
        rem_cues=cues,
        rem_minutes=minutes,
        cues_per_rem_minute=cues / minutes if minutes else None,
        interval=interval if minutes else None,
        rem_periods=periods,
        rem_periods_cued=cued,
        periods_cued_share=cued / periods if periods else None,
        first_cues=len(first),
        first_cue_median_s=median(first) if first else None,
    )


def rem_minutes(row: Row) -> float:
    """Minutes of shown REM in an attempt."""
    return row.rem_epochs * EPOCH_S / 60.0
