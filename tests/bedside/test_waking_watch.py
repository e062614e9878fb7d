"""Signs of waking after a cue, sample by sample through a real hub.

Source of every figure: `safety.md` 13.
"""

from collections.abc import Iterable

import pytest

from bedside.hub import Hub
from bedside.safety.waking import Sign
from bedside.waking_watch import WakingWatch
from bedside.windows import Windows
from devices.types import (
    Contact,
    Cue,
    CueKind,
    HeartRate,
    Movement,
    PersonAct,
    PersonEvent,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Value,
    Volume,
)

CUE_T = 600.0
CUE = Cue(1, CueKind.SOUND, Volume.LOW, "cat", 8.0)
STREAM_OF = {
    StageReading: Stream.STAGE,
    HeartRate: Stream.HEART_RATE,
    Movement: Stream.MOVEMENT,
    Contact: Stream.CONTACT,
    PersonEvent: Stream.PERSON,
}
Suspected = list[tuple[int, float, tuple[Sign, ...]]]


def sample(t: float, value: Value) -> Sample:
    return Sample(STREAM_OF[type(value)], t, value, "band")


class Watched:
    """A hub with a watch on it; the stage comes every `interval_s`."""

    def __init__(self, interval_s: float = 0.5) -> None:
        self.suspected: Suspected = []
        self.hub = Hub()
        windows = Windows([StreamInfo(Stream.STAGE, interval_s, "band")])
        windows.listen(self.hub)
        self.watch = WakingWatch(self.hub, windows, self._suspect)

    def _suspect(self, cue: Cue, t: float, signs: tuple[Sign, ...]) -> None:
        self.suspected.append((cue.number, t, signs))

    def hear(self, samples: Iterable[tuple[float, Value]]) -> None:
        for t, value in samples:
            self.hub(sample(t, value))


def after_a_cue(
    samples: Iterable[tuple[float, Value]],
    *,
    before: Iterable[tuple[float, Value]] = (),
    interval_s: float = 0.5,
) -> Suspected:
    """What is suspected; times count from the start of the cue."""
    watched = Watched(interval_s)
    watched.hear((CUE_T + t, value) for t, value in before)
    watched.watch.begin(CUE, CUE_T)
    watched.hear((CUE_T + t, value) for t, value in samples)
    return [(number, t - CUE_T, signs) for number, t, signs in watched.suspected]


AWAKE, REM = StageReading(Stage.AWAKE), StageReading(Stage.REM)


def labels(
    seconds: float, *, first: float = 0.25, every_s: float = 0.5
) -> list[tuple[float, Value]]:
    return [(first + every_s * k, AWAKE) for k in range(round(seconds / every_s))]


def test_ten_seconds_of_awake_labels_are_a_sign_and_nine_and_a_half_are_none() -> None:
    assert after_a_cue(labels(9.5)) == []
    assert after_a_cue(labels(10.0)) == [(1, 9.75, (Sign.AWAKE_LABELS,))]


def test_awake_labels_need_not_be_in_a_row() -> None:
    mixed = [(k + 0.25, AWAKE if k % 2 else REM) for k in range(50)]
    ((_, t, signs),) = after_a_cue(mixed)
    assert (t, signs) == (39.25, (Sign.AWAKE_LABELS,))  # the twentieth of half a second


def test_one_awake_label_an_epoch_stands_for_thirty_seconds() -> None:
    assert after_a_cue([(15.0, AWAKE)], interval_s=30.0) == [(1, 15.0, (Sign.AWAKE_LABELS,))]


@pytest.mark.parametrize(("g", "is_sign"), [(0.05, False), (0.1, False), (0.11, True), (2.0, True)])
def test_movement_over_a_tenth_of_g_is_a_sign(g: float, is_sign: bool) -> None:
    found = after_a_cue([(3.0, Movement(0.02)), (4.0, Movement(g))])
    assert found == ([(1, 4.0, (Sign.MOVEMENT,))] if is_sign else [])


def test_a_heart_more_than_eight_beats_over_its_mean_of_the_minute_before_is_a_sign() -> None:
    before: list[tuple[float, Value]] = [(-60.0 + k, HeartRate(50.0 + k % 2)) for k in range(60)]
    far = [(-70.0, HeartRate(200.0))]
    assert after_a_cue([(5.0, HeartRate(58.5))], before=[*far, *before]) == []
    found = after_a_cue([(5.0, HeartRate(58.6))], before=[*far, *before])
    assert found == [(1, 5.0, (Sign.HEART_RATE,))]


def test_without_a_heart_rate_before_none_is_too_high() -> None:
    assert after_a_cue([(5.0, HeartRate(180.0)), (6.0, HeartRate(None))]) == []


@pytest.mark.parametrize(
    ("value", "sign"),
    [
        (Contact(False), Sign.CONTACT_LOST),
        (PersonEvent(PersonAct.TOUCH), Sign.TOUCH),
        (PersonEvent(PersonAct.STILL_AWAKE), Sign.TOUCH),
    ],
)
def test_a_lost_contact_or_a_touch_is_a_sign(value: Value, sign: Sign) -> None:
    assert after_a_cue([(30.0, value)]) == [(1, 30.0, (sign,))]


@pytest.mark.parametrize("value", [Contact(True), Contact(None), HeartRate(None), REM])
def test_what_tells_nothing_is_no_sign(value: Value) -> None:
    assert after_a_cue([(1.0, value)]) == []


@pytest.mark.parametrize(("t", "is_sign"), [(0.0, True), (59.999, True), (60.0, False)])
def test_signs_count_for_a_minute(t: float, is_sign: bool) -> None:
    assert bool(after_a_cue([(t, Movement(1.0))])) is is_sign


def test_a_cue_is_suspected_once() -> None:
    found = after_a_cue([(1.0, Movement(1.0)), (2.0, Movement(2.0)), (3.0, Contact(False))])
    assert len(found) == 1


def test_several_signs_at_once_are_all_named() -> None:
    gentle: list[tuple[float, Value]] = [(k / 2 + 0.25, AWAKE) for k in range(19)]
    ((_, _, signs),) = after_a_cue([*gentle, (9.6, HeartRate(90.0)), (9.75, AWAKE)],
                                   before=[(-30.0, HeartRate(60.0))])  # fmt: skip
    assert signs == (Sign.HEART_RATE,)


def test_the_next_cue_is_watched_from_its_own_start() -> None:
    watched = Watched()
    watched.watch.begin(CUE, 0.0)
    watched.hear([(t, value) for t, value in labels(8.0)])
    watched.watch.begin(Cue(2, CueKind.SOUND, Volume.LOW, "cat", 8.0), 40.0)
    watched.hear([(40.0 + t, value) for t, value in labels(8.0)])
    assert watched.suspected == []
    watched.hear([(55.0, Movement(1.0))])
    assert watched.suspected == [(2, 55.0, (Sign.MOVEMENT,))]


def test_after_its_end_nothing_is_heard() -> None:
    watched = Watched()
    watched.watch.begin(CUE, 0.0)
    watched.watch.end()
    watched.hear([(1.0, Movement(1.0))])
    watched.watch.end()
    assert watched.suspected == []
