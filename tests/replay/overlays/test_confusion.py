"""What a device shows: by seeded rolls, causally, with errors in runs and labels that come late."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.types import Stage
from replay.overlays.confusion import BEFORE, TOLD, Grade, Overlay, shown_by
from tests.replay.overlays.devices import (
    EXACT,
    FLICKERING,
    D,
    L,
    R,
    W,
    always,
    memoryless,
    only,
    stages,
    text,
)

LETTERS = st.text("WLDR?", max_size=60)


def show(overlay: Overlay, letters: str, *, night: str = "night-a:0", seed: int = 1) -> str:
    return text(shown_by(overlay, stages(letters), night=night, seed=seed))


def test_a_device_without_errors_shows_the_truth() -> None:
    assert show(EXACT, "WWLLDD??RRW") == "WWLLDD??RRW"


def test_n1_and_n2_are_shown_as_light() -> None:
    shown = shown_by(EXACT, (Stage.N1, Stage.N2, Stage.LIGHT), night="n", seed=1)
    assert shown == (Stage.LIGHT,) * 3


def test_a_stage_may_always_be_taken_for_another() -> None:
    assert show(always({R: L, W: R}), "WLDR") == "RLDL"


@pytest.mark.parametrize(("delay", "shown"), [(1, "?WLDR"), (2, "??WLD"), (7, "?????")])
def test_a_label_shows_so_many_epochs_late(delay: int, shown: str) -> None:
    assert show(always({}, delay), "WLDRW") == shown


@given(LETTERS, st.integers(0, 3))
def test_the_same_night_and_seed_show_the_same(letters: str, seed: int) -> None:
    assert show(FLICKERING, letters, seed=seed) == show(FLICKERING, letters, seed=seed)


@given(LETTERS, LETTERS, st.integers(0, 3))
def test_nothing_that_comes_later_changes_what_was_shown(
    before: str, after: str, delay: int
) -> None:
    late = Overlay("late", FLICKERING.grades, delay)
    assert show(late, before + after)[: len(before)] == show(late, before)


@given(LETTERS)
def test_where_no_truth_is_known_there_is_no_reading(letters: str) -> None:
    gaps = [k for k, letter in enumerate(letters) if letter == "?"]
    assert [k for k, letter in enumerate(show(FLICKERING, letters)) if letter == "?"] == gaps


def test_another_seed_or_night_is_another_device() -> None:
    letters = "L" * 200
    first = show(FLICKERING, letters)
    assert first != show(FLICKERING, letters, seed=2) != show(FLICKERING, letters, night="b:0")


def test_rolls_are_keyed_by_night_seed_stream_and_epoch() -> None:
    """By the formula of `replay-environment.md`, E3, written out once more."""

    def drawn(epoch: int) -> str:
        digest = sha256(f"paprika-roll/1\0night-a:0\0001\0device\0{epoch}".encode()).digest()
        value = (int.from_bytes(digest[:8], "big") >> 11) / 2**53
        return "WLDR"[int(value * 4)]

    assert show(FLICKERING, "R" * 50) == "".join(map(drawn, range(50)))


def test_errors_last_as_long_as_a_shown_stage_tends_to_stay() -> None:
    """An error that stays with 0.9 lasts ten epochs on the average, whatever begins it."""
    light = {before: only(L) for before in BEFORE}
    rem = dict.fromkeys(BEFORE, (0.0, 0.02, 0.0, 0.98)) | {L: (0.0, 0.9, 0.0, 0.1)}
    chain = memoryless({true: only(true) for true in TOLD}) | {L: light, R: rem}
    runs = show(Overlay("slow", (Grade(1.0, chain),)), "R" * 40_000).replace("R", " ").split()
    assert sum(map(len, runs)) / len(runs) == pytest.approx(10.0, rel=0.1)
    # One error in 50 + 10 epochs: the share of epochs is 10 of 60.
    assert sum(map(len, runs)) / 40_000 == pytest.approx(1 / 6, rel=0.1)


def test_a_night_has_one_grade_and_grades_come_by_their_shares() -> None:
    good, bad = always({}).grades[0].chain, always({R: D}).grades[0].chain
    graded = Overlay("graded", (Grade(0.75, good), Grade(0.25, bad)))
    nights = [show(graded, "RRRR", night=f"{k}:0") for k in range(2000)]
    assert set(nights) == {"RRRR", "DDDD"}
    assert nights.count("DDDD") / 2000 == pytest.approx(0.25, abs=0.03)
