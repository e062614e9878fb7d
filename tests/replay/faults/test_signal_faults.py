"""What a disturbed signal shows, beside what the same night shows undisturbed."""

from dataclasses import replace
from itertools import pairwise

import pytest

from bedside.recording import MemoryRecording
from bedside.safety.gate import Mode
from replay.conditions import Condition, SignalFault
from replay.recorded_night import RecordedNight
from tests.replay.nights import LOUD, SOFT, Lived, night, recording
from tests.replay.tasks.made import noted, outcomes, rolled, task_at, tried

NIGHT = "WWWWWW" + "LLLLDDDDLLRRRRRRRRRRLWLLDDLLRRRRRRRRWLLL" * 2
START = 8
SEEDS = range(1, 4)


def disturbed(fault: SignalFault, seed: int = 1, letters: str = NIGHT, **given: float) -> Lived:
    condition = Condition(signal=fault)
    dropout = given.pop("dropout", 0.0)
    made = night(letters, **given)  # type: ignore[arg-type]
    return tried(made, task_at(START, seed=seed, condition=condition), {}, dropout=dropout)


def disturbances(done: Lived) -> list[int]:
    """Disturbed steps; the look after the last one is not among them."""
    return [line["step"] for line in noted(done, "disturbed") if line["step"] < 40]


def roll_of(seed: int, number: int, letters: str = NIGHT) -> float:
    return rolled(night(letters), START, seed, "disturbance", number)


# --- dropout burst


@pytest.mark.parametrize("seed", SEEDS)
def test_a_burst_takes_the_readings_of_eight_steps_in_a_row(seed: int) -> None:
    first = int(roll_of(seed, 0) * 33)
    undisturbed = NIGHT[START : START + 40]
    expected = undisturbed[:first] + "?" * 8 + undisturbed[first + 8 :]
    assert disturbed(SignalFault.DROPOUT_BURST, seed).shown == expected


def test_a_burst_is_written_as_dropout() -> None:
    done = disturbed(SignalFault.DROPOUT_BURST)
    first = int(roll_of(1, 0) * 33)
    assert [line["step"] for line in noted(done, "dropout")] == list(range(first, first + 8))


def test_a_burst_comes_beside_the_dropout_of_single_steps() -> None:
    done = disturbed(SignalFault.DROPOUT_BURST, dropout=0.5)
    first = int(roll_of(1, 0) * 33)
    single = {k for k in range(40) if rolled(night(NIGHT), START, 1, "dropout", k) < 0.5}
    lost = {k for k, letter in enumerate(done.shown) if letter == "?"}
    assert lost == single | set(range(first, first + 8))


# --- frozen stage


def with_moving_confidence(interval_s: float) -> RecordedNight:
    """No two readings of the night say the same confidence."""
    still = recording(NIGHT, interval_s=interval_s)
    readings = [
        sample._replace(value=replace(sample.value, confidence=k / 10_000))  # type: ignore[type-var]
        for k, sample in enumerate(still.samples())
    ]
    return RecordedNight(MemoryRecording(still.info, tuple(readings)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("interval_s", [0.5, 30.0])
def test_a_frozen_stage_stands_for_five_minutes_until_the_night_sees_it(
    seed: int, interval_s: float
) -> None:
    task = task_at(START, seed=seed, condition=Condition(signal=SignalFault.FROZEN_STAGE))
    done = tried(with_moving_confidence(interval_s), task, {})
    first = 1 + int(roll_of(seed, 0) * 20)
    own = NIGHT[START : START + 40]
    # The held reading is the last before the stretch: ten epochs later it is five minutes old.
    assert done.shown == own[:first] + own[first - 1] * 9 + "?" * 11 + own[first + 20 :]
    frozen = [step["step"] for step in done.steps if step["epoch"]["frozen"]]
    assert frozen == list(range(first + 9, first + 20))
    told = [step["observation"]["confidence"] for step in done.steps[first : first + 9]]
    readings = round(30 / interval_s)
    held = ((START + first) * readings - 1) / 10_000
    assert told == [pytest.approx(held, abs=5e-5)] * 9


@pytest.mark.parametrize("seed", SEEDS)
def test_a_headband_without_confidence_repeats_its_clock_and_is_seen_in_two_minutes(
    seed: int,
) -> None:
    first = 1 + int(roll_of(seed, 0) * 20)
    undisturbed = NIGHT[START : START + 40]
    done = disturbed(SignalFault.FROZEN_STAGE, seed)
    # A label an epoch: the first repeated one begins the minute, the third ends it.
    held = undisturbed[first - 1]
    stretch = held * 2 + "?" * 18
    assert done.shown == undisturbed[:first] + stretch + undisturbed[first + 20 :]
    assert disturbances(done) == list(range(first, first + 20))


# --- delayed label


@pytest.mark.parametrize("interval_s", [0.5, 30.0])
def test_a_delayed_label_shows_the_epoch_before(interval_s: float) -> None:
    done = disturbed(SignalFault.DELAYED_LABEL, interval_s=interval_s)
    assert done.shown == NIGHT[START - 1 : START + 39]
    assert disturbances(done) == list(range(40))


def test_before_the_first_epoch_of_a_recording_there_is_no_label_to_come_late() -> None:
    condition = Condition(signal=SignalFault.DELAYED_LABEL)
    done = tried(night(NIGHT), task_at(0, condition=condition), {})
    assert done.shown == "?" + NIGHT[:39]


def test_a_gap_of_the_recording_comes_late_too() -> None:
    letters = NIGHT[:20] + "??" + NIGHT[22:]
    assert disturbed(SignalFault.DELAYED_LABEL, letters=letters).shown == letters[7:47]


# --- flicker


@pytest.mark.parametrize("seed", SEEDS)
def test_flicker_shows_single_wrong_epochs(seed: int) -> None:
    expected = []
    for step, own in enumerate(NIGHT[START : START + 40]):
        value = roll_of(seed, step)
        before = step > 0 and roll_of(seed, step - 1) < 0.15
        others = [letter for letter in "WRLD" if letter != own]
        expected.append(own if value >= 0.15 or before else others[int(value / 0.15 * 3)])
    done = disturbed(SignalFault.FLICKER, seed)
    assert done.shown == "".join(expected)
    own = NIGHT[START : START + 40]
    assert disturbances(done) == [k for k in range(40) if expected[k] != own[k]]


def test_no_two_epochs_in_a_row_flicker() -> None:
    for seed in range(1, 30):
        steps = disturbances(disturbed(SignalFault.FLICKER, seed))
        assert all(later - earlier > 1 for earlier, later in pairwise(steps))


def test_flicker_invents_no_reading_in_a_gap() -> None:
    letters = "W" * 8 + "?" * 60
    assert disturbed(SignalFault.FLICKER, letters=letters).shown == "?" * 40


# --- all of them


@pytest.mark.parametrize("fault", list(SignalFault))
def test_a_disturbed_signal_changes_nothing_that_is_slept(fault: SignalFault) -> None:
    done = disturbed(fault)
    plain = tried(night(NIGHT), task_at(START), {})
    assert noted(done, "truth") == noted(plain, "truth")
    assert done.hidden[0]["condition"] == fault.value
    assert "condition" not in plain.hidden[0]


@pytest.mark.parametrize("fault", list(SignalFault))
def test_the_hidden_stage_decides_wakings_and_not_what_is_shown(fault: SignalFault) -> None:
    condition = Condition(signal=fault)
    done = tried(night(NIGHT), task_at(START, condition=condition), dict.fromkeys(range(40), SOFT))
    letters = {"W": "awake", "L": "light", "D": "deep", "R": "rem"}
    rolls = done.rolls()
    assert len(rolls) == len(outcomes(done)) == 40
    assert [roll["stage"] for roll in rolls] == [
        letters[letter] for letter in NIGHT[START : START + 40]
    ]


@pytest.mark.parametrize("fault", list(SignalFault))
def test_the_same_task_has_the_same_disturbance_for_every_agent(fault: SignalFault) -> None:
    condition = Condition(signal=fault)
    waits = tried(night(NIGHT), task_at(START, condition=condition), {})
    cues = tried(
        night(NIGHT),
        task_at(START, condition=condition),
        dict.fromkeys(range(40), LOUD),
        mode=Mode.ENFORCE,
    )
    assert waits.shown == cues.shown
    assert noted(waits, "disturbed") == noted(cues, "disturbed")
