"""Small nights with every kind of value, and the ways these tests look at samples."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bedside.recording import MemoryRecording, NightFile, RecordingInfo
from devices.types import (
    Battery,
    Contact,
    Cue,
    CueKind,
    CueSounded,
    EegBlock,
    HeartRate,
    Movement,
    Outcome,
    OutcomeStatus,
    PersonAct,
    PersonEvent,
    Room,
    Sample,
    SkinTemperature,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Truth,
    Volume,
)

INFO = RecordingInfo(
    night_id="small-01",
    kind="synthetic",
    origin="märchen.csv",
    epochs=2,
    streams=(
        StreamInfo(Stream.STAGE, 0.5, "band", simulated=True),
        StreamInfo(Stream.EEG, 1.0, "band", ("F7", "F8"), 8.0),
        StreamInfo(Stream.HEART_RATE, 1.0, "strap"),
        StreamInfo(Stream.ROOM, None, "room"),
    ),
    start_wall_ns=1_795_000_000_123_456_789,
    utc_offset_s=7200,
    synthetic=True,
    truth_origin="dod five scorers",
    notes=("made by hand", "眠り"),
)
TRUTH = (Truth(15.0, Stage.AWAKE), Truth(45.0, Stage.N2))

CUE = Cue(7, CueKind.WHISPER, Volume.LOW, "the sea", 3.5, "die blaue Tür", 34.5)
ODDITIES = (
    Sample(Stream.STAGE, -40.0, StageReading(Stage.UNKNOWN), "band", seq=0),
    Sample(Stream.SKIN_TEMPERATURE, -2.5, SkinTemperature(33.25), "ring", device_t=1e9 + 1 / 3),
    Sample(Stream.CONTACT, 0.0, Contact(None), "band"),
    Sample(Stream.CONTACT, 0.0, Contact(True), "band", device_t=-12.5),
    Sample(Stream.CONTACT, 0.1, Contact(False), "band", device_t=0.1),
    Sample(Stream.BATTERY, 0.2, Battery(99.5), "band/left ear", seq=2**32 - 2),
    Sample(Stream.HEART_RATE, 0.3, HeartRate(None), "strap"),
    Sample(Stream.HEART_RATE, 0.4, HeartRate(None, (812.0,)), "strap"),
    Sample(Stream.HEART_RATE, 0.5, HeartRate(61.5, (980.0, 1002.5)), "strap", 1_795_000_000.75, 3),
    Sample(Stream.MOVEMENT, 0.6, Movement(0.1 + 0.2), "band"),
    Sample(Stream.ROOM, 1.0, Room(), ""),
    Sample(Stream.ROOM, 1.0, Room(19.25, 31.0, 0.5, 44.0, 700.0, True), "房間"),
    Sample(Stream.PERSON, 2.0, PersonEvent(PersonAct.PAUSE, 20.0), "page"),
    Sample(Stream.PERSON, 2.0, PersonEvent(PersonAct.TOUCH, held=True), "button"),
    Sample(Stream.PERSON, 2.0, PersonEvent(PersonAct.VOLUME_CAP, volume=Volume.LOW), "page"),
    Sample(Stream.PERSON, 2.0, PersonEvent(PersonAct.THEME, text="das Meer"), "page"),
    Sample(Stream.CUE, 3.0, CueSounded(CUE, Outcome(OutcomeStatus.CONFIRMED, 2.5, 6.0)), "gate"),
    Sample(
        Stream.CUE,
        3.5,
        CueSounded(
            Cue(8, CueKind.SCENT, Volume.HIGH, "", 60.0, deadline_s=9.0, step=41),
            Outcome(OutcomeStatus.FAILED, None, 3.5, 33.5, 'no "answer"\n'),
        ),
        "gate",
    ),
)


def eeg_sample(t: float, seed: int, dtype: type = np.int16) -> Sample:
    """A second of two channels of 8 samples, some missing."""
    limits = np.iinfo(dtype)
    counts = np.random.default_rng(seed).integers(limits.min, limits.max, (2, 8), dtype=dtype)
    counts[0, seed % 8] = limits.min
    return Sample(Stream.EEG, t, EegBlock(counts, (0.25, 0.5), 8.0, (0.0, -3.0)), "band")


def small_night(seconds: int = 12) -> MemoryRecording:
    """Every kind of value, then 2 Hz stages and EEG for so many seconds; with truth."""
    samples = list(ODDITIES)
    for second in range(4, 4 + seconds):
        for t in (second + 0.0, second + 0.5):
            samples.append(Sample(Stream.STAGE, t, StageReading(Stage.N2, 0.75), "band", seq=1))
        dtype = np.int32 if second % 2 else np.int16
        samples.append(eeg_sample(second + 0.5, second, dtype))
    return MemoryRecording(INFO, tuple(samples), TRUTH)


def plain(sample: Sample) -> tuple[object, ...]:
    """The sample as a tuple that compares by content, EEG too."""
    if not isinstance(sample.value, EegBlock):
        return tuple(sample)
    block = sample.value
    counts = (block.counts.dtype.str, block.counts.shape, block.counts.tobytes())
    scaling = (block.scale_uv, block.rate_hz, block.offset_uv)
    return (*sample[:2], counts, scaling, *sample[3:])


def plain_all(samples: Iterable[Sample]) -> list[tuple[object, ...]]:
    return [plain(sample) for sample in samples]


def read(path: Path) -> list[tuple[object, ...]]:
    return plain_all(NightFile.open(path).samples())
