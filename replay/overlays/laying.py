"""Lays an overlay over a recorded night: other stages are shown, the truth stays what it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Final

from bedside.recording import MemoryRecording, Recording, RecordingInfo
from devices.types import EPOCH_S, Sample, Stage, StageReading, Stream, StreamInfo, Truth
from replay.hypnogram import fine_letters
from replay.overlays.confusion import Overlay, shown_by
from replay.recorded_night import RecordedNight
from replay.rolls import roll_night

REPLACED: Final = frozenset({Stream.STAGE, Stream.CONTACT})
"""Streams of the recorded device, which the overlay is now."""
RECORDED_TRUTH: Final = "the recorded stages"
_BATCH: Final = 512
_time_of = itemgetter(1)


def overlaid(night: RecordedNight, overlay: Overlay, *, seed: int) -> RecordedNight:
    """The night as this device would show it; its hidden stages, and so its rolls, stay the same.

    The hidden stages are the experts', or the recorded ones where nobody scored. The night itself
    where the overlay shows what was recorded.
    """
    if not overlay.grades:
        return night
    shown = shown_by(overlay, night.hidden, night=roll_night(night.stage4_sha256, 0), seed=seed)
    info = _info(night.info, overlay, shown)
    truth = tuple(Truth(k * EPOCH_S + 15.0, stage) for k, stage in enumerate(night.hidden))
    laid = _Laid(night.recording, info, _labels(info, shown), truth)
    if isinstance(night.recording, MemoryRecording) or len(info.streams) == 1:
        return RecordedNight(MemoryRecording(info, tuple(laid.samples()), truth))
    return RecordedNight(laid)


class _Laid:
    """A recording whose stage stream is replaced; the rest is read from its file as ever."""

    def __init__(
        self,
        recording: Recording,
        info: RecordingInfo,
        labels: Sequence[Sample],
        truth: tuple[Truth, ...],
    ) -> None:
        self.info = info
        self._recording = recording
        self._labels = labels
        self._truth = truth

    @property
    def path(self) -> object:
        """The file that the rest is read from."""
        return getattr(self._recording, "path", None)

    @property
    def damage(self) -> object:
        return getattr(self._recording, "damage", None)

    def samples(self, streams: frozenset[Stream] | None = None) -> Iterator[Sample]:
        kept = (frozenset(Stream) if streams is None else streams) - REPLACED
        others = self._recording.samples(kept) if len(self.info.streams) > 1 else iter(())
        wanted = streams is None or Stream.STAGE in streams
        return merge(others, self._labels if wanted else (), key=_time_of)

    def batches(self, from_t: float = 0.0) -> Iterator[Sequence[Sample]]:
        batches = self._recording.batches(from_t)
        others = (s for batch in batches for s in batch if s.stream not in REPLACED)
        labels = (label for label in self._labels if label.t >= from_t)
        together = merge(others, labels, key=_time_of)
        while batch := list(islice(together, _BATCH)):
            yield batch

    def truth(self) -> tuple[Truth, ...]:
        return self._truth


def _info(info: RecordingInfo, overlay: Overlay, shown: Sequence[Stage]) -> RecordingInfo:
    device = StreamInfo(Stream.STAGE, EPOCH_S, f"overlay-{overlay.name}", simulated=True)
    others = (stream for stream in info.streams if stream.stream not in REPLACED)
    return replace(
        info,
        epochs=len(shown),
        streams=(device, *others),
        truth_origin=info.truth_origin or RECORDED_TRUTH,
        stages=fine_letters(shown),
        notes=(*info.notes, f"overlay {overlay.name}: the stages shown are a model's"),
    )


def _labels(info: RecordingInfo, shown: Sequence[Stage]) -> list[Sample]:
    source = info.streams[0].source
    return [
        Sample(Stream.STAGE, k * EPOCH_S + 15.0, StageReading(stage), source)
        for k, stage in enumerate(shown)
        if stage is not Stage.UNKNOWN
    ]
