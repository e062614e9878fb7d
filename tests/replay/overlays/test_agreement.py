"""Agreement of a shown with a true hypnogram, against numbers by hand and by statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from replay.overlays.agreement import agreed, counted, kappa, quantile
from replay.overlays.confusion import TOLD
from tests.replay.overlays.devices import D, L, R, W, stages

TRUE = "WWWWLLLLLLDDDDRRRRRR??LL"
SHOWN = "WWLLLLLLLDDDDDRRLLRRRR??"
"""20 epochs with both labels: 15 agree; wake 2 of 4, light 5 of 6, deep 4 of 4, REM 4 of 6."""


def test_shares_are_counted_where_both_have_a_label() -> None:
    found = agreed([(stages(TRUE), stages(SHOWN))])
    assert found.epochs == 20
    assert found.agreement == 15 / 20
    assert found.found == {W: 2 / 4, L: 5 / 6, D: 4 / 4, R: 4 / 6}
    assert found.right == {W: 2 / 2, L: 5 / 9, D: 4 / 5, R: 4 / 4}


def test_kappa_by_hand() -> None:
    """Observed 15/20; by chance (4·2 + 6·9 + 4·5 + 6·4) / 400 = 106/400."""
    found = agreed([(stages(TRUE), stages(SHOWN))])
    assert found.kappa == pytest.approx((15 / 20 - 106 / 400) / (1 - 106 / 400))


def test_runs_of_disagreement_end_where_a_label_is_missing() -> None:
    pair = stages("WWLLRR?RR"), stages("LLLLWW?WR")
    assert agreed([pair]).runs == (2, 2, 1)


def test_nights_are_pooled_and_runs_do_not_cross_them() -> None:
    pair = stages("RR"), stages("LL")
    both = agreed([pair, pair])
    assert (both.epochs, both.runs, both.found[R]) == (4, (2, 2), 0.0)


def test_without_an_epoch_with_both_labels_there_is_no_figure() -> None:
    none = agreed([(stages("??W"), stages("WW?"))])
    assert (none.epochs, none.agreement, none.kappa, none.found[W]) == (0, None, None, None)


def test_one_stage_all_night_has_no_kappa() -> None:
    assert agreed([(stages("LLL"), stages("LLL"))]).kappa is None


@given(st.lists(st.tuples(st.sampled_from(TOLD), st.sampled_from(TOLD)), min_size=2, max_size=80))
def test_kappa_is_that_of_statsmodels(pairs: list[tuple[object, object]]) -> None:
    counts = counted(pairs)  # type: ignore[arg-type]
    found = kappa(counts)
    if found is None:
        return
    table = np.array([[counts[true][said] for said in TOLD] for true in TOLD])
    assert found == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-9)


@pytest.mark.parametrize(
    ("share", "length"), [(0.1, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.76, 9), (1.0, 9)]
)
def test_a_quantile_is_a_length_that_so_many_do_not_exceed(share: float, length: int) -> None:
    assert quantile([9, 1, 2, 1], share) == length


def test_no_lengths_have_no_quantile() -> None:
    assert quantile([], 0.5) is None
