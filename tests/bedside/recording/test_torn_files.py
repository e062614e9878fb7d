"""A night file cut or changed anywhere: complete chunks are read, and never a wrong sample."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.recording import (
    DamagedNight,
    MemoryRecording,
    NightFile,
    NotANightFile,
    RecordingError,
    inspect,
    recover,
    write_night,
)
from bedside.recording.mcap_records import CHUNK, CHUNK_HEAD, HEAD
from bedside.recording.mcap_records import chunk as chunk_record
from bedside.recording.scan import LARGEST_CHUNK
from tests.bedside.recording.nights import INFO, TRUTH, plain_all, small_night

Plain = list[tuple[object, ...]]


def records(raw: bytes) -> Iterator[tuple[int, int, int]]:
    """Opcode, first byte and byte after of each record; walked independently of the code."""
    at = 8
    while at + 9 <= len(raw) - 8:
        opcode, length = raw[at], int.from_bytes(raw[at + 1 : at + 9], "little")
        yield opcode, at, at + 9 + length
        at += 9 + length


def swept_night() -> MemoryRecording:
    """A night of a few thousand bytes in five chunks."""
    samples = [sample for at, sample in enumerate(small_night(8).samples()) if at % 3 != 1]
    return MemoryRecording(INFO, tuple(samples), TRUTH)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Plain]:
    path = tmp_path_factory.mktemp("whole") / "night.mcap"
    write_night(path, swept_night())
    return path.read_bytes(), plain_all(swept_night().samples())


@pytest.fixture(scope="module")
def counts_by_chunk(whole: tuple[bytes, Plain]) -> list[tuple[int, int]]:
    """For each chunk of samples: the byte after it, and how many samples are complete by then."""
    raw, _ = whole
    ends = [after for opcode, _, after in records(raw) if opcode == CHUNK][1:]
    windows = [sample.t // 5.0 for sample in swept_night().samples()]
    order = sorted(set(windows))
    totals = [sum(window <= last for window in windows) for last in order]
    assert len(ends) == len(totals)
    return list(zip(ends, totals, strict=True))


@pytest.mark.timeout(300)
def test_cut_at_every_byte_all_complete_chunks_are_read_and_nothing_else(
    whole: tuple[bytes, Plain], counts_by_chunk: list[tuple[int, int]], tmp_path: Path
) -> None:
    raw, given_samples = whole
    head_end = next(after for opcode, _, after in records(raw) if opcode == 0x0C)
    path = tmp_path / "cut.mcap"
    path.write_bytes(raw)
    for cut in range(len(raw) - 1, -1, -1):
        with path.open("r+b") as file:
            file.truncate(cut)
        if cut < head_end:
            with pytest.raises(RecordingError, match="recover" if cut else "empty"):
                NightFile.open(path)
            continue
        night = NightFile.open(path)
        expected = max((total for end, total in counts_by_chunk if end <= cut), default=0)
        assert plain_all(night.samples()) == given_samples[:expected], cut
        assert night.damage is not None
        assert night.damage.byte <= cut


@pytest.mark.timeout(300)
def test_cut_at_many_bytes_recovery_makes_a_whole_file_of_the_same_samples(
    whole: tuple[bytes, Plain], counts_by_chunk: list[tuple[int, int]], tmp_path: Path
) -> None:
    raw, given_samples = whole
    path, out = tmp_path / "cut.mcap", tmp_path / "out.mcap"
    truth_end = next(after for opcode, _, after in records(raw) if opcode == CHUNK)
    for cut in range(0, len(raw), 13):
        path.write_bytes(raw[:cut])
        out.unlink(missing_ok=True)
        report = recover(path, out)
        expected = max((total for end, total in counts_by_chunk if end <= cut), default=0)
        assert report.samples == expected
        assert report.exit_code == (3 if cut >= truth_end else 1)
        assert out.exists() == (cut >= truth_end)
        if out.exists():
            night = NightFile.open(out)
            assert plain_all(night.samples()) == given_samples[:expected]
            assert night.truth() == TRUTH
            assert night.damage is None


def read_or_refused(path: Path) -> tuple[Plain, bool]:
    """The samples, or none where one clear line refuses them; and whether damage was told."""
    try:
        night = NightFile.open(path)
        return plain_all(night.samples()), night.damage is not None
    except RecordingError as error:
        if "\n" in str(error) or str(path) not in str(error):
            raise
        return [], True


@pytest.mark.timeout(300)
def test_any_byte_changed_in_one_bit_or_all_gives_true_samples_or_a_recording_error(
    whole: tuple[bytes, Plain], tmp_path: Path
) -> None:
    raw, given_samples = whole
    known = set(given_samples)
    path = tmp_path / "changed.mcap"
    path.write_bytes(raw)
    with path.open("r+b", buffering=0) as file:
        for at, value in enumerate(raw):
            for other in (value ^ 1 << at % 8, value ^ 0xFF, value):
                file.seek(at)
                file.write(bytes([other]))
                if other == value:
                    continue
                got, damaged = read_or_refused(path)
                assert set(got) <= known, at
                assert len(got) == len(given_samples) or damaged, at


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_many_changed_bytes_give_true_samples_or_a_recording_error(
    whole: tuple[bytes, Plain], tmp_path: Path
) -> None:
    raw, given_samples = whole
    known = set(given_samples)
    path = tmp_path / "changed.mcap"
    dice = random.Random(7)
    for _ in range(20_000):
        content = bytearray(raw)
        for _ in range(dice.randint(1, 8)):
            content[dice.randrange(len(raw))] = dice.randrange(256)
        path.write_bytes(content)
        assert set(read_or_refused(path)[0]) <= known


def test_a_broken_chunk_costs_itself_alone(
    whole: tuple[bytes, Plain], counts_by_chunk: list[tuple[int, int]], tmp_path: Path
) -> None:
    raw, given_samples = whole
    chunks = [(start, after) for opcode, start, after in records(raw) if opcode == CHUNK]
    start, after = chunks[-2]
    path = tmp_path / "night.mcap"
    path.write_bytes(raw[: after - 1] + bytes([raw[after - 1] ^ 1]) + raw[after:])
    totals = [total for _, total in counts_by_chunk]
    night = NightFile.open(path)
    assert plain_all(night.samples()) == given_samples[: totals[-3]] + given_samples[totals[-2] :]
    assert night.damage is not None
    assert night.damage.byte == start
    assert "the chunk that begins here is broken" in night.damage.what


def test_lost_truth_is_an_error_and_never_an_empty_truth(
    whole: tuple[bytes, Plain], tmp_path: Path
) -> None:
    raw, given_samples = whole
    _, start, after = next(record for record in records(raw) if record[0] == CHUNK)
    path = tmp_path / "night.mcap"
    unguarded = range(start + HEAD.size, start + HEAD.size + 16)  # log times, for viewers only
    for at in set(range(start, after, 3)) - set(unguarded):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :])
        night = NightFile.open(path)
        with pytest.raises(DamagedNight, match="truth of this night is lost"):
            night.truth()
        assert set(plain_all(night.samples())) <= set(given_samples)


def forged(raw: bytes, data: bytes, size: int | None = None, packed: bytes | None = None) -> bytes:
    """The file with its second chunk replaced, checksums right."""
    _, start, after = [record for record in records(raw) if record[0] == CHUNK][1]
    packed = zstandard.compress(data) if packed is None else packed
    size = len(data) if size is None else size
    return raw[:start] + chunk_record(0, 0, size, zlib.crc32(data), packed) + raw[after:]


def chunk_data(raw: bytes) -> bytes:
    _, start, after = [record for record in records(raw) if record[0] == CHUNK][1]
    return zstandard.decompress(raw[start + HEAD.size + CHUNK_HEAD.size + 16 : after])


@settings(max_examples=1500)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.binary(min_size=1, max_size=9)), min_size=1, max_size=3
    )
)
def test_chunks_with_right_checksums_and_wrong_content_end_in_a_recording_error(
    whole: tuple[bytes, Plain], tmp_path_factory: pytest.TempPathFactory, edits: list
) -> None:
    raw, _ = whole
    data = bytearray(chunk_data(raw))
    for at, content in edits:
        at %= len(data)
        data[at : at + len(content)] = content
    path = tmp_path_factory.getbasetemp() / "forged.mcap"
    path.write_bytes(forged(raw, bytes(data)))
    read_or_refused(path)
    inspect(path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (struct.pack("<BQHI", 5, 22, 1, 0), "a message is cut"),
        (struct.pack("<BQHIqq", 5, 23, 1, 0, 0, 0), "does not fit its chunk"),
        (struct.pack("<BQHIqq", 5, 21, 1, 0, 0, 0), "does not fit its chunk"),
        (b"\x04\x01", "a record is cut"),
        (struct.pack("<BQ", 4, 2**63), "does not fit its chunk"),
        (struct.pack("<BQ", 4, 0), "2 bytes declared, 0 there"),
    ],
)
def test_a_chunk_that_says_something_impossible_is_named(
    whole: tuple[bytes, Plain], tmp_path: Path, data: bytes, says: str
) -> None:
    path = tmp_path / "forged.mcap"
    path.write_bytes(forged(whole[0], data))
    with pytest.raises(DamagedNight, match=rf"forged\.mcap: in the chunk at byte \d+: .*{says}"):
        list(NightFile.open(path).samples())


@pytest.mark.parametrize("frame_says", [10, LARGEST_CHUNK + 1, 2**40])
def test_a_chunk_that_claims_to_unpack_to_more_is_never_unpacked(
    whole: tuple[bytes, Plain], tmp_path: Path, frame_says: int
) -> None:
    frame = b"\x28\xb5\x2f\xfd\xe0" + frame_says.to_bytes(8, "little") + b"\x01\x00\x00"
    assert zstandard.frame_content_size(frame) == frame_says
    path = tmp_path / "bomb.mcap"
    for size in (10 if frame_says != 10 else 11, frame_says):
        path.write_bytes(forged(whole[0], b"", size=size, packed=frame))
        night = NightFile.open(path)
        list(night.samples())
        assert night.damage is not None
        assert "broken" in night.damage.what


def test_a_record_that_claims_more_than_the_file_holds_ends_the_walk(
    whole: tuple[bytes, Plain], tmp_path: Path
) -> None:
    raw = whole[0]
    _, start, _ = [record for record in records(raw) if record[0] == CHUNK][1]
    path = tmp_path / "long.mcap"
    for length in (len(raw), 2**40, 2**64 - 1):
        path.write_bytes(raw[: start + 1] + length.to_bytes(8, "little") + raw[start + 9 :])
        night = NightFile.open(path)
        assert list(night.samples()) == []
        assert night.damage is not None
        assert night.damage.byte == start


def test_zeros_after_a_power_cut_are_no_samples(
    whole: tuple[bytes, Plain], counts_by_chunk: list[tuple[int, int]], tmp_path: Path
) -> None:
    end, total = counts_by_chunk[1]
    path = tmp_path / "zeros.mcap"
    path.write_bytes(whole[0][:end] + bytes(5000))
    night = NightFile.open(path)
    assert plain_all(night.samples()) == whole[1][:total]
    assert night.damage is not None
    assert night.damage.byte == end


def test_a_file_that_vanishes_is_a_recording_error(
    whole: tuple[bytes, Plain], tmp_path: Path
) -> None:
    path = tmp_path / "night.mcap"
    path.write_bytes(whole[0])
    night = NightFile.open(path)
    path.unlink()
    with pytest.raises(NotANightFile, match="cannot be read"):
        list(night.samples())
