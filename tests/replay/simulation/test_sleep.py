"""Sleep as a process: a semi-Markov chain whose rolls belong to epochs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.types import Stage
from replay.hypnogram import letters, runs
from replay.simulation.profiles import profile_named, profile_names
from replay.simulation.sleep import (
    AGES,
    STAGES,
    Sleep,
    Sleeping,
    age_band,
    hypnogram,
    part_of_night,
)
from tests.replay.simulation.asleep import HEALTHY, STEADY, D, L, R, W, flat

STAGE = st.sampled_from(STAGES)


def made(stages: list[Stage]) -> Sleeping:
    now = Sleeping()
    for stage in stages:
        now = now.after(stage)
    return now


@given(st.lists(STAGE, max_size=200))
def test_what_is_kept_is_what_counting_the_whole_night_gives(stages: list[Stage]) -> None:
    night = [Stage.AWAKE, *stages]
    now = made(stages)
    last = runs(night)[-1]
    assert (now.stage, now.age) == (last.stage, last.epochs)
    assert now.before == (runs(night)[-2].stage if len(runs(night)) > 1 else Stage.UNKNOWN)
    onset = next((k for k, stage in enumerate(night) if stage.is_sleep), None)
    assert now.since_onset == (None if onset is None else len(night) - 1 - onset)
    rem = [k for k, stage in enumerate(night) if stage is R]
    since = 0 if onset is None else len(night) - 1 - max(rem[-1] if rem else 0, onset)
    assert now.since_rem == since
    assert now.part == part_of_night(0 if onset is None else max(0, last.start - onset))


def test_a_young_rem_period_grows_old_and_is_over_after_fifteen_minutes_without_rem() -> None:
    young, old = made([L] * 60 + [R] * 23), made([L] * 60 + [R] * 24)
    assert (young.phase, old.phase) == (0, 1)
    assert made([L] * 60 + [R] * 24 + [L] * 29).phase == 1
    assert made([L] * 60 + [R] * 24 + [L] * 30).phase == 2
    assert made([L] * 60 + [R] * 24 + [L] * 30 + [R]).phase == 0
    assert made([L] * 60 + [R] * 24 + [L] * 120).phase == 3


@pytest.mark.parametrize(
    ("age", "band"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (64, 6), (65, 7)]
)
def test_ages_are_told_apart_more_finely_when_young(age: int, band: int) -> None:
    assert age_band(age) == band
    assert len(AGES) == 7


@pytest.mark.parametrize(("hours", "part"), [(0, 0), (1.49, 0), (1.5, 1), (3, 2), (5, 3), (9, 3)])
def test_a_night_has_four_parts_from_sleep_onset(hours: float, part: int) -> None:
    assert part_of_night(int(hours * 120)) == part


@given(st.sampled_from(profile_names()), st.integers(0, 50), st.integers(2, 300))
def test_a_night_is_settled_by_profile_key_and_seed_from_its_start_on(
    name: str, seed: int, epochs: int
) -> None:
    whole = hypnogram(profile_named(name), 300, night="a:0", seed=seed)
    assert hypnogram(profile_named(name), epochs, night="a:0", seed=seed) == whole[:epochs]


def test_another_key_or_seed_is_another_night() -> None:
    nights = {
        letters(hypnogram(HEALTHY, 400, night=night, seed=seed))
        for night in ("a:0", "b:0")
        for seed in (1, 2)
    }
    assert len(nights) == 4


@given(st.integers(0, 10_000))
def test_a_night_begins_awake_and_a_stage_never_follows_itself(seed: int) -> None:
    found = runs(hypnogram(HEALTHY, 300, night="a:0", seed=seed))
    assert found[0].stage is Stage.AWAKE
    assert all(before.stage is not after.stage for before, after in pairwise(found))


@pytest.mark.parametrize("chance", [0.05, 0.25])
def test_with_one_chance_of_ending_a_stage_lasts_its_inverse(chance: float) -> None:
    profile = flat(dict.fromkeys(STAGES, chance), {W: L, L: R, D: L, R: L})
    inner = runs(hypnogram(profile, 30_000, night="a:0", seed=1))[1:-1]
    assert sum(run.epochs for run in inner) / len(inner) == pytest.approx(1 / chance, rel=0.06)
    variance = sum((run.epochs - 1 / chance) ** 2 for run in inner) / len(inner)
    assert variance == pytest.approx((1 - chance) / chance**2, rel=0.2)


def test_what_follows_a_stage_is_what_the_profile_says() -> None:
    assert set(letters(hypnogram(STEADY, 2000, night="a:0", seed=1))) == {"W", "L", "R"}


def test_two_sleepers_whom_something_parted_meet_again() -> None:
    """The same rolls at the same epochs bring them together: most of the night is shared."""
    sleep = Sleep(HEALTHY, "a:0", 1)
    one = other = Sleeping()
    same = 0
    for epoch in range(1, 960):
        one, other = sleep.after(one, epoch), sleep.after(other, epoch)
        if epoch in (200, 400, 600):
            other = other.after(W)
        same += one.stage is other.stage
    assert same > 700


def test_nights_differ_by_a_factor_on_going_to_a_stage_whose_mean_is_one() -> None:
    wide = HEALTHY.__class__("w", HEALTHY.leave, HEALTHY.next, dict.fromkeys(STAGES, 0.5))
    factors = [factor for k in range(3000) for factor in Sleep(wide, f"{k}:0", 1)._factors]
    assert sum(factors) / len(factors) == pytest.approx(1.0, abs=0.03)
    assert min(factors) < 0.4 < 2.0 < max(factors)
    assert Sleep(STEADY, "a:0", 1)._factors == [1.0] * 4


def test_deep_sleep_is_of_the_first_part_and_rem_of_the_last() -> None:
    """Source: every textbook; here as the healthy nights were fitted."""
    nights = [hypnogram(HEALTHY, 900, night=f"{k}:0", seed=1) for k in range(30)]
    deep = [sum(night[a:b].count(D) for night in nights) for a, b in ((60, 360), (600, 900))]
    rem = [sum(night[a:b].count(R) for night in nights) for a, b in ((60, 360), (600, 900))]
    assert deep[0] > 2 * deep[1]
    assert rem[1] > 1.5 * rem[0]
