"""Where tasks start: rules of the seed on nights written by hand, and the bundled night."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.hypnogram import rem_runs
from replay.tasks.start_points import start_points
from replay.tasks.task import StartKind
from tests.replay.nights import STAGES, night
from tests.replay.tasks.made import bundled_night

KINDS = tuple(StartKind)


def epochs_of(letters: str, kind: StartKind, **given_: str) -> list[int]:
    found = start_points(night(letters, **given_), KINDS)
    return [point.epoch for point in found.points if point.kind is kind]


def test_the_bundled_night_has_fifteen_start_points() -> None:
    found = start_points(bundled_night())
    assert len(found.points) == 15
    assert found.lacking == {}
    kinds = [point.kind for point in found.points]
    assert [kinds.count(kind) for kind in KINDS] == [1, 12, 1, 1, 0]


def test_the_bundled_night_starts_where_the_seed_says() -> None:
    # Seed, 02: onset 05:48, longest light at 09:05, longest deep at 08:34.
    clocks = {point.kind: point.clock for point in start_points(bundled_night()).points}
    assert clocks[StartKind.SLEEP_ONSET] == "0548"
    assert clocks[StartKind.LONGEST_LIGHT] == "0905"
    assert clocks[StartKind.LONGEST_DEEP] == "0834"


def test_sleep_onset_is_the_first_epoch_scored_as_sleep() -> None:
    assert epochs_of("WW?WLWWWW" + "W" * 60, StartKind.SLEEP_ONSET) == [4]


def test_a_rem_start_is_the_first_epoch_of_six_or_more() -> None:
    letters = "LL" + "RRRRR" + "L" + "RRRRRR" + "L" + "RRRRRRR" + "W" * 60
    assert epochs_of(letters, StartKind.REM_ONSET) == [8, 15]


def test_of_more_than_twelve_rem_runs_the_longest_are_taken_in_time_order() -> None:
    lengths = [6, 9, 7, 8, 6, 9, 9, 10, 9, 8, 7, 9, 9, 9]
    letters = "".join("R" * length + "L" for length in lengths) + "W" * 60
    starts = [sum(length + 1 for length in lengths[:k]) for k in range(len(lengths))]
    # Two runs of 6 and nothing shorter: the two go.
    expected = [start for start, length in zip(starts, lengths, strict=True) if length > 6]
    assert epochs_of(letters, StartKind.REM_ONSET) == expected


def test_of_equally_long_rem_runs_the_earlier_are_taken() -> None:
    letters = "RRRRRRL" * 14 + "W" * 60
    assert epochs_of(letters, StartKind.REM_ONSET) == [7 * k for k in range(12)]


def test_a_run_of_rem_too_late_for_a_task_takes_no_place_of_another() -> None:
    letters = "RRRRRRL" * 12 + "W" * 60 + "R" * 30
    assert len(epochs_of(letters, StartKind.REM_ONSET)) == 12


@pytest.mark.parametrize(("epochs_left", "is_start"), [(40, False), (41, True)])
def test_a_start_needs_41_epochs(epochs_left: int, is_start: bool) -> None:
    letters = "WWW" + "L" * epochs_left
    assert epochs_of(letters, StartKind.SLEEP_ONSET) == ([3] if is_start else [])


def test_the_longest_light_and_deep_run_count_and_of_equals_the_first() -> None:
    letters = "DDLL" + "DDDD" + "LLLL" + "DDDD" + "LLLL" + "W" * 60
    assert epochs_of(letters, StartKind.LONGEST_LIGHT) == [8]
    assert epochs_of(letters, StartKind.LONGEST_DEEP) == [4]


def test_light_is_n1_and_n2_together() -> None:
    assert epochs_of("WL1W" + "1221" + "W" * 60, StartKind.LONGEST_LIGHT) == [4]


def test_start_points_are_counted_on_what_the_device_shows() -> None:
    shown, truth = "WWWLLDD" + "W" * 60, "LLLLLLL" + "W" * 60
    assert epochs_of(shown, StartKind.SLEEP_ONSET, truth=truth) == [3]


def test_n1_is_looked_for_in_the_truth_first() -> None:
    shown, truth = "WW1222" + "W" * 60, "WWWW12" + "W" * 60
    assert epochs_of(shown, StartKind.N1_ONSET, truth=truth) == [4]
    assert epochs_of(shown, StartKind.N1_ONSET) == [2]


def test_n1_is_a_kind_only_when_asked_for() -> None:
    found = start_points(night("WW1222" + "W" * 60))
    assert StartKind.N1_ONSET not in {point.kind for point in found.points}
    assert StartKind.N1_ONSET not in found.lacking


def test_a_night_says_which_kinds_it_lacks_and_why() -> None:
    found = start_points(night("W" * 5 + "L" * 60 + "D" * 10 + "RRRRR"), KINDS)
    assert set(found.lacking) == {
        StartKind.REM_ONSET,
        StartKind.LONGEST_DEEP,
        StartKind.N1_ONSET,
    }
    assert found.lacking[StartKind.REM_ONSET] == "no REM run of 6 epochs or more"
    assert found.lacking[StartKind.LONGEST_DEEP] == (
        "it begins at epoch 65, 15 before the end: a task takes 41"
    )
    assert found.lacking[StartKind.N1_ONSET] == "no label tells N1 from N2"


def test_a_night_without_sleep_has_no_start() -> None:
    found = start_points(night("W" * 100))
    assert found.points == ()
    assert found.lacking[StartKind.SLEEP_ONSET] == "no epoch shows sleep"


def test_an_empty_night_has_no_start() -> None:
    assert start_points(night("")).points == ()


def test_the_clock_is_local_time_in_four_digits() -> None:
    # The night starts at 23:00; 130 epochs are 65 minutes.
    found = start_points(night("W" * 130 + "L" * 60))
    assert found.points[0].clock == "0005"


def test_windows_that_touch_do_not_overlap() -> None:
    letters = "R" * 6 + "W" * 35 + "R" * 6 + "W" * 35  # starts 0 and 41: [0, 41) and [41, 82)
    clusters = [point.cluster for point in start_points(night(letters)).points]
    starts = [point.epoch for point in start_points(night(letters)).points]
    assert dict(zip(starts, clusters, strict=True)) == {0: 1, 41: 2}


def test_windows_that_overlap_by_way_of_a_third_share_a_cluster() -> None:
    letters = "R" * 6 + "W" * 30 + "R" * 6 + "W" * 30 + "R" * 6 + "W" * 60  # 0, 36, 72
    found = start_points(night(letters), (StartKind.REM_ONSET,)).points
    assert [(point.epoch, point.cluster) for point in found] == [(0, 1), (36, 1), (72, 1)]


@settings(max_examples=40)
@given(st.text("WLDR?12", max_size=150))
def test_every_start_leaves_room_and_shows_its_kind(letters: str) -> None:
    recorded = night(letters)
    found = start_points(recorded, KINDS)
    shown = [STAGES[letter].coarse.letter for letter in letters]
    for point in found.points:
        assert point.epoch + 41 <= len(letters)
        if point.kind is StartKind.REM_ONSET:
            assert shown[point.epoch : point.epoch + 6] == ["R"] * 6
    assert {point.kind for point in found.points} | set(found.lacking) == set(KINDS)
    assert len(rem_runs(recorded.shown)) >= sum(
        point.kind is StartKind.REM_ONSET for point in found.points
    )


@settings(max_examples=40)
@given(st.text("LR", min_size=60, max_size=400))
def test_two_starts_share_a_cluster_exactly_if_windows_link_them(letters: str) -> None:
    found = start_points(night(letters), KINDS).points
    for one in found:
        for other in found:
            low, high = sorted((one.epoch, other.epoch))
            between = sorted({p.epoch for p in found if low <= p.epoch <= high})
            linked = all(b - a < 41 for a, b in pairwise(between))
            assert (one.cluster == other.cluster) == linked
