"""Estimators, against independent packages: scipy.stats and statsmodels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, kendalltau

from replay.scores.estimators import clopper_pearson, holm, kendall, mcnemar, upper_bound

proportion = pytest.importorskip("statsmodels.stats.proportion", reason="the oracle is missing")
tables = pytest.importorskip("statsmodels.stats.contingency_tables")
multitest = pytest.importorskip("statsmodels.stats.multitest")

shares = st.integers(1, 200).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))
ps = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)
values = st.integers(0, 4)


@settings(max_examples=40, deadline=None)
@given(shares)
def test_an_interval_is_the_one_of_statsmodels(share: tuple[int, int]):
    assert clopper_pearson(*share) == pytest.approx(
        proportion.proportion_confint(*share, method="beta"), abs=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(shares)
def test_an_upper_bound_is_the_one_of_scipys_binomial_test(share: tuple[int, int]):
    exact = binomtest(*share, alternative="less").proportion_ci(0.95, method="exact")
    assert upper_bound(*share) == pytest.approx(exact.high, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_one_of_statsmodels(b: int, c: int):
    expected = tables.mcnemar([[7, b], [c, 3]], exact=True).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(min(1.0, expected), abs=1e-9)


@settings(max_examples=8, deadline=None)
@given(ps)
def test_holm_is_the_one_of_statsmodels(given_ps: list[float | None]):
    tested = [p for p in given_ps if p is not None]
    expected = list(multitest.multipletests(tested, method="holm")[1]) if tested else []
    assert [p for p in holm(given_ps) if p is not None] == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(values, values), min_size=2, max_size=7))
def test_kendalls_tau_is_the_one_of_scipy(pairs: list[tuple[int, int]]):
    first, second = zip(*pairs, strict=True)
    tau = kendall(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert tau is None
    else:
        assert tau == pytest.approx(kendalltau(first, second).statistic, abs=1e-12)
