"""Figures of a hypnogram, worked out by hand beside each night."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.recording import MemoryRecording, RecordingInfo
from devices.types import Contact, Sample, Stage, StageReading, Stream, StreamInfo, Truth
from replay import hypnogram
from replay.hypnogram import Run, from_letters

NIGHT = from_letters("WW?LLLDDWRRRRRRLRRW")
"""Sleep from epoch 3, 19 epochs in all; REM 9–14 and 16–17."""


def rem_after_gap(gap_epochs: int) -> tuple[Stage, ...]:
    return from_letters("R" * 6 + "L" * gap_epochs + "R" * 4)


def test_letters_fold_n1_and_n2_into_light_and_name_a_missing_label():
    assert hypnogram.letters(list(Stage)) == "WLLLDR?"


def test_the_digest_is_of_the_letters_without_a_newline():
    assert hypnogram.stage4_sha256(NIGHT) == sha256(b"WW?LLLDDWRRRRRRLRRW").hexdigest()


def test_counts_name_all_five_kinds_even_when_absent():
    assert hypnogram.counts4(from_letters("WWR")) == {
        "awake": 2, "light": 0, "deep": 0, "rem": 1, "none": 0,
    }  # fmt: skip


def test_raw_counts_keep_n1_and_n2_apart_and_leave_out_what_never_occurs():
    stages = [Stage.N1, Stage.N2, Stage.N2, Stage.DEEP, Stage.LIGHT]
    assert hypnogram.counts_raw(stages) == {"L": 1, "N1": 1, "N2": 2, "N3": 1}


def test_shares_are_of_scored_epochs_and_of_sleep():
    assert hypnogram.share_of_scored_pct(from_letters("W??LDR")) == {
        "awake": 25.0, "light": 25.0, "deep": 25.0, "rem": 25.0,
    }  # fmt: skip
    assert hypnogram.share_of_sleep_pct(from_letters("WWLLR")) == {
        "light": 66.67, "deep": 0.0, "rem": 33.33,
    }  # fmt: skip


def test_shares_of_nothing_are_empty():
    assert hypnogram.share_of_sleep_pct(from_letters("WW?")) == {}
    assert hypnogram.share_of_scored_pct(()) == {}


def test_runs_count_on_the_coarse_stage():
    assert hypnogram.runs([Stage.N1, Stage.N2, Stage.LIGHT, Stage.REM]) == (
        Run(Stage.LIGHT, 0, 3),
        Run(Stage.REM, 3, 1),
    )


def test_rem_runs_begin_where_rem_begins():
    assert hypnogram.rem_run_starts(NIGHT) == (9, 16)


@pytest.mark.parametrize(("gap", "periods"), [(1, 1), (30, 1), (31, 2)])
def test_rem_runs_at_most_15_minutes_apart_are_one_period(gap: int, periods: int):
    assert len(hypnogram.rem_periods(rem_after_gap(gap))) == periods


def test_a_period_of_5_minutes_counts_its_rem_and_not_its_gaps():
    joined = hypnogram.figures(rem_after_gap(30))
    apart = hypnogram.figures(rem_after_gap(31))
    assert (joined["rem_periods_gap15min"], joined["rem_periods_gap15min_ge5min"]) == (1, 1)
    assert (apart["rem_periods_gap15min"], apart["rem_periods_gap15min_ge5min"]) == (2, 0)


def test_sleep_begins_with_the_first_light_deep_or_rem_epoch():
    assert hypnogram.first_sleep_epoch(NIGHT) == 3
    assert hypnogram.last_sleep_epoch(NIGHT) == 17
    assert hypnogram.first_sleep_epoch(from_letters("W?W")) is None


def test_sustained_sleep_is_the_first_of_ten_in_a_row_and_a_missing_label_breaks_the_row():
    assert hypnogram.first_sustained_sleep_epoch(NIGHT) is None
    assert hypnogram.first_sustained_sleep_epoch(from_letters("L" * 9 + "W" + "L" * 10)) == 10
    assert hypnogram.first_sustained_sleep_epoch(from_letters("L" * 9 + "?" + "L" * 9)) is None


def test_wake_counts_between_the_first_and_the_last_sleep():
    assert hypnogram.wake_between_sleep(from_letters("WWLWWRW")) == 2
    assert hypnogram.wake_between_sleep(from_letters("WW")) == 0


def test_of_equal_runs_the_first_is_the_longest():
    assert hypnogram.longest_runs(from_letters("LLWLL?")) == {
        "awake": Run(Stage.AWAKE, 2, 1),
        "light": Run(Stage.LIGHT, 0, 2),
        "none": Run(Stage.UNKNOWN, 5, 1),
    }


def test_agreement_compares_epochs_that_both_label():
    truth = [Stage.N1, Stage.N2, Stage.REM, Stage.REM, Stage.AWAKE, Stage.UNKNOWN]
    shown = [Stage.N2, Stage.N2, Stage.REM, Stage.AWAKE, Stage.UNKNOWN, Stage.REM]
    found = hypnogram.agreement(truth, shown)
    assert found == (4, 50.0, 75.0, 50.0, 100.0)


def test_agreement_has_no_share_of_rem_where_nobody_saw_any():
    stages = from_letters("WL")
    assert hypnogram.agreement(stages, stages) == (2, 100.0, 100.0, None, None)


def night(
    samples: tuple[Sample, ...],
    interval_s: float,
    epochs: int | None,
    truth: tuple[Truth, ...] = (),
) -> MemoryRecording:
    streams = (StreamInfo(Stream.STAGE, interval_s, "band"),)
    return MemoryRecording(RecordingInfo("n", "live", "band", epochs, streams), samples, truth)


def readings(stages: str, interval_s: float) -> tuple[Sample, ...]:
    return tuple(
        Sample(Stream.STAGE, k * interval_s, StageReading(stage), "band")
        for k, stage in enumerate(from_letters(stages))
    )


def test_the_shown_stage_of_an_epoch_is_the_most_common_and_a_tie_goes_to_the_last():
    two_hz = readings("L" * 31 + "R" * 29 + "L" * 30 + "R" * 30, 0.5)
    assert hypnogram.letters(hypnogram.shown_stages(night(two_hz, 0.5, 2))) == "LR"


def test_an_epoch_seen_for_less_than_a_third_shows_no_stage():
    assert hypnogram.shown_stages(night(readings("R" * 19, 0.5), 0.5, 1)) == (Stage.UNKNOWN,)
    assert hypnogram.shown_stages(night(readings("R" * 20, 0.5), 0.5, 1)) == (Stage.REM,)


def test_an_epoch_mostly_off_the_skin_shows_no_stage():
    def touched(share: int) -> MemoryRecording:
        touches = tuple(Sample(Stream.CONTACT, k, Contact(k < share), "band") for k in range(30))
        return night(readings("R" * 60, 0.5) + touches, 0.5, 1)

    assert hypnogram.shown_stages(touched(14)) == (Stage.UNKNOWN,)
    assert hypnogram.shown_stages(touched(15)) == (Stage.REM,)


def test_a_live_night_has_as_many_epochs_as_it_has_labels_for():
    assert len(hypnogram.shown_stages(night(readings("RRR", 30.0), 30.0, None))) == 3
    assert hypnogram.shown_stages(night((), 30.0, None)) == ()


def test_the_truth_goes_before_what_was_shown():
    scored = night(readings("RR", 30.0), 30.0, 2, (Truth(15.0, Stage.N1), Truth(45.0, Stage.DEEP)))
    assert hypnogram.night_stages(scored) == (Stage.N1, Stage.DEEP)
    assert hypnogram.night_stages(night(readings("RR", 30.0), 30.0, 2)) == (Stage.REM, Stage.REM)


@given(st.text("WLDR?"))
def test_letters_and_stages_are_one_another(text: str):
    assert hypnogram.letters(from_letters(text)) == text


@given(st.text("WLDR?"))
def test_runs_cover_the_night_without_holes_and_change_stage_at_every_border(text: str):
    stages = from_letters(text)
    found = hypnogram.runs(stages)
    assert "".join(run.stage.letter * run.epochs for run in found) == text
    assert [run.start for run in found[1:]] == [run.end for run in found[:-1]]
    assert all(a.stage is not b.stage for a, b in pairwise(found))


@given(st.text("WLDR?"))
def test_periods_hold_every_rem_run_once_in_order(text: str):
    stages = from_letters(text)
    periods = hypnogram.rem_periods(stages)
    assert tuple(run for period in periods for run in period) == hypnogram.rem_runs(stages)


@given(st.text("WLDR?", min_size=1))
def test_counts_add_up_to_the_night(text: str):
    found = hypnogram.figures(from_letters(text))
    assert sum(hypnogram.counts4(from_letters(text)).values()) == found["epochs"] == len(text)
    assert found["scored_epochs"] == len(text) - text.count("?")
