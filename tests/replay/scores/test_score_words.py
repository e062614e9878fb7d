"""How figures of a scoreboard are said."""

from __future__ import annotations

import pytest

from replay.scores.conclusion import Word
from replay.scores.figures import Bound, Difference, Interval, Method, Rate, Split
from replay.scores.score_words import (
    between,
    bound_in_words,
    cells_in_words,
    count_in_words,
    difference_in_words,
    dollars,
    interval_in_words,
    p_in_words,
    percent,
    rate_in_words,
    rules_in_words,
    scales_in_words,
    seconds,
    share_in_words,
    split_in_words,
    stages_in_words,
)

INTERVAL = Interval(0.314, 0.746, Method.BOOTSTRAP, 9)


def rate(passed: int, unsure: int, planned: int) -> Rate:
    lower, upper = passed / planned, (passed + unsure) / planned
    return Rate(passed, unsure, planned, lower, upper, 1 / planned, INTERVAL)


def difference(mean: float | None, lower: float | None, upper: float | None) -> Difference:
    return Difference(mean, lower, upper, 8, 0.1, 0.2, 0.3, 0.4, Word.NOT_DISTINGUISHABLE)


def test_what_there_is_none_of_is_a_dash_and_never_a_zero():
    assert share_in_words(None) == percent(None) == p_in_words(None) == seconds(None) == "-"
    assert interval_in_words(None) == count_in_words(None) == rate_in_words(None) == "-"
    assert (
        bound_in_words(Bound(0, 0, 0, None)) == difference_in_words(difference(None, -1, 1)) == "-"
    )
    assert rules_in_words({}, {}) == rules_in_words({"cue_in_deep": 0}, {}) == "-"


def test_a_zero_is_a_zero():
    assert (share_in_words(0.0), percent(0.0), seconds(0.0)) == ("0.00", "0 %", "0 s")


def test_an_unknown_price_is_no_zero():
    assert (dollars(None), dollars(0.0)) == ("unknown", "$0.00")
    assert (dollars(0.64), dollars(0.0042)) == ("$0.64", "$0.0042")


def test_bounds_are_one_figure_where_nothing_is_open():
    assert rate_in_words(rate(3, 0, 4)) == "0.75"
    assert rate_in_words(rate(2, 1, 4)) == "0.50–0.75"
    assert between(0.501, 0.502) == "0.50"


def test_rem_is_written_in_capitals_and_scales_as_they_are_given():
    assert cells_in_words(("light high", "rem high")) == "light high, REM high"
    assert scales_in_words([2.0]) == "wake scale 2"
    assert scales_in_words([0.5, 4.0]) == "wake scales 0.5, 4"


def test_counts_say_what_is_open():
    assert count_in_words(rate(45, 0, 75)) == "45 of 75"
    assert count_in_words(rate(45, 3, 75)) == "45 of 75, 3 open"


def test_an_interval_stands_in_brackets():
    assert interval_in_words(INTERVAL) == "[0.31–0.75]"


@pytest.mark.parametrize(
    ("events", "attempts", "upper", "words"),
    [
        (0, 15, 0.181, "0 of 15 (≤ 18 %)"),
        (0, 75, 0.0392, "0 of 75 (≤ 3.9 %)"),
        (0, 600, 0.00498, "0 of 600 (≤ 0.5 %)"),
    ],
)
def test_a_bound_says_what_may_still_be(events: int, attempts: int, upper: float, words: str):
    assert bound_in_words(Bound(events, 0, attempts, upper)) == words


@pytest.mark.parametrize(
    ("p", "words"), [(1.0, "1.000"), (0.0149, "0.015"), (0.001, "0.001"), (0.0009, "<0.001")]
)
def test_p_has_three_decimals(p: float, words: str):
    assert p_in_words(p) == words


def test_a_difference_has_its_sign_and_bounds_only_where_something_is_open():
    assert difference_in_words(difference(0.2, 0.2, 0.2)) == "+0.20"
    assert difference_in_words(difference(-0.2, -0.3, 0.1)) == "-0.20\n-0.30/+0.10"


def test_a_long_wait_is_told_in_minutes():
    assert (seconds(99.0), seconds(270.0)) == ("99 s", "4.5 min")


def test_stages_stand_in_one_order():
    assert stages_in_words({"awake": 4, "rem": 1, "deep": 3, "light": 2}) == "1 2 3 4 0"


def test_rules_come_with_the_most_broken_first():
    asked, delivered = {"cue_in_deep": 2, "words_not_said": 6}, {"cue_in_deep": 2}
    assert rules_in_words(asked, delivered) == "words_not_said 6 (0)\ncue_in_deep 2 (2)"


def test_seeds_are_called_what_they_are():
    assert [split_in_words(split) for split in Split] == ["development seeds", "held-out seeds"]
