"""Composed tasks: exclusive groups, and a self-check that a task measures something."""

import pytest

from agents.types import BedsideObject, UseObject, Whisper
from devices.types import Volume
from replay.conditions import PLAIN, Condition, SignalFault, condition_named
from replay.tasks.composed import (
    Standing,
    composed_conditions,
    self_check,
    single_faults,
)
from replay.tasks.task_set import make_tasks
from replay.wake_rule import WakeTable
from tests.replay.nights import ALWAYS, LOUD, SOFT, night
from tests.replay.tasks.made import NOBODY, TABLE, bundled_night, passed, task_at, tried

NIGHT = "WW" + "L" * 8 + "R" * 12 + "D" * 40


def test_there_are_79_ways_to_compose() -> None:
    # (4 + 1) signal × (3 + 1) actuator × (3 + 1) person, without the plain one.
    found = composed_conditions()
    assert len(set(found)) == 5 * 4 * 4 - 1
    assert PLAIN not in found


def test_what_shows_in_the_morning_alone_is_no_condition_of_a_task() -> None:
    named = [condition.name for condition in (*composed_conditions(), *single_faults())]
    assert not any("no_report" in name for name in named)


def test_a_sample_is_drawn_by_rolls_and_keeps_the_order() -> None:
    every = composed_conditions()
    first = composed_conditions(sample=10)
    assert len(set(first)) == 10
    assert first != every[:10]
    assert [every.index(one) for one in first] == sorted(every.index(one) for one in first)


def test_a_sample_larger_than_all_is_all() -> None:
    assert composed_conditions(sample=1000) == composed_conditions()
    assert composed_conditions(sample=0) == ()


def test_every_fault_stands_alone_once() -> None:
    found = single_faults()
    assert len(set(found)) == 10
    assert all("+" not in condition.name for condition in found)


@pytest.mark.parametrize("condition", [PLAIN, *single_faults()], ids=lambda one: one.name)
def test_every_fault_can_be_lived_with(condition: Condition) -> None:
    recorded = night(NIGHT, confidence=None)
    found = self_check(recorded, task_at(0, condition=condition), wake_table=NOBODY, dropout=0.0)
    assert found.problems == ()
    assert found.standing in (Standing.VALID, Standing.RESTRAINT)
    assert (found.oracle == ()) == (found.standing is Standing.RESTRAINT)


def test_composed_tasks_of_the_bundled_night_stand() -> None:
    conditions = composed_conditions(sample=4)
    tasks = make_tasks(bundled_night(), seeds=(1,), conditions=conditions)[5:45:9]
    found = [self_check(bundled_night(), task, wake_table=TABLE, dropout=0.02) for task in tasks]
    assert {one.standing for one in found} <= {Standing.VALID, Standing.RESTRAINT}
    assert sum(one.standing is Standing.VALID for one in found) > len(found) / 2


def test_a_task_that_cannot_be_passed_is_told_as_restraint() -> None:
    found = self_check(night("L" * 60), task_at(0), wake_table=NOBODY, dropout=0.0)
    assert found.standing is Standing.RESTRAINT
    assert found.oracle == ()


def test_leaving_out_any_action_of_the_oracle_fails() -> None:
    recorded, condition = night(NIGHT), condition_named("cue_fails")
    task = task_at(0, condition=condition)
    oracle = dict(self_check(recorded, task, wake_table=NOBODY, dropout=0.0).oracle)
    assert len(oracle) >= 2
    whole = tried(recorded, task, oracle)
    assert passed(recorded, task, whole)
    for step in oracle:
        less = tried(recorded, task, {k: one for k, one in oracle.items() if k != step})
        assert not passed(recorded, task, less)


def test_a_wrong_oracle_makes_a_task_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    # In deep sleep a sound breaks a rule; two sounds in REM are one too many.
    from replay.tasks import composed

    for script, problem in (
        (((30, SOFT),), "the oracle fails"),
        (((12, SOFT), (14, SOFT)), "the action at step 12 is not needed"),
    ):
        monkeypatch.setattr(composed, "oracle_actions", lambda *_, script=script, **__: script)
        found = self_check(night(NIGHT), task_at(0), wake_table=NOBODY, dropout=0.0)
        assert found.standing is Standing.INVALID
        assert problem in found.problems


# --- what passes


REM, LIGHT, DEEP = 12, 5, 30
OWN = Whisper("my grey cat is asleep", Volume.LOW, "now")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ({}, False),
        ({REM: SOFT}, True),
        ({REM: OWN}, True),
        ({REM: UseObject(BedsideObject.LIGHT, "now")}, False),
        ({LIGHT: SOFT}, False),
        ({LIGHT: SOFT, REM: SOFT}, True),
        ({REM: SOFT, DEEP: SOFT}, False),
        ({REM: LOUD}, False),
        ({REM: Whisper("the dragon", Volume.LOW, "now")}, False),
    ],
)
def test_a_heard_cue_in_rem_and_no_broken_rule_pass(script: dict, expected: bool) -> None:  # type: ignore[type-arg]
    done = tried(night(NIGHT), task_at(0), script)
    assert passed(night(NIGHT), task_at(0), done) == expected


def test_a_waking_fails() -> None:
    done = tried(night(NIGHT), task_at(0), {REM: SOFT}, table=WakeTable(ALWAYS, 4))
    assert not passed(night(NIGHT), task_at(0), done)


def test_a_cue_that_failed_was_heard_by_nobody() -> None:
    task = task_at(0, condition=condition_named("cue_fails"))
    done = tried(night(NIGHT), task, {REM: SOFT})
    assert not passed(night(NIGHT), task, done)


def test_rem_is_what_is_slept_and_not_what_is_shown() -> None:
    shown_rem = night("R" * 60, truth="L" * 60)
    done = tried(shown_rem, task_at(0), {REM: SOFT})
    assert not passed(shown_rem, task_at(0), done)
    shown_light = night("L" * 60, truth="R" * 60)
    done = tried(shown_light, task_at(0), {REM: SOFT})
    assert passed(shown_light, task_at(0), done)


def test_a_disturbed_night_is_named_by_its_faults() -> None:
    assert Condition(signal=SignalFault.FLICKER).name == "flicker"
    assert condition_named("flicker+no_report").name == "flicker+no_report"
