"""The cluster bootstrap, against draws made one at a time and against its own contract."""

from __future__ import annotations

import numpy as np
import pytest

from replay.scores.bootstrap import Resampling
from replay.scores.estimators import clopper_pearson
from replay.scores.figures import Method

ONE_NIGHT = [("night-a", cluster) for cluster in range(12)]
THREE_NIGHTS = [(night, cluster) for night in ("a", "b", "c") for cluster in range(4)]


def counts(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def slowly(nights: list[list[tuple[float, float]]], draws: int, seed: int) -> list[float]:
    """Ratios of two-stage draws, one at a time: nights, then clusters within each."""
    rng = np.random.Generator(np.random.PCG64(seed))
    found = []
    for _ in range(draws):
        drawn = [
            nights[night][cluster]
            for night in rng.integers(0, len(nights), len(nights))
            for cluster in rng.integers(0, len(nights[night]), len(nights[night]))
        ]
        found.append(sum(above for above, _ in drawn) / sum(below for _, below in drawn))
    return found


PASSED = [0, 5, 10, 3, 7, 8, 2, 9, 4, 6, 1, 5]
PLANNED = [10, 8, 12, 6, 10, 10, 10, 12, 8, 10, 6, 8]


@pytest.mark.parametrize("places", [ONE_NIGHT, THREE_NIGHTS])
def test_the_interval_is_that_of_draws_made_one_at_a_time(places: list[tuple[str, int]]):
    by_night: dict[str, list[tuple[float, float]]] = {}
    for (night, _), above, below in zip(places, PASSED, PLANNED, strict=True):
        by_night.setdefault(night, []).append((above, below))
    expected = np.quantile(slowly(list(by_night.values()), 6000, seed=9), [0.025, 0.975])
    drawn = Resampling(places, seed=1, resamples=6000)
    found = drawn.ratio(counts(*PASSED), counts(*PLANNED))
    assert found is not None
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.02)
    assert (found.method, found.clusters) == (Method.BOOTSTRAP, 12)


def test_the_interval_of_a_mean_is_near_the_normal_one_where_clusters_are_many():
    places = [("a", number) for number in range(400)]
    values = np.random.Generator(np.random.PCG64(5)).normal(3.0, 2.0, 400)
    found = Resampling(places, seed=1).ratio(values, np.ones(400))
    half = 1.96 * values.std() / 20
    assert found is not None
    assert (found.low, found.high) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=0.03
    )


def test_the_same_seed_gives_the_same_interval_in_whatever_order_the_places_come():
    above, below = counts(*PASSED), counts(*PLANNED)
    first = Resampling(ONE_NIGHT, seed=4).ratio(above, below)
    assert first == Resampling([*reversed(ONE_NIGHT), *ONE_NIGHT], seed=4).ratio(above, below)
    assert first != Resampling(ONE_NIGHT, seed=5).ratio(above, below)


def test_values_are_added_up_by_cluster():
    drawn = Resampling([("b", 0), ("a", 7), ("a", 2)], seed=1)
    assert drawn.places == (("a", 2), ("a", 7), ("b", 0))
    assert list(drawn.summed([("b", 0), ("a", 7), ("b", 0)], [1, 2, 3.5])) == [0, 2, 4.5]
    assert list(drawn.summed([], [])) == [0, 0, 0]


def test_with_one_cluster_there_is_no_interval():
    drawn = Resampling([("a", 1)], seed=1)
    assert drawn.share(counts(3), counts(3), counts(5)) is None
    assert drawn.ratio(counts(3), counts(5)) is None


def test_clusters_without_an_attempt_do_not_count():
    drawn = Resampling([("a", 1), ("a", 2), ("a", 3)], seed=1)
    assert drawn.share(counts(3, 0, 0), counts(3, 0, 0), counts(5, 0, 0)) is None
    found = drawn.share(counts(3, 0, 1), counts(3, 0, 1), counts(5, 0, 5))
    assert found is not None
    assert found.clusters == 2


@pytest.mark.parametrize(("passed", "of"), [(0, 12), (12, 12), (6, 12)])
def test_where_all_clusters_agree_the_interval_is_exact_over_clusters(passed: int, of: int):
    share = passed / of
    drawn = Resampling(ONE_NIGHT, seed=1)
    above, below = np.full(12, 10.0 * share), np.full(12, 10.0)
    found = drawn.share(above, above, below)
    assert found is not None
    assert found.method is Method.CLOPPER_PEARSON
    assert (found.low, found.high) == pytest.approx(clopper_pearson(passed, of))


def test_a_mean_without_a_spread_has_no_interval():
    assert Resampling(ONE_NIGHT, seed=1).ratio(np.zeros(12), np.ones(12)) is None
    assert Resampling(ONE_NIGHT, seed=1).ratio(np.zeros(12), np.zeros(12)) is None


def test_the_interval_of_bounds_reaches_around_both():
    drawn = Resampling(ONE_NIGHT, seed=1)
    lower, below = counts(*PASSED), counts(*PLANNED)
    upper = np.minimum(lower + 2, below)
    low, high, both = (
        drawn.share(lower, lower, below),
        drawn.share(upper, upper, below),
        drawn.share(lower, upper, below),
    )
    assert low is not None
    assert high is not None
    assert both is not None
    assert (both.low, both.high) == (low.low, high.high)
