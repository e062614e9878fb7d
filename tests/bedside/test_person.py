"""Buttons and the page: what latches, what pauses, what ends by itself."""

import threading

import pytest

from bedside.person import PersonState
from devices.types import PersonAct, PersonEvent, Sample, Stream


class Said:
    """A person whose presses are given as (t, act) or (t, act, minutes)."""

    def __init__(self, *presses: tuple[float, PersonAct] | tuple[float, PersonAct, float]) -> None:
        self.silenced = 0
        self.armed = 0
        self.state = PersonState(on_stop=self._silence, on_clear=self._rearm)
        for t, act, *minutes in presses:
            event = PersonEvent(act, minutes[0] if minutes else None)
            self.state.hear(Sample(Stream.PERSON, t, event, "button"))

    def _silence(self) -> None:
        self.silenced += 1

    def _rearm(self) -> None:
        self.armed += 1


def test_nothing_is_said_to_begin_with() -> None:
    state = Said().state
    assert (state.stopped, state.pause_at(0.0), state.reported_awake) == (False, None, False)


def test_stop_latches_and_silences_each_time() -> None:
    said = Said((1.0, PersonAct.STOP), (2.0, PersonAct.STOP))
    assert said.state.stopped
    assert said.silenced == 2


@pytest.mark.parametrize("act", [act for act in PersonAct if act is not PersonAct.CLEAR_STOP])
def test_only_clearing_lifts_a_stop(act: PersonAct) -> None:
    assert Said((1.0, PersonAct.STOP), (2.0, act)).state.stopped


def test_clearing_lifts_a_stop_and_arms_the_devices_again() -> None:
    said = Said((1.0, PersonAct.STOP), (2.0, PersonAct.CLEAR_STOP))
    assert (said.state.stopped, said.armed) == (False, 1)


def test_a_stop_from_another_thread_latches_as_a_press_does() -> None:
    said = Said()
    thread = threading.Thread(target=said.state.stop)
    thread.start()
    thread.join()
    assert (said.state.stopped, said.silenced) == (True, 1)


@pytest.mark.parametrize(
    ("act", "minutes", "until_t"),
    [
        (PersonAct.PAUSE, (), 1_000.0),
        (PersonAct.PAUSE, (2.0,), 220.0),
        (PersonAct.PAUSE, (-2.0,), 1_000.0),
        (PersonAct.PAUSE, (float("nan"),), 1_000.0),
        (PersonAct.PAUSE, (float("inf"),), 1_000.0),
        (PersonAct.TELL_DREAM, (), 700.0),
    ],
)
def test_a_pause_ends_by_itself(act: PersonAct, minutes: tuple[float, ...], until_t: float) -> None:
    state = Said((100.0, act, *minutes)).state  # type: ignore[arg-type]
    assert state.pause_at(100.0) == until_t
    assert state.pause_at(until_t - 0.001) == until_t
    assert state.pause_at(until_t) is None


def test_a_second_pause_never_makes_the_first_shorter() -> None:
    state = Said((0.0, PersonAct.PAUSE, 60.0), (10.0, PersonAct.TELL_DREAM)).state
    assert state.pause_at(20.0) == 3_600.0


def test_resume_ends_a_pause_and_no_stop() -> None:
    said = Said((0.0, PersonAct.PAUSE, 60.0), (1.0, PersonAct.STOP), (2.0, PersonAct.RESUME))
    assert (said.state.pause_at(3.0), said.state.stopped) == (None, True)


@pytest.mark.parametrize("act", [PersonAct.STILL_AWAKE, PersonAct.GOT_UP])
def test_being_awake_ends_with_ten_epochs_of_sleep_in_a_row_since(act: PersonAct) -> None:
    state = Said((0.0, act)).state
    for asleep in [*[True] * 9, False, *[True] * 9]:
        state.close_epoch(asleep=asleep)
        assert state.reported_awake
    state.close_epoch(asleep=True)
    assert not state.reported_awake


def test_sleep_before_a_report_of_being_awake_does_not_count() -> None:
    said = Said()
    for _ in range(50):
        said.state.close_epoch(asleep=True)
    said.state.hear(Sample(Stream.PERSON, 1.0, PersonEvent(PersonAct.STILL_AWAKE)))
    for _ in range(9):
        said.state.close_epoch(asleep=True)
        assert said.state.reported_awake


@pytest.mark.parametrize("act", [PersonAct.TOUCH, PersonAct.GOOD_NIGHT])
def test_a_touch_changes_nothing(act: PersonAct) -> None:
    said = Said((0.0, act))
    state = said.state
    assert (state.stopped, state.pause_at(1.0), state.reported_awake) == (False, None, False)
    assert said.silenced == 0
