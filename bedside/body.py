"""Body and room as last known: each number with its age and source."""

from __future__ import annotations

from math import fsum, isfinite
from typing import Final

from agents.types import Reading
from bedside.heart import Variability
from bedside.mean import mean
from bedside.windows import Windows
from devices.types import HeartRate, Room, Sample, SkinTemperature, Stream

MOVED_G: Final = 0.05
"""Movement over this ends stillness. Assumed."""
STALE_S: Final = 60.0
"""A movement sensor silent for so long tells no stillness. Source: safety.md, rule 4."""
HRV_EPOCHS: Final = 4
"""RMSSD over the last 120 s. Source: `design.md` §5."""
ROOM_FIELDS: Final = ("temperature_c", "noise_dba", "light_lux", "humidity_pct", "co2_ppm")


class Body:
    """Holds the newest value of each measure until a newer one comes. NaN is no value."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._held: dict[str, tuple[float, float, str]] = {}
        self._variability = Variability(HRV_EPOCHS)
        self._moved_t: float | None = None
        self._felt_t: float | None = None

    def take(self, start_t: float, end_t: float) -> None:
        """Take in the epoch [start_t, end_t)."""
        self._take_heart(start_t, end_t)
        self._take_movement(start_t, end_t)
        for sample in self._windows.preferred(Stream.SKIN_TEMPERATURE, start_t, end_t):
            if isinstance(sample.value, SkinTemperature):
                self._hold("skin_temperature_c", sample.value.celsius, sample)
        self._take_room(start_t, end_t)

    def reading(self, name: str, t: float) -> Reading | None:
        """The measure `name` as known at `t`, None where it was never measured."""
        held = self._held.get(name)
        if held is None:
            return None
        value, since_t, source = held
        return Reading(value, round(t - since_t, 3), source)

    def still_s(self, t: float) -> float | None:
        """Seconds since the last movement over threshold; None where no sensor tells by now."""
        if self._moved_t is None or self._felt_t is None or t - self._felt_t > STALE_S:
            return None
        return max(0.0, t - self._moved_t)

    def _take_heart(self, start_t: float, end_t: float) -> None:
        samples = self._windows.preferred(Stream.HEART_RATE, start_t, end_t)
        beats: list[HeartRate] = [sample[2] for sample in samples]  # type: ignore[misc]
        self._variability.take([sample[1] for sample in samples], [beat.rr_ms for beat in beats])
        told = [beat.bpm for beat in beats if beat.bpm is not None]
        if told:
            newest = next(s for s in reversed(samples) if s.value.bpm is not None)  # type: ignore[union-attr]
            self._hold("heart_rate_bpm", mean(told), newest)
        variability = self._variability.rmssd_ms()
        if samples and variability is not None:
            self._hold("hrv_rmssd_ms", variability, samples[-1])

    def _take_movement(self, start_t: float, end_t: float) -> None:
        samples = self._windows.preferred(Stream.MOVEMENT, start_t, end_t)
        felt: list[float] = [sample[2].g for sample in samples]  # type: ignore[union-attr]
        if not isfinite(fsum(felt)):
            samples = [s for s, g in zip(samples, felt, strict=True) if isfinite(g)]
            felt = [g for g in felt if isfinite(g)]
        if not felt:
            return
        most, newest = max(felt), samples[-1]
        self._held["movement_g"] = (most, newest.t, newest.source)
        self._felt_t = newest.t
        if most > MOVED_G:
            moved = zip(reversed(samples), reversed(felt), strict=True)
            self._moved_t = next(sample.t for sample, g in moved if g > MOVED_G)
        elif self._moved_t is None:
            self._moved_t = samples[0].t

    def _take_room(self, start_t: float, end_t: float) -> None:
        for sample in self._windows.every(Stream.ROOM, start_t, end_t):
            if isinstance(sample.value, Room):
                for name in ROOM_FIELDS:
                    value = getattr(sample.value, name)
                    if value is not None:
                        self._hold(name, value, sample)

    def _hold(self, name: str, value: float, sample: Sample) -> None:
        if isfinite(value):
            self._held[name] = (value, sample.t, sample.source)
