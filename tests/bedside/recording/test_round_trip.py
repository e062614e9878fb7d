"""What is written is what is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bedside.recording import (
    BadSample,
    MemoryRecording,
    NewerSchema,
    NightFile,
    NotANightFile,
    RecordingError,
    write_night,
)
from bedside.recording.head import SCHEMA, NightHead, head_bytes
from devices.types import (
    EegBlock,
    HeartRate,
    Movement,
    Sample,
    Stage,
    StageReading,
    Stream,
    microvolts,
)
from tests.bedside.recording.nights import INFO, ODDITIES, TRUTH, plain_all, read, small_night


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "night.mcap"


def test_every_value_of_every_stream_comes_back_equal(path: Path) -> None:
    night = small_night()
    write_night(path, night)
    assert read(path) == plain_all(night.samples())
    assert {sample.stream for sample in night.samples()} == set(Stream)


def test_values_come_back_as_the_types_they_were(path: Path) -> None:
    write_night(path, small_night())
    for got, given in zip(NightFile.open(path).samples(), small_night().samples(), strict=True):
        assert type(got) is Sample
        assert type(got.stream) is Stream
        assert type(got.value) is type(given.value)


def test_a_file_can_be_read_again_and_twice_at_once(path: Path) -> None:
    write_night(path, small_night())
    night = NightFile.open(path)
    pairs = list(zip(night.samples(), night.samples(), strict=True))
    assert plain_all(one for one, _ in pairs) == plain_all(other for _, other in pairs)
    assert night.damage is None


def test_info_and_truth_come_back(path: Path) -> None:
    write_night(path, small_night())
    night = NightFile.open(path)
    assert night.info == INFO
    assert night.truth() == TRUTH


def test_a_night_without_truth_or_wall_time_has_neither(path: Path) -> None:
    info = replace(INFO, start_wall_ns=None, truth_origin=None)
    night = MemoryRecording(info, tuple(small_night().samples()))
    write_night(path, night)
    assert NightFile.open(path).truth() == ()
    assert NightFile.open(path).info.start_wall_ns is None
    assert read(path) == plain_all(night.samples())


def test_a_night_without_a_sample_is_a_whole_file(path: Path) -> None:
    write_night(path, MemoryRecording(INFO, ()))
    night = NightFile.open(path)
    assert list(night.samples()) == []
    assert night.damage is None


@pytest.mark.parametrize("streams", [set(), {Stream.STAGE}, {Stream.EEG, Stream.ROOM}])
def test_only_the_streams_asked_for_are_given(path: Path, streams: set[Stream]) -> None:
    night = small_night()
    write_night(path, night)
    asked = frozenset(streams)
    expected = plain_all(sample for sample in night.samples() if sample.stream in asked)
    assert plain_all(NightFile.open(path).samples(asked)) == expected
    assert plain_all(night.samples(asked)) == expected


@pytest.mark.parametrize("chunk_s", [0.5, 5.0, 3600.0])
def test_the_length_of_chunks_changes_nothing_that_is_read(path: Path, chunk_s: float) -> None:
    write_night(path, small_night(), chunk_s=chunk_s)
    assert read(path) == plain_all(small_night().samples())


def test_equal_nights_make_equal_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.mcap", tmp_path / "other.mcap"
    write_night(one, small_night())
    write_night(other, small_night())
    assert one.read_bytes() == other.read_bytes()


def test_equal_numbers_make_equal_bytes_whatever_their_type(tmp_path: Path) -> None:
    paths = []
    for number in (0, 0.0, -0.0, np.float32(0.0), np.int64(0)):
        paths.append(tmp_path / f"{len(paths)}.mcap")
        sample = Sample(Stream.HEART_RATE, 1.0, HeartRate(number, (number,)), "strap")
        write_night(paths[-1], MemoryRecording(INFO, (sample,)))
    assert len({path.read_bytes() for path in paths}) == 1


def test_a_counter_past_the_end_of_its_field_wraps(path: Path) -> None:
    sample = Sample(Stream.MOVEMENT, 1.0, Movement(0.0), "band", seq=2**32 - 1)
    write_night(path, MemoryRecording(INFO, (sample,)))
    assert next(NightFile.open(path).samples()).seq == 0


def test_a_unix_time_as_device_time_comes_back_to_the_last_bit(path: Path) -> None:
    times = [1_795_000_000.0 + step * 0.123456789 for step in range(1000)]
    samples = tuple(
        Sample(Stream.MOVEMENT, float(step), Movement(0.0), "band", device_t=device_t)
        for step, device_t in enumerate(times)
    )
    write_night(path, MemoryRecording(INFO, samples))
    assert [sample.device_t for sample in NightFile.open(path).samples()] == times


def test_eeg_comes_back_in_microvolts_with_gaps(path: Path) -> None:
    counts = np.array([[0, 4, -32768], [1, 2, 3]], dtype=np.int16)
    block = EegBlock(counts, (0.5, 2.0), 3.0, (1.0, 0.0))
    write_night(path, MemoryRecording(INFO, (Sample(Stream.EEG, 1.0, block, "band"),)))
    got = next(NightFile.open(path).samples()).value
    assert isinstance(got, EegBlock)
    np.testing.assert_array_equal(
        microvolts(got), np.array([[1.0, 3.0, np.nan], [2.0, 4.0, 6.0]], dtype=np.float32)
    )


def test_progress_is_told_in_seconds_of_the_night(path: Path) -> None:
    told: list[float] = []
    write_night(path, small_night(), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 15.0


STAGE = StageReading(Stage.REM, 0.5)


@pytest.mark.parametrize(
    ("sample", "says"),
    [
        (Sample(Stream.STAGE, float("nan"), STAGE, "band"), "t = nan"),
        (Sample(Stream.STAGE, float("inf"), STAGE, "band"), "t = inf"),
        (Sample(Stream.STAGE, 1e12, STAGE, "band"), "cannot be recorded"),
        (Sample(Stream.STAGE, 4.9, STAGE, "band"), "goes back from 5.0"),
        (Sample(Stream.STAGE, 6.0, Movement(1.0), "band"), "a StageReading is expected"),
        (Sample(Stream.MOVEMENT, 6.0, Movement(float("nan")), "band"), "movement of 'band'"),
        (Sample(Stream.MOVEMENT, 6.0, Movement("much"), "band"), "movement of 'band'"),  # type: ignore[arg-type]
        (Sample(Stream.STAGE, 6.0, StageReading("n5"), "band"), "n5"),  # type: ignore[arg-type]
        (Sample(Stream.STAGE, 6.0, STAGE, "\ud800"), "cannot be recorded"),
        (Sample("truth", 6.0, STAGE, "band"), "truth"),  # type: ignore[arg-type]
        (Sample(Stream.STAGE, 6.0, STAGE, "band", float("inf")), "cannot be recorded"),
        (Sample(Stream.EEG, 6.0, EegBlock(np.zeros((2, 2)), (1.0, 1.0), 2.0)), "float64"),  # type: ignore[arg-type]
        (Sample(Stream.EEG, 6.0, EegBlock(np.zeros((2, 2), "i2"), (1.0,), 2.0)), "as many scales"),
    ],
)
def test_a_sample_that_no_file_can_hold_is_named_and_leaves_no_file(
    path: Path, sample: Sample, says: str
) -> None:
    before = Sample(Stream.STAGE, 5.0, STAGE, "band")
    with pytest.raises(BadSample, match=says):
        write_night(path, MemoryRecording(INFO, (before, sample)))
    assert list(path.parent.iterdir()) == []


def test_a_file_that_was_there_survives_a_failed_write(path: Path) -> None:
    write_night(path, small_night())
    before = path.read_bytes()
    with pytest.raises(BadSample):
        write_night(path, MemoryRecording(INFO, tuple(reversed(ODDITIES))))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_newer_schema_is_refused_by_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bedside.recording.head.SCHEMA", SCHEMA + 1)
    raw = head_bytes(NightHead(INFO, 0, 0))[0]
    monkeypatch.undo()
    path.write_bytes(raw)
    with pytest.raises(NewerSchema, match=r"night\.mcap: night file schema 2 is newer.*update"):
        NightFile.open(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"time,stage\n0,REM\n", "byte 0: not a night file; `paprika import`"),
        (b"\x89MCAP0\r\n" + b"\x01" + (12).to_bytes(8, "little") + b"\x04\0\0\0ros2" + bytes(4),
         "profile 'ros2'"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_night_says_so(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with pytest.raises(NotANightFile, match=says):
        NightFile.open(path)


def test_a_missing_file_is_one_clear_line(path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        NightFile.open(path)
    with pytest.raises(RecordingError, match="No such file"):
        write_night(path / "under" / "n.mcap", small_night())


@pytest.mark.parametrize("from_t", [-100.0, 0.0, 5.0, 9.75, 15.5, 99.0])
def test_batches_from_a_time_hold_every_sample_from_then_on(path: Path, from_t: float) -> None:
    given = small_night()
    write_night(path, given)
    every = plain_all(given.samples())
    for recording in (NightFile.open(path), given):
        got = plain_all(sample for batch in recording.batches(from_t) for sample in batch)
        assert got == every[len(every) - len(got) :]
        assert len(got) >= sum(sample.t >= from_t for sample in given.samples())


def test_batches_are_chunks(path: Path) -> None:
    write_night(path, small_night())
    batches = [batch for batch in NightFile.open(path).batches(-40.0) if batch]
    assert [{sample.t // 5.0 for sample in batch} for batch in batches] == [
        {-8.0}, {-1.0}, {0.0}, {1.0}, {2.0}, {3.0},
    ]  # fmt: skip


def test_a_file_knows_whether_it_was_closed(path: Path) -> None:
    write_night(path, small_night())
    assert NightFile.open(path).closed
    path.write_bytes(path.read_bytes()[:-1])
    assert not NightFile.open(path).closed


def test_stages_worked_out_before_come_back(path: Path) -> None:
    info = replace(INFO, stages="W?", epochs=2)
    write_night(path, MemoryRecording(info, ()))
    assert NightFile.open(path).info == info
