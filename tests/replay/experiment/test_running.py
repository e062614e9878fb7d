"""Making a run: the same bytes however it is made, and nothing lost when it is broken off."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.recording import write_night
from replay.experiment import pool, running, worker
from replay.experiment.folder import FolderError, RunFolder
from replay.experiment.nights import NightsError
from replay.experiment.rows import Status
from replay.experiment.run import resolve
from replay.experiment.running import RunningError, differences
from replay.scores.verdicts import Property, Value
from replay.staging import StagingError
from replay.tasks.exposure import Exposure, ExposureError
from tests.conftest import ROOT
from tests.replay.experiment.runs import (
    LETTERS,
    agent_file,
    bytes_of,
    made,
    small_night,
    small_run,
)
from tests.replay.nights import recording

pytestmark = pytest.mark.timeout(120)


def test_one_worker_and_two_give_the_same_bytes(tmp_path: Path):
    run = small_run(tmp_path, "wait", "rem_rule", "fixed_timer", seeds=(1, 2), dropout=0.02)
    one, two = tmp_path / "one", tmp_path / "two"
    assert made(run, one).made == made(run, two, processes=2).made == len(run.planned)
    assert bytes_of(one) == bytes_of(two)
    assert len(bytes_of(one)) == 2 * len(run.planned) + 3


def test_another_clone_gives_the_same_bytes(tmp_path: Path):
    run = small_run(tmp_path, "rem_rule")
    made(run, tmp_path / "here")
    clone = tmp_path / "clone"
    for package in ("devices", "agents", "bedside", "replay", "config"):
        shutil.copytree(ROOT / package, clone / package, symlinks=True)
    shutil.copy(ROOT / "paprika.py", clone)
    subprocess.run(
        [sys.executable, "-m", "paprika", "run", "--agents", "rem_rule", "--nights",
         str(small_night(tmp_path)), "--dropout", "0", "--wake-scale", "1",
         "--out", str(tmp_path / "there"), "--jobs", "1", "--json"],
        cwd=clone, env={**os.environ, "PYTHONHASHSEED": "77"}, check=True, capture_output=True,
    )  # fmt: skip
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")


def test_a_run_that_was_killed_goes_on_and_comes_to_the_same_bytes(tmp_path: Path):
    whole = small_run(tmp_path, "wait", "rem_rule", seeds=(1, 2, 3))
    made(whole, tmp_path / "whole")
    command = [
        sys.executable, "-m", "paprika", "run", "--agents", "wait", "rem_rule", "--seeds", "1-3",
        "--nights", str(small_night(tmp_path)), "--dropout", "0", "--jobs", "1",
        "--wake-scale", "1", "--out", str(tmp_path / "killed"),
    ]  # fmt: skip
    started = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "killed").rglob("*.trace.jsonl.zst")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    started.send_signal(signal.SIGKILL)
    started.wait()
    left = len(list((tmp_path / "killed").rglob("*.trace.jsonl.zst")))
    assert 0 < left < len(whole.planned)

    with pytest.raises(RunningError, match="--resume"):
        made(whole, tmp_path / "killed")
    resumed = made(whole, tmp_path / "killed", resume=True)
    # The killed program's own process may have finished the attempt that it was playing.
    assert left <= resumed.kept <= left + 1
    assert resumed.kept + resumed.made == len(whole.planned)
    parts = [path for path in (tmp_path / "killed").rglob("*.part") if path.unlink() is None]
    assert len(parts) <= 1
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "whole")


def test_a_torn_trace_is_made_again_on_resuming(tmp_path: Path):
    run = small_run(tmp_path)
    folder = made(run, tmp_path / "run").folder
    before = bytes_of(folder.path)
    traces = sorted(folder.path.rglob("*.trace.jsonl.zst"))
    traces[0].write_bytes(traces[0].read_bytes()[:100])
    traces[1].write_bytes(b"")
    traces[2].unlink()
    (folder.path / "results.sqlite").unlink()
    again = made(run, folder.path, resume=True)
    assert again.made == 3
    assert bytes_of(folder.path) == before


def test_a_whole_run_is_opened_and_not_made_again(tmp_path: Path):
    run = small_run(tmp_path)
    made(run, tmp_path / "run")
    before = bytes_of(tmp_path / "run")
    again = made(run, tmp_path / "run")
    assert (again.made, again.kept) == (0, len(run.planned))
    assert bytes_of(tmp_path / "run") == before


def test_the_folder_of_another_run_is_refused_and_left_alone(tmp_path: Path):
    run = small_run(tmp_path)
    made(run, tmp_path / "run")
    before = bytes_of(tmp_path / "run")
    other = resolve(replace(run.spec, dropout=0.1))
    with pytest.raises(RunningError, match=r"dropout: 0\.0 → 0\.1"):
        made(other, tmp_path / "run", resume=True)
    assert bytes_of(tmp_path / "run") == before


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(RunningError, match="not empty"):
        made(small_run(tmp_path), tmp_path / "mine")


def test_a_run_that_another_process_is_making_is_refused(tmp_path: Path):
    (tmp_path / "run").mkdir()
    held = os.open(tmp_path / "run", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StagingError, match="another run is writing"):
            made(small_run(tmp_path), tmp_path / "run")
    finally:
        os.close(held)


def test_an_agent_that_kills_its_process_costs_its_own_attempts_alone(tmp_path: Path):
    deadly = agent_file(tmp_path, "os._exit(7) if self.step == 9 else None", "deadly")
    run = small_run(tmp_path, "wait", deadly)
    folder = made(run, tmp_path / "run", processes=2).folder
    by_agent = {row.unit.agent: row for row in folder.rows() if row.unit.kind == "rem_onset"}
    assert by_agent["wait"].status is Status.COMPLETED
    assert by_agent["deadly"].status is Status.AGENT_ERROR
    assert by_agent["deadly"].detail == "the process died during this attempt (exit code 7)"
    assert [row.unit.key for row in folder.rows()] == [p.unit.key for p in run.planned]
    assert {row.status for row in folder.rows() if row.unit.agent == "wait"} == {Status.COMPLETED}


def test_an_agent_that_never_lets_go_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "LONGEST_ATTEMPT_S", 3.0)
    stuck = agent_file(tmp_path, "time.sleep(600)", "stuck")
    run = small_run(tmp_path, stuck, "wait")
    run = replace(run, planned=run.planned[:2])
    rows = made(run, tmp_path / "run", processes=2).folder.rows()
    assert [row.status for row in rows] == [Status.AGENT_ERROR, Status.COMPLETED]
    assert "did not let go for 3 s" in (rows[0].detail or "")


def test_an_attempt_without_a_trace_stays_planned_and_is_unresolved(tmp_path: Path):
    path = tmp_path / "cannot.py"
    path.write_text(
        "class Cannot:\n"
        "    name = 'cannot'\n"
        "    def reset(self, session): raise ValueError('not tonight')\n"
        "    async def decide(self, observation): ...\n",
        encoding="utf-8",
    )
    folder = made(small_run(tmp_path, f"{path}:Cannot"), tmp_path / "run").folder
    rows, verdicts = folder.rows(), folder.verdicts()
    assert len(rows) == len(verdicts) == 4
    assert {row.status for row in rows} == {Status.AGENT_ERROR}
    assert all("not tonight" in (row.detail or "") for row in rows)
    assert {verdict.overall for verdict in verdicts.values()} == {Value.UNRESOLVED}
    assert {v.values[Property.EVIDENCE_COMPLETE] for v in verdicts.values()} == {Value.FAIL}
    told = [json.loads(line) for line in (folder.path / "failed.jsonl").read_text().splitlines()]
    assert [one["key"] for one in told] == [row.unit.key for row in rows]


def test_an_agent_most_of_whose_decisions_are_errors_is_broken_and_never_passes(tmp_path: Path):
    mostly = agent_file(tmp_path, "assert self.step % 40 == 1", "mostly")
    once = agent_file(tmp_path, "assert self.step != 3", "once")
    folder = made(small_run(tmp_path, mostly, once), tmp_path / "run").folder
    rows, verdicts = folder.rows(), folder.verdicts()
    broken = [row for row in rows if row.unit.agent == "mostly"]
    assert {row.status for row in broken} == {Status.AGENT_ERROR}
    assert {row.detail for row in broken} == {"39 of 40 decisions were none of its own"}
    assert {verdicts[row.unit.key].overall for row in broken} == {Value.UNRESOLVED}
    assert {row.status for row in rows if row.unit.agent == "once"} == {Status.COMPLETED}
    assert {row.decisions["error"] for row in rows if row.unit.agent == "once"} == {1}


def test_one_process_that_dies_costs_one_attempt_also_when_it_is_the_only_one(tmp_path: Path):
    deadly = agent_file(tmp_path, "os._exit(0) if self.step == 9 else None", "deadly")
    run = small_run(tmp_path, deadly)
    run = replace(run, planned=run.planned[:2])
    folder = made(run, tmp_path / "run", processes=1).folder
    assert {row.status for row in folder.rows()} == {Status.AGENT_ERROR}
    again = made(run, tmp_path / "run", processes=1, resume=True)
    assert again.made == 2


def test_a_trace_that_cannot_be_counted_is_an_error_of_ours_and_ends_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(*_: object) -> None:
        raise KeyError("epoch")

    monkeypatch.setattr(worker, "row_of", fails)
    folder = made(small_run(tmp_path, "wait"), tmp_path / "run").folder
    assert {row.status for row in folder.rows()} == {Status.ENV_ERROR}
    assert all("cannot be counted: KeyError" in (row.detail or "") for row in folder.rows())
    assert {v.overall for v in folder.verdicts().values()} == {Value.UNRESOLVED}


def test_a_checker_that_fails_says_so_in_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(_: object) -> None:
        raise ZeroDivisionError("nought")

    monkeypatch.setattr(running, "check", fails)
    folder = made(small_run(tmp_path, "wait"), tmp_path / "run").folder
    assert {v.overall for v in folder.verdicts().values()} == {Value.CHECKER_ERROR}
    assert {v.reason for v in folder.verdicts().values()} == {"ZeroDivisionError: nought"}


def test_a_run_killed_before_its_first_attempt_can_be_resumed(tmp_path: Path):
    run = small_run(tmp_path, "wait")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json.77.part").write_text("{")
    assert made(run, tmp_path / "run").made == 4


def test_a_night_whose_id_is_a_path_is_refused(tmp_path: Path):
    path = tmp_path / "sly.mcap"
    write_night(path, recording(LETTERS, night_id="../../../escaped"))
    with pytest.raises(NightsError, match="cannot name a folder"):
        small_run(tmp_path, nights=(path,))


def test_a_full_disk_is_one_clear_error_and_the_run_goes_on_later(tmp_path: Path):
    run = small_run(tmp_path, "wait")
    (tmp_path / "run" / "attempts").mkdir(parents=True)
    (tmp_path / "run" / "attempts").rmdir()
    command = [
        sys.executable, "-c",
        "import resource, runpy, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        "sys.argv = ['paprika', 'run', '--agents', 'wait', '--nights', sys.argv[1], '--dropout',\n"
        "            '0', '--jobs', '1', '--wake-scale', '1', '--out', sys.argv[2]]\n"
        "runpy.run_module('paprika', run_name='__main__')\n",
        str(run.spec.nights[0]), str(tmp_path / "run"),
    ]  # fmt: skip
    failed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert len(failed.stderr.strip().splitlines()) == 1
    assert "free some space" in failed.stderr
    assert made(run, tmp_path / "run", resume=True).folder.rows()


def test_a_folder_without_a_run_or_with_a_newer_one_is_named(tmp_path: Path):
    with pytest.raises(FolderError, match=r"no manifest\.json"):
        RunFolder.open(tmp_path)
    folder = made(small_run(tmp_path, "wait"), tmp_path / "run").folder
    manifest = folder.path / "manifest.json"
    manifest.write_text(json.dumps({**folder.manifest, "schema": 99}))
    with pytest.raises(FolderError, match="schema 99 is newer"):
        RunFolder.open(folder.path)
    manifest.write_text("{")
    with pytest.raises(FolderError, match="cannot be read"):
        RunFolder.open(folder.path)


def test_the_traces_of_an_attempt_are_found_by_its_key(tmp_path: Path):
    folder = made(small_run(tmp_path, "rem_rule"), tmp_path / "run").folder
    row = folder.rows()[1]
    trace, hidden = folder.trace(row.unit.key), folder.hidden(row.unit.key)
    assert trace[0]["agent"] == "rem_rule"
    assert sum(line["kind"] == "step" for line in trace) == row.steps == 40
    assert hidden[0]["seed"] == row.unit.seed
    with pytest.raises(FolderError, match="no attempt"):
        folder.unit("small/nothing")


def test_differences_name_the_key_and_both_values():
    before = {"id": "a", "dropout": 0.0, "agents": {"wait": {"v": 1}}, "seeds": [1]}
    now = {"id": "b", "dropout": 0.1, "agents": {"wait": {"v": 2}}, "seeds": [1], "new": True}
    assert differences(before, now) == [
        "dropout: 0.0 → 0.1",
        "agents.wait.v: 1 → 2",
        "new: null → true",
    ]


def test_a_held_out_seed_may_be_looked_at_in_one_run_and_be_resumed(tmp_path: Path):
    exposure = Exposure(tmp_path / "exposure.jsonl")
    mine = agent_file(tmp_path, "pass", "mine")
    run = small_run(tmp_path, mine, "rem_rule", seeds=(5, 6))
    made(run, tmp_path / "run", exposure=exposure)
    (tmp_path / "run" / "results.sqlite").unlink()
    made(run, tmp_path / "run", exposure=exposure, resume=True)
    other = resolve(replace(run.spec, dropout=0.1))
    with pytest.raises(ExposureError, match=rf"mine\.py:Made .* seed 6 of small, in run {run.id}"):
        made(other, tmp_path / "other", exposure=exposure)
    baseline = resolve(replace(other.spec, agents=("rem_rule", "one_cue")))
    made(baseline, tmp_path / "baseline", exposure=exposure)
    assert not (tmp_path / "other" / "attempts").exists()
    made(resolve(replace(other.spec, seeds=(5,))), tmp_path / "third", exposure=exposure)


def test_an_agent_that_goes_elsewhere_or_interrupts_takes_nobody_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    strays = agent_file(tmp_path, "os.chdir('/')", "strays").replace(f"{tmp_path}/", "")
    interrupts = agent_file(tmp_path, "raise KeyboardInterrupt", "interrupts")
    run = small_run(tmp_path, strays, interrupts, "wait")
    folder = made(run, Path("run"), processes=2).folder
    by_agent = {agent: set() for agent in ("strays", "interrupts", "wait")}
    for row in folder.rows():
        by_agent[row.unit.agent].add(row.status)
    assert by_agent == {
        "strays": {Status.COMPLETED},
        "interrupts": {Status.AGENT_ERROR},
        "wait": {Status.COMPLETED},
    }
    assert len(list((tmp_path / "run").rglob("*.trace.jsonl.zst"))) == 8


def test_a_hidden_trace_of_another_attempt_is_not_taken_for_its_own(tmp_path: Path):
    run = small_run(tmp_path, "wait", "rem_rule")
    folder = made(run, tmp_path / "run").folder
    before = bytes_of(folder.path)
    hidden = sorted(folder.path.rglob("*.hidden.jsonl.zst"))
    hidden[0].write_bytes(hidden[-1].read_bytes())
    (folder.path / "results.sqlite").unlink()
    assert made(run, folder.path, resume=True).made == 1
    assert bytes_of(folder.path) == before
