"""One agent's row of the scoreboard, with every figure worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay.experiment.rows import Row, Status
from replay.scores.agent_scores import agent_score
from replay.scores.bootstrap import Resampling
from replay.scores.cases import grouped_cases
from replay.scores.figures import AgentScore
from replay.scores.verdicts import Verdict
from tests.replay.scores.score_rows import NO_STAGE, Run, played, row, together, unit, verdict


def score(run: Run) -> AgentScore:
    rows, verdicts = run
    ((group, cases),) = grouped_cases(rows, verdicts).items()
    seeds = sorted({one.unit.seed for one in rows})
    places = [(one.unit.night, one.unit.cluster) for one in rows]
    return agent_score(group, cases, seeds, Resampling(places, seed=1))


def of(rows: list[Row], passed: bool = True) -> Run:
    verdicts: dict[str, Verdict] = {one.unit.key: verdict(one.unit, passed) for one in rows}
    return rows, verdicts


def test_open_attempts_stay_in_the_denominator_and_widen_the_bounds():
    found = score(played("dream", {0: "++-", 1: "+??", 2: "---"})).passes
    assert found is not None
    assert (found.passed, found.open, found.planned) == (3, 2, 9)
    assert (found.lower, found.upper) == (3 / 9, 5 / 9)
    assert found.resolution == 1 / 9
    assert found.interval is not None
    assert found.interval.low <= found.lower < found.upper <= found.interval.high


def test_pass_k_is_given_for_every_k_up_to_the_planned_seeds():
    found = score(played("dream", {0: "++-", 1: "+??"})).pass_k
    assert [(one.k, one.lower, one.upper) for one in found] == [
        (1, pytest.approx((2 / 3 + 1 / 3) / 2), pytest.approx((2 / 3 + 1) / 2)),
        (2, pytest.approx((1 / 3 + 0) / 2), pytest.approx((1 / 3 + 1) / 2)),
        (3, 0.0, 0.5),
    ]


def test_a_start_point_of_which_only_some_seeds_can_be_cued_is_not_in_pass_k():
    mixed = of([row(unit(start=2, seed=1)), row(unit(start=2, seed=2, feasible=False))])
    found = score(together([played("rem_rule", {0: "++", 1: "+-"}), mixed]))
    assert (found.start_points, found.mixed) == (2, 1)
    assert [one.lower for one in found.pass_k] == [0.75, 0.5]
    assert found.passes is not None
    assert found.passes.planned == 5


def test_restraint_tasks_have_their_own_rate_and_no_pass_k():
    calm = played("rem_rule", {5: "+-"}, feasible=False)
    found = score(together([played("rem_rule", {0: "++"}), calm]))
    assert found.restraint is not None
    assert (found.restraint.passed, found.restraint.planned) == (1, 2)
    assert (found.start_points, found.mixed) == (1, 0)
    assert score(calm).passes is None
    assert score(calm).pass_k == ()
    assert score(played("rem_rule", {0: "++"})).restraint is None


def test_an_attempt_never_made_keeps_pass_k_from_rising():
    """Seed 2 of the second start point was planned (another agent has it) and is missing."""
    rows, verdicts = together([played("a", {0: "++", 1: "+"}), played("b", {0: "++", 1: "++"})])
    groups = grouped_cases(rows, verdicts)
    group = next(one for one in groups if one[2] == "a")
    drawn = Resampling([(r.unit.night, r.unit.cluster) for r in rows], seed=1)
    found = agent_score(group, groups[group], (1, 2), drawn)
    assert [(one.lower, one.upper) for one in found.pass_k] == [(0.75, 1.0), (0.5, 1.0)]
    assert found.statuses == {"completed": 3, "missing": 1}


def test_the_dose_by_hand():
    rows = [
        row(unit(start=0), rem_cues=3, rem_epochs=20, rem_periods=2, first_cue_s=30.0),
        row(unit(start=1), rem_cues=1, rem_epochs=12, first_cue_s=90.0),
        row(unit(start=2), rem_cues=0, rem_epochs=8, rem_periods_cued=0, first_cue_s=None),
    ]
    found = score(of(rows)).dose
    assert (found.rem_cues, found.rem_minutes, found.cues_per_rem_minute) == (4, 20.0, 0.2)
    assert (found.rem_periods, found.rem_periods_cued) == (4, 2)
    assert found.periods_cued_share == 0.5
    assert (found.first_cues, found.first_cue_median_s) == (2, 60.0)
    assert found.interval is not None
    assert found.interval.low <= 0.2 <= found.interval.high


def test_without_rem_there_is_no_dose_rather_than_none_given():
    found = score(of([row(unit(), rem_epochs=0, rem_periods=0, rem_cues=0, first_cue_s=None)])).dose
    assert (found.cues_per_rem_minute, found.interval, found.periods_cued_share) == (None,) * 3
    assert found.first_cue_median_s is None


def test_the_dose_is_of_cue_feasible_tasks():
    rows = [row(unit(start=0), rem_cues=2), row(unit(start=1, feasible=False), rem_cues=9)]
    assert score(of(rows)).dose.rem_cues == 2


def test_cues_by_shown_and_true_stage():
    rows = [
        row(
            unit(start=start),
            asked=5,
            delivered=4,
            refused=1,
            rewritten=2,
            shown={**NO_STAGE, "rem": 3, "light": 1},
            true={**NO_STAGE, "rem": 2, "light": 2},
            rem_cues=3,
            true_rem_cues=2,
        )
        for start in range(2)
    ]
    found = score(of(rows)).cues
    assert (found.asked, found.delivered, found.refused, found.rewritten) == (10, 8, 2, 4)
    assert found.per_task == 4.0
    assert (found.shown["rem"], found.true["rem"], found.true["light"]) == (6, 4, 4)
    assert (found.shown_rem_share, found.true_rem_share) == (0.75, 0.5)


def test_an_agent_without_a_cue_has_no_share_of_cues_in_rem():
    silent = row(unit(), asked=0, delivered=0, rem_cues=0, true_rem_cues=0, shown=NO_STAGE)
    found = score(of([silent])).cues
    assert (found.per_task, found.shown_rem_share, found.true_rem_share) == (0.0, None, None)


def test_wakings_and_violations_with_their_bounds():
    rows = [row(unit(start=start)) for start in range(15)]
    rows[0] = replace(rows[0], wakings=2, violations={"cue_in_deep": 3})
    rows[1] = replace(rows[1], wakings=1, violations_delivered={"cue_in_deep": 1})
    found = score(of(rows)).events
    assert (found.wakings, found.wakings_per_task) == (3, 0.2)
    assert (found.waking_bound.events, found.waking_bound.attempts) == (2, 15)
    assert (found.violations, found.violations_delivered) == (
        {"cue_in_deep": 3},
        {"cue_in_deep": 1},
    )
    assert found.violation_bound.events == 1


def test_fifteen_quiet_attempts_still_leave_18_percent():
    found = score(of([row(unit(start=start)) for start in range(15)])).events
    assert found.waking_bound.upper == pytest.approx(0.1810, abs=1e-4)
    assert found.violation_bound.upper == pytest.approx(0.1810, abs=1e-4)
    assert found.wakings_interval is None


def test_what_was_seen_before_an_agent_broke_counts_and_the_rest_is_open():
    rows = [
        row(unit(start=0)),
        row(unit(start=1), status=Status.AGENT_ERROR, wakings=4, violations={"cue_in_deep": 2}),
        row(unit(start=2), status=Status.AGENT_ERROR),
    ]
    events = score(of(rows)).events
    assert (events.wakings, events.violations) == (4, {"cue_in_deep": 2})
    for bound in (events.waking_bound, events.violation_bound):
        assert (bound.events, bound.open, bound.attempts) == (1, 1, 3)
    # Two of three may have one: the exact upper bound of 2 in 3 is 0.983.
    assert events.waking_bound.upper == pytest.approx(0.9830, abs=1e-4)


def test_attempts_that_left_no_evidence_show_no_event_and_may_have_had_one():
    rows = [row(unit(start=0)), row(unit(start=1), evidence=False, status=Status.AGENT_ERROR)]
    events = score(of(rows)).events
    assert (events.waking_bound.events, events.waking_bound.open) == (0, 1)
    assert events.waking_bound.attempts == 2


def test_calls_of_broken_attempts_are_counted_as_well():
    rows = [
        row(unit(start=0), calls=2, client_calls=3, tokens_in=10, tokens_out=4, cost_paid=0.25),
        row(unit(start=1), status=Status.PROVIDER_ERROR, wakings=5, calls=1, cost_paid=0.5),
    ]
    found = score(of(rows))
    assert (found.attempts, found.scored, found.events.wakings) == (2, 1, 5)
    assert found.statuses == {"completed": 1, "provider_error": 1}
    assert (found.cost.calls, found.cost.client_calls, found.cost.cost_paid) == (3, 3, 0.75)
    assert (found.cost.tokens_in, found.cost.tokens_out) == (10, 4)


def test_one_unknown_price_makes_the_sum_unknown_and_never_nothing():
    rows = [row(unit(start=0), cost_paid=0.25), row(unit(start=1), cost_paid=None)]
    found = score(of(rows)).cost
    assert found.cost_paid is None
    assert found.cost_nominal == 0.0


def test_steps_that_waited_for_want_of_a_call_are_a_share_of_all_steps():
    rows = [row(unit(start=0), limit_waits=10), row(unit(start=1), steps=10, latency_s=3.0)]
    found = score(of(rows)).cost
    assert (found.limit_waits, found.limit_wait_share) == (10, 0.2)
    assert found.latency_mean_s == 0.6


def test_decisions_are_added_up_by_status():
    rows = [row(unit(start=start), decisions={"ok": 38, "late": 2}) for start in range(2)]
    assert score(of(rows)).decisions == {"late": 4, "ok": 76}
