"""The two formats of one integer a line: a label a second, and YASA's label an epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bedside.recording import MemoryRecording
from devices.types import Stage, Stream
from replay.hypnogram import letters, shown_stages
from replay.importers import ImportFailed, ImportOptions, label_per_second, recognised, yasa
from replay.importers.intake import Importer

Write = Callable[[str, str | bytes], Path]

COMMENTS = "# 1 value per 30 seconds of data (1 / 30 Hz)\n# 0: Wake, 1: N1, 2: N2, 3: N3, 4: REM\n"


def lines(codes: Sequence[int]) -> str:
    return "".join(f"{code}\n" for code in codes)


def night(importer: Importer, path: Path, *, lenient: bool = False) -> MemoryRecording:
    (found,) = importer.read(path, ImportOptions(lenient=lenient))
    assert isinstance(found, MemoryRecording)
    return found


def test_a_second_has_its_label_in_its_middle_and_an_epoch_the_most_common(write: Write):
    path = write("SC4999E0-PSG.edf.csv", lines([0] * 14 + [1] * 16 + [3] * 15 + [5] * 15))
    found = night(label_per_second, path)
    assert [sample.t for sample in found.samples()][:3] == [0.5, 1.5, 2.5]
    assert found.info.streams[0].interval_s == 1.0
    assert shown_stages(found) == (Stage.N1, Stage.REM)
    assert found.info.night_id == "sleepedf-SC4999"
    assert found.info.kind == "psg_1hz_csv"
    assert found.truth() == ()


def test_the_codes_of_a_second_are_those_of_the_publisher(write: Write):
    codes = [0, 1, 2, 3, 4, 5, 6, 7, 9]
    found = night(
        label_per_second, write("a.csv", lines([code for code in codes for _ in [0] * 30]))
    )
    assert shown_stages(found) == (
        Stage.AWAKE, Stage.N1, Stage.N2, Stage.DEEP, Stage.DEEP, Stage.REM,
        Stage.UNKNOWN, Stage.UNKNOWN, Stage.UNKNOWN,
    )  # fmt: skip


def test_seconds_after_the_last_whole_epoch_are_noted_and_are_no_epoch(write: Write):
    found = night(label_per_second, write("a.csv", lines([5] * 70)))
    assert found.info.epochs == 2
    assert found.info.notes == ("10 s after the last whole epoch",)


def test_yasa_codes_are_those_of_yasa(write: Write):
    path = write("mine_100Hz_hypno_30s.txt", COMMENTS + lines([0, 1, 2, 3, 4, -1, -2]))
    found = night(yasa, path)
    assert shown_stages(found) == (
        Stage.AWAKE, Stage.N1, Stage.N2, Stage.DEEP, Stage.REM, Stage.UNKNOWN, Stage.UNKNOWN,
    )  # fmt: skip
    assert [sample.t for sample in found.samples({Stream.STAGE})][:2] == [15.0, 45.0]
    assert found.info.night_id == "yasa-mine-100Hz"
    assert found.info.kind == "psg_int_txt"


def test_a_file_with_another_name_has_its_stem_for_an_id(write: Write):
    assert night(yasa, write("My night_2.txt", COMMENTS + "0\n1\n")).info.night_id == "My-night-2"
    assert night(label_per_second, write("x.csv", lines([5] * 30))).info.night_id == "x"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (COMMENTS + "0\n1\n", "yasa"),
        ("0\n-1\n2\n", "yasa"),
        ("0\n5\n2\n", "label_per_second"),
        ("0\n9\n", "label_per_second"),
        ("0\n8\n", "label_per_second"),
        ("0\n5\nfive\n", "label_per_second"),
    ],
)
def test_comments_or_a_code_that_one_format_has_tell_them_apart(
    write: Write, content: str, name: str
):
    found = recognised(write("a", content)).FORMAT
    assert found == name


def test_integers_that_fit_both_are_ambiguous_and_the_error_names_the_option(write: Write):
    with pytest.raises(ImportFailed) as failure:
        recognised(write("a.csv", "0\n1\n2\n3\n4\n"))
    assert str(failure.value) == (
        "a.csv: could be label_per_second or yasa; say which with --format"
    )


@pytest.mark.parametrize(
    "content", ["1.5\n2.5\n", "word\n1\n", "1,2\n3,4\n", "# only\n", "\n", "é"]
)
def test_other_text_is_neither(write: Write, content: str):
    with pytest.raises(ImportFailed, match=r"not a recording|is empty"):
        recognised(write("a.txt", content))


@pytest.mark.parametrize(
    ("importer", "content", "message"),
    [
        (label_per_second, "0\n8\n", "a.csv, line 2: unknown stage '8'"),
        (label_per_second, "0\n\n5x\n", "a.csv, line 3: '5x' is no integer"),
        (label_per_second, "6\n" * 60, "a.csv: not one valid epoch in 2"),
        (label_per_second, "5\n" * 29, "a.csv: not one valid epoch in 0"),
        (label_per_second, "5\n" * 172_801, "a.csv: spans 48.0 h"),
        (label_per_second, COMMENTS + "5\n", "a.csv: has comment lines"),
        (label_per_second, "", "a.csv: is empty"),
        (yasa, COMMENTS + "0\n5\n", "a.csv, line 4: unknown stage '5'"),
        (yasa, COMMENTS + "-1\n", "a.csv: not one valid epoch in 1"),
        (yasa, COMMENTS, "a.csv: has no labels"),
        (yasa, "# 1 value per 20 seconds\n0\n", "a.csv: says one value per 20 seconds"),
        (yasa, "٣\n", "a.csv, line 1: '٣' is no integer"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(
    write: Write, importer: Importer, content: str, message: str
):
    with pytest.raises(ImportFailed) as failure:
        night(importer, write("a.csv", content))
    assert str(failure.value).startswith(message)


def test_lenient_takes_unknown_codes_as_unknown(write: Write):
    found = night(label_per_second, write("a.csv", lines([5] * 30 + [8] * 30)), lenient=True)
    assert letters(shown_stages(found)) == "R?"
    assert found.info.notes == ("30 labels of unknown stages taken as unknown: '8' 30",)
