"""What must be said beside the figures."""

from __future__ import annotations

from typing import Any

import pytest

from replay.controls.contenders import MUST_LOSE
from replay.overlays import STANDS_FOR
from replay.scores.scoreboard import scoreboard
from tests.replay.scores.score_rows import Run, played, together

EVERY = range(8)


def notes(*runs: Run, **manifest: Any) -> list[str]:
    return list(scoreboard(*together(runs), manifest=manifest or None).notes)


def controls(*runs: Run) -> list[str]:
    return [note for note in notes(*runs) if note.startswith("Control")]


def of_all(agent: str, marks: str, **given: Any) -> Run:
    return played(agent, dict.fromkeys(EVERY, marks), **given)


def test_a_control_that_must_lose_and_lost_is_said_to():
    (said,) = controls(of_all("wait", "--"), of_all("rem_rule", "++"), of_all("clock_only", "--"))
    assert said == (
        "Control clock_only lost to rem_rule, as it must: on development seeds it passed 0.00, "
        "rem_rule 1.00."
    )


def test_a_loss_on_few_stretches_of_sleep_is_one_on_these_dice():
    """Four clusters in one family of one pair: p over clusters is 2/16."""
    four = range(4)
    rule, control = (
        played(agent, dict.fromkeys(four, marks))
        for agent, marks in (("rem_rule", "++"), ("clock_only", "--"))
    )
    (said,) = controls(rule, control)
    assert "as it must on these dice; on other sleep not distinguishable: on dev" in said


@pytest.mark.parametrize("control", MUST_LOSE)
def test_a_control_that_does_as_well_as_the_best_rule_agent_is_named(control: str):
    (said,) = controls(of_all("wait", "--"), of_all(control, "+-"), of_all("rem_rule", "+-"))
    assert f"Control {control} did NOT lose to rem_rule, the best rule agent" in said
    assert "it passed 0.50, rem_rule 0.50 (not distinguishable)." in said


def test_a_control_that_wins_did_not_lose():
    (said,) = controls(of_all("memoriser", "++"), of_all("rem_rule", "--"))
    assert "did NOT lose to rem_rule" in said
    assert "it passed 1.00, rem_rule 0.00. Nothing shows here" in said


def test_an_open_attempt_is_no_loss():
    (said,) = controls(of_all("clock_only", "??"), of_all("rem_rule", "++"))
    assert "did NOT lose" in said


def test_the_best_is_sought_among_rule_agents_only_and_in_each_kind_of_seeds():
    held = {"held_out": True, "start_seed": 6}
    said = controls(
        of_all("one_cue", "++"),
        of_all("rem_rule", "--"),
        of_all("clock_only", "--"),
        of_all("rem_rule", "++", **held),
        of_all("clock_only", "--", **held),
    )
    assert [note.split(":")[0] for note in said] == [
        "Control clock_only did NOT lose to rem_rule, the best rule agent",
        "Control clock_only lost to rem_rule, as it must",
    ]
    assert not controls(of_all("one_cue", "++"), of_all("clock_only", "--"))
    assert not controls(of_all("rem_rule", "++"), of_all("oracle", "++"))


def test_nights_that_were_learned_from_are_named():
    nights = {"night-a": {}, "night-b": {}}
    said = notes(of_all("a", "+"), nights=nights, training_exposure=["night-z", "night-b"])
    assert any("learned from (night-b): what an agent that learns" in note for note in said)
    apart = notes(of_all("a", "+"), nights=nights, training_exposure=["night-z"])
    assert not any("learned from" in note for note in apart)


@pytest.mark.parametrize(
    ("overlay", "has_truth", "said"),
    [
        ("device", False, False),
        ("device", True, True),
        ("consumer", False, True),
        ("consumer", True, True),
    ],
)
def test_what_the_device_stands_for_is_said_where_shown_and_true_may_differ(
    overlay: str, has_truth: bool, said: bool
):
    found = notes(of_all("a", "+"), overlay=overlay, nights={"night-a": {"has_truth": has_truth}})
    assert (STANDS_FOR in found) is said


def test_the_wake_table_of_a_manifest_is_the_one_that_saturates():
    table = {stage: {"low": 0.1, "medium": 0.1, "high": 0.1} for stage in ("light", "rem", "deep")}
    runs = [of_all("a", "+"), of_all("a", "+", scale=4.0)]
    assert any("certain to wake" in note for note in notes(*runs))
    assert not any("certain to wake" in note for note in notes(*runs, wake_table=table))
