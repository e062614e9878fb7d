from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bedside.sleep_history import SleepHistory
from devices.types import Stage

LETTERS = {"W": Stage.AWAKE, "L": Stage.LIGHT, "D": Stage.DEEP, "R": Stage.REM, "?": Stage.UNKNOWN}
nights = st.text(alphabet="WLDR?", max_size=120)


def after(night: str) -> SleepHistory:
    history = SleepHistory()
    for index, letter in enumerate(night):
        history = history.after(index, LETTERS[letter])
    return history


def test_minutes_in_stage_are_held_neither_reset_nor_counted_over_a_gap() -> None:
    counts = [after("WRRR??RRW"[:n]).epochs_in_stage for n in range(1, 10)]
    assert counts == [1, 1, 2, 3, 3, 3, 4, 5, 1]


def test_before_any_reading_nothing_is_counted() -> None:
    assert after("???") == SleepHistory()


def test_rows_of_rem_and_deep_break_at_any_other_epoch() -> None:
    assert after("RRR").rem_in_row == 3
    assert after("RRR?").rem_in_row == 0
    assert after("RRR?R").rem_in_row == 1
    assert after("LDDDD").deep_in_row == 4
    assert after("LDDDDL").deep_in_row == 0


def test_rem_runs_over_fifteen_minutes_apart_are_two_periods() -> None:
    assert after("R" + "L" * 30 + "R").rem_period == 1
    assert after("R" + "L" * 31 + "R").rem_period == 2
    assert after("R" + "L" * 40).rem_period == 1  # only the next REM tells that a new one began
    assert after("LLL").rem_period == 0


def test_onset_is_the_first_sleep_epoch_and_sustained_onset_the_first_of_ten_in_a_row() -> None:
    night = "WWLLLW" + "L" * 10
    assert after(night[:3]).onset == 2
    assert after(night[:15]).sustained_onset is None
    assert after(night).sustained_onset == 6
    assert after(night + "WWWW").sustained_onset == 6
    assert after("L" * 9 + "?" + "L" * 9).sustained_onset is None


def test_minutes_since_onset_count_from_sustained_onset_to_the_end_of_the_epoch() -> None:
    assert after("W" * 4 + "L" * 9).minutes_since_onset(12) is None
    assert after("W" * 4 + "L" * 10).minutes_since_onset(13) == 5.0


@given(nights, nights)
def test_a_history_moved_to_a_later_start_goes_on_as_if_the_night_had_not_been_cut(
    before: str, later: str
) -> None:
    moved = after(before).moved(len(before))
    for index, letter in enumerate(later):
        moved = moved.after(index, LETTERS[letter])
    assert moved == after(before + later).moved(len(before))


@given(nights)
def test_rem_periods_are_the_runs_joined_over_gaps_of_at_most_thirty_epochs(night: str) -> None:
    rem = [index for index, letter in enumerate(night) if letter == "R"]
    gaps = [later - earlier - 1 for earlier, later in pairwise(rem)]
    assert after(night).rem_period == (1 + sum(gap > 30 for gap in gaps) if rem else 0)
