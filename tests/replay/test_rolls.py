"""Rolls against the vectors of the replay environment's specification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.rolls import Dice, RollStream, roll, roll_night


@pytest.mark.parametrize(
    ("night", "seed", "stream", "step", "value"),
    [
        ("night-a:556", 1, "wake", 0, 0.3236413247097304),
        ("night-a:556", 1, "wake", 1, 0.21524705070254013),
        ("night-a:556", 1, "dropout", 0, 0.4705612746935165),
        ("夜:0", 8, "person", 39, 0.41064842819954706),
    ],
)
def test_rolls_are_those_of_the_specification(
    night: str, seed: int, stream: str, step: int, value: float
) -> None:
    assert roll(night, seed, stream, step) == value
    assert Dice(night, seed).roll(RollStream(stream), step) == value


@given(st.text(max_size=20), st.integers(0, 99), st.sampled_from(RollStream), st.integers(0, 2000))
def test_every_roll_lies_in_the_half_open_unit_interval(
    night: str, seed: int, stream: RollStream, step: int
) -> None:
    assert 0.0 <= roll(night, seed, stream, step) < 1.0


def test_ten_thousand_rolls_are_even() -> None:
    tenths = [0] * 10
    for step in range(10_000):
        tenths[int(roll("evenness:0", 1, "wake", step) * 10)] += 1
    chi_squared = sum((count - 1000) ** 2 / 1000 for count in tenths)
    assert chi_squared < 27.9  # 9 degrees of freedom, p = 0.001


def test_the_night_is_known_by_what_slept_and_where_the_task_starts() -> None:
    assert roll_night("0123456789abcdef" + "f" * 48, 582) == "0123456789abcdef:582"
