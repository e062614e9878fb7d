"""A mean that may stand in a trace: the same last bit on every Python."""

from fractions import Fraction
from math import inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.mean import mean

NUMBERS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40)


def test_a_mean_is_of_the_exact_sum() -> None:
    # `sum` gives 0.0 up to Python 3.11 and 2.0 from 3.12 on; of ten tenths, below and at 1.0.
    assert mean([1e16, 1.0, 1.0, -1e16]) == 0.5
    assert mean([0.1] * 10) == 0.1


@given(NUMBERS)
def test_the_sum_under_a_mean_is_rounded_once(values: list[float]) -> None:
    assert mean(values) == float(sum(map(Fraction, values))) / len(values)


@pytest.mark.parametrize("values", [[inf, -inf], [1.7e308, 1.7e308], [nan, 1.0]])
def test_numbers_that_have_no_mean_give_none_and_no_error(values: list[float]) -> None:
    assert isnan(mean(values))


def test_the_mean_of_nothing_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        mean([])
