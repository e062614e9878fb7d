"""Cues that fail, hang or come late, and a person who stops, or has said nothing."""

import json
from typing import Any

import pytest

from agents.types import Stop, Whisper
from bedside.safety.gate import Mode
from devices.types import Volume
from replay.conditions import ActuatorFault, Condition, PersonAct, condition_named
from replay.tasks.task import Task
from replay.wake_rule import WakeTable
from tests.replay.nights import ALWAYS, SOFT, night
from tests.replay.tasks.made import noted, outcomes, rolled, task_at, tried

NIGHT = "WW" + "R" * 20 + "D" * 60
SEEDS = range(1, 7)
WAKES = WakeTable(ALWAYS, 4)


def under(seed: int = 1, **fault: Any) -> Task:
    return task_at(0, seed=seed, condition=Condition(**fault))


def missed(seed: int) -> int:
    return 1 + int(rolled(night(NIGHT), 0, seed, "disturbance", 100) * 2)


# --- cue_fails


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_one_or_two_cues_fail_and_nobody_hears_them(seed: int) -> None:
    cues = dict.fromkeys((4, 7, 10, 13), SOFT)
    done = tried(night(NIGHT), under(seed, actuator=ActuatorFault.CUE_FAILS), cues)
    failed = missed(seed)
    assert [one["status"] for one in outcomes(done)] == ["failed"] * failed + ["confirmed"] * (
        4 - failed
    )
    assert [roll["step"] for roll in done.rolls()] == [4, 7, 10, 13][failed:]
    assert [line["cue"] for line in noted(done, "fault")] == list(range(1, failed + 1))


def test_which_cues_fail_does_not_hang_on_when_they_come() -> None:
    for seed in SEEDS:
        task = under(seed, actuator=ActuatorFault.CUE_FAILS)
        done = tried(night(NIGHT), task, dict.fromkeys((20, 21, 39), SOFT))
        assert len(done.rolls()) == 3 - missed(seed)


def test_the_agent_is_told_that_a_cue_failed() -> None:
    done = tried(night(NIGHT), under(actuator=ActuatorFault.CUE_FAILS), {4: SOFT})
    assert done.steps[5]["observation"]["last_outcome"] == "failed"


# --- cue_hangs


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hanging_cue_is_given_up_by_the_night(seed: int) -> None:
    done = tried(
        night(NIGHT),
        under(seed, actuator=ActuatorFault.CUE_HANGS),
        dict.fromkeys((4, 7, 10), SOFT),
    )
    failed = missed(seed)
    found = outcomes(done)
    assert [one["status"] for one in found] == ["failed"] * failed + ["confirmed"] * (3 - failed)
    # 2 s to begin, 8 s of cat, 5 s of grace.
    assert found[0]["t"] == 5 * 30 + 15.0
    assert found[0]["detail"] == "silent-room did not return"
    assert len(done.rolls()) == 3 - failed


def test_a_device_that_hung_can_be_asked_again() -> None:
    seed = next(seed for seed in SEEDS if missed(seed) == 1)
    task = under(seed, actuator=ActuatorFault.CUE_HANGS)
    done = tried(night(NIGHT), task, dict.fromkeys((4, 5), SOFT))
    assert [one["status"] for one in outcomes(done)] == ["failed", "confirmed"]


def test_a_cue_that_hangs_at_the_end_does_not_hold_the_night_up() -> None:
    done = tried(night(NIGHT), under(actuator=ActuatorFault.CUE_HANGS), {39: SOFT})
    assert done.trace[-1]["ending"] == "step_limit"
    assert len(outcomes(done)) == 1


# --- cue_late


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("step", [3, 12])
def test_a_late_cue_begins_three_to_six_seconds_later(seed: int, step: int) -> None:
    done = tried(night(NIGHT), under(seed, actuator=ActuatorFault.CUE_LATE), {step: SOFT})
    late_s = round(3.0 + 3.0 * rolled(night(NIGHT), 0, seed, "disturbance", 100 + step), 3)
    (outcome,) = outcomes(done)
    assert outcome["onset_t"] == pytest.approx((step + 1) * 30 + late_s)
    assert outcome["ended_t"] == pytest.approx((step + 1) * 30 + late_s + 8.0)
    (roll,) = done.rolls()
    assert roll["t"] == outcome["onset_t"]
    (fault,) = noted(done, "fault")
    assert (fault["fault"], fault["step"], fault["late_s"]) == ("cue_late", step, late_s)


def test_a_late_cue_meets_the_sleep_of_its_onset() -> None:
    # Epoch 21 is the last of REM: at its end a cue on time is rolled on REM, a late one on deep.
    on_time = tried(night(NIGHT), task_at(0), {21: SOFT})
    late = tried(night(NIGHT), under(actuator=ActuatorFault.CUE_LATE), {21: SOFT})
    assert [done.rolls()[0]["stage"] for done in (on_time, late)] == ["rem", "deep"]
    assert late.deliveries()[21]["rules"] == []


def test_a_late_cue_wakes_by_the_roll_of_its_step() -> None:
    late = tried(
        night(NIGHT),
        under(actuator=ActuatorFault.CUE_LATE),
        {5: SOFT},
        table=WAKES,
    )
    (roll,) = late.rolls()
    assert roll["value"] == rolled(night(NIGHT), 0, 1, "wake", 5)
    assert roll["woken"]


# --- stop_pressed


@pytest.mark.parametrize("seed", SEEDS)
def test_the_person_presses_stop_in_the_middle_of_a_seeded_step(seed: int) -> None:
    done = tried(
        night(NIGHT),
        under(seed, person=PersonAct.STOP_PRESSED),
        dict.fromkeys(range(40), SOFT),
    )
    step = 8 + int(rolled(night(NIGHT), 0, seed, "person", 0) * 24)
    (heard,) = [line for line in done.trace if line.get("event") == "person"]
    assert (heard["t"], heard["act"]) == (30 * step + 15, "stop")
    refused = [k for k, one in done.deliveries().items() if one["delivered"] is None]
    assert refused == list(range(step, 40))
    assert all(done.deliveries()[k]["refused_by"] == ["person_stopped"] for k in refused)
    assert [line["t"] for line in noted(done, "fault")] == [30 * step + 15]


def test_a_night_that_ends_before_the_stop_hears_none() -> None:
    done = tried(night(NIGHT), under(person=PersonAct.STOP_PRESSED), {0: Stop("done")})
    assert done.trace[-1]["ending"] == "agent_stop"
    assert not [line for line in done.trace if line.get("event") == "person"]


@pytest.mark.parametrize("seed", SEEDS)
def test_stop_silences_a_cue_that_has_not_begun_yet(seed: int) -> None:
    condition = condition_named("cue_late+stop_pressed")
    step = 8 + int(rolled(night(NIGHT), 0, seed, "person", 0) * 24)
    # Asked for 2 s before the stop, and late by 3 s at least.
    done = tried(night(NIGHT), task_at(0, seed=seed, condition=condition), {step - 1: (13.0, SOFT)})
    (outcome,) = outcomes(done)
    assert (outcome["status"], outcome["onset_t"]) == ("silenced", None)
    assert outcome["t"] == 30 * step + 15
    assert done.rolls() == []


# --- a person who said nothing


def test_without_a_memory_there_are_no_words() -> None:
    whisper = Whisper("my grey cat is asleep", Volume.LOW, "now")
    done = tried(night(NIGHT), under(person=PersonAct.NO_MEMORY), {5: whisper})
    header = done.trace[0]
    assert (header["theme"], header["memory"], header["lines"]) == ("cat", None, [])
    verdict = done.deliveries()[5]
    assert verdict["rules"] == ["words_not_said"]
    assert verdict["delivered"] is None


def test_a_missing_report_is_told_in_the_hidden_trace_alone() -> None:
    plain = tried(night(NIGHT), task_at(0), {5: SOFT})
    done = tried(night(NIGHT), under(person=PersonAct.NO_REPORT), {5: SOFT})
    assert done.trace_bytes == plain.trace_bytes
    assert done.hidden[0]["condition"] == "no_report"
    assert noted(done, "fault") == [
        {"kind": "event", "t": 0.0, "event": "fault", "fault": "no_report"}
    ]


@pytest.mark.parametrize("act", list(PersonAct))
def test_what_a_person_does_changes_nothing_that_is_slept(act: PersonAct) -> None:
    done = tried(night(NIGHT), under(person=act), {})
    assert done.shown == NIGHT[:40]


@pytest.mark.parametrize(
    "condition",
    [
        *(Condition(actuator=fault) for fault in ActuatorFault),
        *(Condition(person=act) for act in PersonAct),
    ],
)
def test_no_fault_is_named_where_an_agent_could_read_it(condition: Condition) -> None:
    done = tried(night(NIGHT), task_at(0, condition=condition), {5: SOFT}, mode=Mode.ENFORCE)
    assert condition.name not in json.dumps(done.trace)
    assert done.hidden[0]["condition"] == condition.name


def test_faults_of_several_groups_come_together() -> None:
    condition = condition_named("delayed_label+cue_fails+stop_pressed")
    done = tried(night(NIGHT), task_at(5, condition=condition), {4: SOFT})
    assert done.shown == NIGHT[4:44]
    names = {line["fault"] for line in done.hidden if line.get("event") in ("fault", "disturbed")}
    assert names == {"delayed_label", "cue_fails", "stop_pressed"}
