"""From samples to 30-second epochs: stage, heart, movement, room, as known when they close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.types import Reading
from bedside.body import Body
from bedside.features import EegSummary, EpochSpectrum
from bedside.hub import Hub
from bedside.safety.rules import Shown
from bedside.stage_rule import ShownStages
from bedside.windows import KEPT_S, Windows
from devices.types import EPOCH_S, Stage, Stream, StreamInfo


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
    skin_temperature_c: Reading | None
    temperature_c: Reading | None
    noise_dba: Reading | None
    light_lux: Reading | None
    humidity_pct: Reading | None
    co2_ppm: Reading | None
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
        self._stages = ShownStages(self.windows)
        self._body = Body(self.windows)
        eeg = self.windows.sources(Stream.EEG)
        self._spectrum = EpochSpectrum(eeg[0].source) if eeg else None

    def listen(self, hub: Hub) -> None:
        self.windows.listen(hub)
        if self._spectrum is not None:
            hub.subscribe(self._spectrum.add, (Stream.EEG,), keeps=True)

    def warm(self) -> None:
        """Take in what arrived before the session, so that its trailing values are there."""
        for index in range(-round(KEPT_S / EPOCH_S), 0):
            self._take(index * EPOCH_S, (index + 1) * EPOCH_S)

    def close(self, index: int) -> Epoch:
        """The epoch [30 index, 30 (index + 1)); a sample of the closing instant is not in it."""
        start_t, end_t = index * EPOCH_S, (index + 1) * EPOCH_S
        self._take(start_t, end_t)
        staged = self._stages.over(start_t, end_t)
        told = self._body.reading
        epoch = Epoch(
            index=index,
            stage=staged.stage,
            fine=staged.fine,
            coverage=staged.coverage,
            confidence=staged.confidence,
            frozen=self._stages.frozen,
            heart_rate_bpm=told("heart_rate_bpm", end_t),
            hrv_rmssd_ms=told("hrv_rmssd_ms", end_t),
            movement_g=told("movement_g", end_t),
            still_s=self._body.still_s(end_t),
            skin_temperature_c=told("skin_temperature_c", end_t),
            temperature_c=told("temperature_c", end_t),
            noise_dba=told("noise_dba", end_t),
            light_lux=told("light_lux", end_t),
            humidity_pct=told("humidity_pct", end_t),
            co2_ppm=told("co2_ppm", end_t),
            eeg=self._spectrum.close(end_t) if self._spectrum is not None else None,
        )
        self.windows.forget(end_t)
        return epoch

    def shown(self, t: float) -> Shown:
        """The epoch rule over [t − 30 s, t), as the gate sees it."""
        return self._stages.shown(t)

    def _take(self, start_t: float, end_t: float) -> None:
        self._stages.take(start_t, end_t)
        self._body.take(start_t, end_t)
