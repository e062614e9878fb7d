"""The stage of 30 seconds: the epoch rule, and whom to believe where several sources tell one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from operator import attrgetter
from typing import Final, NamedTuple

from bedside.frozen import FrozenWatch
from bedside.mean import mean
from bedside.safety.rules import Shown
from bedside.windows import Windows
from devices.types import COARSE, EPOCH_S, Contact, Sample, Stage, StageReading, Stream

LEAST_COVERAGE: Final = 1 / 3
"""Below this share of expected readings an epoch is UNKNOWN. Source: stage bridge, 20 of 60."""


class EpochStage(NamedTuple):
    """The stage of 30 seconds: coarse, the finest told inside it, and how much was seen (0..1).

    confidence: mean over the readings that voted for the stage, None where none said.
    """

    stage: Stage
    fine: Stage
    coverage: float
    confidence: float | None = None


def epoch_stage(readings: Sequence[StageReading], expected: float) -> EpochStage:
    """Most common coarse stage, ties to the one seen last; then the most common fine label in it.

    UNKNOWN readings neither vote nor count as seen. Coverage under one third gives UNKNOWN.
    expected: readings due in 30 s.
    """
    stages = [reading.stage for reading in readings]
    fine = {stage: stages.count(stage) for stage in dict.fromkeys(stages)}
    seen = len(stages) - fine.pop(Stage.UNKNOWN, 0)
    coverage = min(1.0, seen / expected)
    if not seen or coverage < LEAST_COVERAGE:
        return EpochStage(Stage.UNKNOWN, Stage.UNKNOWN, coverage)
    coarse: dict[Stage, int] = {}
    for stage, count in fine.items():
        coarse[COARSE[stage]] = coarse.get(COARSE[stage], 0) + count
    winner = _most_common(coarse, stages)
    inside = {stage: count for stage, count in fine.items() if COARSE[stage] is winner}
    finest = _most_common(inside, stages)
    told = [
        reading.confidence
        for reading in readings
        if reading.confidence is not None and reading.stage in inside
    ]
    return EpochStage(winner, finest, coverage, mean(told) if told else None)


def _most_common(counts: Mapping[Stage, int], seen: Sequence[Stage]) -> Stage:
    """The stage with most counts; of several the one that `seen`, fine or coarse, tells last."""
    if len(counts) == 1:
        return next(iter(counts))
    most = max(counts.values())
    tied = [stage for stage, count in counts.items() if count == most]
    if len(tied) == 1:
        return tied[0]
    last = (stage if stage in tied else COARSE[stage] for stage in reversed(seen))
    return next(stage for stage in last if stage in tied)


class ShownStages:
    """The stage that counts, from the most preferred source that covers the time.

    A frozen source, and one without contact for most of the time, tells nothing.
    """

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._sources = [info.source for info in windows.sources(Stream.STAGE)]
        self._watches = {source: FrozenWatch() for source in self._sources}
        self._on_skin: dict[str, bool] = {}
        self._valid_t: float | None = None
        self.frozen = False

    def take(self, start_t: float, end_t: float) -> None:
        """Follow what arrived in [start_t, end_t): frozen sources, contact, newest reading."""
        samples = self._windows.every(Stream.STAGE, start_t, end_t)
        alone = len(self._watches) == 1
        for source, watch in self._watches.items():
            watch.follow(samples if alone else [s for s in samples if s.source == source])
        self.frozen = any(watch.frozen for watch in self._watches.values())
        self._valid_t = self._newest_t(samples)
        for sample in self._windows.every(Stream.CONTACT, start_t, end_t):
            if isinstance(sample.value, Contact) and sample.value.on_skin is not None:
                self._on_skin[sample.source] = sample.value.on_skin

    def over(self, start_t: float, end_t: float) -> EpochStage:
        """The epoch rule over [start_t, end_t)."""
        first = EpochStage(Stage.UNKNOWN, Stage.UNKNOWN, 0.0)
        for source in self._sources:
            samples = self._windows.of(Stream.STAGE, source, start_t, end_t)
            if not samples or self._watches[source].frozen:
                continue
            staged = self._of_source(source, samples, start_t, end_t)
            if staged.stage is not Stage.UNKNOWN:
                return staged
            first = max(first, staged, key=attrgetter("coverage"))
        return first

    def shown(self, t: float) -> Shown:
        """The epoch rule over [t − 30 s, t), as the gate sees it."""
        stage = self.over(t - EPOCH_S, t).stage
        newest_t = self._newest_t(self._windows.every(Stream.STAGE, t - EPOCH_S, t))
        age_s = inf if newest_t is None else t - newest_t
        return Shown(None if stage is Stage.UNKNOWN else stage, age_s)

    def _of_source(
        self, source: str, samples: Sequence[Sample], start_t: float, end_t: float
    ) -> EpochStage:
        interval_s = self._windows.interval_s(Stream.STAGE, source)
        expected = EPOCH_S / interval_s if interval_s else 1.0
        staged = epoch_stage([sample.value for sample in samples], expected)  # type: ignore[misc]
        if self._touches(source, start_t, end_t):
            return staged
        return EpochStage(Stage.UNKNOWN, Stage.UNKNOWN, staged.coverage)

    def _touches(self, source: str, start_t: float, end_t: float) -> bool:
        """False where this source's electrodes were off for most of the time, as far as told."""
        told = [
            sample.value.on_skin
            for sample in self._windows.of(Stream.CONTACT, source, start_t, end_t)
            if isinstance(sample.value, Contact) and sample.value.on_skin is not None
        ]
        return 2 * sum(told) >= len(told) if told else self._on_skin.get(source, True)

    def _newest_t(self, samples: Sequence[Sample]) -> float | None:
        """Time of the newest reading of a source that is to be believed."""
        for sample in reversed(samples):
            watch = self._watches.get(sample.source)
            known = sample.value.stage is not Stage.UNKNOWN  # type: ignore[union-attr]
            if known and watch is not None and not watch.frozen:
                return sample.t
        return self._valid_t
