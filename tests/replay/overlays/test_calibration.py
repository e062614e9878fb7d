"""Expectations without a roll, and the factors that bring a model to what is wanted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.overlays.agreement import agreed, kappa
from replay.overlays.calibration import Wanted, lowered, matched, with_inertia, with_odds
from replay.overlays.confusion import BEFORE, TOLD, Chain, Grade, Overlay, shown_by
from replay.overlays.expectation import Expectation, stacked
from replay.overlays.fitting import changes
from tests.replay.overlays.devices import NONE, D, L, R, W, memoryless, stages

ROWS = {
    W: (0.8, 0.2, 0.0, 0.0),
    L: (0.1, 0.8, 0.05, 0.05),
    D: (0.0, 0.2, 0.8, 0.0),
    R: (0.1, 0.2, 0.0, 0.7),
}
PLAIN = memoryless(ROWS)
NIGHTS = [stages("WWLLLLDDDDLLRRRRLLWL" * 10), stages("WLLLLLRRRRWWLLDDRRRR" * 7)]


def sticky(stay: float) -> Chain:
    return with_inertia(PLAIN, stay)


def test_expected_counts_of_two_epochs_by_hand() -> None:
    """R then R: first 0.7 REM; then from REM 0.9 stays, from light 0.5 comes back."""
    rem = dict.fromkeys(BEFORE, (0.0, 0.3, 0.0, 0.7)) | {
        R: (0.0, 0.1, 0.0, 0.9),
        L: (0.0, 0.5, 0.0, 0.5),
    }
    chain = PLAIN | {R: rem}
    counts = Expectation(chain, stacked([stages("RR")])).counts()
    assert counts[R][R] == pytest.approx(0.7 + 0.7 * 0.9 + 0.3 * 0.5)
    assert sum(counts[R].values()) == pytest.approx(2.0)


def test_expected_counts_of_a_late_device_compare_with_what_is_slept_now() -> None:
    counts = Expectation(PLAIN, stacked([stages("WR")])).counts(delay_epochs=1)
    assert counts[R] == pytest.approx(dict(zip(TOLD, ROWS[W], strict=True)))
    assert sum(counts[W].values()) == 0.0


def test_expected_changes_by_hand() -> None:
    """Two independent epochs of light differ with chance 1 − Σ p²."""
    once = 1 - (0.1**2 + 0.8**2 + 0.05**2 + 0.05**2)
    assert Expectation(PLAIN, stacked([stages("LL")])).changes() == pytest.approx(once)


@pytest.mark.parametrize("delay", [0, 1])
def test_what_is_expected_is_what_many_seeds_show(delay: int) -> None:
    chain = sticky(0.6)
    overlay = Overlay("sticky", (Grade(1.0, chain),), delay)
    made = [
        (night, shown_by(overlay, night, night=f"{k}:0", seed=seed))
        for k, night in enumerate(NIGHTS)
        for seed in range(60)
    ]
    expectation = Expectation(chain, stacked(NIGHTS))
    expected = expectation.counts(delay)
    for true in TOLD:
        total = sum(expected[true].values())
        share = expected[true][true] / total
        assert agreed(made).found[true] == pytest.approx(share, abs=0.02)
    assert changes(shown for _, shown in made) == pytest.approx(expectation.changes(), abs=0.01)


def test_gaps_and_nights_of_other_lengths_count_nothing_more() -> None:
    one, two = stages("WL?LR"), stages("R")
    together = Expectation(PLAIN, stacked([one, two])).counts()
    assert sum(sum(row.values()) for row in together.values()) == pytest.approx(5.0)


@given(st.sampled_from(TOLD), st.floats(0.01, 100.0))
def test_odds_of_an_error_are_multiplied_and_its_kinds_stay(true: object, factor: float) -> None:
    made = with_odds(PLAIN, dict.fromkeys(TOLD, factor))
    for stage in TOLD:
        before, after = PLAIN[stage][NONE], made[stage][NONE]
        right = TOLD.index(stage)
        odds = (1 - before[right]) / before[right]
        assert (1 - after[right]) / after[right] == pytest.approx(factor * odds)
        assert sum(after) == pytest.approx(1.0)
        wrong = [k for k in range(4) if k != right and before[k]]
        assert [after[k] / after[wrong[0]] for k in wrong] == pytest.approx(
            [before[k] / before[wrong[0]] for k in wrong]
        )


def test_inertia_keeps_what_was_shown_and_leaves_a_first_label_alone() -> None:
    made = with_inertia(PLAIN, 0.5)
    assert made[R][L] == pytest.approx((0.05, 0.6, 0.0, 0.35))
    assert made[R][NONE] == PLAIN[R][NONE]


def test_matched_finds_each_stage_as_often_as_asked() -> None:
    wanted = {W: 0.6, L: 0.9, D: None, R: 0.5}
    made = matched(sticky(0.5), NIGHTS, wanted)
    counts = Expectation(made, stacked(NIGHTS)).counts()
    for stage in (W, L, R):
        share = counts[stage][stage] / sum(counts[stage].values())
        assert share == pytest.approx(wanted[stage], abs=0.002)


def test_lowered_reaches_wake_kappa_and_changes_together() -> None:
    nights = [stages("W" * 12 + "L" * 40 + "D" * 25 + "L" * 15 + "R" * 25)]
    wanted = Wanted(wake_found=0.45, kappa=0.5, changes=0.08, delay_epochs=1)
    expectation = Expectation(lowered(PLAIN, nights, wanted), stacked(nights))
    counts = expectation.counts(1)
    assert counts[W][W] / sum(counts[W].values()) == pytest.approx(0.45, abs=0.01)
    assert kappa(counts) == pytest.approx(0.5, abs=0.01)
    assert expectation.changes() == pytest.approx(0.08, abs=0.005)
