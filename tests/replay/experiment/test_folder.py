"""The settings and nights of a run, found again from its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.attempt import attempt
from replay.controls.contenders import contender
from replay.experiment.folder import FolderError, RunFolder, newest_run
from replay.trace_lines import read_bytes
from tests.replay.experiment.runs import agent_file, made, small_run
from tests.replay.nights import Lived, MemorySink, Trace


def test_an_attempt_can_be_played_again_from_its_folder_alone(tmp_path: Path):
    made(small_run(tmp_path, "rem_rule", dropout=0.1), tmp_path / "run")
    run = RunFolder.open(tmp_path / "run")
    key = next(row.unit.key for row in run.rows() if row.delivered)
    trace, hidden = MemorySink(), MemorySink()
    played = attempt(
        run.recorded_night(run.unit(key).night),
        contender("rem_rule"),
        run.setting(key),
        session_id=run.trace(key)[0]["session"],
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    again = Lived(played, trace.bytes(), hidden.bytes())
    packed = tmp_path / "run" / "attempts" / key
    assert again.trace_bytes == read_bytes(Path(f"{packed}.trace.jsonl.zst"))
    assert again.hidden_bytes == read_bytes(Path(f"{packed}.hidden.jsonl.zst"))


def test_settings_of_a_run_whose_agent_has_changed_are_not_guessed(tmp_path: Path):
    spoken = agent_file(tmp_path, "pass")
    folder = made(small_run(tmp_path, spoken), tmp_path / "run").folder
    key = folder.rows()[0].unit.key
    agent_file(tmp_path, "return PlaySound()")
    with pytest.raises(FolderError, match="has changed since; `paprika plan"):
        RunFolder.open(folder.path).setting(key)


def test_the_newest_run_is_the_one_written_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path / "home"))
    with pytest.raises(FolderError, match="no run yet"):
        newest_run()
    for agent in ("wait", "rem_rule"):
        run = small_run(tmp_path, agent)
        made(run, tmp_path / "home" / "runs" / run.id)
    assert newest_run().name == run.id
