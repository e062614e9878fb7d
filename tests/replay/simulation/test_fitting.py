"""Fitting a profile: by counts a person can follow, and back to what made the nights."""

import pytest

from devices.types import Stage
from replay.hypnogram import from_letters
from replay.simulation.fitting import (
    CONTEXTS,
    PRIOR_EPOCHS,
    Night,
    NothingToFit,
    fit_profile,
    held,
    steps,
)
from replay.simulation.sleep import STAGES, hypnogram
from tests.replay.simulation.asleep import D, L, R, W, flat


def night(letters: str, *, latency_known: bool = True) -> Night:
    return Night(from_letters(letters), latency_known)


def told(letters: str, **given: bool) -> list[str]:
    return [
        f"{one.now.before.letter}>{one.now.stage.letter}{one.now.age}{one.then.letter}"
        for one in steps(night(letters, **given))
    ]


def test_every_epoch_up_to_the_last_sleep_tells_what_followed_it() -> None:
    assert told("WWLLRLWW") == [
        "?>W1W", "?>W2L", "W>L1L", "W>L2R", "L>R1L",
    ]  # fmt: skip


def test_wake_that_was_cut_tells_nothing_of_falling_asleep() -> None:
    assert told("WWLLR", latency_known=False) == ["?>W1L", "W>L1L", "W>L2R"][1:]


def test_a_short_gap_is_the_stage_before_it() -> None:
    assert held(from_letters("LL????RR")) == (L,) * 6 + (R,) * 2
    assert held(from_letters("LL?????R"))[2] is Stage.UNKNOWN


def test_after_a_long_gap_nothing_is_told_until_a_stage_s_start_is_seen() -> None:
    assert told("LLLL?????RRRDDL") == [
        "W>L1L", "W>L2L", "W>L3L", "R>D1D", "R>D2L",
    ]  # fmt: skip


def test_n1_and_n2_are_light() -> None:
    assert held((Stage.N1, Stage.N2, Stage.LIGHT)) == (L, L, L)


def test_chances_of_ending_are_counted_and_thin_ones_lean_on_wider_ones() -> None:
    """Light after wake at age 1, first part: 2 epochs, 1 end; over all parts the same; of light
    at age 1 whatever came before: 3 epochs, 2 ends (after REM it ended once)."""
    profile = fit_profile([night("LLWLRLRL")], name="x")
    widest = (3 + 0.5) / (4 + 1.0)  # light at age 1: L(L) L(R) L(R), and the first
    seen = [(one.now.before.letter, one.then.letter) for one in steps(night("LLWLRLRL"))
            if one.now.stage is L and one.now.age == 1]  # fmt: skip
    assert seen == [("W", "L"), ("W", "R"), ("R", "R")]
    widest = (2 + 0.5) / (3 + 1.0)
    over_parts = (1 + PRIOR_EPOCHS * widest) / (2 + PRIOR_EPOCHS)
    expected = (1 + PRIOR_EPOCHS * over_parts) / (2 + PRIOR_EPOCHS)
    assert profile.leave[L, W][0][0] == pytest.approx(expected)


def test_wake_at_the_night_s_start_is_like_no_other_wake() -> None:
    nights = [night("W" * 40 + "LLWLLWLLWLL") for _ in range(20)]
    profile = fit_profile(nights, name="x")
    assert profile.leave[W, Stage.UNKNOWN][0][0] < 0.05 < 0.5 < profile.leave[W, L][0][0]


def test_a_profile_comes_back_from_the_nights_it_made() -> None:
    chances = {W: 0.2, L: 0.05, D: 0.04, R: 0.06}
    profile = flat(chances, {W: L, L: R, D: L, R: W})
    nights = [Night(hypnogram(profile, 900, night=f"{k}:0", seed=1)) for k in range(40)]
    fitted = fit_profile(nights, name="back")
    assert fitted.leave[R, L][0][3] == pytest.approx(0.06, abs=0.015)
    assert fitted.leave[L, W][3][4] == pytest.approx(0.05, abs=0.015)
    assert fitted.next[R, L][3][1][STAGES.index(W)] > 0.95
    assert max(fitted.spread.values()) < 0.1


def test_every_context_has_chances_that_add_up() -> None:
    profile = fit_profile([night("WWLLDDLRRWLLRR")], name="x")
    assert set(profile.leave) == set(profile.next) == set(CONTEXTS)
    for (stage, _), parts in profile.next.items():
        for row in (row for part in parts for row in part):
            assert sum(row) == pytest.approx(1.0)
            assert row[STAGES.index(stage)] == 0.0
    assert all(0.0 < c < 1.0 for rows in profile.leave.values() for row in rows for c in row)


def test_nights_that_differ_more_than_chance_does_have_a_spread() -> None:
    often = [night("L" + "RRLWL" * 40) for _ in range(10)]
    never = [night("L" + "RRLDL" * 40) for _ in range(10)]
    assert fit_profile(often + never, name="x").spread[W] > 0.5
    assert fit_profile(often, name="x").spread[W] == 0.0


def test_nights_without_sleep_do_not_serve() -> None:
    with pytest.raises(NothingToFit, match="no night has sleep"):
        fit_profile([night("WWW"), night("??")], name="x")
