"""Estimators, against values by hand and by what they promise."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.scores.estimators import (
    ScoreError,
    clopper_pearson,
    holm,
    kendall,
    mcnemar,
    resolution,
    upper_bound,
)

shares = st.integers(1, 200).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))
ps = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)


@pytest.mark.parametrize(
    ("events", "of", "upper"),
    [
        (0, 15, 1 - 0.05 ** (1 / 15)),
        (0, 75, 1 - 0.05 ** (1 / 75)),
        (0, 1, 0.95),
        (3, 3, 1.0),
    ],
)
def test_an_upper_bound_is_what_its_formula_gives(events: int, of: int, upper: float):
    assert upper_bound(events, of) == pytest.approx(upper, abs=1e-12)


def test_no_event_in_15_attempts_still_leaves_18_percent_and_in_75_leaves_4():
    assert f"{upper_bound(0, 15):.2f}" == "0.18"
    assert f"{upper_bound(0, 75):.3f}" == "0.039"


@settings(max_examples=40, deadline=None)
@given(shares)
def test_an_interval_holds_its_share_and_more_events_raise_it(share: tuple[int, int]):
    events, of = share
    low, high = clopper_pearson(events, of)
    assert 0 <= low <= events / of <= high <= 1
    if events < of:
        assert clopper_pearson(events + 1, of) > (low, high)


@pytest.mark.parametrize(("events", "of"), [(-1, 5), (6, 5), (0, 0)])
def test_a_share_that_cannot_be_is_refused(events: int, of: int):
    with pytest.raises(ScoreError, match="a share of"):
        clopper_pearson(events, of)


def test_one_flip_of_fifteen_is_0_067():
    assert f"{resolution(15):.3f}" == "0.067"
    with pytest.raises(ScoreError, match="at least one"):
        resolution(0)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (4, 1, 2 * 6 / 32), (3, 3, 1.0), (0, 6, 2 / 64)],
)
def test_mcnemar_by_hand(b: int, c: int, p: float):
    assert mcnemar(b, c) == pytest.approx(p, abs=1e-12)


def test_mcnemar_refuses_fewer_than_no_pairs():
    with pytest.raises(ScoreError, match="0 or more"):
        mcnemar(-1, 3)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_leaves_out_what_was_not_tested():
    assert holm([None, 0.03, None]) == [None, 0.03, None]
    assert holm([]) == []


@settings(max_examples=40, deadline=None)
@given(ps)
def test_holm_lowers_no_p_and_keeps_their_order(given_ps: list[float | None]):
    pairs = [(p, q) for p, q in zip(given_ps, holm(given_ps), strict=True) if p is not None]
    assert all(q is not None and p <= q <= 1 for p, q in pairs)
    for (p, q), (r, s) in combinations(pairs, 2):
        assert p > r or q <= s  # type: ignore[operator]


def test_kendalls_tau_needs_as_many_values_of_each():
    with pytest.raises(ScoreError, match="as many"):
        kendall([1.0], [1.0, 2.0])


def test_kendalls_tau_by_hand():
    assert kendall([1, 2, 3], [10, 20, 30]) == 1.0
    assert kendall([1, 2, 3], [3, 2, 1]) == -1.0
    assert kendall([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    assert kendall([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / 6**0.5)
    assert kendall([1, 1], [1, 2]) is None
