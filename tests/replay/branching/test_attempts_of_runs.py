"""Attempts of a run are branched where they lie, and come out again with their faults."""

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from agents.types import PlaySound, Stop, Wait
from devices.types import Volume
from replay.branching import BranchError, asked_action, branch
from replay.commands.branch import branch as command
from replay.conditions import PLAIN, ActuatorFault, Condition, PersonAct, SignalFault
from replay.experiment.run import resolve
from replay.tasks.task import StartKind
from replay.trace_lines import read_bytes
from tests.replay.experiment.runs import made, small_spec
from tests.replay.nights import lines_of, steps_of

EXAMPLE = Path(__file__).parents[3] / "runs/examples/bundled-night"
FAULTY = Condition(SignalFault.FLICKER, ActuatorFault.CUE_LATE, PersonAct.STOP_PRESSED)


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
        kinds=(StartKind.REM_ONSET,),
        conditions=(PLAIN, FAULTY),
    )
    made(resolve(spec), folder / "made")
    return folder / "made"


@pytest.mark.parametrize("agent", ["rem_rule", "oracle", "late_25s", "after_stop"])
def test_attempts_of_a_run_come_out_again_with_their_faults(
    tmp_path: Path, run_folder: Path, agent: str
) -> None:
    traces = sorted(run_folder.glob(f"attempts/*/*/{agent}/x1.trace.jsonl.zst"))
    assert len(traces) == 2
    for number, trace in enumerate(traces):
        rows = read_bytes(trace)
        steps = steps_of(lines_of(rows))
        at = len(steps) // 2
        bare = {k: v for k, v in steps[at]["action"].items() if k != "reason"}
        done = branch(trace, at, asked_action(json.dumps(bare)), out=tmp_path / str(number))
        assert done.files["trace.jsonl"].read_bytes() == rows
        hidden = read_bytes(trace.with_name("x1.hidden.jsonl.zst"))
        assert done.files["hidden.jsonl"].read_bytes() == hidden
        assert (done.otherwise, done.same_agent, done.same_code) == ((), True, True)


def test_an_attempt_of_a_run_is_branched_from_its_folder(tmp_path: Path, run_folder: Path) -> None:
    done = branch(place(run_folder), 10, Stop(), then="clock_only", out=tmp_path / "branch")
    assert (done.branch.ending, len(done.branch.stages)) == ("agent_stop", 11)
    manifest = json.loads(done.files["manifest.json"].read_bytes())
    assert manifest["branch"]["parent_key"].endswith("/rem_rule/x1")


def place(run_folder: Path) -> Path:
    return sorted(run_folder.glob("attempts/*/rem_onset*/rem_rule"))[0]


def changed(run_folder: Path, folder: Path, **given: Any) -> Path:
    """A copy of the run whose manifest tells otherwise."""
    copy = copytree(run_folder, folder / "copy")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, **given}))
    return copy


def test_a_run_of_another_program_goes_on_and_says_so(
    tmp_path: Path, run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((run_folder / "manifest.json").read_text())
    agents = {**manifest["agents"], "rem_rule": {"name": "rem_rule", "source_sha256": "0" * 64}}
    copy = changed(run_folder, tmp_path, id="0" * 16, code_sha256="0" * 64, agents=agents)
    assert command(place(copy), at=3, action="wait", out=tmp_path / "branch") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the program has changed since the trace was made; the prefix has not" in said
    assert "rem_rule is not built as it was when the trace was made" in said


def test_a_run_whose_night_has_other_stages_now_is_refused(
    tmp_path: Path, run_folder: Path
) -> None:
    nights = json.loads((run_folder / "manifest.json").read_text())["nights"]
    (name,) = nights
    nights[name]["stage4_sha256"] = "0" * 64
    copy = changed(run_folder, tmp_path, nights=nights)
    with pytest.raises(BranchError, match="other stages than the night"):
        branch(place(copy), 3, Wait(), out=tmp_path / "branch")


@pytest.mark.parametrize("key", ["nights", "agents"])
def test_a_run_whose_manifest_lacks_what_is_needed_is_refused_by_key(
    tmp_path: Path, run_folder: Path, key: str
) -> None:
    with pytest.raises(BranchError, match=rf"manifest.json: no {key}"):
        branch(place(changed(run_folder, tmp_path, **{key: []})), 3, Wait(), out=tmp_path / "b")


def test_the_example_run_can_be_branched(tmp_path: Path) -> None:
    trace = sorted(EXAMPLE.glob("attempts/*/rem_onset*/rem_rule/x1.trace.jsonl.zst"))[0]
    done = branch(trace, 8, PlaySound(Volume.HIGH), out=tmp_path / "branch")
    assert done.branch.violations["cue_high_volume"] == 1
