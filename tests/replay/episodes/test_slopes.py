"""Slopes and differences against values by hand and by independent packages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from replay.episodes.slopes import mean_difference, slope


def noisy(n: int, change: float, seed: int = 5) -> list[float]:
    rng = np.random.Generator(np.random.PCG64(seed))
    return [float(change * k + e) for k, e in enumerate(rng.normal(size=n))]


def test_a_slope_by_hand() -> None:
    # x = 1 2 3 4, y = 3 1 4 2: Sxy = -1.5(.5) + -.5(-1.5) + .5(1.5) + 1.5(-.5) = 0; Sxx = 5.
    found = slope([3.0, 1.0, 4.0, 2.0])
    assert found is not None
    assert (found.value, found.n) == (0.0, 4)
    # y = 1 2 2 4: Sxy = -1.5(-1.25) + -.5(-.25) + .5(-.25) + 1.5(1.75) = 4.5.
    found = slope([1.0, 2.0, 2.0, 4.0])
    assert found is not None
    assert found.value == pytest.approx(0.9)


def test_sessions_without_a_value_keep_their_place() -> None:
    found = slope([1.0, None, 3.0, None, 5.0, 6.0])
    assert found is not None
    assert (found.value, found.n) == (1.0, 4)


@settings(max_examples=15)
@given(st.lists(st.floats(-50, 50), min_size=4, max_size=20))
def test_any_slope_is_that_of_scipy(values: list[float]) -> None:
    found = slope(values)
    assert found is not None
    expected = stats.linregress(range(1, len(values) + 1), values).slope
    assert found.value == pytest.approx(expected, abs=1e-6)
    assert found.low <= found.high


def test_a_slope_and_its_interval_are_near_those_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    y = noisy(60, 0.05)
    found = slope(y)
    fitted = api.OLS(y, api.add_constant(np.arange(1.0, 61.0))).fit()
    low, high = fitted.conf_int()[1]
    assert found is not None
    assert found.value == pytest.approx(fitted.params[1], abs=1e-6)
    assert found.low == pytest.approx(low, abs=0.006)
    assert found.high == pytest.approx(high, abs=0.006)


@pytest.mark.parametrize("change", [0.0, 0.02])
def test_p_of_a_slope_is_near_that_of_the_t_test(change: float) -> None:
    y = noisy(40, change)
    found = slope(y)
    assert found is not None
    assert found.p == pytest.approx(stats.linregress(range(40), y).pvalue, abs=0.03)


def test_no_change_at_all_is_a_slope_of_nothing() -> None:
    found = slope([2.0] * 10)
    assert found is not None
    assert (found.value, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_intervals_of_no_change_hold_zero_about_nineteen_times_of_twenty() -> None:
    found = [slope(noisy(25, 0.0, seed)) for seed in range(60)]
    held = sum(one is not None and one.low <= 0.0 <= one.high for one in found)
    # 57 of 60 expected; the percentile bootstrap is known to be a little short at 25 sessions.
    assert 50 <= held <= 60


def test_a_mean_difference_and_its_p_by_hand() -> None:
    found = mean_difference([1.0, 2.0, None, 3.0, 4.0], [2.0, 3.0, 9.0, 4.0, 5.0])
    assert found is not None
    assert (found.value, found.low, found.high, found.n) == (-1.0, -1.0, -1.0, 4)
    # All four signs alike: 2 of 16 ways.
    assert found.p == pytest.approx(2 / 16, abs=0.02)


def test_a_mean_difference_is_near_the_paired_t_test() -> None:
    a, b = noisy(50, 0.0, 1), noisy(50, 0.0, 2)
    found = mean_difference(a, b)
    expected = stats.ttest_rel(a, b)
    low, high = expected.confidence_interval(0.95)
    assert found is not None
    assert found.p == pytest.approx(expected.pvalue, abs=0.03)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05)


@pytest.mark.parametrize("values", [[], [1.0, 2.0, 3.0], [1.0, None, None, 2.0, 3.0]])
def test_too_few_sessions_give_no_estimate(values: list[float | None]) -> None:
    assert slope(values) is None
    assert mean_difference(values, [0.0] * len(values)) is None


def test_the_same_values_give_the_same_interval() -> None:
    y = noisy(20, 0.1)
    assert slope(y) == slope(y)
    assert slope(y, seed=2) != slope(y)
