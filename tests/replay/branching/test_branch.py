"""Branches: the prefix comes out byte by byte, the action is given, and somebody goes on."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from agents.rem_rule import RemRule
from agents.types import BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from bedside.agent_loading import load_agent
from bedside.configuration import default_toml
from devices.types import Volume
from replay.branching import asked_action, branch
from replay.branching.parent import parent_of, setting_of
from replay.commands.branch import branch as command
from replay.conditions import ActuatorFault, Condition, PersonAct, SignalFault
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.replaying import replay
from replay.sample_night import sample_night
from replay.wake_rule import wake_table
from tests.replay.branching.played import Played, loaded, written
from tests.replay.nights import Scripted, cue_at, lines_of, setting, steps_of, waking_setting

# --- the prefix, and the same action


@pytest.mark.parametrize("at", [0, 3, 9, 33])
def test_the_recorded_action_gives_the_recorded_trace(tmp_path: Path, at: int) -> None:
    played = Played(tmp_path, RemRule(), waking_setting())
    action = asked_action("sound:low" if played.steps[at]["action"]["kind"] == "sound" else "wait")
    done = played.branch(at, action)
    assert played.is_same_as(done)
    assert (done.parted, done.otherwise, done.same_agent, done.same_code) == (None, (), True, True)
    assert done.branch == done.parent


def test_another_action_parts_the_traces_at_its_step_and_not_before(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    done = played.branch(11, PlaySound(Volume.HIGH))
    ours = done.files["trace.jsonl"].read_bytes().splitlines()
    theirs = played.trace.read_bytes().splitlines()
    first = next(n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    mine, its = json.loads(ours[first]), json.loads(theirs[first])
    assert (mine["step"], mine["action"]["volume"]) == (11, "high")
    assert mine["observation"] == its["observation"]
    assert done.parted == 11
    # rem_rule counts from the last cue: given at 9 and 11, it now goes on at 15 and 19 and 23.
    assert [cue.step for cue in done.parent.cues] == [9, 13, 17, 21]
    assert [cue.step for cue in done.branch.cues] == [9, 11, 15, 19, 23]
    assert done.branch.violations == {"cue_high_volume": 1}


def test_a_cue_that_wakes_moves_the_rest_of_the_night(tmp_path: Path) -> None:
    played = Played(tmp_path, Scripted({}), waking_setting())
    done = played.branch(2, PlaySound(), then="wait")
    assert (len(done.parent.wakings), len(done.branch.wakings)) == (0, 1)
    assert len(done.branch.stages) == len(done.parent.stages) + 4


def test_a_stop_ends_the_branch_where_it_ended_attempts(tmp_path: Path) -> None:
    ends = Played(tmp_path, RemRule(), setting(0.0, ends_at_stop=True)).branch(5, Stop())
    assert (ends.branch.ending, len(ends.branch.stages)) == ("agent_stop", 6)


def test_a_stop_is_a_latch_where_it_was_one(tmp_path: Path) -> None:
    done = Played(tmp_path, RemRule()).branch(5, Stop())
    assert done.branch.ending == "night_end"
    assert done.branch.violations == {"cue_after_stop": 4}


# --- who goes on


def test_the_recorded_agent_has_seen_the_prefix(tmp_path: Path, agents: str) -> None:
    played = Played(tmp_path, loaded(agents, "Counting"))
    done = played.branch(4, UseObject(BedsideObject.LIGHT), then=f"{agents}:Counting")
    reasons = [step["action"]["reason"] for step in steps_of(written(done))]
    assert reasons[3:7] == [
        "asked 4 times",
        "given at the branch",
        "asked 6 times",
        "asked 7 times",
    ]
    assert done.otherwise == ()


def test_another_agent_has_seen_the_prefix_and_what_it_asked_for_there_is_told(
    tmp_path: Path, agents: str
) -> None:
    played = Played(tmp_path, RemRule())
    done = played.branch(12, Wait(), then=f"{agents}:Counting")
    steps = steps_of(written(done))
    assert [step["action"]["kind"] for step in steps[:12]].count("sound") == 1
    assert steps[13]["action"]["reason"] == "asked 14 times"
    assert done.otherwise == (9,)
    assert (done.agent, done.same_agent) == ("counting", False)


def test_an_agent_that_is_not_built_as_it_was_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = Played(tmp_path, RemRule(first_min=4.0))  # cues at 11, 15, 19 and 23
    out = tmp_path / "branch"
    command(played.folder, at=14, action="wait", night=played.night, out=out)
    said = " ".join(capsys.readouterr().out.split())
    assert "rem_rule is not built as it was when the trace was made" in said
    # With its 3 minutes it asks at 9 and, as nothing came of it, at 10; the cue is given at 11.
    assert "rem_rule asked for something else than was recorded: steps 9–10" in said


@pytest.mark.parametrize("name", ["Thinking", "Failing", "Stubborn"])
@pytest.mark.parametrize("at", [0, 20])
def test_latencies_and_failures_of_the_prefix_come_out_again(
    tmp_path: Path, agents: str, name: str, at: int
) -> None:
    played = Played(tmp_path, loaded(agents, name), waking_setting())
    if played.steps[at]["decision"]["status"] == "busy":
        at += 2
    for who in (f"{agents}:{name}", "wait"):
        done = played.branch(at, Wait(), then=who, out=tmp_path / who.rpartition(":")[2])
        assert done.otherwise == () or who == "wait"
        assert [s["decision"] for s in steps_of(written(done))[:at]] == [
            step["decision"] for step in played.steps[:at]
        ]


def test_a_latency_model_of_the_setting_goes_on_in_the_branch(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), setting(0.0, latency=LatencyModel(2.4, 0.5)))
    done = played.branch(9, PlaySound())
    assert played.is_same_as(done)
    other = played.branch(9, Wait("no"), out=tmp_path / "other")
    found = [step["decision"]["latency_s"] for step in steps_of(written(other))]
    assert found == [step["decision"]["latency_s"] for step in played.steps]


def test_calls_of_a_process_are_written_again_with_their_latencies(tmp_path: Path) -> None:
    program = tmp_path / "agent.sh"
    program.write_text(
        "#!/bin/sh\nn=0\nwhile read -r line; do n=$((n+1));"
        ' echo "{\\"kind\\":\\"wait\\",\\"reason\\":\\"line $n\\"}"; done\n'
    )
    program.chmod(0o755)
    played = Played(tmp_path, load_agent(f"cmd:{program}"), letters="LLRRRRLL")
    calls = [line for line in lines_of(played.trace.read_bytes()) if line["kind"] == "call"]
    assert [call["number"] for call in calls] == list(range(1, 10))
    for who in (f"cmd:{program}", "rem_rule"):
        done = played.branch(4, PlaySound(), then=who, out=tmp_path / who[:3])
        again = [line for line in written(done) if line["kind"] == "call"]
        assert again[:6] == calls[:6]  # the greeting and five decisions
        numbers = [call["number"] for call in again]
        assert numbers == list(range(1, 10 if who != "rem_rule" else 7))
    process = tmp_path / "cmd" / "trace.jsonl"
    assert steps_of(lines_of(process.read_bytes()))[7]["action"]["reason"] == "line 9"


# --- what is written beside it


def test_the_manifest_names_parent_step_and_action(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    done = played.branch(11, Whisper("my grey cat is asleep", reason="to see"))
    manifest = json.loads(done.files["manifest.json"].read_bytes())
    assert manifest["branch"] == {
        "parent_trace_sha256": sha256(played.trace.read_bytes()).hexdigest(),
        "parent_hidden_sha256": sha256((played.folder / "hidden.jsonl").read_bytes()).hexdigest(),
        "parent_session": done.parent.session,
        "parent_key": None,
        "parent_branch": None,
        "step": 11,
        "action": {
            "kind": "whisper",
            "volume": "low",
            "line": "my grey cat is asleep",
            "reason": "to see",
        },
        "then": None,
    }
    assert manifest["id"] == done.id != done.parent.session
    trace = done.files["trace.jsonl"].read_bytes()
    assert manifest["files"]["trace.jsonl"] == sha256(trace).hexdigest()


def test_a_branch_can_be_branched_again(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), waking_setting())
    first = played.branch(11, PlaySound(Volume.HIGH))
    again = branch(first.folder, 20, Wait(), night=played.night, out=tmp_path / "again")
    assert steps_of(written(again))[11]["action"]["volume"] == "high"
    manifest = json.loads(again.files["manifest.json"].read_bytes())
    assert manifest["branch"]["parent_branch"]["step"] == 11


def test_two_branches_of_one_kind_are_the_same_bytes(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), waking_setting())
    one = played.branch(11, PlaySound(Volume.HIGH))
    two = played.branch(11, PlaySound(Volume.HIGH), out=tmp_path / "two")
    for name in ("trace.jsonl", "hidden.jsonl", "manifest.json"):
        assert one.files[name].read_bytes() == two.files[name].read_bytes()


def test_without_a_folder_a_branch_goes_to_a_session_of_its_own(tmp_path: Path, home: Path) -> None:
    played = Played(tmp_path, RemRule())
    done = played.branch(11, PlaySound(), out=None)
    assert done.folder == home / "sessions" / done.id


def test_composed_faults_and_a_task_are_read_from_the_manifest(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), setting(0.0, first_epoch=3, steps=12, seed=4))
    path = played.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["condition"] = "flicker+cue_fails+no_report"
    path.write_text(json.dumps(manifest))
    made = setting_of(parent_of(played.folder))
    assert (made.first_epoch, made.steps, made.seed) == (3, 12, 4)
    assert made.condition == Condition(
        SignalFault.FLICKER, ActuatorFault.CUE_FAILS, PersonAct.NO_REPORT
    )


def test_the_bundled_night_is_found_without_being_named(tmp_path: Path) -> None:
    recorded = RecordedNight(sample_night())
    made = setting(0.0, first_epoch=130, steps=8)
    replay(recorded, RemRule(), made, out=tmp_path / "parent")
    done = branch(tmp_path / "parent" / "trace.jsonl", 5, PlaySound(), out=tmp_path / "branch")
    assert [cue.step for cue in done.branch.cues] == [5]


# --- the command


def test_the_command_prints_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played = Played(tmp_path, RemRule())
    out = tmp_path / "branch"
    assert command(played.folder, at=11, action="sound:high", night=played.night, out=out) == 0
    said = capsys.readouterr().out
    assert "11 steps repeated byte by byte" in said
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.strip()}
    assert rows["parent"] == ["34", "4", "4", "0", "0", "night_end"]
    assert rows["branch"] == ["34", "5", "5", "0", "1", "night_end"]
    command(played.folder, at=11, action="sound:high", night=played.night, out=out, json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["parted"], told["branch"]["cues"], told["parent"]["cues"]) == (11, 5, 4)
    assert told["asked_otherwise"] == []


# --- the wake table of the manifest


def test_options_of_the_wake_table_go_on_in_the_branch(tmp_path: Path) -> None:
    options = ("onset_delay", "time_of_night")
    table = wake_table(default_toml("wake_table"), 4.0, options)
    given = replace(setting(), wake_table=table)
    played = Played(tmp_path, cue_at(1, 2, 3, 4), given, letters="W" * 6 + "L" * 20)
    hidden = lines_of((played.folder / "hidden.jsonl").read_bytes())
    assert {"onset_roll", "onset_delay"} & {line.get("event") for line in hidden}
    assert setting_of(parent_of(played.folder)).wake_table == table
    done = played.branch(8, Wait(), then="wait")
    assert done.branch == done.parent


def test_a_manifest_without_wake_options_has_none(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), setting())
    path = played.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for key in ("wake_options", "awake_epochs"):
        manifest.pop(key, None)
    path.write_text(json.dumps(manifest))
    found = setting_of(parent_of(played.folder)).wake_table
    assert (found.options, found.awake_epochs) == ({}, 4)
