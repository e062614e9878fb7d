"""Records against the trace they come from: the round trip, endings, and what is refused."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.fixed_timer import FixedTimer
from agents.rem_rule import RemRule
from agents.types import PlaySound, Stop, Whisper
from bedside.safety.gate import Mode
from bedside.trace import TraceError
from devices.types import HeartRate, PaprikaError, Sample, Stream, StreamInfo, Volume
from replay.export import ExportError
from replay.export.columns import STEP, Kind
from replay.export.hidden import HiddenLines
from replay.export.records import trace_records
from tests.replay.nights import LOUD, Lived, Scripted, cue_at, lived, night, setting, waking_setting

Record = dict[str, Any]
HEART = StreamInfo(Stream.HEART_RATE, 1.0, "strap")
BEATS = [Sample(Stream.HEART_RATE, t + 0.5, HeartRate(60.0 + t % 7), "strap") for t in range(300)]


def records_of(done: Lived, folder: Path) -> list[Record]:
    path = folder / "trace.jsonl"
    path.write_bytes(done.trace_bytes)
    return trace_records(path, 7).records


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def trace_again(records: Iterable[Record]) -> list[Record]:
    """The lines of a trace between its header and its footer, without nulls, from the records."""
    lines: list[Record] = []
    for record in records:
        for call in record["calls"] or ():
            usage = {one["name"]: one["count"] for one in call["usage"]}
            lines.append({"kind": "call", **call, "usage": usage})
        if record["observation"] is not None:
            lines.append(step_again(record))
        lines += [{"kind": "event", **event} for event in record["events"] or ()]
    return [without_nulls(line) for line in lines]


def step_again(record: Record) -> Record:
    seen = {
        key: list(value.values()) if isinstance(value, dict) else value
        for key, value in record["observation"].items()
    }
    eeg = record["epoch"]["eeg"]
    bands = None if eeg is None else {band["band"]: band["uv2"] for band in eeg}
    step = {
        "kind": record["observation_from"],
        "step": record["step"],
        "t": record["t"],
        "epoch": {**record["epoch"], "eeg": bands},
        "observation": seen,
    }
    if record["is_last"]:
        return step
    given = ("decision", "delivery")
    return step | {"action": record["requested"]} | {key: record[key] for key in given}


def lines_between(done: Lived) -> list[Record]:
    return [without_nulls(line) for line in done.trace[1:-1]]


EVERYTHING = Scripted(
    {
        1: PlaySound(Volume.HIGH, "loud"),
        3: (2.4, Whisper("not my words", Volume.LOW, "whispered")),
        5: (31.0, PlaySound()),
        7: ValueError("no"),
        9: PlaySound(),
        10: (29.0, PlaySound(Volume.MEDIUM)),
        12: Stop("enough"),
        14: PlaySound(),
    }
)


# --- the round trip


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("steps", [None, 13])
def test_records_give_the_trace_again(tmp_path: Path, mode: Mode, steps: int | None) -> None:
    known = night("WLLRRRRRRDDD?RRRRRRR", extra=BEATS, streams=[HEART])
    done = lived(known, EVERYTHING, waking_setting(mode=mode, steps=steps))
    assert trace_again(records_of(done, tmp_path)) == lines_between(done)


@settings(max_examples=25)
@given(
    letters=st.text("WLDR?", min_size=1, max_size=30),
    cues=st.sets(st.integers(0, 29), max_size=8),
    latency_s=st.sampled_from((0.0, 0.25, 12.0, 29.999, 30.0)),
    steps=st.one_of(st.none(), st.integers(1, 29)),
)
def test_any_attempt_gives_its_trace_again(
    letters: str,
    cues: set[int],
    latency_s: float,
    steps: int | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    agent = cue_at(*cues, action=LOUD, latency_s=latency_s)
    done = lived(night(letters), agent, waking_setting(steps=steps))
    records = records_of(done, tmp_path_factory.mktemp("any"))
    assert trace_again(records) == lines_between(done)
    assert len(records) == len(done.steps) + 1


def test_eeg_and_calls_are_kept(tmp_path: Path) -> None:
    from bedside.agent_loading import load_agent
    from replay.recorded_night import RecordedNight
    from replay.sample_night import sample_night

    program = tmp_path / "agent.sh"
    answer = """echo '{"kind":"wait"}'"""
    program.write_text(f"#!/bin/sh\nwhile read -r line; do {answer}; done\n")
    program.chmod(0o755)
    known = RecordedNight(sample_night(eeg=True))
    done = lived(known, load_agent(f"cmd:{program}"), setting(first_epoch=200, steps=3))
    records = records_of(done, tmp_path)
    assert trace_again(records) == lines_between(done)
    assert len(records[0]["epoch"]["eeg"]) == 5
    assert [len(record["calls"] or ()) for record in records] == [2, 1, 1, 0]


# --- the shape


def test_every_record_has_every_column_and_nothing_else(tmp_path: Path) -> None:
    done = lived(night("LLRRRRRRRRRR"), EVERYTHING, waking_setting())
    for record in records_of(done, tmp_path):
        assert list(record) == list(STEP)
        check(record, STEP)


def check(value: Any, column: Any) -> None:
    """Against the declared columns, by a second reading of them."""
    kinds = {Kind.WHOLE: int, Kind.NUMBER: float, Kind.TEXT: str, Kind.FLAG: bool}
    if value is None:
        return
    if isinstance(column, Kind):
        assert type(value) is kinds[column]
    elif isinstance(column, list):
        for one in value:
            check(one, column[0])
    else:
        assert list(value) == list(column)
        for key, inner in column.items():
            check(value[key], inner)


def test_first_last_and_steps_are_counted(tmp_path: Path) -> None:
    records = records_of(lived(night("LLRR"), RemRule(), setting()), tmp_path)
    assert [record["is_first"] for record in records] == [True, False, False, False, False]
    assert [record["is_last"] for record in records] == [False, False, False, False, True]
    assert [record["step"] for record in records] == [0, 1, 2, 3, 4]
    assert {record["episode"] for record in records} == {7}


def test_what_would_go_out_from_the_last_record_is_null_and_marked(tmp_path: Path) -> None:
    for made in (setting(steps=3), setting()):
        *before, last = records_of(lived(night("LLRR"), RemRule(), made), tmp_path)
        assert all(record["valid"] for record in before)
        assert last["valid"] is False
        outgoing = ("action", "requested", "decision", "delivery", "reward", "discount")
        for key in (*outgoing, "reward_components", "calls", "events"):
            assert last[key] is None
        assert all(record["reward"] == 0.0 for record in before)


ENDINGS = [
    # letters, agent, setting, ending, truncated, an epoch after the last action
    ("LLRR", RemRule(), {}, "night_end", False, False),
    ("LLRRRR", RemRule(), {"steps": 3}, "step_limit", True, True),
    ("LLRR", RemRule(), {"steps": 9}, "recording_exhausted", True, False),
    ("LLRR", Scripted({1: Stop()}), {"ends_at_stop": True}, "agent_stop", False, True),
    ("LLDDDD", RemRule(), {"stable_deep": 3}, "stable_deep", False, True),
]


@pytest.mark.parametrize(("letters", "agent", "given", "ending", "truncated", "more"), ENDINGS)
def test_each_ending_is_terminal_or_truncated(
    tmp_path: Path,
    letters: str,
    agent: Any,
    given: dict[str, Any],
    ending: str,
    truncated: bool,
    more: bool,
) -> None:
    done = lived(night(letters), agent, setting(**given))
    *_, before, last = records_of(done, tmp_path)
    assert done.trace[-1]["ending"] == ending
    assert last["is_terminal"] is not truncated
    assert before["is_terminal"] is False
    assert before["discount"] == (1.0 if truncated else 0.0)
    assert last["observation_from"] == ("last" if more else "none")
    assert (last["observation"] is not None, last["t"] is not None) == (more, more)


def test_applied_and_requested_actions_stand_beside_each_other(tmp_path: Path) -> None:
    script = {2: Whisper("the moon landing"), 3: PlaySound(Volume.HIGH), 4: (40.0, PlaySound())}
    known, made = night("LLDDDDDD"), setting(mode=Mode.ENFORCE)
    records = records_of(lived(known, Scripted(script), made), tmp_path)
    kinds = [(r["requested"]["kind"], r["action"]["kind"]) for r in records[:-1]]
    assert kinds[2:5] == [("whisper", "wait"), ("sound", "wait"), ("wait", "wait")]
    assert records[4]["decision"]["status"] == "late"

    records = records_of(lived(known, Scripted(script), setting()), tmp_path)
    assert records[2]["requested"]["line"] == "the moon landing"
    assert records[2]["action"]["line"] == "my grey cat is asleep"  # the first of the cat's lines
    assert records[3]["action"]["volume"] == "high"


def test_components_of_the_reward_are_counted_or_null(tmp_path: Path) -> None:
    script = {1: PlaySound(Volume.HIGH), 2: PlaySound()}
    records = records_of(lived(night("LDDD"), Scripted(script), setting(0.0)), tmp_path)
    assert [r["reward_components"]["violation"] for r in records[:-1]] == [0.0, 2.0, 1.0, 0.0]
    for record in records[:-1]:
        others = {k: v for k, v in record["reward_components"].items() if k != "violation"}
        assert others == dict.fromkeys(("body", "theme", "waking", "progress"))


# --- the hidden side


def test_hidden_records_hold_truth_rolls_and_wakings_at_their_steps(tmp_path: Path) -> None:
    known = night("LLRRRR", truth="LDDR?R")
    done = lived(known, cue_at(2, 4, action=LOUD), waking_setting(first_epoch=1))
    records = records_of(done, tmp_path)
    path = tmp_path / "hidden.jsonl"
    path.write_bytes(done.hidden_bytes)
    hidden = HiddenLines(path).records(records, 1)
    # Woken at the end of step 2: four epochs of wake come in, the recording goes on behind them.
    stages = ["deep", "deep", "rem", *["awake"] * 4, None, "rem", None]
    assert [record["true_stage"] for record in hidden] == stages
    assert [record["inserted"] for record in hidden] == [3 <= k < 7 for k in range(10)]
    assert [len(record["rolls"]) for record in hidden] == [0, 0, 1, *[0] * 7]
    (rolled,) = hidden[2]["rolls"]
    assert (rolled["stage"], rolled["chance"], rolled["woken"], rolled["cue"]) == (
        "rem",
        1.0,
        True,
        1,
    )
    assert hidden[2]["wakings"] == [{"t": 90.0, "from_t": 90.0, "until_t": 210.0}]
    assert hidden[4]["awake_already"] == [{"t": 150.0, "cue": 2}]
    assert [record["reward_waking"] for record in hidden] == [0.0, 0.0, 1.0, *[0.0] * 6, None]


def test_dropped_steps_are_marked(tmp_path: Path) -> None:
    done = lived(night("L" * 20), FixedTimer(), setting(dropout=0.4, seed=3))
    path = tmp_path / "hidden.jsonl"
    path.write_bytes(done.hidden_bytes)
    hidden = HiddenLines(path).records(records_of(done, tmp_path), 0)
    shown = done.shown
    assert [record["dropped"] for record in hidden[:-1]] == [letter == "?" for letter in shown]
    assert any(record["dropped"] for record in hidden)
    assert {record["true_stage"] for record in hidden[:-1]} == {"light"}


# --- what is refused


def whole(tmp_path: Path) -> tuple[Path, list[bytes]]:
    done = lived(night("LLRRRRRRRRRR"), RemRule(), setting(0.0))
    return tmp_path / "trace.jsonl", done.trace_bytes.splitlines(keepends=True)


@pytest.mark.parametrize("keep", [0, 1, 2, 5, -1])
def test_a_trace_that_was_broken_off_is_refused(tmp_path: Path, keep: int) -> None:
    path, rows = whole(tmp_path)
    path.write_bytes(b"".join(rows[:keep]))
    kept = len(rows[:keep])
    said = f"broken off after line {kept}" if kept else r"line 1: not a trace"
    with pytest.raises(TraceError, match=rf"trace.jsonl: {said}"):
        trace_records(path, 0)


def test_a_line_cut_in_the_middle_is_refused_with_its_number(tmp_path: Path) -> None:
    path, rows = whole(tmp_path)
    path.write_bytes(b"".join(rows[:4]) + rows[4][:50])
    with pytest.raises(TraceError, match=r"line 5: not JSON"):
        trace_records(path, 0)


def changed(line: bytes, **given: Any) -> bytes:
    return json.dumps({**json.loads(line), **given}).encode() + b"\n"


@pytest.mark.parametrize(
    ("row", "given", "said"),
    [
        (0, {"schema": 2}, "schema 2 is newer than 1"),
        (0, {"schema": 0}, "no schema 1"),
        (0, {"kind": "head"}, "no header"),
        (2, {"step": 5}, "line 3: step 5, and 1 was due"),
        (2, {"step": True}, "line 3: step True"),
        (2, {"kind": "dream"}, "line 3: kind 'dream' is unknown"),
        (2, {"observation": {"aura": 1}}, "line 3, observation: key 'aura' has no column"),
        (2, {"observation": {"stage": 4}}, "line 3, observation, stage: string was expected"),
        (2, {"observation": {"cues": 2**63}}, "cues: int64 was expected"),
        (2, {"observation": {"cues": 1.5}}, "cues: int64 was expected"),
        (2, {"observation": 3}, "observation: an object was expected"),
        (2, {"t": "late"}, "t: float64 was expected"),
        (2, {"t": float("nan")}, "line 3, t: float64 was expected, got nan"),
        (2, {"kind": "footer"}, "line 3: kind 'footer' is unknown"),
        (2, {"action": {"kind": "\ud800"}}, "half a character"),
        (-1, {"ending": "the end"}, "ending 'the end' is unknown"),
        (-1, {"steps": 3}, "3 steps, and there are 12"),
    ],
)
def test_what_cannot_be_exported_is_refused_by_line_and_key(
    tmp_path: Path, row: int, given: dict[str, Any], said: str
) -> None:
    path, rows = whole(tmp_path)
    rows[row] = changed(rows[row], **given)
    path.write_bytes(b"".join(rows))
    with pytest.raises((ExportError, TraceError), match=said):
        trace_records(path, 0)


def test_a_line_after_the_footer_is_refused(tmp_path: Path) -> None:
    path, rows = whole(tmp_path)
    path.write_bytes(b"".join([*rows, rows[1]]))
    with pytest.raises(TraceError, match=rf"broken off after line {len(rows) + 1}"):
        trace_records(path, 0)


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.zst"
    path.write_bytes(zstandard.compress(b"[" * 5_000_000))
    with pytest.raises(TraceError, match="line 1: not JSON"):
        trace_records(path, 0)


@pytest.mark.parametrize("keep", [10, 200, -1])
def test_a_compressed_trace_that_was_cut_is_refused(tmp_path: Path, keep: int) -> None:
    path, rows = whole(tmp_path)
    path = path.with_name("trace.jsonl.zst")
    path.write_bytes(zstandard.compress(b"".join(rows))[:keep])
    with pytest.raises(TraceError, match=r"trace.jsonl.zst"):
        trace_records(path, 0)


@settings(max_examples=30)
@given(raw=st.binary(max_size=200), place=st.integers(0, 13))
def test_bytes_that_are_no_trace_are_refused(
    raw: bytes, place: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, rows = whole(tmp_path_factory.mktemp("raw"))
    for name in ("trace.jsonl", "trace.jsonl.zst"):
        broken = path.with_name(name)
        broken.write_bytes(b"".join([*rows[:place], raw, b"\n"]))
        with pytest.raises(PaprikaError):
            trace_records(broken, 0)
