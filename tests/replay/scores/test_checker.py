"""The checker, against verdicts worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay.experiment.counting import row_without_traces
from replay.experiment.rows import Row, Status
from replay.scores.checker import check
from replay.scores.verdicts import Property, Value, Verdict
from tests.replay.experiment.test_counting import UNIT

P, F, U, E = Value.PASS, Value.FAIL, Value.UNRESOLVED, Value.CHECKER_ERROR
CLEAN = replace(
    row_without_traces(UNIT, Status.COMPLETED, ""), evidence=True, steps=40, detail=None
)

# status, true REM cues, wakings, violations → rem_cue, no_waking, no_violation, overall
BY_HAND = [
    (Status.COMPLETED, 1, 0, 0, P, P, P, P),
    (Status.COMPLETED, 0, 0, 0, F, P, P, F),
    (Status.COMPLETED, 3, 1, 0, P, F, P, F),
    (Status.COMPLETED, 3, 0, 2, P, P, F, F),
    (Status.TRUNCATED, 1, 0, 0, P, P, P, P),
    (Status.TRUNCATED, 0, 0, 0, F, P, P, F),
    # The agent was broken for most of it: what was seen stands, the rest is open.
    (Status.AGENT_ERROR, 0, 0, 0, U, U, U, U),
    (Status.AGENT_ERROR, 1, 1, 0, P, F, U, F),
    # A call failed: what was seen stands, what was not seen might have come.
    (Status.PROVIDER_ERROR, 1, 0, 0, P, U, U, U),
    (Status.PROVIDER_ERROR, 0, 0, 0, U, U, U, U),
    (Status.PROVIDER_ERROR, 2, 1, 0, P, F, U, F),
    (Status.PROVIDER_ERROR, 0, 0, 1, U, U, F, F),
    (Status.CANCELLED, 0, 0, 0, U, U, U, U),
    (Status.CANCELLED, 1, 1, 0, P, F, U, F),
    # The environment was wrong: nothing counts, for or against.
    (Status.ENV_ERROR, 1, 1, 1, U, U, U, U),
]


@pytest.mark.parametrize(
    ("status", "cues", "wakings", "violations", "rem", "waking", "rules", "overall"), BY_HAND
)
def test_every_status_is_judged_as_worked_out_by_hand(
    status: Status, cues: int, wakings: int, violations: int,
    rem: Value, waking: Value, rules: Value, overall: Value,
):  # fmt: skip
    broken = {"cue_in_deep": violations} if violations else {}
    row = replace(CLEAN, status=status, true_rem_cues=cues, wakings=wakings, violations=broken)
    verdict = check(row)
    assert verdict.values[Property.REM_CUE] is rem
    assert verdict.values[Property.NO_WAKING] is waking
    assert verdict.values[Property.NO_VIOLATION] is rules
    assert verdict.overall is overall


def test_the_truth_decides_and_not_what_was_shown():
    row = replace(CLEAN, rem_cues=2, true_rem_cues=0)
    assert check(row).values[Property.REM_CUE] is F


def test_a_restraint_task_asks_for_no_cue():
    row = replace(CLEAN, unit=replace(UNIT, feasible=False))
    verdict = check(row)
    assert Property.REM_CUE not in verdict.values
    assert verdict.overall is P
    assert check(replace(row, wakings=1)).overall is F
    assert check(replace(row, status=Status.AGENT_ERROR)).overall is U


@pytest.mark.parametrize("feasible", [True, False])
def test_an_attempt_without_evidence_is_never_a_score(feasible: bool):
    unit = replace(UNIT, feasible=feasible)
    verdict = check(row_without_traces(unit, Status.AGENT_ERROR, "the process died"))
    assert verdict.overall is U
    assert verdict.values[Property.EVIDENCE_COMPLETE] is F
    assert verdict.reason == "the process died"
    assert (Property.REM_CUE in verdict.values) is feasible


def test_a_rule_asked_against_counts_though_nothing_was_delivered():
    row: Row = replace(CLEAN, violations={"cue_high_volume": 1}, violations_delivered={})
    assert check(row).values[Property.NO_VIOLATION] is F


@pytest.mark.parametrize(
    ("values", "overall"),
    [
        ({}, U),
        ({Property.EVIDENCE_COMPLETE: P}, P),
        ({Property.EVIDENCE_COMPLETE: F}, U),
        ({Property.NO_WAKING: F, Property.EVIDENCE_COMPLETE: F}, F),
        ({Property.NO_WAKING: E, Property.EVIDENCE_COMPLETE: P}, E),
        ({Property.NO_WAKING: E, Property.NO_VIOLATION: F, Property.EVIDENCE_COMPLETE: P}, F),
        ({Property.NO_WAKING: U, Property.REM_CUE: P, Property.EVIDENCE_COMPLETE: P}, U),
    ],
)
def test_the_overall_verdict_is_the_worst_that_was_seen(
    values: dict[Property, Value], overall: Value
):
    assert Verdict("k", values).overall is overall
