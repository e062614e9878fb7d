"""Counting an attempt from its traces, and refusing what is no whole trace."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.types import BedsideObject, PlaySound, UseObject, Whisper
from agents.wait import WaitAgent
from bedside.safety.gate import Mode
from bedside.trace import TraceError
from devices.types import Volume
from replay.recorded_night import RecordedNight
from replay.summary import Excluded, summarise
from replay.trace_lines import read_lines
from tests.replay.nights import (
    LOUD,
    SOFT,
    Scripted,
    cue_at,
    lived,
    night,
    recording,
    setting,
    waking_setting,
)


def test_a_night_is_counted() -> None:
    letters = "WWLLRRRR??DDRRRRLL"
    known = night(letters)
    script = {
        4: SOFT,
        6: PlaySound(Volume.HIGH, "loud"),
        8: SOFT,
        11: UseObject(BedsideObject.SCENT),
        13: Whisper("a dark wolf"),
    }
    done = lived(known, Scripted(script), setting(0.0, seed=5))
    found = summarise(done.trace, done.hidden, known.shown)
    assert (found.epochs, found.compared, found.mismatched) == (18, 16, 0)
    assert found.excluded == (Excluded("no reading in the recording", (8, 9)),)
    assert found.stage_counts == {"awake": 2, "rem": 8, "light": 4, "deep": 2, "none": 2}
    assert found.cues_by_stage == {"awake": 0, "rem": 3, "light": 0, "deep": 1, "none": 1}
    assert [(cue.number, cue.step, cue.kind, cue.volume) for cue in found.cues] == [
        (1, 4, "sound", "low"),
        (2, 6, "sound", "high"),
        (3, 8, "sound", "low"),
        (4, 11, "scent", None),
        (5, 13, "whisper", "low"),
    ]
    assert [cue.true for cue in found.cues] == ["rem", "rem", "rem", "deep", "rem"]
    assert found.cues[1].rules == ("cue_high_volume",)
    assert found.cues[1].reason == "loud"
    assert (found.asked, found.refused, found.rewritten) == (5, 0, 1)
    assert found.violations == {
        "cue_high_volume": 1, "cue_in_deep": 1, "cue_without_reading": 1, "words_not_said": 1,
    }  # fmt: skip
    assert "words_not_said" not in found.violations_delivered
    assert (found.seed, found.wake_scale, found.mode, found.agent) == (
        5,
        0.0,
        "observe",
        "scripted",
    )
    assert (found.theme, found.ending, found.start_clock_s) == ("cat", "night_end", 39_600.0)


def test_wakings_and_the_wake_they_insert_are_counted_apart() -> None:
    known = night("LLLLRRRR")
    done = lived(known, cue_at(2, 3, 9), waking_setting())
    found = summarise(done.trace, done.hidden, known.shown)
    assert found.wakings == (90.0, 300.0)
    assert found.inserted == (3, 4, 5, 6, 10, 11, 12, 13)
    assert (found.epochs, len(found.stages)) == (8, 16)
    assert [(cue.step, cue.woke, cue.true) for cue in found.cues] == [
        (2, True, "light"),
        (3, False, None),
        (9, True, "rem"),
    ]
    assert (found.compared, found.mismatched) == (8, 0)


def test_refused_cues_are_asked_and_not_given() -> None:
    known = night("RRRRRR")
    done = lived(known, cue_at(2, 4, action=LOUD), setting(0.0, mode=Mode.ENFORCE))
    found = summarise(done.trace, done.hidden, known.shown)
    assert (found.asked, found.refused, found.cues) == (2, 2, ())
    assert (found.violations, found.violations_delivered) == ({"cue_high_volume": 2}, {})


def test_dropped_steps_are_not_compared() -> None:
    known = night("LLLLLL")
    done = lived(known, WaitAgent(), setting(dropout=1.0))
    found = summarise(done.trace, done.hidden, known.shown)
    assert (found.compared, found.excluded) == (0, (Excluded("dropout", (0, 1, 2, 3, 4, 5)),))


def test_a_part_of_a_night_is_compared_with_that_part() -> None:
    known = night("LLLLRRRRDDDD")
    done = lived(known, WaitAgent(), setting(first_epoch=5, steps=4))
    found = summarise(done.trace, done.hidden, known.shown)
    assert (found.epochs, found.compared, found.mismatched) == (4, 4, 0)


def test_a_stage_that_is_not_the_recording_s_is_a_mismatch() -> None:
    known = night("LLLLRRRR")
    done = lived(known, WaitAgent())
    found = summarise(done.trace, done.hidden, night("LLLDRRRL").shown)
    assert (found.compared, found.mismatched) == (8, 2)


def test_what_a_frozen_device_says_is_no_reading_of_the_recording_either() -> None:
    # One confidence to the bit for five minutes and more: from then on it is no reading.
    letters = "L" * 30
    known = RecordedNight(recording(letters, interval_s=1.0, confidence=0.5))
    done = lived(known, WaitAgent())
    found = summarise(done.trace, done.hidden, known.shown)
    (frozen,) = found.excluded
    assert (frozen.why, found.mismatched) == ("no reading in the recording", 0)
    assert [done.steps[step]["epoch"]["frozen"] for step in (5, frozen.steps[0])] == [False, True]
    assert frozen.steps == tuple(range(frozen.steps[0], 30))
    assert found.compared + len(frozen.steps) == 30
    assert 300 <= 30 * (frozen.steps[0] + 1) <= 360


# --- reading


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


HEAD, FOOT = {"kind": "header", "schema": 1}, {"kind": "footer"}


def test_a_whole_trace_is_read(tmp_path: Path) -> None:
    assert read_lines(written(tmp_path / "t.jsonl", HEAD, FOOT)) == [HEAD, FOOT]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "line 1: not a trace"),
        (b'{"kind":"step"}\n{"kind":"footer"}\n', "line 1: not a trace"),
        (b'{"kind":"header","schema":2}\n{"kind":"footer"}\n', "schema 2 is newer than 1"),
        (b'{"kind":"header","schema":1}\n{"kind":"step"}\n', "broken off after line 2"),
        (b'{"kind":"header","schema":1}\n{"kind":"st', "line 2: not JSON"),
        (b'{"kind":"header","schema":1}\n[1]\n', "line 2: not a JSON object"),
        (b"\x00\xff\xfe", "line 1: not JSON"),
    ],
)
def test_what_is_no_whole_trace_is_named_with_its_line(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        read_lines(path)
    assert str(caught.value).startswith(f"{path}: {said}")
    assert "\n" not in str(caught.value)


def test_a_trace_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"none\.jsonl: No such file"):
        read_lines(tmp_path / "none.jsonl")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    with pytest.raises(TraceError):
        read_lines(path)
