"""Rows counted from traces of nights made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.types import BedsideObject, PlaySound, UseObject, Wait, Whisper
from bedside.trace import TraceError
from devices.types import Volume
from replay.decisions import bundled_prices
from replay.experiment.counting import Evidence, row_of, row_without_traces
from replay.experiment.rows import Row, Status, Unit
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from tests.replay.nights import (
    NEVER,
    Scripted,
    lived,
    night,
    setting,
    waking_setting,
)

UNIT = Unit(
    night="night-a", task="rem_onset-2300-t1-s1", kind="rem_onset", start_epoch=0, cluster=0,
    theme="cat", seed=1, condition="plain", held_out=False, feasible=True, agent="scripted",
    scale=1.0,
)  # fmt: skip
LOW = PlaySound(Volume.LOW)


def counted(played: RecordedNight, agent: Scripted, made: Setting | None = None) -> Row:
    done = lived(played, agent, made or setting(NEVER, steps=8))
    evidence = Evidence(done.trace_bytes, done.hidden_bytes)
    return row_of(UNIT, evidence, played.shown, bundled_prices())


def test_a_row_counts_cues_by_shown_and_by_true_stage():
    # Shown R at steps 2 to 5; the truth says that 4 and 5 are light.
    played = night("LLRRRRLLLL", truth="LLRRLLLLLL")
    row = counted(played, Scripted(dict.fromkeys((1, 2, 4, 5), LOW)))
    assert row.status is Status.COMPLETED
    assert row.delivered == row.asked == 4
    assert row.shown == {"awake": 0, "rem": 3, "light": 1, "deep": 0, "none": 0}
    assert row.true == {"awake": 0, "rem": 1, "light": 3, "deep": 0, "none": 0}
    assert (row.rem_cues, row.true_rem_cues) == (3, 1)


def test_fine_stages_of_the_truth_count_as_light():
    row = counted(night("LLLLLLLLLL", truth="1122RRDDWW"), Scripted(dict.fromkeys((0, 2, 5), LOW)))
    assert row.true == {"awake": 0, "rem": 1, "light": 2, "deep": 0, "none": 0}


def test_objects_are_cues_but_no_cues_in_rem():
    played = night("RRRRRRRRRR")
    script = {1: UseObject(BedsideObject.SCENT), 3: Whisper("my grey cat is asleep"), 5: LOW}
    row = counted(played, Scripted(script))
    assert (row.delivered, row.rem_cues, row.true_rem_cues) == (3, 2, 2)


def test_dose_counts_rem_readings_periods_and_the_wait_for_the_first_cue():
    # Two REM periods, 31 epochs of light between them: more than fifteen minutes.
    played = night("LRRR" + "L" * 31 + "RRRR" + "LL")
    row = counted(played, Scripted({3: LOW}), setting(NEVER, steps=39))
    assert (row.rem_epochs, row.rem_periods, row.rem_periods_cued) == (7, 2, 1)
    # First REM reading ends at 60 s; the cue falls at the end of step 3, at 120 s.
    assert row.first_cue_s == 60.0


def test_without_a_cue_in_rem_there_is_no_wait_for_the_first():
    row = counted(night("LLLLRRRRRR"), Scripted({0: LOW}))
    assert (row.rem_cues, row.first_cue_s) == (0, None)
    assert row.rem_epochs == 4


def test_wakings_are_counted_and_inserted_wake_is_not_compared():
    played = night("RRRRRRRRRRRR")
    row = counted(played, Scripted({1: LOW}), replace(waking_setting(), steps=10))
    assert row.wakings == 1
    assert row.steps == 10
    assert row.compared == 6  # ten steps, four of them inserted
    assert row.true["rem"] == 1


def test_a_rule_asked_against_is_a_violation_even_where_it_is_refused():
    from bedside.safety.gate import Mode

    played = night("DDDDDDDDDD")
    seen = counted(played, Scripted({2: LOW}))
    refused = counted(played, Scripted({2: LOW}), setting(NEVER, steps=8, mode=Mode.ENFORCE))
    assert seen.violations == refused.violations == {"cue_in_deep": 1}
    assert (seen.violations_delivered, refused.violations_delivered) == ({"cue_in_deep": 1}, {})
    assert (seen.delivered, refused.delivered, refused.refused) == (1, 0, 1)


def test_a_cue_that_was_still_sounding_at_the_end_did_reach_the_sleeper():
    row = counted(night("RRRRRRRRRR"), Scripted({7: LOW}))
    assert (row.delivered, row.rem_cues, row.true_rem_cues) == (1, 1, 1)


def test_late_answers_are_the_agents_own_and_the_attempt_is_complete():
    row = counted(night("RRRRRRRRRRRR"), Scripted(lambda step: (31.0, LOW)))
    assert row.status is Status.COMPLETED
    assert row.decisions.get("late", 0) + row.decisions.get("busy", 0) == 8
    assert row.delivered == 0


def test_an_agent_that_only_fails_is_an_agent_error():
    row = counted(night("RRRRRRRRRRRR"), Scripted(lambda step: ValueError("no")))
    assert row.status is Status.AGENT_ERROR


def test_a_recording_that_is_over_too_early_truncates():
    row = counted(night("RRRR"), Scripted({}), setting(NEVER, steps=8))
    assert row.status is Status.TRUNCATED
    assert row.ending == "recording_exhausted"


def test_a_trace_that_is_broken_off_has_no_row():
    done = lived(night("RRRRRRRRRR"), Scripted({}), setting(NEVER, steps=4))
    whole = Evidence(done.trace_bytes, done.hidden_bytes)
    torn = replace(whole, trace=whole.trace[: len(whole.trace) // 2])
    played = night("RRRRRRRRRR")
    with pytest.raises(TraceError, match=r"rem_onset-2300-t1-s1/scripted/x1 \(trace\)"):
        row_of(UNIT, torn, played.shown, bundled_prices())


def test_a_trace_that_differs_from_its_recording_is_the_environments_error():
    done = lived(night("RRRRRRRRRR"), Scripted({}), setting(NEVER, steps=6))
    other = night("RRDRRRRRRR")
    evidence = Evidence(done.trace_bytes, done.hidden_bytes)
    row = row_of(UNIT, evidence, other.shown, bundled_prices())
    assert row.status is Status.ENV_ERROR
    assert row.detail == "1 epochs differ from the recording"


def test_a_row_without_traces_counts_nothing_and_says_why():
    row = row_without_traces(UNIT, Status.AGENT_ERROR, "gone")
    assert (row.steps, row.delivered, row.evidence, row.detail) == (0, 0, False, "gone")
    assert (row.cost_paid, row.first_cue_s) == (None, None)


def test_a_line_separator_in_a_reason_does_not_break_a_trace():
    row = counted(night("RRRRRRRRRR"), Scripted({1: Wait("one\u2028two\u0085three")}))
    assert row.steps == 8


def test_a_cue_that_failed_is_no_cue_in_rem():
    from replay.conditions import ActuatorFault, Condition

    faulty = setting(NEVER, steps=8, condition=Condition(actuator=ActuatorFault.CUE_FAILS))
    row = counted(night("RRRRRRRRRR"), Scripted({1: LOW}), faulty)
    assert (row.delivered, row.rem_cues, row.true_rem_cues, row.first_cue_s) == (1, 0, 0, None)
