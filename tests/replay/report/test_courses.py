"""The course of an attempt against its traces and against nights written by hand."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agents.types import BedsideObject as Thing
from agents.types import PlaySound, Stop, UseObject, Wait, Whisper
from bedside.safety.gate import Mode
from devices.types import Volume
from replay.experiment.folder import RunFolder
from replay.report.courses import Course, _hidden, _without_observations, course, read_course
from tests.replay.nights import (
    NEVER,
    Scripted,
    cue_at,
    lived,
    night,
    setting,
    waking_setting,
)


def course_of(letters: str, agent: Scripted, made: object = None, **night_given: object) -> Course:
    done = lived(night(letters, **night_given), agent, made or setting(NEVER))
    return course(done.trace, done.hidden)


def test_every_step_has_its_letters_and_its_reason():
    script = {
        1: PlaySound(Volume.LOW, "soft"),
        2: Whisper("my grey cat is asleep", reason="own words"),
        3: UseObject(Thing.SCENT, "smell"),
        5: Stop("enough"),
    }
    found = course_of("WLRRRD?R", Scripted(script), setting(NEVER, ends_at_stop=False))
    assert found.shown == "WLRRRD?R"
    assert found.actions == ".swo.x.."
    assert found.reasons == ("", "soft", "own words", "smell", "", "enough", "", "")
    assert [one.what for one in found.asked] == ["sound", "whisper", "scent"]
    assert found.asked[1].line == "my grey cat is asleep"
    assert [one.shown for one in found.asked] == ["L", "R", "R"]


def test_wake_after_a_cue_is_marked_as_inserted_and_the_night_goes_on_after_it():
    """A cue at the end of step 2 wakes: 4 epochs are put in before epoch 3 of the recording."""
    found = course_of("RRRLLLLL", cue_at(2), waking_setting())
    assert found.hidden == "RRRiiiiLLLLL"
    assert found.shown == "RRRWWWWLLLLL"
    assert found.asked[0].woke
    assert found.asked[0].true == "R"


def test_every_inserted_epoch_is_marked_whatever_put_it_in():
    """A delayed onset puts wake in as a waking does; the recording goes on after each."""
    events = [
        {"kind": "event", "event": "truth", "letters": "WLLRR"},
        {"kind": "event", "event": "waking", "from_t": 120.0, "until_t": 180.0},
        {"kind": "event", "event": "onset_delay", "from_t": 30.0, "until_t": 60.0},
    ]
    assert _hidden(events, 0, 9) == "WiLLiiRR?"
    assert _hidden(events, 3, 4) == "RiR?"
    assert _hidden([], 0, 2) == "??"


def test_a_place_in_the_recording_leaves_inserted_wake_out():
    found = course_of("RRRLLLLL", cue_at(2), waking_setting())
    assert found.recorded_epoch(90.0) == 3.0
    assert found.recorded_epoch(7 * 30.0) == 3.0
    assert found.recorded_epoch(9 * 30.0) == 5.0


def test_a_task_counts_from_where_it_starts_in_the_recording():
    found = course_of("WWWLLLRRR", cue_at(1), setting(NEVER, first_epoch=3, steps=4))
    assert found.shown == "LLLR"
    assert found.hidden == "LLLR"
    assert found.recorded_epoch(60.0) == 5.0


def test_experts_stages_are_told_in_the_letters_of_four_stages():
    found = course_of("LLLL", Scripted({}), truth="12RW")
    assert found.shown == "LLLL"
    assert found.hidden == "LLRW"


def test_words_of_others_are_marked_with_what_was_said_instead():
    asked = Whisper("a burning house", Volume.LOW, "why not")
    found = course_of("RRRR", cue_at(1, action=asked))
    assert found.asked[0].line == "a burning house"
    assert found.asked[0].said == "my grey cat is asleep"
    assert found.asked[0].rules == ("words_not_said",)
    assert found.asked[0].delivered


def test_a_refused_cue_is_asked_and_not_delivered():
    found = course_of("DDDD", cue_at(1), setting(NEVER, mode=Mode.ENFORCE))
    assert not found.asked[0].delivered
    assert "cue_in_deep" in found.asked[0].refused_by
    assert found.asked[0].true is None


def test_what_an_agent_did_wrong_stands_at_its_step():
    found = course_of("RRRR", Scripted({1: RuntimeError("oh"), 2: (4.5, Wait("slow"))}))
    assert found.troubles == {1: ("error", "RuntimeError: oh")}
    assert found.latencies == {2: 4.5}


def test_waits_that_say_the_same_are_told_as_one():
    """Steps 0-1 wait in light, 2 cues, 3-5 wait in REM, 6 waits for another reason."""
    script = {2: PlaySound(), 6: Wait("late")}
    assert course_of("LLRRRRR", Scripted(script)).runs() == [(0, 2), (2, 1), (3, 3), (6, 1)]


def test_dropouts_are_known_though_the_agent_saw_none():
    found = course_of("R" * 40, Scripted({}), setting(NEVER, dropout=0.5, seed=3))
    assert found.dropouts
    assert {found.shown[step] for step in found.dropouts} == {"?"}
    assert "?" not in found.hidden


def test_a_course_read_from_a_folder_is_that_of_the_whole_traces(run: RunFolder):
    for row in run.rows():
        key = row.unit.key
        assert read_course(run.path, key) == course(run.trace(key), run.hidden(key))


@given(st.text(), st.text())
def test_no_words_in_a_trace_can_end_what_is_left_out(reason: str, source: str):
    def line(**changes: object) -> bytes:
        parts = {"kind": "step", "observation": {"x": [1, source]}, "action": {"reason": reason}}
        return json.dumps({**parts, **changes}, ensure_ascii=False, separators=(",", ":")).encode()

    last = json.dumps(
        {"kind": "last", "observation": {"x": source}}, separators=(",", ":")
    ).encode()
    text = b"\n".join((line(), line(), last, b'{"kind":"footer"}'))
    kept = [json.loads(row) for row in _without_observations(text).split(b"\n")]
    step = {"kind": "step", "action": {"reason": reason}}
    assert kept == [step, step, json.loads(last), {"kind": "footer"}]
