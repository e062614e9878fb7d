"""Cases: what passed, what is open, and what was planned and never played."""

from __future__ import annotations

from typing import Any

import pytest

from replay.experiment.rows import Status
from replay.scores.cases import MISSING, grouped_cases
from replay.scores.checker import check
from replay.scores.figures import Split
from replay.scores.scoreboard import scoreboard
from replay.scores.verdicts import Property, Value, Verdict
from tests.replay.scores.score_rows import played, row, together, unit, verdict

DEV, HELD = Split.DEVELOPMENT, Split.HELD_OUT


def test_groups_come_by_split_then_scale_and_agents_as_the_rows_name_them():
    runs = [
        played("rem_rule", {0: "+"}, held_out=True, start_seed=6),
        played("rem_rule", {0: "+"}, scale=2.0),
        played("wait", {0: "-"}, scale=0.5),
        played("rem_rule", {0: "+"}, scale=0.5),
    ]
    assert list(grouped_cases(*together(runs))) == [
        (DEV, 0.5, "rem_rule"),
        (DEV, 0.5, "wait"),
        (DEV, 2.0, "rem_rule"),
        (HELD, 1.0, "rem_rule"),
    ]


def test_a_case_passes_fails_or_stays_open_as_its_verdict_says():
    (cases,) = grouped_cases(*played("wait", {0: "+-?"})).values()
    assert [case.passed for case in cases] == [True, False, None]


def test_without_a_verdict_or_with_a_checker_error_an_attempt_is_open():
    units = [unit(start=number) for number in range(2)]
    broken = Verdict(units[1].key, dict.fromkeys(Property, Value.CHECKER_ERROR))
    (cases,) = grouped_cases([row(one) for one in units], {broken.key: broken}).values()
    assert [case.passed for case in cases] == [None, None]


@pytest.mark.parametrize(
    ("status", "evidence", "scored"),
    [
        (Status.COMPLETED, True, True),
        (Status.TRUNCATED, True, True),
        (Status.CANCELLED, True, False),
        (Status.AGENT_ERROR, True, False),
        (Status.PROVIDER_ERROR, True, False),
        (Status.ENV_ERROR, True, False),
        (Status.COMPLETED, False, False),
    ],
)
def test_counts_are_taken_of_whole_attempts_only(status: Status, evidence: bool, scored: bool):
    one = unit()
    (cases,) = grouped_cases([row(one, status=status, evidence=evidence)], {}).values()
    assert [case.scored for case in cases] == [scored]


def test_what_an_agent_broke_is_open_unless_something_was_seen():
    """Of four: nothing seen, a cue in REM, a waking, a violation; the last two have failed."""
    given: list[dict[str, Any]] = [
        {"true_rem_cues": 0},
        {"true_rem_cues": 1},
        {"wakings": 1},
        {"violations": {"cue_in_deep": 1}},
    ]
    rows = [
        row(unit(start=number), status=Status.AGENT_ERROR, **one)
        for number, one in enumerate(given)
    ]
    verdicts = {one.unit.key: check(one) for one in rows}
    (cases,) = grouped_cases(rows, verdicts).values()
    assert [case.passed for case in cases] == [None, None, False, False]
    passes = scoreboard(rows, verdicts).scores[0].passes
    assert passes is not None
    assert (passes.passed, passes.open, passes.planned) == (0, 2, 4)
    assert (passes.lower, passes.upper) == (0.0, 0.5)


def test_a_planned_attempt_without_a_row_is_an_open_case():
    full, torn = played("rem_rule", {0: "++", 1: "++"}), played("wait", {0: "-"})
    groups = grouped_cases(*together([full, torn]))
    missing = groups[DEV, 1.0, "wait"][1:]
    assert [(case.unit.start_epoch, case.unit.seed) for case in missing] == [
        (0, 2),
        (100, 1),
        (100, 2),
    ]
    assert {(case.status, case.passed, case.scored) for case in missing} == {(MISSING, None, False)}
    assert {case.unit.agent for case in missing} == {"wait"}


def test_a_scale_that_an_agent_was_never_asked_for_is_not_missing():
    runs = [played("rem_rule", {0: "+"}), played("rem_rule", {0: "+"}, scale=4.0)]
    groups = grouped_cases(*together([*runs, played("wait", {0: "-"})]))
    assert (DEV, 4.0, "wait") not in groups


def test_held_out_seeds_are_no_gap_in_development_seeds():
    runs = [played("a", {0: "++"}), played("a", {0: "+"}, held_out=True, start_seed=6)]
    assert [len(cases) for cases in grouped_cases(*together(runs)).values()] == [2, 1]


def test_seeds_of_a_start_point_share_it_whatever_their_theme():
    first, second = unit(seed=1, theme="cat"), unit(seed=2, theme="sea")
    verdicts = {one.key: verdict(one) for one in (first, second)}
    (cases,) = grouped_cases([row(first), row(second)], verdicts).values()
    assert cases[0].start == cases[1].start
    assert cases[0].place == ("night-a", 0)
