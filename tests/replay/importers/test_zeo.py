from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bedside.recording import MemoryRecording
from devices.types import Sample, Stage, StageReading, Stream
from replay.hypnogram import letters, shown_stages
from replay.importers import ImportFailed, ImportOptions, recognised
from replay.importers.zeo import read

Write = Callable[[str, str | bytes], Path]

HEADER = "Sleep Date,ZQ,Start of Night,End of Night,Sleep Graph,Detailed Sleep Graph\n"


def row(digits: str, start: str = "05/04/2012 23:00") -> str:
    return f"05/04/2012,88,{start},05/05/2012 07:07,0 1,{digits}\n"


def nights(path: Path, *, lenient: bool = False) -> list[MemoryRecording | ImportFailed]:
    return list(read(path, ImportOptions(lenient=lenient)))


def test_each_row_is_a_night_numbered_from_one(write: Write):
    path = write("zeo.csv", HEADER + row("0 1 2 3 4") + row("3 3"))
    first, second = nights(path)
    assert isinstance(first, MemoryRecording)
    assert isinstance(second, MemoryRecording)
    assert (first.info.night_id, second.info.night_id) == ("zeo-01", "zeo-02")
    assert letters(shown_stages(first)) == "?WRLD"
    assert first.info.kind == "headband_4stage"
    assert first.truth() == ()


def test_a_label_stands_in_the_middle_of_its_epoch(write: Write):
    (night,) = nights(write("zeo.csv", HEADER + row("1 2")))
    assert isinstance(night, MemoryRecording)
    assert list(night.samples()) == [
        Sample(Stream.STAGE, 15.0, StageReading(Stage.AWAKE), "zeo"),
        Sample(Stream.STAGE, 45.0, StageReading(Stage.REM), "zeo"),
    ]


def test_the_header_row_tells_the_format_whatever_the_name(write: Write):
    assert recognised(write("night.bin", HEADER + row("1"))).FORMAT == "zeo"


@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
def test_either_line_end_and_a_byte_order_mark_are_fine(write: Write, line_end: str):
    content = "\ufeff" + (HEADER + row("1 2 3")).replace("\n", line_end)
    path = write("zeo.csv", content)
    assert recognised(path).FORMAT == "zeo"
    (night,) = nights(path)
    assert isinstance(night, MemoryRecording)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row("1 2 7"), "zeo.csv, line 3: unknown stage '7'"),
        (row("1 2", start="yesterday"), "zeo.csv, line 3: 'Start of Night' is 'yesterday'"),
        ("05/04/2012,88,1 2\n", "zeo.csv, line 3: broken row, 3 columns where the header has 6"),
        (row(""), "zeo.csv, line 3: 'Detailed Sleep Graph' is empty"),
        (row("0 0 0"), "zeo.csv, line 3: not one valid epoch in 3"),
        (row(" ".join("1" * 5761)), "zeo.csv, line 3: spans 48.0 h, which is not one night"),
    ],
)
def test_a_bad_row_fails_alone_and_says_its_line(write: Write, bad: str, message: str):
    good, failure, after = nights(write("zeo.csv", HEADER + row("1 2") + bad + row("3")))
    assert isinstance(good, MemoryRecording)
    assert isinstance(failure, ImportFailed)
    assert str(failure).startswith(message)
    assert isinstance(after, MemoryRecording)
    assert after.info.night_id == "zeo-03"


def test_lenient_counts_unknown_digits(write: Write):
    (night,) = nights(write("zeo.csv", HEADER + row("1 7 7 8")), lenient=True)
    assert isinstance(night, MemoryRecording)
    assert letters(shown_stages(night)) == "W???"
    assert night.info.notes[-1] == ("3 labels of unknown stages taken as unknown: '7' 2, '8' 1")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "zeo.csv: is empty"),
        (HEADER, "zeo.csv: has a header and no night"),
        ("Sleep Date,ZQ\n1,2\n", "zeo.csv, line 1: no column 'Detailed Sleep Graph'"),
        (HEADER + '"unclosed,1,2\n', "zeo.csv, line 2: broken row"),
        (b"\xff\xfe\x00", "zeo.csv, byte 0: is not UTF-8"),
    ],
)
def test_a_file_of_no_use_is_refused(write: Write, content: str | bytes, message: str):
    with pytest.raises(ImportFailed) as failure:
        nights(write("zeo.csv", content))
    assert str(failure.value).startswith(message)
