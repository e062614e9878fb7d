"""Recovery says truthfully what it found: 0 whole, 3 lossy, 1 nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.recording import (
    MemoryRecording,
    NewerSchema,
    NightFile,
    NotANightFile,
    RecordingError,
    inspect,
    recover,
    write_night,
)
from bedside.recording import head as head_module
from bedside.recording.mcap_records import CHUNK, HEAD
from devices.types import Movement, Sample, Stream
from tests.bedside.recording.nights import INFO, TRUTH, plain_all, read, small_night


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "night.mcap"
    write_night(path, small_night())
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.mcap"


def chunk_starts(raw: bytes) -> list[tuple[int, int]]:
    found, at = [], 8
    while at + HEAD.size <= len(raw) - 8:
        opcode, length = HEAD.unpack_from(raw, at)
        if opcode == CHUNK:
            found.append((at, at + HEAD.size + length))
        at += HEAD.size + length
    return found


def test_a_whole_night_is_copied_and_gives_0(path: Path, out: Path) -> None:
    report = recover(path, out)
    assert report.exit_code == 0
    assert report.whole
    assert report.samples == len(read(path))
    assert report.last_t == 15.5
    assert out.read_bytes() == path.read_bytes()


def test_a_whole_night_without_samples_gives_0(tmp_path: Path, out: Path) -> None:
    write_night(tmp_path / "empty.mcap", MemoryRecording(INFO, ()))
    assert recover(tmp_path / "empty.mcap", out).exit_code == 0


def test_a_night_cut_in_its_last_chunk_gives_3(path: Path, out: Path) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: chunk_starts(raw)[-1][0] + 30])
    report = recover(path, out)
    assert report.exit_code == 3
    assert report.truth_kept
    assert report.damages[0].byte == chunk_starts(raw)[-1][0]
    assert NightFile.open(out).truth() == TRUTH
    assert inspect(out).closed
    assert read(out) == plain_all(s for s in small_night().samples() if s.t < 15.0)


def test_a_night_that_was_never_closed_gives_3(path: Path, out: Path) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: chunk_starts(raw)[-1][1]])
    report = recover(path, out)
    assert report.exit_code == 3
    assert read(out) == plain_all(small_night().samples())


@pytest.mark.parametrize("kept", [0, 5, 60])
def test_a_night_cut_in_its_head_gives_1_and_no_file(path: Path, out: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    report = recover(path, out)
    assert report.exit_code == 1
    assert report.out is None
    assert not out.exists()


def test_a_file_of_something_else_gives_1_and_no_file(tmp_path: Path, out: Path) -> None:
    other = tmp_path / "stages.csv"
    other.write_text("time,stage\n" * 10_000)
    assert recover(other, out).exit_code == 1
    assert not out.exists()


def test_a_night_with_a_broken_head_is_rebuilt_from_its_channels(path: Path, out: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[60:300] = bytes(240)
    path.write_bytes(raw)
    with pytest.raises(RecordingError, match=rf"byte 47: .*run `paprika recover {path}`"):
        NightFile.open(path)
    report = recover(path, out)
    assert report.exit_code == 3
    night = NightFile.open(out)
    assert plain_all(night.samples()) == plain_all(small_night().samples())
    assert night.truth() == TRUTH
    info = night.info
    assert (info.night_id, info.kind, info.origin) == ("night", "recovered", "night.mcap")
    assert info.start_wall_ns == INFO.start_wall_ns
    assert info.truth_origin == INFO.truth_origin
    assert info.synthetic
    assert set(INFO.streams) - set(info.streams) <= {INFO.streams[3]}
    assert "head of this night was lost" in info.notes[0]


def test_chunks_after_a_broken_record_are_found_again(path: Path, out: Path) -> None:
    raw = bytearray(path.read_bytes())
    start, _ = chunk_starts(bytes(raw))[3]
    raw[start : start + 9] = b"\x00" * 9
    path.write_bytes(raw)
    kept = [s for s in small_night().samples() if not 0.0 <= s.t < 5.0]
    report = recover(path, out)
    assert report.exit_code == 3
    assert read(out) == plain_all(kept)


def test_streams_are_read_though_the_chunk_that_defined_them_is_lost(
    tmp_path: Path, out: Path
) -> None:
    samples = tuple(Sample(Stream.MOVEMENT, t * 1.0, Movement(t / 8), "band") for t in range(700))
    path = tmp_path / "long.mcap"
    write_night(path, MemoryRecording(replace(INFO, truth_origin=None), samples))
    raw = bytearray(path.read_bytes())
    raw[chunk_starts(bytes(raw))[0][1] - 1] ^= 1
    path.write_bytes(raw)
    assert read(path) == plain_all(samples[300:])
    report = recover(path, out)
    assert report.samples == 695
    assert read(out) == plain_all(samples[5:])


def test_truth_that_is_broken_is_not_claimed_by_the_copy(path: Path, out: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[chunk_starts(bytes(raw))[0][1] - 1] ^= 1
    path.write_bytes(raw)
    report = recover(path, out)
    assert not report.truth_kept
    assert NightFile.open(out).info.truth_origin is None
    assert NightFile.open(out).truth() == ()
    assert read(out) == plain_all(small_night().samples())


def test_a_file_that_is_there_is_never_written_over(path: Path, out: Path) -> None:
    out.write_text("precious")
    for target in (out, path):
        with pytest.raises(RecordingError, match="there is a file already"):
            recover(path, target)
    assert out.read_text() == "precious"


def test_a_missing_file_is_one_clear_line(tmp_path: Path, out: Path) -> None:
    with pytest.raises(NotANightFile, match=r"none\.mcap: cannot be read \(No such file"):
        recover(tmp_path / "none.mcap", out)


def test_a_newer_night_is_left_to_a_newer_paprika(
    path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.unlink()
    monkeypatch.setattr(head_module, "SCHEMA", 2)
    write_night(path, small_night())
    monkeypatch.undo()
    for refused in (lambda: recover(path, out), lambda: inspect(path)):
        with pytest.raises(NewerSchema, match="schema 2 is newer than this Paprika reads"):
            refused()
    assert not out.exists()


def test_the_report_is_json(path: Path, out: Path) -> None:
    report = json.loads(json.dumps(recover(path, out).as_dict()))
    assert report["exit_code"] == 0
    assert report["samples"] == len(read(path))
