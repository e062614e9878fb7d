"""Body and room as last known: each number with its age and source."""

from __future__ import annotations

from typing import Final

from agents.types import Reading
from bedside.heart import Variability
from bedside.mean import mean
from bedside.windows import Windows
from devices.types import Contact, HeartRate, Room, Sample, Stream

MOVED_G: Final = 0.05
"""Movement over this ends stillness. Assumed."""
HRV_EPOCHS: Final = 4
"""RMSSD over the last 120 s. Source: `design.md` §5."""
ROOM_FIELDS: Final = ("temperature_c", "noise_dba", "light_lux", "humidity_pct")


class Body:
    """Holds the newest value of each measure until a newer one comes."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._held: dict[str, tuple[float, float, str]] = {}
        self._variability = Variability(HRV_EPOCHS)
        self._moved_t: float | None = None
        self._on_skin: bool | None = None

    def take(self, start_t: float, end_t: float) -> None:
        """Take in the epoch [start_t, end_t)."""
        self._take_heart(start_t, end_t)
        self._take_movement(start_t, end_t)
        self._take_room(start_t, end_t)

    def reading(self, name: str, t: float) -> Reading | None:
        """The measure `name` as known at `t`, None where it was never measured."""
        held = self._held.get(name)
        if held is None:
            return None
        value, since_t, source = held
        return Reading(value, round(t - since_t, 3), source)

    def still_s(self, t: float) -> float | None:
        """Seconds since the last movement over threshold; None without a movement sensor."""
        return None if self._moved_t is None else max(0.0, t - self._moved_t)

    def on_skin(self, start_t: float, end_t: float) -> bool:
        """False where the electrodes were off for most of the time, as far as was told."""
        told = [
            value.on_skin
            for _, _, value, *_ in self._windows.between(Stream.CONTACT, start_t, end_t)
            if isinstance(value, Contact) and value.on_skin is not None
        ]
        if told:
            self._on_skin = told[-1]
            return 2 * sum(told) >= len(told)
        return self._on_skin is not False

    def _take_heart(self, start_t: float, end_t: float) -> None:
        samples = self._windows.between(Stream.HEART_RATE, start_t, end_t)
        beats = [(t, value) for _, t, value, *_ in samples if isinstance(value, HeartRate)]
        self._variability.take((t, value.rr_ms) for t, value in beats)
        told = [value.bpm for _, value in beats if value.bpm is not None]
        if told:
            self._hold("heart_rate_bpm", mean(told), samples[-1])
        variability = self._variability.rmssd_ms()
        if samples and variability is not None:
            self._hold("hrv_rmssd_ms", variability, samples[-1])

    def _take_movement(self, start_t: float, end_t: float) -> None:
        samples = self._windows.between(Stream.MOVEMENT, start_t, end_t)
        most = -1.0
        for sample in samples:
            g = sample.value.g  # type: ignore[union-attr]
            most = max(most, g)
            if g > MOVED_G:
                self._moved_t = sample.t
        if samples:
            self._hold("movement_g", most, samples[-1])
            if self._moved_t is None:
                self._moved_t = samples[0].t

    def _take_room(self, start_t: float, end_t: float) -> None:
        for sample in self._windows.every(Stream.ROOM, start_t, end_t):
            assert isinstance(sample.value, Room)
            for name in ROOM_FIELDS:
                value = getattr(sample.value, name)
                if value is not None:
                    self._hold(name, value, sample)

    def _hold(self, name: str, value: float, sample: Sample) -> None:
        self._held[name] = (value, sample.t, sample.source)
