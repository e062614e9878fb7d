from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bedside.recording import MemoryRecording
from devices.types import Stage
from replay.hypnogram import letters, shown_stages
from replay.importers import ImportFailed, ImportOptions, recognised
from replay.importers.sleep_edf import read

Write = Callable[[str, str | bytes], Path]
Annotated = Callable[..., bytes]
At = Callable[[float, float, str], str]

WHOLE = 512 + 400
"""Size of the file that `annotated` makes: two header blocks and one record."""


def night(path: Path, *, lenient: bool = False) -> MemoryRecording:
    (found,) = read(path, ImportOptions(lenient=lenient))
    assert isinstance(found, MemoryRecording)
    return found


def test_stages_last_as_long_as_their_annotations(
    write: Write, annotated: Annotated, stage_text: At
):
    content = annotated(
        stage_text(0, 60, "Sleep stage W"),
        stage_text(60, 30, "Sleep stage 1"),
        stage_text(90, 30, "Sleep stage 2"),
        stage_text(120, 30, "Sleep stage 3"),
        stage_text(150, 30, "Sleep stage 4"),
        stage_text(180, 30, "Sleep stage R"),
        stage_text(210, 30, "Movement time"),
        stage_text(240, 60, "Sleep stage ?"),
    )
    path = write("SC4999EC-Hypnogram.edf", content)
    assert recognised(path).FORMAT == "sleep_edf"
    found = night(path)
    assert shown_stages(found) == (
        Stage.AWAKE, Stage.AWAKE, Stage.N1, Stage.N2, Stage.DEEP, Stage.DEEP, Stage.REM,
        Stage.UNKNOWN, Stage.UNKNOWN, Stage.UNKNOWN,
    )  # fmt: skip
    assert found.info.night_id == "sleepedf-SC4999-edf"
    assert found.info.kind == "psg_edfplus"
    assert found.truth() == ()
    # 1989-04-24 16:13:00, read as UTC.
    assert found.info.start_wall_ns == 609_437_580 * 1_000_000_000


def test_time_without_an_annotation_has_no_stage(
    write: Write, annotated: Annotated, stage_text: At
):
    content = annotated(stage_text(30, 30, "Sleep stage R"), stage_text(90, 30, "Sleep stage N2"))
    assert letters(shown_stages(night(write("a.edf", content)))) == "?R?L"


def test_an_epoch_has_the_stage_that_covers_its_middle(
    write: Write, annotated: Annotated, stage_text: At
):
    content = annotated(stage_text(0, 46, "Sleep stage W"), stage_text(46, 44, "Sleep stage R"))
    assert letters(shown_stages(night(write("a.edf", content)))) == "WWR"


def test_a_stage_without_a_duration_lasts_to_the_next(write: Write, annotated: Annotated):
    content = annotated("+0\x14Sleep stage W\x14", "+90\x14Sleep stage R\x14")
    assert letters(shown_stages(night(write("a.edf", content)))) == "WWWR"


def test_other_annotations_are_left_out_and_counted(
    write: Write, annotated: Annotated, stage_text: At
):
    content = annotated(
        "+0\x14Lights off\x14", stage_text(0, 60, "Sleep stage R"), "+10\x14arousal\x14snore\x14"
    )
    found = night(write("a.edf", content))
    assert letters(shown_stages(found)) == "RR"
    assert "3 annotations that are no stage left out" in found.info.notes


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (["+0\x1530\x14Sleep stage X\x14"], "a.edf, byte 517: unknown stage 'Sleep stage X'"),
        (
            ["+0\x1560\x14Sleep stage W\x14", "+30\x1530\x14Sleep stage R\x14"],
            "a.edf, byte 538: 'Sleep stage R' at 30 s is duplicate or runs backwards",
        ),
        (
            ["+0\x1530\x14Sleep stage W\x14", "+0\x1530\x14Sleep stage W\x14"],
            "a.edf, byte 517: 'Sleep stage W' at 0 s is duplicate or runs backwards",
        ),
        (
            ["-30\x1530\x14Sleep stage W\x14"],
            "a.edf, byte 517: 'Sleep stage W' at -30 s is duplicate or runs backwards",
        ),
        (["+0\x15x\x14Sleep stage W\x14"], "a.edf, byte 517: broken annotation"),
        (["+0\x1530\x14Sleep stage W"], "a.edf, byte 517: broken annotation"),
        (["+0\x14arousal\x14"], "a.edf: has no sleep stage among its annotations"),
        (["+0\x1530\x14Sleep stage ?\x14"], "a.edf: not one valid epoch in 1"),
        (["+0\x1520\x14Sleep stage W\x14"], "a.edf: not one valid epoch in 0"),
        (["+0\x15999999999\x14Sleep stage W\x14"], "a.edf: spans 277777.8 h"),
    ],
)
def test_a_bad_annotation_is_refused_by_its_byte(
    write: Write, annotated: Annotated, lists: list[str], message: str
):
    with pytest.raises(ImportFailed) as failure:
        night(write("a.edf", annotated(*lists)))
    assert str(failure.value).startswith(message)


def test_lenient_takes_unknown_stages_as_unknown(
    write: Write, annotated: Annotated, stage_text: At
):
    content = annotated(stage_text(0, 30, "Sleep stage X"), stage_text(30, 30, "Sleep stage R"))
    found = night(write("a.edf", content), lenient=True)
    assert letters(shown_stages(found)) == "?R"
    assert found.info.notes[-1] == (
        "1 labels of unknown stages taken as unknown: 'Sleep stage X' 1"
    )


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (0, "a.edf: is empty"),
        (100, "a.edf, byte 100: no EDF header"),
        (300, "a.edf, byte 300: cut in the header of 1 signals"),
        (
            WHOLE - 1,
            "a.edf, byte 911: cut in the middle, the header declares 1 records to byte 912",
        ),
    ],
)
def test_a_file_cut_anywhere_is_refused_by_its_byte(
    write: Write, annotated: Annotated, stage_text: At, size: int, message: str
):
    content = annotated(stage_text(0, 60, "Sleep stage R"))
    assert len(content) == WHOLE
    with pytest.raises(ImportFailed) as failure:
        night(write("a.edf", content[:size]))
    assert str(failure.value).startswith(message)


def test_no_cut_at_all_passes_for_a_night(write: Write, annotated: Annotated, stage_text: At):
    content = annotated(stage_text(0, 60, "Sleep stage R"))
    for size in range(WHOLE):
        path = write("a.edf", content[:size])
        with pytest.raises(ImportFailed):
            night(path)


def test_more_bytes_than_declared_are_noted(write: Write, annotated: Annotated, stage_text: At):
    content = annotated(stage_text(0, 60, "Sleep stage R")) + b"\0" * 10
    found = night(write("a.edf", content))
    assert "10 bytes after the last record left out" in found.info.notes


@pytest.mark.parametrize(
    ("at", "field", "message"),
    [
        (236, "many    ", "byte 236: number of records is 'many'"),
        (236, "0       ", "byte 512: holds no data record"),
        (236, "-7      ", "byte 512: holds no data record"),
        (236, "9999999 ", "byte 912: cut in the middle"),
        (244, "nan     ", "byte 244: record of 'nan' s"),
        (252, "x   ", "byte 252: number of signals is 'x'"),
        (252, "-1  ", "cut in the header of -1 signals"),
        (252, "9999", "cut in the header of 9999 signals"),
        (472, "0       ", "byte 256: its records hold no samples"),
        (472, "-4      ", "byte 472: -4 samples in a record"),
    ],
)
def test_a_header_that_lies_is_refused_by_its_byte(
    write: Write, annotated: Annotated, stage_text: At, at: int, field: str, message: str
):
    content = bytearray(annotated(stage_text(0, 60, "Sleep stage R")))
    content[at : at + len(field)] = field.encode()
    with pytest.raises(ImportFailed) as failure:
        night(write("a.edf", bytes(content)))
    assert message in str(failure.value)


def test_an_open_number_of_records_is_read_to_the_last_whole_one(
    write: Write, annotated: Annotated, stage_text: At
):
    content = bytearray(annotated(stage_text(0, 60, "Sleep stage R")))
    content[236:244] = b"-1      "
    found = night(write("a.edf", bytes(content) + b"\0" * 7))
    assert letters(shown_stages(found)) == "RR"
    assert "number of records left open; 7 bytes of an unfinished one left out" in found.info.notes


@pytest.mark.parametrize(
    ("recording", "start", "known"),
    [
        ("Startdate 02-MAR-2051 X X X", ("02.03.51", "01.02.03"), 2_561_331_723),
        ("Startdate 24-APR-1989 X X X", ("24.04.89", "16.13.00"), 609_437_580),
        ("Startdate 05-JUN-2071 X X X", ("05.06.71", "00.00.00"), 3_200_688_000),
        ("Startdate X X X X", ("24.04.89", "16.13.00"), None),
        ("Startdate 01-JAN-1985 X X X", ("01.01.85", "00.00.00"), None),
        ("Startdate 31-FEB-1999 X X X", ("31.02.99", "00.00.00"), None),
    ],
)
def test_the_start_is_known_unless_it_was_hidden_or_is_no_date(
    write: Write,
    annotated: Annotated,
    stage_text: At,
    recording: str,
    start: tuple[str, str],
    known: int | None,
):
    content = annotated(stage_text(0, 30, "Sleep stage R"), recording=recording, start=start)
    found = night(write("a.edf", content)).info.start_wall_ns
    assert found == (None if known is None else known * 1_000_000_000)
