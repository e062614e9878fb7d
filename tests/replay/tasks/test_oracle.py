"""Which tasks can be passed, and by which sounds; rolls worked out beside the code."""

from itertools import pairwise
from typing import Any

import pytest

from agents.types import PlaySound
from bedside.safety.gate import Mode
from devices.types import Volume
from replay.conditions import PLAIN, Condition, condition_named
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.tasks.feasibility import feasible
from replay.tasks.oracle import oracle_actions
from replay.tasks.start_points import start_points
from replay.tasks.task import StartKind, Task
from replay.tasks.task_set import make_tasks
from replay.tasks.uncued import shown_stages
from replay.wake_rule import WakeTable
from tests.replay.nights import ALWAYS, SOFT, night
from tests.replay.tasks.made import NOBODY, TABLE, bundled_night, passed, rolled, task_at, tried

SEEDS = range(1, 9)
REM_LOW = 0.05
"""Chance that a low sound wakes in REM. Source: `replay-environment.md`, wake table."""
SURE = WakeTable(ALWAYS, 4)


def steps_of(
    recorded: RecordedNight,
    table: WakeTable = TABLE,
    *,
    seed: int = 1,
    condition: Condition = PLAIN,
    dropout: float = 0.0,
    **under: Any,
) -> list[int] | None:
    task = task_at(0, seed=seed, condition=condition)
    found = oracle_actions(recorded, task, table, dropout=dropout, **under)
    return None if found is None else [step for step, _ in found]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 4.0])
def test_the_oracle_cues_low_at_the_first_rem_step_whose_roll_does_not_wake(
    seed: int, scale: float
) -> None:
    recorded = night("LL" + "R" * 60)
    table = WakeTable(TABLE.chances, 4, scale)
    quiet = [
        step for step in range(2, 40) if rolled(recorded, 0, seed, "wake", step) >= REM_LOW * scale
    ]
    assert steps_of(recorded, table, seed=seed) == quiet[:1]
    ((_, action),) = oracle_actions(recorded, task_at(0, seed=seed), table, dropout=0.0) or ()
    assert isinstance(action, PlaySound)
    assert action.volume is Volume.LOW


def test_without_rem_a_task_asks_for_restraint() -> None:
    assert steps_of(night("L" * 41)) is None
    assert steps_of(night("L" * 40 + "R")) is None  # step 40 is looked at, nobody acts in it


def test_where_every_roll_wakes_a_task_asks_for_restraint() -> None:
    recorded = night("R" * 41)
    assert steps_of(recorded, SURE) is None
    assert not feasible(recorded, task_at(0), SURE, dropout=0.0)
    assert feasible(recorded, task_at(0), NOBODY, dropout=0.0)


def test_rem_that_is_dropped_cannot_be_cued() -> None:
    recorded = night("R" * 41)
    kept = [k for k in range(40) if rolled(recorded, 0, 3, "dropout", k) >= 0.9]
    assert kept
    assert steps_of(recorded, NOBODY, seed=3, dropout=0.9) == kept[:1]
    assert steps_of(recorded, NOBODY, seed=3, dropout=1.0) is None


def test_only_rem_that_is_true_can_be_passed() -> None:
    # The device shows REM in 0..9, the experts saw it in 5..14.
    recorded = night("R" * 10 + "L" * 40, truth="L" * 5 + "R" * 10 + "L" * 35)
    assert steps_of(recorded, NOBODY) == [5]
    assert steps_of(night("R" * 10 + "L" * 40, truth="L" * 50), NOBODY) is None


def test_in_a_gap_of_the_truth_the_last_known_stage_counts() -> None:
    recorded = night("L" + "R" * 49, truth="R" + "?" * 49)
    assert steps_of(recorded, NOBODY) == [1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fault", ["cue_fails", "cue_hangs"])
def test_a_sound_that_will_be_missed_is_made_up_for_beforehand(fault: str, seed: int) -> None:
    recorded = night("D" * 3 + "L" * 20 + "R" * 18)
    missed = 1 + int(rolled(recorded, 0, seed, "disturbance", 100) * 2)
    condition = condition_named(fault)
    steps = steps_of(recorded, NOBODY, seed=seed, condition=condition)
    assert steps is not None
    assert len(steps) == missed + 1
    assert steps[-1] == 23
    assert all(later - earlier >= 3 for earlier, later in pairwise(steps))


def test_where_there_is_no_room_for_missed_sounds_the_task_asks_for_restraint() -> None:
    recorded = night("D" * 10 + "R" * 2 + "D" * 40)
    assert steps_of(recorded, NOBODY, condition=condition_named("cue_fails")) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_late_sound_must_begin_in_rem(seed: int) -> None:
    recorded = night("D" * 5 + "R" + "D" * 5 + "RR" + "D" * 40)
    assert steps_of(recorded, NOBODY, seed=seed) == [5]
    late = condition_named("cue_late")
    assert steps_of(recorded, NOBODY, seed=seed, condition=late) == [11]


@pytest.mark.parametrize("seed", SEEDS)
def test_after_the_person_stopped_nothing_passes(seed: int) -> None:
    stopped = condition_named("stop_pressed")
    recorded = night("D" * 12 + "R" * 50)
    step = 8 + int(rolled(recorded, 0, seed, "person", 0) * 24)
    # The sound of step 12 is decided at its end, half a step before a stop in step 13.
    expected = [12] if step > 12 else None
    assert steps_of(recorded, NOBODY, seed=seed, condition=stopped) == expected


@pytest.mark.parametrize(
    "name", ["plain", "dropout_burst", "frozen_stage", "delayed_label", "flicker"]
)
def test_what_the_uncued_task_shows_is_what_an_agent_that_waits_sees(name: str) -> None:
    recorded = night("LLRRRRRRDDLW" * 8)
    task = task_at(13, seed=2, condition=condition_named(name))
    shown = shown_stages(recorded, task, 0.1)
    lived = tried(recorded, task, {}, dropout=0.1)
    assert "".join(stage.letter for stage in shown[:-1]) == lived.shown
    assert shown[-1].value == lived.trace[-2]["epoch"]["stage"]


def test_on_the_bundled_night_the_oracle_passes_what_is_feasible() -> None:
    recorded = bundled_night()
    for task in make_tasks(recorded, seeds=(6,)):
        found = oracle_actions(recorded, task, TABLE, dropout=0.02)
        assert (found is not None) == feasible(recorded, task, TABLE, dropout=0.02)
        assert (found is not None) == (task.start.kind is StartKind.REM_ONSET)
        done = tried(recorded, task, dict(found or ()), table=TABLE, dropout=0.02)
        assert passed(recorded, task, done) == (found is not None)


def test_the_wake_scale_can_only_take_tasks_away() -> None:
    recorded = bundled_night()
    starts = len(start_points(recorded).points)
    counts = [
        sum(
            feasible(recorded, task, WakeTable(TABLE.chances, 4, scale), dropout=0.02)
            for task in make_tasks(recorded, seeds=(1,))
        )
        for scale in (0.5, 1.0, 2.0, 4.0, 20.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == starts - 3
    assert counts[-1] == 0  # 20 × 0.05: every low sound in REM wakes


def test_a_condition_without_a_signal_fault_shows_the_recording() -> None:
    task = task_at(0, condition=Condition())
    assert [stage.letter for stage in shown_stages(night("W12D" * 20), task, 0.0)][:4] == list(
        "WLLD"
    )


# --- an answer that comes later, and a gate that refuses


RESTLESS = "LRRDDRRRLLRDRWRRRLRRDLLRRWWRRRRDRLRRDRRLRRRR" + "L" * 10


def passing_steps(recorded: RecordedNight, task: Task, **given: Any) -> list[int]:
    """Steps that show REM at which one low sound passes, found by playing each."""
    lived = tried(recorded, task, {}, **given)
    shown = [step for step, letter in enumerate(lived.shown) if letter == "R"]
    played = ((step, tried(recorded, task, {step: SOFT}, **given)) for step in shown)
    return [step for step, done in played if passed(recorded, task, done)]


@pytest.mark.parametrize("interval_s", [0.5, 30.0])
@pytest.mark.parametrize(
    "latency", [LatencyModel(s) for s in (2.4, 15.0, 17.0, 25.0, 30.0)] + [LatencyModel(20.0, 0.7)]
)
def test_a_later_answer_must_reach_rem_and_break_no_rule(
    latency: LatencyModel, interval_s: float
) -> None:
    recorded, task = night(RESTLESS, interval_s=interval_s), task_at(0, seed=2)
    given: dict[str, Any] = {"dropout": 0.2, "latency": latency}
    played = passing_steps(recorded, task, **given)
    assert steps_of(recorded, NOBODY, seed=2, **given) == (played[:1] or None)


def test_answers_of_35_s_never_land_so_every_task_asks_for_restraint() -> None:
    recorded, late = bundled_night(), LatencyModel(35.0)
    for task in make_tasks(recorded, seeds=(1,)):
        assert not feasible(recorded, task, TABLE, dropout=0.02, latency=late)


def test_the_gate_refuses_before_sustained_onset() -> None:
    # Asleep from epoch 3 on: ten in a row are complete with epoch 12, first REM is at epoch 5.
    recorded, task = night("WWWLLRR" + "L" * 7 + "R" * 40), task_at(0)
    assert steps_of(recorded, NOBODY) == [5]
    assert steps_of(recorded, NOBODY, mode=Mode.ENFORCE) == [14]
    assert passing_steps(recorded, task, mode=Mode.ENFORCE)[0] == 14
    assert not feasible(night("WWR" * 30), task, NOBODY, dropout=0.0, mode=Mode.ENFORCE)
