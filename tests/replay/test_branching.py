"""Branches: the prefix comes out byte by byte, the action is given, and somebody goes on."""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.rem_rule import RemRule
from agents.types import (
    Action,
    BedsideObject,
    PlaySound,
    Stop,
    UseObject,
    Wait,
    Whisper,
)
from bedside.recording import write_night
from devices.types import PaprikaError, Volume
from replay.branching import Branched, BranchError, action_in_words, asked_action, branch
from replay.branching.parent import parent_of
from replay.commands.branch import branch as command
from replay.conditions import PLAIN, ActuatorFault, Condition, PersonAct, SignalFault
from replay.experiment.run import resolve
from replay.export.lines import raw_lines
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.replaying import replay
from tests.replay.experiment.runs import made, small_spec
from tests.replay.nights import (
    Scripted,
    lines_of,
    recording,
    setting,
    steps_of,
    waking_setting,
)

LETTERS = "LLLL" + "R" * 20 + "DDDD" + "LLLLLL"
"""rem_rule cues at steps 9, 13, 17 and 21: REM has lasted 3 min when step 9 has closed."""

AGENTS = '''
import asyncio
from agents.types import *
from devices.types import Volume

class Counting:
    """Says how often it was asked, so that its state can be seen."""
    name = "counting"
    def reset(self, session):
        self.asked = 0
    async def decide(self, observation):
        self.asked += 1
        return Wait(f"asked {self.asked} times")

class Thinking(Counting):
    """Takes as long as the step is old, and cues every third time."""
    name = "thinking"
    async def decide(self, observation):
        self.asked += 1
        await asyncio.sleep((self.asked % 7) / 3)
        return PlaySound() if self.asked % 3 == 0 else Wait(f"asked {self.asked}")

class Failing(Counting):
    """Fails in every way in turn: error, nonsense, cancels itself, exits, late, and is right."""
    name = "failing"
    async def decide(self, observation):
        self.asked += 1
        turn = self.asked % 8
        if turn == 1:
            raise ValueError(f"turn {self.asked}")
        if turn == 2:
            return "play something"
        if turn == 3:
            raise asyncio.CancelledError
        if turn == 4:
            raise SystemExit(3)
        if turn == 5:
            await asyncio.sleep(1000)
        if turn == 6:
            raise ValueError
        return PlaySound(Volume.LOW, f"turn {self.asked}")

class Stubborn(Counting):
    """Does not let go for two steps now and then."""
    name = "stubborn"
    async def decide(self, observation):
        self.asked += 1
        if self.asked % 4 == 0:
            for _ in range(5):
                try:
                    await asyncio.sleep(20)
                except asyncio.CancelledError:
                    pass
        return PlaySound(Volume.LOW, f"asked {self.asked}")
'''


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No branch of a test may end up in somebody's own folder."""
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def agents(tmp_path: Path) -> str:
    path = tmp_path / "these_agents.py"
    path.write_text(AGENTS)
    return str(path)


def night_file(folder: Path, letters: str = LETTERS, **given: Any) -> Path:
    path = folder / "night-a.mcap"
    write_night(path, recording(letters, **given))
    return path


class Played:
    """A replay of a night file in a folder."""

    def __init__(self, folder: Path, agent: Any, made: Any = None, letters: str = LETTERS) -> None:
        from bedside.recording import NightFile

        self.night = night_file(folder, letters)
        self.folder = folder / "parent"
        recorded = RecordedNight(NightFile.open(self.night))
        replay(recorded, agent, made or setting(0.0), out=self.folder)

    @property
    def trace(self) -> Path:
        return self.folder / "trace.jsonl"

    @property
    def steps(self) -> list[dict[str, Any]]:
        return steps_of(lines_of(self.trace.read_bytes()))

    def branch(self, at: int, action: Action, **given: Any) -> Branched:
        given.setdefault("out", self.folder.parent / "branch")
        return branch(self.folder, at, action, night=self.night, **given)

    def is_same_as(self, done: Branched) -> bool:
        names = ("trace.jsonl", "hidden.jsonl")
        return all((self.folder / n).read_bytes() == done.files[n].read_bytes() for n in names)


def loaded(agents: str, name: str) -> Any:
    from bedside.agent_loading import load_agent

    return load_agent(f"{agents}:{name}")


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
@pytest.mark.parametrize("at", [0, 7, 20, 30])
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
    played = Played(tmp_path, load(f"cmd:{program}"), letters="LLRRRRLL")
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


def load(spec: str) -> Any:
    from bedside.agent_loading import load_agent

    return load_agent(spec)


def written(done: Branched) -> list[dict[str, Any]]:
    return lines_of(done.files["trace.jsonl"].read_bytes())


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
    from replay.branching.parent import setting_of

    made = setting_of(parent_of(played.folder))
    assert (made.first_epoch, made.steps, made.seed) == (3, 12, 4)
    assert made.condition == Condition(
        SignalFault.FLICKER, ActuatorFault.CUE_FAILS, PersonAct.NO_REPORT
    )


def test_the_bundled_night_is_found_without_being_named(tmp_path: Path) -> None:
    from replay.sample_night import sample_night

    recorded = RecordedNight(sample_night())
    made = setting(0.0, first_epoch=130, steps=8)
    replay(recorded, RemRule(), made, out=tmp_path / "parent")
    done = branch(tmp_path / "parent" / "trace.jsonl", 5, PlaySound(), out=tmp_path / "branch")
    assert [cue.step for cue in done.branch.cues] == [5]


# --- refusals


def test_a_changed_prefix_is_refused_with_its_line(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    rows = played.trace.read_bytes().splitlines(keepends=True)
    place = next(n for n, row in enumerate(rows) if b'"step":5,' in row)
    rows[place] = rows[place].replace(b'"coverage":1.0', b'"coverage":0.5')
    played.trace.write_bytes(b"".join(rows))
    with pytest.raises(
        BranchError, match=rf"trace.jsonl: line {place + 1} was .*0\.5.* now .*1\.0"
    ):
        played.branch(11, Wait())
    assert not any((tmp_path / "branch").iterdir())


def test_what_comes_after_the_step_may_have_been_changed(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    changed = played.trace.read_bytes().replace(b'"step":30,"t":930.0', b'"step":30,"t":930.5')
    played.trace.write_bytes(changed)
    assert played.branch(11, Wait()).parted == 30


def test_a_changed_step_of_the_branch_is_refused_where_it_was_seen_otherwise(
    tmp_path: Path,
) -> None:
    played = Played(tmp_path, RemRule())
    rows = played.trace.read_bytes().splitlines(keepends=True)
    place = next(n for n, row in enumerate(rows) if b'"step":11,' in row)
    rows[place] = rows[place].replace(b'"stage":"rem"', b'"stage":"deep"')
    played.trace.write_bytes(b"".join(rows))
    with pytest.raises(BranchError, match=f"line {place + 1} was"):
        played.branch(11, Wait())


def test_a_changed_hidden_prefix_is_refused(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), waking_setting())
    hidden = played.folder / "hidden.jsonl"
    hidden.write_bytes(hidden.read_bytes().replace(b'"stage":"rem"', b'"stage":"deep"', 1))
    with pytest.raises(BranchError, match=r"hidden.jsonl: line 2 was"):
        played.branch(11, Wait())


def test_another_seed_in_the_manifest_is_refused(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), waking_setting())
    path = played.folder / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(BranchError, match=r"hidden.jsonl: line 1"):
        played.branch(11, Wait())


def test_another_night_is_refused_by_its_stages(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    other = tmp_path / "other"
    other.mkdir()
    wrong = night_file(other, LETTERS[::-1])
    with pytest.raises(BranchError, match="other stages than the night 'night-a'"):
        branch(played.folder, 11, Wait(), night=wrong, out=tmp_path / "branch")


def test_a_night_that_is_not_the_bundled_one_must_be_named(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    with pytest.raises(BranchError, match="give its file with --night"):
        branch(played.folder, 11, Wait())


@pytest.mark.parametrize("at", [-1, 34, 10**9])
def test_a_step_that_is_not_there_is_refused_with_the_ones_that_are(
    tmp_path: Path, at: int
) -> None:
    with pytest.raises(BranchError, match=rf"no step {at}; give --at 0 to 33"):
        Played(tmp_path, RemRule()).branch(at, Wait())


def test_a_step_at_which_nobody_was_asked_is_refused(tmp_path: Path, agents: str) -> None:
    played = Played(tmp_path, loaded(agents, "Stubborn"))
    busy = next(s["step"] for s in played.steps if s["decision"]["status"] == "busy")
    with pytest.raises(BranchError, match=f"nobody is asked at step {busy}"):
        played.branch(busy, Wait(), then=f"{agents}:Stubborn")


def test_the_parent_is_never_written_over(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    with pytest.raises(BranchError, match="the parent's own folder"):
        played.branch(11, Wait(), out=played.folder)


def test_an_agent_that_cannot_be_found_again_must_be_named(tmp_path: Path) -> None:
    played = Played(tmp_path, Scripted({}))
    with pytest.raises(BranchError, match=r"no agent 'scripted'.*--then"):
        played.branch(11, Wait())


@pytest.mark.parametrize("name", ["manifest.json", "hidden.jsonl"])
def test_what_must_stand_beside_the_trace_is_named(tmp_path: Path, name: str) -> None:
    played = Played(tmp_path, RemRule())
    (played.folder / name).unlink()
    with pytest.raises(PaprikaError, match=name.partition(".")[0]):
        played.branch(11, Wait())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", "one"),
        ("seed", True),
        ("mode", "careful"),
        ("theme", []),
        ("theme", {"name": "cat", "memory": "x", "lines": [1]}),
        ("wake_table", {"light": {}}),
        ("wake_scale", None),
        ("first_epoch", 1.5),
        ("condition", "flicker+flicker"),
        ("condition", "earthquake"),
        ("latency", {"median_s": "long"}),
        ("recording", None),
        ("dropout", {}),
    ],
)
def test_a_manifest_that_cannot_be_is_refused_by_key(tmp_path: Path, key: str, value: Any) -> None:
    played = Played(tmp_path, RemRule())
    path = played.folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(BranchError, match=f"manifest.json.*{key}"):
        played.branch(11, Wait())


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, raw: bytes) -> None:
    played = Played(tmp_path, RemRule())
    (played.folder / "manifest.json").write_bytes(raw)
    with pytest.raises(PaprikaError, match=r"manifest.json"):
        played.branch(11, Wait())


@settings(max_examples=40)
@given(where=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_trace_with_any_byte_changed_is_branched_or_refused(
    where: int, byte: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    played = Played(folder, RemRule(), letters="LLRRRRRRRRRR")
    raw = bytearray(played.trace.read_bytes())
    raw[where % len(raw)] = byte
    played.trace.write_bytes(raw)
    with suppress(PaprikaError):
        assert len(played.branch(6, Wait()).branch.stages) == 12


# --- the words of an action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("wait", Wait()),
        ("stop", Stop()),
        ("sound", PlaySound()),
        ("sound:high", PlaySound(Volume.HIGH)),
        ("whisper:the sea: again", Whisper("the sea: again")),
        ("scent", UseObject(BedsideObject.SCENT)),
        ("light", UseObject(BedsideObject.LIGHT)),
        ("diffuser", UseObject(BedsideObject.DIFFUSER)),
        ('{"kind":"sound","volume":"medium","reason":"r"}', PlaySound(Volume.MEDIUM, "r")),
    ],
)
def test_an_action_is_read_from_json_or_a_short_form(text: str, action: Action) -> None:
    assert asked_action(text) == action
    if not text.startswith("{") and text != "sound":
        assert action_in_words(action) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sing",
        "sound:loud",
        "whisper",
        "whisper:",
        "wait:now",
        "{",
        '{"kind":"wait","x":1}',
        "[]",
    ],
)
def test_what_is_no_action_is_refused_with_what_it_may_be(text: str) -> None:
    with pytest.raises(BranchError, match=r"--action .*sound:low"):
        asked_action(text)


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


# --- attempts of a run


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    spec = small_spec(
        folder,
        "rem_rule",
        "oracle",
        "late_25s",
        "after_stop",
        dropout=0.1,
        conditions=(
            PLAIN,
            Condition(SignalFault.FLICKER, ActuatorFault.CUE_LATE, PersonAct.STOP_PRESSED),
        ),
    )
    made(resolve(spec), folder / "made")
    return folder / "made"


@pytest.mark.parametrize("agent", ["rem_rule", "oracle", "late_25s", "after_stop"])
def test_attempts_of_a_run_come_out_again_with_their_faults(
    tmp_path: Path, run_folder: Path, agent: str
) -> None:
    traces = sorted(run_folder.glob(f"attempts/*/*/{agent}/x1.trace.jsonl.zst"))
    assert len(traces) >= 4
    for number, trace in enumerate(traces):
        rows = b"".join(raw_lines(trace))
        steps = steps_of(lines_of(rows))
        at = len(steps) // 2
        bare = {k: v for k, v in steps[at]["action"].items() if k != "reason"}
        done = branch(trace, at, asked_action(json.dumps(bare)), out=tmp_path / str(number))
        assert done.files["trace.jsonl"].read_bytes() == rows
        hidden = b"".join(raw_lines(trace.with_name("x1.hidden.jsonl.zst")))
        assert done.files["hidden.jsonl"].read_bytes() == hidden
        assert (done.otherwise, done.same_agent) == ((), True)


def test_an_attempt_of_a_run_is_branched_from_its_folder(tmp_path: Path, run_folder: Path) -> None:
    place = sorted(run_folder.glob("attempts/*/rem_onset*/rem_rule"))[0]
    done = branch(place, 10, Stop(), then="clock_only", out=tmp_path / "branch")
    assert (done.branch.ending, len(done.branch.stages)) == ("agent_stop", 11)
    manifest = json.loads(done.files["manifest.json"].read_bytes())
    assert manifest["branch"]["parent_key"].endswith("/rem_rule/x1")


def test_a_run_that_was_made_of_something_else_is_refused(tmp_path: Path, run_folder: Path) -> None:
    copy = copytree(run_folder, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "id": "0" * 16}))
    place = sorted(copy.glob("attempts/*/*/rem_rule"))[0]
    with pytest.raises(BranchError, match="paprika plan"):
        branch(place, 3, Wait(), out=tmp_path / "branch")
