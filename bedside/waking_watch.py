"""Watches for signs of waking in the minute after a cue begins."""

from __future__ import annotations

from collections.abc import Callable

from bedside.hub import Hub
from bedside.mean import mean
from bedside.safety.waking import BASELINE_S, WATCH_S, Sign, WakeSigns, suspected
from bedside.windows import Windows
from devices.types import (
    EPOCH_S,
    Contact,
    Cue,
    HeartRate,
    Movement,
    PersonEvent,
    Sample,
    Stage,
    StageReading,
    Stream,
)

_WATCHED = (Stream.STAGE, Stream.MOVEMENT, Stream.HEART_RATE, Stream.CONTACT, Stream.PERSON)

Suspicion = Callable[[Cue, float, tuple[Sign, ...]], None]


class WakingWatch:
    """Listens only while a cue is younger than a minute; calls `suspect` once a cue at most."""

    def __init__(self, hub: Hub, windows: Windows, suspect: Suspicion) -> None:
        self._hub = hub
        self._windows = windows
        self._suspect = suspect
        self._cue: Cue | None = None

    def begin(self, cue: Cue, t: float) -> None:
        """A cue begins at `t`; the watch of an earlier one ends."""
        self.end()
        self._sources = {
            stream: self._told_by(stream, t)
            for stream in (Stream.STAGE, Stream.MOVEMENT, Stream.HEART_RATE)
        }
        before = [
            sample.value.bpm
            for sample in self._windows.preferred(Stream.HEART_RATE, t - BASELINE_S, t)
            if isinstance(sample.value, HeartRate) and sample.value.bpm is not None
        ]
        self._cue, self._since_t = cue, t
        self._awake_s = 0.0
        self._movement_g: float | None = None
        self._bpm: float | None = None
        self._baseline_bpm = mean(before) if before else None
        self._contact_lost = self._touched = False
        self._hub.subscribe(self._hear, _WATCHED, acts_on=self._acts_on)

    def end(self) -> None:
        if self._cue is not None:
            self._hub.unsubscribe(self._hear)
            self._cue = None

    def _acts_on(self, sample: Sample) -> bool:
        """Whether the sample makes any sign stronger, or the watch is over."""
        if sample.t - self._since_t >= WATCH_S:
            return True
        if sample.source != (self._sources.get(sample.stream) or sample.source):
            return False
        match sample.value:
            case StageReading(stage=stage):
                return stage is Stage.AWAKE
            case Movement(g=g):
                return g > (self._movement_g or 0.0)
            case HeartRate(bpm=bpm):
                return bpm is not None and bpm > (self._bpm or 0.0)
            case Contact(on_skin=on_skin):
                return on_skin is False
            case _:
                return isinstance(sample.value, PersonEvent)

    def _hear(self, sample: Sample) -> None:
        cue, since_s = self._cue, sample.t - self._since_t
        if cue is None or since_s >= WATCH_S:
            self.end()
            return
        if not self._acts_on(sample):
            return
        self._take(sample)
        signs = suspected(
            WakeSigns(
                since_cue_s=since_s,
                awake_s=self._awake_s,
                movement_g=self._movement_g,
                heart_rate_bpm=self._bpm,
                heart_rate_before_bpm=self._baseline_bpm,
                contact_lost=self._contact_lost,
                touched=self._touched,
            )
        )
        if signs:
            self.end()
            self._suspect(cue, sample.t, signs)

    def _told_by(self, stream: Stream, t: float) -> str | None:
        """The source that told this stream in the minute before; None where none did."""
        samples = self._windows.preferred(stream, t - BASELINE_S, t)
        return samples[-1].source if samples else None

    def _take(self, sample: Sample) -> None:
        """Take in a sample that makes a sign stronger."""
        match sample.value:
            case StageReading():
                interval_s = self._windows.interval_s(Stream.STAGE, sample.source)
                self._awake_s += interval_s or EPOCH_S
            case Movement(g=g):
                self._movement_g = g
            case HeartRate(bpm=bpm):
                self._bpm = bpm
            case Contact():
                self._contact_lost = True
            case PersonEvent():
                self._touched = True
            case _:
                raise AssertionError("unreachable")
