"""What the person has said during the night, by button or page."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from threading import Event
from typing import Final

from bedside.sleep_history import SUSTAINED_EPOCHS
from devices.types import PersonAct, PersonEvent, Sample

TELL_DREAM_PAUSE_MIN: Final = 10.0
"""Telling a dream pauses cues for so long."""
DEFAULT_PAUSE_MIN: Final = 15.0


class PersonState:
    """Latches and pauses that only the person sets.

    stopped: the person's own STOP, which only `CLEAR_STOP` lifts.
    paused_until: session seconds, None while not paused. reported_awake: until asleep again.
    """

    def __init__(self, on_stop: Callable[[], None], on_clear: Callable[[], None]) -> None:
        self._stop = Event()
        self.paused_until: float | None = None
        self.reported_awake = False
        self._on_stop = on_stop
        self._on_clear = on_clear
        self._asleep_in_row = 0

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """Latch the stop and silence everything. Safe from any thread."""
        self._stop.set()
        self._on_stop()

    def hear(self, sample: Sample) -> None:
        """Take in one sample of the `person` stream."""
        event = sample.value
        assert isinstance(event, PersonEvent)
        match event.act:
            case PersonAct.STOP:
                self.stop()
            case PersonAct.CLEAR_STOP:
                self._stop.clear()
                self._on_clear()
            case PersonAct.PAUSE:
                self._pause(sample.t, event.minutes)
            case PersonAct.TELL_DREAM:
                self._pause(sample.t, TELL_DREAM_PAUSE_MIN)
            case PersonAct.RESUME:
                self.paused_until = None
            case PersonAct.STILL_AWAKE | PersonAct.GOT_UP:
                self.reported_awake = True
                self._asleep_in_row = 0
            case _:
                pass

    def close_epoch(self, *, asleep: bool) -> None:
        """Sustained sleep since a report of being awake ends it."""
        self._asleep_in_row = self._asleep_in_row + 1 if asleep else 0
        if self._asleep_in_row >= SUSTAINED_EPOCHS:
            self.reported_awake = False

    def pause_at(self, t: float) -> float | None:
        """When the pause ends, None where none is on at `t`."""
        if self.paused_until is not None and self.paused_until <= t:
            self.paused_until = None
        return self.paused_until

    def _pause(self, t: float, minutes: float | None) -> None:
        if minutes is None or not 0.0 < minutes < inf:
            minutes = DEFAULT_PAUSE_MIN
        until = t + minutes * 60
        self.paused_until = max(self.paused_until or 0.0, until)
