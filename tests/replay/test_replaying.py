"""A replay into a folder: all of it or none of it."""

import json
import resource
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agents.rem_rule import RemRule
from agents.wait import WaitAgent
from bedside.recording import write_night
from bedside.recording.reader import NightFile
from devices.types import PaprikaError
from replay.recorded_night import RecordedNight
from replay.replaying import ReplayingError, replay
from replay.trace_lines import read_lines
from tests.replay.nights import (
    Scripted,
    cue_at,
    files_at_most,
    night,
    recording,
    setting,
    waking_setting,
)

LETTERS = "LLLL" + "R" * 20 + "DDDD"
FILES = ["hidden.jsonl", "manifest.json", "page/index.html", "trace.jsonl"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No replay of a test may end up in somebody's own folder."""
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def files_in(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def test_a_replay_writes_both_traces_manifest_and_page(tmp_path: Path) -> None:
    done = replay(night(LETTERS), RemRule(), setting(1.0), out=tmp_path / "out")
    assert files_in(tmp_path / "out") == FILES
    assert sorted(done.files) == FILES
    trace = done.files["trace.jsonl"].read_bytes()
    assert done.trace_sha256 == sha256(trace).hexdigest()
    manifest = json.loads(done.files["manifest.json"].read_bytes())
    assert manifest["files"]["trace.jsonl"] == done.trace_sha256
    assert manifest["id"] == done.summary.session == json.loads(trace.splitlines()[0])["session"]
    assert len(done.summary.cues) == 4  # REM of 20 epochs: its 6th, 10th, 14th and 18th
    assert done.summary.agent == "rem_rule"


def test_without_a_folder_it_goes_to_the_session_s_own(home: Path) -> None:
    done = replay(night(LETTERS), WaitAgent(), setting(1.0))
    assert done.files["trace.jsonl"] == home / "sessions" / done.summary.session / "trace.jsonl"
    assert files_in(home / "sessions" / done.summary.session) == FILES


def test_the_speed_is_the_night_s_length_over_the_time_it_took(tmp_path: Path) -> None:
    done = replay(night(LETTERS), cue_at(5), waking_setting(), out=tmp_path)
    assert done.wall_s > 0.0
    assert done.speed_x == pytest.approx((28 + 4) * 30.0 / done.wall_s)


def test_a_night_file_replays_as_its_recording_in_memory_does(tmp_path: Path) -> None:
    made = recording(LETTERS, interval_s=1.0, truth="L" * len(LETTERS))
    write_night(tmp_path / "night-a.mcap", made)
    found = [
        replay(RecordedNight(one), RemRule(), setting(4.0), out=tmp_path / name)
        for name, one in (("memory", made), ("file", NightFile.open(tmp_path / "night-a.mcap")))
    ]
    lines = [read_lines(one.files["trace.jsonl"]) for one in found]
    assert lines[0][1:] == lines[1][1:]
    heads = [{**head[0], "session": None} for head in lines]  # the file is part of the id
    assert heads[0] == heads[1]


def test_a_replay_again_gives_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        replay(night(LETTERS), RemRule(), setting(4.0), out=tmp_path / name)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("letters", ["", "?", "????????"])
def test_a_night_without_one_valid_epoch_is_refused(tmp_path: Path, letters: str) -> None:
    with pytest.raises(ReplayingError, match=r"night-a: not one valid epoch"):
        replay(night(letters), WaitAgent(), setting(1.0), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("most_bytes", [0, 200, 4000, 9000])
def test_no_space_leaves_nothing_behind(tmp_path: Path, most_bytes: int) -> None:
    # Enough for nothing, for one line, for the hidden trace, for the trace but not the page.
    part = setting(1.0, steps=4)
    with files_at_most(most_bytes), pytest.raises(PaprikaError) as caught:
        replay(night(LETTERS), WaitAgent(), part, out=tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "out") in str(caught.value)
    assert files_in(tmp_path) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != most_bytes


def test_a_replay_that_fails_leaves_an_earlier_one_as_it_was(tmp_path: Path) -> None:
    replay(night(LETTERS), WaitAgent(), setting(1.0), out=tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}

    class Broken(Scripted):
        def reset(self, session: Any) -> None:
            raise ValueError("no")

    with pytest.raises(PaprikaError, match="cannot begin"):
        replay(night(LETTERS), Broken({}), setting(1.0), out=tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in files_in(tmp_path)} == before


def test_an_interrupted_replay_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt(done: int, of: int, what: str) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(night(LETTERS), WaitAgent(), setting(1.0), out=tmp_path, progress=interrupt)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("out", ["a-file", "a-file/below"])
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, out: str) -> None:
    (tmp_path / "a-file").write_bytes(b"")
    with pytest.raises(PaprikaError, match=r"a-file.*--out"):
        replay(night(LETTERS), WaitAgent(), setting(1.0), out=tmp_path / out)
