"""Nights to check with: a small one that has everything, and a recording told otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from bedside.recording import MemoryRecording, Recording, RecordingInfo
from devices.types import EPOCH_S, Sample, Stage, StageReading, Stream, StreamInfo, Truth
from replay.hypnogram import from_letters
from replay.recorded_night import RecordedNight

BENCH: Final = "WWWW?WLLLLLLLLLLLDDDDDDDDLLRRRRRRDDDDLLRRRRRRRR?RRRRRRWWLLL???WWRRRRRRRRRRDDDLLRRRR"
"""Each stage, gaps, and a REM run of six epochs that turns to deep sleep."""
LIGHT, DEEP, REM = Stage.LIGHT, Stage.DEEP, Stage.REM
OTHER: Final = {Stage.AWAKE: REM, REM: DEEP, DEEP: LIGHT, LIGHT: Stage.AWAKE}
"""For each coarse stage another one."""


@cache
def bench() -> RecordedNight:
    """The small night, of labels alone."""
    stream = StreamInfo(Stream.STAGE, EPOCH_S, "bench")
    info = RecordingInfo(
        night_id="bench",
        kind="synthetic",
        origin="letters",
        epochs=len(BENCH),
        streams=(stream,),
        start_wall_ns=1_790_031_600_000_000_000,
        utc_offset_s=0,
        synthetic=True,
    )
    samples = tuple(
        Sample(Stream.STAGE, (k + 0.5) * EPOCH_S, StageReading(stage), stream.source)
        for k, stage in enumerate(from_letters(BENCH))
        if stage is not Stage.UNKNOWN
    )
    return RecordedNight(MemoryRecording(info, samples))


class Retold:
    """A recording with other words about it, other samples, or another truth."""

    def __init__(
        self,
        recording: Recording,
        *,
        info: RecordingInfo | None = None,
        samples: Callable[[Sequence[Sample]], list[Sample]] | None = None,
        truth: tuple[Truth, ...] | None = None,
    ) -> None:
        self._recording = recording
        self._samples = samples or list
        self._truth = truth
        self.info = info or recording.info

    def samples(self, streams: frozenset[Stream] | None = None) -> Iterator[Sample]:
        for batch in self.batches():
            yield from (one for one in batch if streams is None or one.stream in streams)

    def batches(self, from_t: float = 0.0) -> Iterator[Sequence[Sample]]:
        return (told for batch in self._recording.batches(from_t) if (told := self._samples(batch)))

    def truth(self) -> tuple[Truth, ...]:
        return self._recording.truth() if self._truth is None else self._truth


def rewritten_from(night: RecordedNight, epoch: int) -> RecordedNight:
    """The same night up to `epoch`; from there on every stage is another, nothing else is sent."""
    from_t = epoch * EPOCH_S

    def rewritten(batch: Sequence[Sample]) -> list[Sample]:
        kept = [one for one in batch if one.t < from_t]
        return kept + [_other(one) for one in batch[len(kept) :] if one.stream is Stream.STAGE]

    info = replace(night.info, stages=None, epochs=night.epochs)
    truth = tuple(
        one if one.t < from_t else Truth(one.t, OTHER.get(one.stage.coarse, REM))
        for one in night.recording.truth()
    )
    told = Retold(night.recording, info=info, samples=rewritten, truth=truth)
    return RecordedNight(told)


def with_other_truth(night: RecordedNight) -> RecordedNight:
    """The same night as shown, with another truth at every epoch."""
    truth = tuple(
        Truth((k + 0.5) * EPOCH_S, OTHER.get(stage.coarse, REM))
        for k, stage in enumerate(night.hidden)
    )
    return RecordedNight(Retold(night.recording, truth=truth))


def retold(night: RecordedNight, info: RecordingInfo) -> RecordedNight:
    """The same night with other words about it."""
    return RecordedNight(Retold(night.recording, info=info))


def _other(sample: Sample) -> Sample:
    if not isinstance(sample.value, StageReading):
        return sample
    return sample._replace(value=StageReading(OTHER.get(sample.value.stage.coarse, REM)))
