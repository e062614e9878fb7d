"""From samples to 30-second epochs: most common stage, coverage, heart, movement, room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from agents.types import Reading
from bedside.body import Body
from bedside.features import EegSummary, EpochSpectrum
from bedside.frozen import FrozenWatch
from bedside.hub import Hub
from bedside.mean import mean
from bedside.safety.rules import Shown
from bedside.windows import KEPT_S, Windows, tells
from devices.types import COARSE, EPOCH_S, Sample, Stage, StageReading, Stream, StreamInfo

LEAST_COVERAGE: Final = 1 / 3
"""Below this share of expected readings an epoch is UNKNOWN. Source: stage bridge, 20 of 60."""


class EpochStage(NamedTuple):
    """The stage of 30 seconds: coarse, the finest told inside it, and how much was seen (0..1)."""

    stage: Stage
    fine: Stage
    coverage: float


def epoch_stage(readings: Sequence[StageReading], expected: float) -> EpochStage:
    """Most common coarse stage, ties to the one seen last; then the most common fine label in it.

    UNKNOWN readings neither vote nor count as seen. Coverage under one third gives UNKNOWN.
    expected: readings due in 30 s.
    """
    fine: dict[Stage, int] = {}
    for reading in readings:
        stage = reading.stage
        fine[stage] = fine.get(stage, 0) + 1
    fine.pop(Stage.UNKNOWN, None)
    seen = sum(fine.values())
    coverage = min(1.0, seen / expected)
    if not seen or coverage < LEAST_COVERAGE:
        return EpochStage(Stage.UNKNOWN, Stage.UNKNOWN, coverage)
    coarse: dict[Stage, int] = {}
    for stage, count in fine.items():
        coarse[COARSE[stage]] = coarse.get(COARSE[stage], 0) + count
    winner = _most_common(coarse, [COARSE[reading.stage] for reading in readings])
    inside = {stage: count for stage, count in fine.items() if COARSE[stage] is winner}
    finest = _most_common(inside, [reading.stage for reading in readings])
    return EpochStage(winner, finest, coverage)


def _most_common(counts: Mapping[Stage, int], seen: Sequence[Stage]) -> Stage:
    most = max(counts.values())
    tied = [stage for stage, count in counts.items() if count == most]
    if len(tied) == 1:
        return tied[0]
    return next(stage for stage in reversed(seen) if stage in tied)


@dataclass(frozen=True, slots=True)
class Epoch:
    """What was sensed in [30 index, 30 (index + 1)), as known when it closed.

    stage: coarse; fine: N1 or N2 where told. confidence: mean over the readings that voted for it.
    movement_g: the largest. still_s: since movement was last over threshold.
    """

    index: int
    stage: Stage
    fine: Stage
    coverage: float
    confidence: float | None
    frozen: bool
    heart_rate_bpm: Reading | None
    hrv_rmssd_ms: Reading | None
    movement_g: Reading | None
    still_s: float | None
    temperature_c: Reading | None
    noise_dba: Reading | None
    light_lux: Reading | None
    humidity_pct: Reading | None
    eeg: EegSummary | None

    @property
    def end_t(self) -> float:
        return (self.index + 1) * EPOCH_S


class Epocher:
    """Closes epochs from what the hub brings.

    Args:
        streams: all that the sources declare, the preferred source of a stream first.
    """

    def __init__(self, streams: Sequence[StreamInfo]) -> None:
        self.windows = Windows(streams)
        self._body = Body(self.windows)
        self._watches = {info.source: FrozenWatch() for info in self.windows.sources(Stream.STAGE)}
        self._frozen: frozenset[str] = frozenset()
        self._spectrum = EpochSpectrum() if self.windows.sources(Stream.EEG) else None
        self._valid_t: float | None = None

    def listen(self, hub: Hub) -> None:
        self.windows.listen(hub)
        if self._spectrum is not None:
            hub.subscribe(self._spectrum.add, (Stream.EEG,))

    def warm(self) -> None:
        """Take in what arrived before the session, so that its trailing values are there."""
        for index in range(-round(KEPT_S / EPOCH_S), 0):
            self._take(index * EPOCH_S, (index + 1) * EPOCH_S)

    def close(self, index: int) -> Epoch:
        """The epoch [30 index, 30 (index + 1)); a sample of the closing instant is not in it."""
        start_t, end_t = index * EPOCH_S, (index + 1) * EPOCH_S
        self._take(start_t, end_t)
        readings = self.windows.between(Stream.STAGE, start_t, end_t, self._frozen)
        staged = self._stage(readings, start_t, end_t)
        told = self._body.reading
        epoch = Epoch(
            index=index,
            stage=staged.stage,
            fine=staged.fine,
            coverage=staged.coverage,
            confidence=_confidence(readings, staged.stage),
            frozen=bool(self._frozen),
            heart_rate_bpm=told("heart_rate_bpm", end_t),
            hrv_rmssd_ms=told("hrv_rmssd_ms", end_t),
            movement_g=told("movement_g", end_t),
            still_s=self._body.still_s(end_t),
            temperature_c=told("temperature_c", end_t),
            noise_dba=told("noise_dba", end_t),
            light_lux=told("light_lux", end_t),
            humidity_pct=told("humidity_pct", end_t),
            eeg=self._spectrum.close(end_t) if self._spectrum is not None else None,
        )
        self.windows.forget(end_t)
        return epoch

    def shown(self, t: float) -> Shown:
        """The epoch rule over [t − 30 s, t)."""
        readings = self.windows.between(Stream.STAGE, t - EPOCH_S, t, self._frozen)
        staged = self._stage(readings, t - EPOCH_S, t)
        newest = next((sample.t for sample in reversed(readings) if tells(sample)), self._valid_t)
        stage = None if staged.stage is Stage.UNKNOWN else staged.stage
        return Shown(stage, inf if newest is None else t - newest)

    def _stage(self, samples: list[Sample], start_t: float, end_t: float) -> EpochStage:
        on_skin = self._body.on_skin(start_t, end_t)
        if not samples:
            return EpochStage(Stage.UNKNOWN, Stage.UNKNOWN, 0.0)
        interval_s = self.windows.interval_s(Stream.STAGE, samples[-1].source)
        expected = EPOCH_S / interval_s if interval_s else 1.0
        staged = epoch_stage([s.value for s in samples], expected)  # type: ignore[misc]
        if not on_skin:
            return EpochStage(Stage.UNKNOWN, Stage.UNKNOWN, staged.coverage)
        return staged

    def _take(self, start_t: float, end_t: float) -> None:
        self._body.take(start_t, end_t)
        samples = self.windows.every(Stream.STAGE, start_t, end_t)
        for source, watch in self._watches.items():
            alone = len(self._watches) == 1
            watch.follow(samples if alone else [s for s in samples if s.source == source])
        self._frozen = frozenset(s for s, watch in self._watches.items() if watch.frozen)
        newest = (s.t for s in reversed(samples) if tells(s) and s.source not in self._frozen)
        self._valid_t = next(newest, self._valid_t)


def _confidence(readings: Sequence[Sample], stage: Stage) -> float | None:
    told = [
        value.confidence
        for _, _, value, *_ in readings
        if isinstance(value, StageReading)
        and value.confidence is not None
        and COARSE[value.stage] is stage
    ]
    return mean(told) if told else None
