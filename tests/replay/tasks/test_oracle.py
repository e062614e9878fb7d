"""Which tasks can be passed, and by which sounds; rolls worked out beside the code."""

from itertools import pairwise

import pytest

from agents.types import PlaySound
from devices.types import Volume
from replay.conditions import Condition, condition_named
from replay.recorded_night import RecordedNight
from replay.tasks.composed import passed
from replay.tasks.feasibility import feasible
from replay.tasks.oracle import oracle_actions
from replay.tasks.start_points import start_points
from replay.tasks.task import StartKind
from replay.tasks.task_set import make_tasks
from replay.tasks.uncued import shown_stages
from replay.wake_rule import WakeTable
from tests.replay.nights import ALWAYS, night
from tests.replay.tasks.made import NOBODY, TABLE, bundled_night, rolled, task_at, tried

SEEDS = range(1, 9)
REM_LOW = 0.05
"""Chance that a low sound wakes in REM. Source: `replay-environment.md`, wake table."""
SURE = WakeTable(ALWAYS, 4)


def steps_of(
    recorded: RecordedNight, table: WakeTable = TABLE, **given: object
) -> list[int] | None:
    dropout = given.pop("dropout", 0.0)
    epoch = given.pop("epoch", 0)
    found = oracle_actions(recorded, task_at(epoch, **given), table, dropout=dropout)  # type: ignore[arg-type]
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
    assert "".join(stage.letter for stage in shown) == tried(recorded, task, {}, dropout=0.1).shown


@pytest.mark.parametrize("seed", [1, 6])
def test_on_the_bundled_night_the_oracle_passes_what_is_feasible(seed: int) -> None:
    recorded = bundled_night()
    for task in make_tasks(recorded, seeds=(seed,)):
        found = oracle_actions(recorded, task, TABLE, dropout=0.02)
        assert (found is not None) == feasible(recorded, task, TABLE, dropout=0.02)
        assert (found is not None) == (task.start.kind is StartKind.REM_ONSET)
        done = tried(recorded, task, dict(found or ()), table=TABLE, dropout=0.02)
        assert passed(done.trace, done.hidden) == (found is not None)


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
