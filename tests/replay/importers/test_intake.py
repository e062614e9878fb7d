"""What every importer shares."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.recording import MemoryRecording
from devices.types import EPOCH_S, Stage, StageReading, Stream, Truth
from replay.importers import ImportFailed, intake
from replay.importers.intake import StageWords, checked, label_night

Write = Callable[[str, str | bytes], Path]
WORDS = {"w": Stage.AWAKE, "r": Stage.REM}


def labelled(stages: list[Stage], interval_s: float = EPOCH_S, **more: object) -> MemoryRecording:
    return label_night(
        stages,
        night_id="n",
        kind="k",
        origin="o",
        source="s",
        interval_s=interval_s,
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("stem", "night_id"),
    [
        ("psg_excerpt_a", "psg-excerpt-a"),
        ("  My  night (2) ", "My-night-2"),
        ("../../etc/passwd", "etc-passwd"),
        ("夜_1", "夜-1"),
        ("___", "night"),
        ("", "night"),
        ("x" * 200, "x" * 80),
    ],
)
def test_an_id_has_letters_and_digits_joined_by_dashes(stem: str, night_id: str):
    assert intake.slug(stem) == night_id


@given(st.text())
def test_an_id_is_one_plain_file_name_of_at_most_80_letters(stem: str):
    night_id = intake.slug(stem)
    assert 0 < len(night_id) <= 80
    assert night_id == os.path.basename(night_id)
    assert not night_id.startswith((".", "-"))


@given(st.text())
def test_a_quoted_word_is_short_and_on_one_line(word: str):
    quoted = intake.shown(word)
    assert len(quoted.splitlines()) == 1
    assert len(quoted) < 300


def test_known_words_are_stages():
    words = StageWords(WORDS, lenient=False)
    assert words.stages(enumerate("wrw", 1), "a, line") == [Stage.AWAKE, Stage.REM, Stage.AWAKE]
    assert words.notes() == ()


def test_an_unknown_word_is_refused_with_its_number_the_known_ones_and_the_option():
    with pytest.raises(ImportFailed) as failure:
        StageWords(WORDS, lenient=False).stages([(7, "w"), (8, "x")], "a, line")
    assert str(failure.value) == (
        "a, line 8: unknown stage 'x'; known are w, r; --lenient counts others as unknown"
    )


def test_lenient_words_are_counted_the_most_common_first():
    words = StageWords(WORDS, lenient=True)
    assert words.stages(enumerate("xwyy"), "a") == [
        Stage.UNKNOWN, Stage.AWAKE, Stage.UNKNOWN, Stage.UNKNOWN,
    ]  # fmt: skip
    assert words.notes() == ("3 labels of unknown stages taken as unknown: 'y' 2, 'x' 1",)


def test_labels_stand_in_the_middle_of_their_time_and_truth_in_that_of_its_epoch():
    night = labelled([Stage.REM] * 60, 1.0, truth=[Stage.N1, Stage.N2])
    times = [sample.t for sample in night.samples()]
    assert times == [k + 0.5 for k in range(60)]
    assert night.truth() == (Truth(15.0, Stage.N1), Truth(45.0, Stage.N2))
    assert night.info.epochs == 2
    assert night.info.streams[0].interval_s == 1.0


def test_an_epoch_without_a_label_is_a_reading_of_unknown():
    (sample,) = labelled([Stage.UNKNOWN]).samples()
    assert (sample.stream, sample.value) == (Stream.STAGE, StageReading(Stage.UNKNOWN))


def test_one_valid_epoch_is_enough_for_a_night():
    night = labelled([Stage.UNKNOWN, Stage.AWAKE])
    assert checked(night, "a") is night


@pytest.mark.parametrize("stages", [[], [Stage.UNKNOWN] * 3])
def test_a_night_without_a_valid_epoch_is_refused(stages: list[Stage]):
    with pytest.raises(ImportFailed, match=f"a: not one valid epoch in {len(stages)}"):
        checked(labelled(stages), "a")


@pytest.mark.parametrize("seconds", [48 * 3600 + 1, float("inf"), float("nan")])
def test_a_night_of_more_than_two_days_is_refused(seconds: float):
    intake.check_length(48 * 3600, "a")
    with pytest.raises(ImportFailed, match=r"a: spans .* h, which is not one night"):
        intake.check_length(seconds, "a")


def test_a_local_clock_is_kept_as_if_it_were_utc():
    # The clock of the first Zeo night, 2012-05-04 23:00.
    assert intake.local_as_utc_ns(datetime(2012, 5, 4, 23, 0)) == 1_336_172_400_000_000_000


def test_a_file_far_too_large_for_labels_is_refused_unread(write: Write):
    path = write("huge.csv", "")
    os.truncate(path, intake.LARGEST_TEXT_BYTES + 1)
    with pytest.raises(ImportFailed, match=r"huge\.csv: larger than 64 MiB"):
        intake.read_text(path)


def test_a_missing_file_or_a_folder_is_one_line(tmp_path: Path):
    with pytest.raises(ImportFailed, match=r"gone: cannot be read: No such file"):
        intake.read_text(tmp_path / "gone")
    with pytest.raises(ImportFailed, match=r"cannot be read: Is a directory"):
        intake.read_text(tmp_path)


def test_the_head_of_a_file_is_as_much_as_is_needed_to_recognise_it(write: Write, tmp_path: Path):
    assert len(intake.read_head(write("long", b"x" * 100_000))) == intake.HEAD_BYTES
    assert intake.read_head(tmp_path) == b""
