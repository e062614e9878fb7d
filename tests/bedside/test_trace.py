"""The lines of a trace: keys, order, numbers; and files that are whole or absent."""

import asyncio
import json
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.types import BedsideObject, PlaySound, UseObject, Wait, Whisper
from bedside.safety.gate import Mode
from bedside.trace import DECIMALS, FileSink, MemorySink, Trace, TraceError, rounded
from devices.types import HeartRate, Movement, PersonAct, Room, Sample, Stream, StreamInfo, Volume
from tests.bedside.bells import BUTTON, AtBedside, pressed
from tests.conftest import ROOT
from tests.replay.nights import (
    Line,
    Scripted,
    cue_at,
    files_at_most,
    lived,
    night,
    setting,
    waking_setting,
)

REFERENCE = (ROOT / "docs" / "reference" / "trace.md").read_text(encoding="utf-8")
HEADER_KEYS = [
    "kind", "schema", "session", "session_kind", "mode", "agent", "epoch_s", "start_clock_s",
    "start_assumed", "theme", "memory", "lines", "volume_cap", "cue_budget", "powers",
    "planned_wake_clock_s", "digest", "puffs", "record_only", "sound_s", "whisper_s", "object_s",
    "decision_limit_s", "streams", "night",
]  # fmt: skip
STEP_KEYS = ["kind", "step", "t", "epoch", "observation", "action", "decision", "delivery"]
OBSERVATION_KEYS = [
    "clock_s", "has_reading", "stage", "fine_stage", "confidence", "minutes_in_stage",
    "rem_epochs_in_row", "rem_period", "cues_in_rem_period", "minutes_since_onset", "cues",
    "minutes_since_cue", "last_outcome", "budget_left", "reported_awake",
    "paused_until_clock_s", "minutes_to_wake", "heart_rate_bpm", "hrv_rmssd_ms", "movement_g",
    "temperature_c", "noise_dba", "light_lux", "humidity_pct", "skin_temperature_c", "co2_ppm",
    "still_s",
]  # fmt: skip
DELIVERY_KEYS = [
    "t", "shown", "shown_age_s", "rules", "rules_delivered", "limits", "would_refuse",
    "refused_by", "rewritten", "lowered_from", "delivered", "cue",
]  # fmt: skip
FOOTER_KEYS = [
    "kind", "t", "ending", "steps", "decisions", "cues", "outcomes", "violations",
    "violations_delivered", "limit_hits", "refused", "rewritten", "suspected_wakings",
]  # fmt: skip
EVENT_KEYS = {
    "outcome": ["cue", "status", "onset_t", "ended_t", "level_dba", "detail"],
    "suspected_waking": ["cue", "signs"],
    "person": ["act", "minutes"],
}
HIDDEN_EVENT_KEYS = {
    "dropout": ["step"],
    "roll": ["step", "cue", "stream", "value", "chance", "stage", "imputed", "woken"],
    "waking": ["from_t", "until_t"],
    "awake_already": ["cue"],
    "truth": ["letters"],
}


@cache
def rich_night() -> tuple[list[Line], list[bytes]]:
    """A night in which every kind of line occurs."""
    extra = [Sample(Stream.ROOM, 45.0, Room(19.123456, 31.98765, 0.1, 40.4567), "sensor")]
    extra += [
        Sample(Stream.HEART_RATE, k + 0.7, HeartRate(60.123456 + k % 3), "strap")
        for k in range(300)
    ]
    extra += [Sample(Stream.MOVEMENT, 125.0, Movement(0.987654), "strap")]
    extra += [pressed(200.0, PersonAct.PAUSE, 1.0)]
    script = {
        1: PlaySound(Volume.HIGH),
        3: (2.34567, Whisper("a dark wolf")),
        5: UseObject(BedsideObject.SCENT, "now"),
        6: ValueError("no idea"),
        7: (31.0, Wait()),
    }

    night = AtBedside(
        "WLRRDRRR??",
        Scripted(script),
        interval_s=1.0,
        extra=extra,
        streams=(
            BUTTON,
            StreamInfo(Stream.ROOM, 60.0, "sensor"),
            StreamInfo(Stream.HEART_RATE, 1.0, "strap"),
            StreamInfo(Stream.MOVEMENT, 1.0, "strap"),
        ),
        confidence=0.87654321,
    )
    return night.spend(), night.sink.written


def lines() -> list[Line]:
    return rich_night()[0]


def documented(section: str) -> list[str]:
    """The keys named in the first column of a section's table, in order."""
    part = REFERENCE.split(f"## `{section}`", 1)[1].split("\n## ", 1)[0]
    rows = [row for row in part.splitlines() if row.startswith("| `")]
    return [key for row in rows for key in re.findall(r"`(\w+)`", row.split("|")[1])]


def test_the_reference_names_the_keys_of_header_and_step_in_this_order() -> None:
    assert documented("header") == HEADER_KEYS[1:]
    assert documented("step") == STEP_KEYS[1:]
    assert documented("call") == [
        "t", "number", "service", "model", "latency_s", "attempts", "usage", "error", "refused",
    ]  # fmt: skip


def test_every_line_has_its_keys_in_the_order_of_the_reference() -> None:
    assert list(lines()[0]) == HEADER_KEYS
    assert list(lines()[-1]) == FOOTER_KEYS
    for line in lines()[1:-1]:
        if line["kind"] == "event":
            assert list(line) == ["kind", "t", "event", *EVENT_KEYS[line["event"]]]
            continue
        assert list(line) == STEP_KEYS
        assert list(line["epoch"]) == ["stage", "fine", "coverage", "frozen", "eeg"]
        assert list(line["observation"]) == OBSERVATION_KEYS
        assert list(line["decision"]) == ["status", "latency_s", "error"]
        if line["delivery"] is not None:
            assert list(line["delivery"]) == DELIVERY_KEYS
    assert {line["event"] for line in lines() if line["kind"] == "event"} == set(EVENT_KEYS)
    streams = lines()[0]["streams"]
    assert all(
        list(one) == ["stream", "source", "interval_s", "channels", "rate_hz", "simulated"]
        for one in streams
    )


def test_the_reference_names_the_keys_of_an_observation_in_this_order() -> None:
    row = next(row for row in REFERENCE.splitlines() if row.startswith("| `observation` |"))
    named = [key for words in row.split("`")[3::2] for key in words.split(", ")]
    told = [key for key in named if key != "null" and "[" not in key and "]" not in key]
    assert [key for key in told if key != "age_s"] == OBSERVATION_KEYS


def test_a_last_look_has_the_keys_of_a_step_up_to_what_was_done() -> None:
    done = lived(night("LLLLLL"), Scripted({}), setting(0.0, steps=3))
    last, foot = done.trace[-2:]
    assert list(last) == STEP_KEYS[:5]
    assert (last["kind"], last["step"], last["t"]) == ("last", 3, 120.0)
    assert (foot["steps"], len(done.steps)) == (3, 3)


def test_an_action_has_only_the_keys_that_apply() -> None:
    asked = {line["step"]: list(line["action"]) for line in lines() if line["kind"] == "step"}
    assert asked[0] == ["kind", "reason"]
    assert asked[1] == ["kind", "volume", "reason"]
    assert asked[3] == ["kind", "volume", "line", "reason"]
    assert asked[5] == ["kind", "object", "reason"]


def test_hidden_lines_have_their_keys_in_the_order_of_the_reference() -> None:
    done = lived(
        night("LLLLLLLL", truth="LLLL??LL"), cue_at(1, 3, 7), waking_setting(dropout=0.4, seed=2)
    )
    head, *events, foot = done.hidden
    assert list(head) == [
        "kind", "schema", "session", "seed", "roll_night", "wake_table", "wake_scale", "dropout",
    ]  # fmt: skip
    assert {line["event"] for line in events} == set(HIDDEN_EVENT_KEYS)
    for line in events:
        assert list(line) == ["kind", "t", "event", *HIDDEN_EVENT_KEYS[line["event"]]]
    assert list(foot) == ["kind", "t", "wakings", "recorded_epochs", "inserted_epochs"]


def test_lines_are_utf_8_without_spaces_and_end_with_a_newline() -> None:
    for line, written in zip(*rich_night(), strict=True):
        compact = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
        assert written == compact.encode()


def test_numbers_have_no_more_decimals_than_declared() -> None:
    step = next(line for line in lines() if line.get("step") == 3)
    seen = step["observation"]
    assert step["decision"]["latency_s"] == 2.346
    assert step["delivery"]["t"] == 122.346
    assert seen["confidence"] == 0.8765
    assert seen["temperature_c"] == [19.12, 75.0, "sensor"]
    assert seen["noise_dba"] == [31.99, 75.0, "sensor"]
    assert seen["humidity_pct"] == [40.46, 75.0, "sensor"]
    assert seen["heart_rate_bpm"] == [61.12, 0.3, "strap"]
    moved = next(line for line in lines() if line.get("step") == 4)["observation"]
    assert moved["movement_g"] == [0.9877, 25.0, "strap"]


def test_what_is_missing_is_null() -> None:
    last = [line for line in lines() if line["kind"] == "step"][-1]["observation"]
    assert (last["stage"], last["has_reading"]) == (None, False)
    assert last["light_lux"] == [0.1, 255.0, "sensor"]
    assert lines()[0]["planned_wake_clock_s"] is None
    assert lines()[0]["night"] is None


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(sorted(DECIMALS)))
def test_a_rounded_number_is_one_that_json_can_hold(value: float, unit: str) -> None:
    shown = rounded(value, unit)
    json.dumps(shown, allow_nan=False)
    if shown is not None:
        assert abs(shown - value) <= 0.5 * 10 ** -DECIMALS[unit] + abs(value) * 1e-15
    else:
        assert value != value or value in (float("inf"), float("-inf"))


@given(st.text(st.characters(codec=None), max_size=20))
def test_any_text_can_be_written_and_read_back_as_json(text: str) -> None:
    sink = MemorySink()
    Trace(sink).line("event", {"detail": text})
    assert sink.bytes().count(b"\n") == 1
    assert json.loads(sink.bytes())["detail"] == text


# --- files


def test_a_trace_file_appears_whole_when_it_is_closed(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "trace.jsonl")
    Trace(sink).line("header", {"schema": 1})
    assert not (tmp_path / "trace.jsonl").exists()
    assert [path.name.startswith("trace.jsonl.") for path in tmp_path.iterdir()] == [True]
    sink.close()
    assert [path.name for path in tmp_path.iterdir()] == ["trace.jsonl"]
    assert (tmp_path / "trace.jsonl").read_bytes() == b'{"kind":"header","schema":1}\n'
    assert asyncio.run(sink.settle(1.0)) is True


@pytest.mark.parametrize("closed", [True, False])
def test_a_discarded_trace_leaves_nothing(tmp_path: Path, closed: bool) -> None:
    sink = FileSink(tmp_path / "trace.jsonl")
    Trace(sink).line("header", {})
    if closed:
        sink.close()
    sink.discard()
    sink.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["missing", "a-file"])
def test_a_trace_that_cannot_begin_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / "a-file").write_bytes(b"")
    with pytest.raises(TraceError, match=rf"{folder}/trace\.jsonl: .*--out"):
        FileSink(tmp_path / folder / "trace.jsonl")


@pytest.mark.parametrize("count", [3, 3000])
def test_no_space_is_said_and_leaves_nothing_that_looks_whole(tmp_path: Path, count: int) -> None:
    sink = FileSink(tmp_path / "trace.jsonl")
    trace = Trace(sink)

    def write_all() -> None:
        for number in range(count):
            trace.line("event", {"number": number, "text": "x" * 100})
        trace.close()

    with files_at_most(100), pytest.raises(TraceError) as caught:
        write_all()
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'trace.jsonl'}: ")
    assert "space" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", list(Mode))
def test_a_trace_that_cannot_be_written_ends_the_night_with_its_own_error(mode: Mode) -> None:
    class Full:
        written = 0

        def write(self, line: bytes) -> None:
            self.written += 1
            if self.written > 3:
                raise TraceError("trace.jsonl: no space left; free some")

        async def settle(self, limit_s: float) -> bool:
            return True

        def close(self) -> None: ...

    night_ = AtBedside("RRRRRR", cue_at(0, 3), mode=mode)
    night_.sink = Full()  # type: ignore[assignment]
    with pytest.raises(TraceError, match="no space left"):
        night_.spend()
