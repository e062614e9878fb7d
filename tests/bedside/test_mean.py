"""Sums that may stand in a trace: the same last bit on every Python."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.mean import mean, total

NUMBERS = st.lists(st.floats(allow_nan=False, width=64), min_size=1, max_size=40)


def test_a_sum_is_not_compensated() -> None:
    # `sum` gives 0.0 up to Python 3.11 and 2.0 from 3.12 on.
    assert total([1e16, 1.0, 1.0, -1e16]) == 0.0
    assert mean([0.1] * 10) == 0.09999999999999999


@given(NUMBERS)
def test_a_sum_is_added_from_left_to_right(values: list[float]) -> None:
    *_, last = accumulate([0.0, *values])
    assert total(values) == last or last != last


def test_the_sum_of_nothing_is_none_at_all_and_its_mean_an_error() -> None:
    assert total([]) == 0.0
    with pytest.raises(ZeroDivisionError):
        mean([])
