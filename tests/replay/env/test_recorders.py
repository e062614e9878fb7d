"""Recorders: whole episodes in memory and in folders; clear errors."""

from pathlib import Path

import pytest

from bedside.trace import TraceError
from replay.env.recorders import FolderRecorder, MemoryRecorder
from tests.replay.env.environments import LOUD, environment, played
from tests.replay.nights import lines_of, night

NAMES = ["components", "hidden", "trace"]


def test_memory_keeps_every_episode_apart() -> None:
    recorder = MemoryRecorder()
    with environment(night("R" * 60), start=0, steps=4, recorder=recorder) as env:
        for seed in (1, 2):
            played(env, {0: LOUD}, seed=seed)
    assert len(recorder.episodes) == 2
    assert [lines_of(one.hidden)[0]["seed"] for one in recorder.episodes] == [1, 2]
    assert [len(lines_of(one.components)) for one in recorder.episodes] == [4, 4]


def test_a_folder_holds_three_files_an_episode_and_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "er"
    for _ in range(2):
        with environment(night("R" * 60), start=0, steps=4, recorder=FolderRecorder(folder)) as env:
            played(env, {0: LOUD})
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"000{number}.{name}.jsonl" for number in (1, 2) for name in NAMES]
    first, second = (folder / f"000{number}.trace.jsonl" for number in (1, 2))
    assert first.read_bytes() == second.read_bytes()
    assert lines_of(first.read_bytes())[-1]["ending"] == "step_limit"


def test_an_episode_has_no_trace_under_its_name_before_it_is_over(tmp_path: Path) -> None:
    with environment(night("R" * 60), start=0, recorder=FolderRecorder(tmp_path)) as env:
        env.reset()
        env.step(LOUD)
        assert [path.suffix for path in tmp_path.iterdir()] == [".part"] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"0001.{n}.jsonl" for n in NAMES]


def test_hidden_values_are_only_in_the_hidden_files(tmp_path: Path) -> None:
    with environment(night("R" * 60), start=0, recorder=FolderRecorder(tmp_path)) as env:
        played(env, {0: LOUD}, seed=918_273_645)
    assert b"918273645" in (tmp_path / "0001.hidden.jsonl").read_bytes()
    assert b"918273645" not in (tmp_path / "0001.trace.jsonl").read_bytes()


def test_a_folder_that_cannot_be_made_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TraceError, match="file"):
        FolderRecorder(tmp_path / "file")
