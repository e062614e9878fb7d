"""How well simulated nights fit the real ones: figures side by side, with distances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from devices.types import EPOCH_S, Stage
from replay.hypnogram import (
    Run,
    first_sleep_epoch,
    last_sleep_epoch,
    rem_periods,
    runs,
    share_of_scored_pct,
)
from replay.simulation.fitting import held
from replay.simulation.sleep import STAGES

Stages = Sequence[Stage]
_MINUTES: Final = EPOCH_S / 60


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure: its quartiles in real and in simulated nights.

    ks: Kolmogorov–Smirnov distance, 0 (the same) to 1.
    """

    name: str
    real: tuple[float, float, float]
    simulated: tuple[float, float, float]
    ks: float


def asleep(stages: Stages) -> tuple[Stage, ...]:
    """From sleep onset to the last sleep; empty without sleep."""
    first, last = first_sleep_epoch(stages), last_sleep_epoch(stages)
    return () if first is None or last is None else held(stages[first : last + 1])


def compared(real: Iterable[Stages], simulated: Iterable[Stages]) -> tuple[Compared, ...]:
    """Every figure of nights, each from sleep onset to the last sleep."""
    ours, theirs = [asleep(n) for n in real], [asleep(n) for n in simulated]
    return tuple(
        Compared(name, quartiles(a), quartiles(b), ks_distance(a, b))
        for name, figure in FIGURES.items()
        if (a := figure(ours)) and (b := figure(theirs))
    )


def transitions(nights: Iterable[Stages]) -> Mapping[Stage, Mapping[Stage, float]]:
    """Shares of what a stage is followed by when it ends, all nights together."""
    counts = {stage: dict.fromkeys(STAGES, 0) for stage in STAGES}
    for night in nights:
        found = runs(asleep(night))
        for before, after in pairwise(found):
            if Stage.UNKNOWN not in (before.stage, after.stage):
                counts[before.stage][after.stage] += 1
    return {
        stage: {to: n / max(1, sum(row.values())) for to, n in row.items()}
        for stage, row in counts.items()
    }


def ks_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Largest distance between the two empirical distributions."""
    left, right = sorted(a), sorted(b)
    i = j = 0
    largest = 0.0
    for value in sorted({*left, *right}):
        while i < len(left) and left[i] <= value:
            i += 1
        while j < len(right) and right[j] <= value:
            j += 1
        largest = max(largest, abs(i / len(left) - j / len(right)))
    return largest


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower, median and upper value, each one of the values."""
    ordered = sorted(values)
    a, b, c = (ordered[round(share * (len(ordered) - 1))] for share in (0.25, 0.5, 0.75))
    return a, b, c


Figure = Callable[[Sequence[Stages]], list[float]]


def _share(stage: str) -> Figure:
    return lambda nights: [found[stage] for n in nights if (found := share_of_scored_pct(n))]


def _of_nights(count: Callable[[Stages], float | None]) -> Figure:
    return lambda nights: [found for n in nights if n and (found := count(n)) is not None]


def _run_lengths(stage: Stage) -> Figure:
    def lengths(nights: Sequence[Stages]) -> list[float]:
        return [
            _MINUTES * run.epochs for night in nights for run in runs(night) if run.stage is stage
        ]

    return lengths


def _rem_latency(night: Stages) -> float | None:
    first = next((k for k, stage in enumerate(night) if stage is Stage.REM), None)
    return None if first is None else _MINUTES * first


def _period_minutes(nights: Sequence[Stages]) -> list[float]:
    periods = (period for night in nights for period in rem_periods(night))
    return [_MINUTES * sum(run.epochs for run in period) for period in periods]


def _between_periods(nights: Sequence[Stages]) -> list[float]:
    """Minutes from the start of a REM period to the start of the next: the length of a cycle."""
    starts = ([_start(period) for period in rem_periods(night)] for night in nights)
    return [_MINUTES * (b - a) for s in starts for a, b in pairwise(s)]


def _start(period: Sequence[Run]) -> int:
    return period[0].start


FIGURES: Final[Mapping[str, Figure]] = {
    "awake after onset, %": _share("awake"),
    "light, %": _share("light"),
    "deep, %": _share("deep"),
    "REM, %": _share("rem"),
    "REM latency, min": _of_nights(_rem_latency),
    "REM periods": _of_nights(lambda night: float(len(rem_periods(night)))),
    "REM in a period, min": _period_minutes,
    "cycle, min": _between_periods,
    "stage changes": _of_nights(lambda night: float(len(runs(night)) - 1)),
    "run awake, min": _run_lengths(Stage.AWAKE),
    "run light, min": _run_lengths(Stage.LIGHT),
    "run deep, min": _run_lengths(Stage.DEEP),
    "run REM, min": _run_lengths(Stage.REM),
}
"""What is compared, by name."""
