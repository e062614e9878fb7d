"""pass^k, by hand, by counting draws, and between its bounds."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.scores.estimators import ScoreError
from replay.scores.pass_k import Tally, mean_pass_k, pass_k, pass_k_bounds


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    planned = draw(st.integers(1, 6))
    passed = draw(st.integers(0, planned))
    return Tally(passed, draw(st.integers(0, planned - passed)), planned)


@pytest.mark.parametrize(
    ("passed", "planned", "k", "value"),
    [(8, 8, 8, 1.0), (4, 8, 1, 0.5), (4, 8, 2, 6 / 28), (4, 8, 4, 1 / 70), (3, 8, 4, 0.0)],
)
def test_pass_k_by_hand(passed: int, planned: int, k: int, value: float):
    assert pass_k(passed, planned, k) == pytest.approx(value)


@settings(max_examples=40, deadline=None)
@given(tallies(), st.data())
def test_pass_k_is_the_share_of_draws_of_k_seeds_that_all_passed(tally: Tally, data: st.DataObject):
    k = data.draw(st.integers(1, tally.planned))
    seeds = [number < tally.passed for number in range(tally.planned)]
    draws = [all(drawn) for drawn in combinations(seeds, k)]
    assert pass_k(tally.passed, tally.planned, k) == pytest.approx(sum(draws) / len(draws))


@settings(max_examples=40, deadline=None)
@given(tallies(), st.data())
def test_the_bounds_are_the_lowest_and_highest_of_all_completions(
    tally: Tally, data: st.DataObject
):
    k = data.draw(st.integers(1, tally.planned))
    found = [
        pass_k(tally.passed + sum(done), tally.planned, k)
        for done in product((0, 1), repeat=tally.open)
    ]
    assert pass_k_bounds(tally, k) == (min(found), max(found))


@settings(max_examples=40, deadline=None)
@given(tallies())
def test_a_larger_k_is_never_easier(tally: Tally):
    lower, upper = zip(*(pass_k_bounds(tally, k) for k in range(1, tally.planned + 1)), strict=True)
    assert list(lower) == sorted(lower, reverse=True)
    assert list(upper) == sorted(upper, reverse=True)


def test_an_open_seed_stays_in_the_denominator():
    assert pass_k_bounds(Tally(passed=3, open=1, planned=5), 1) == (3 / 5, 4 / 5)


def test_tasks_count_alike():
    tasks = [Tally(5, 0, 5), Tally(0, 5, 5)]
    assert mean_pass_k(tasks, 2) == (0.5, 1.0)


def test_k_never_falls_silently():
    with pytest.raises(ScoreError, match=r"pass\^4 of 3 planned seeds: k must be 1 to 3"):
        pass_k(3, 3, 4)
    with pytest.raises(ScoreError, match=r"pass\^3 of 2 planned"):
        mean_pass_k([Tally(5, 0, 5), Tally(2, 0, 2)], 3)


@pytest.mark.parametrize(("passed", "k"), [(-1, 1), (6, 1), (2, 0)])
def test_counts_that_cannot_be_are_refused(passed: int, k: int):
    with pytest.raises(ScoreError, match=r"pass\^"):
        pass_k(passed, 5, k)


def test_no_task_has_no_pass_k():
    with pytest.raises(ScoreError, match="no task"):
        mean_pass_k([], 1)
