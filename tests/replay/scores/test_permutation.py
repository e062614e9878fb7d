"""The paired permutation test, against counting every arrangement."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.scores.estimators import mcnemar
from replay.scores.permutation import DRAWS, FEW_PAIRS, permutation_p

whole = st.lists(st.integers(-3, 3), max_size=9)
fractions = st.lists(st.integers(-40, 40).map(lambda n: n / 8 + 0.0625), max_size=8)


def counted(differences: list[float]) -> float:
    """Every arrangement of signs, one after the other."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return sum(one >= observed - 1e-9 for one in sums) / len(sums)


@settings(max_examples=40, deadline=None)
@given(whole)
def test_whole_numbers_give_the_exact_share_of_arrangements(differences: list[int]):
    assert permutation_p(differences, seed=1) == pytest.approx(counted([*differences]), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(fractions)
def test_few_fractions_give_the_exact_share_of_arrangements(differences: list[float]):
    assert permutation_p(differences, seed=1) == pytest.approx(counted(differences), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 90), st.integers(0, 90))
def test_of_passes_alone_it_is_mcnemars_exact_test(only_first: int, only_second: int):
    differences = [1] * only_first + [-1] * only_second
    assert permutation_p(differences, seed=1) == pytest.approx(
        mcnemar(only_first, only_second), abs=1e-9
    )


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 1000))
def test_many_fractions_are_drawn_near_the_exact_answer(seed: int):
    """As whole numbers of tenths the same differences are counted exactly."""
    tenths = [3, -1, 4, 1, -5, 9, 2, 6, -5, 3, 5, 8, 9, -7]
    assert len(tenths) > FEW_PAIRS
    exact = permutation_p(tenths, seed=1)
    drawn = permutation_p([one / 10 for one in tenths], seed=seed)
    assert drawn == pytest.approx(exact, abs=5 * (exact * (1 - exact) / DRAWS) ** 0.5)
    assert (drawn * (DRAWS + 1)) == pytest.approx(round(drawn * (DRAWS + 1)))


def test_drawn_p_counts_the_observed_arrangement_and_is_never_zero():
    differences = [1.5 + number / 100 for number in range(60)]
    assert permutation_p(differences, seed=1) == 1 / (DRAWS + 1)
    assert permutation_p(differences, seed=1, draws=99) == 1 / 100


def test_the_same_seed_draws_the_same_and_another_seed_another():
    differences = [0.5, -0.25, 0.3, 0.7, -0.1, 0.9, 0.2, -0.4, 0.6, 0.35, -0.45, 0.15, 0.05]
    assert permutation_p(differences, seed=3) == permutation_p(differences, seed=3)
    assert len({permutation_p(differences, seed=seed) for seed in range(6)}) > 1


def test_pairs_without_a_difference_change_nothing():
    assert permutation_p([1, 0, 1, 0, 0, 1], seed=1) == permutation_p([1, 1, 1], seed=1)
    assert permutation_p([1, 1, 1], seed=1) == pytest.approx(0.25)


@pytest.mark.parametrize("differences", [[], [0], [0, 0, 0.0]])
def test_without_any_difference_p_is_one(differences: list[float]):
    assert permutation_p(differences, seed=1) == 1.0


def test_it_does_not_matter_who_is_first():
    differences = [2, 1, -1, 3, 0, 2]
    assert permutation_p(differences, seed=1) == permutation_p([-d for d in differences], seed=1)
