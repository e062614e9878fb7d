"""Files of a run appear when all are whole, and two runs never mix."""

import os
from pathlib import Path

import pytest

from replay.staging import StagingError, staged, write_whole


def test_files_appear_only_when_the_run_has_ended_well(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with staged(folder) as staging:
        (staging / "page").mkdir()
        (staging / "trace.jsonl").write_text("whole")
        (staging / "page" / "index.html").write_text("page")
        assert [path.name for path in folder.iterdir()] == [staging.name]
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    assert found == ["page", "page/index.html", "trace.jsonl"]


def test_a_failed_run_leaves_an_earlier_good_one_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text("earlier")

    def fail(staging: Path) -> None:
        (staging / "trace.jsonl").write_text("half")
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"), staged(tmp_path) as staging:
        fail(staging)
    assert (tmp_path / "trace.jsonl").read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["trace.jsonl"]


def test_a_second_run_for_the_same_folder_is_refused_while_the_first_lasts(tmp_path: Path) -> None:
    with staged(tmp_path) as staging:
        with pytest.raises(StagingError, match="another run is writing here"), staged(tmp_path):
            pytest.fail("two runs at once")
        assert staging.is_dir()
    with staged(tmp_path):
        pass


def test_a_folder_where_a_file_must_go_is_named(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").mkdir()
    with pytest.raises(StagingError, match=r"trace\.jsonl"), staged(tmp_path) as staging:
        (staging / "trace.jsonl").write_text("whole")


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(StagingError, match=r"out.*choose another --out"), staged(tmp_path / "out"):
        pytest.fail("no folder")


def test_what_a_killed_run_left_is_swept_by_the_next_of_the_same_number(tmp_path: Path) -> None:
    left = tmp_path / f".{os.getpid()}.part"
    left.mkdir()
    (left / "old").write_text("old")
    with staged(tmp_path) as staging:
        assert list(staging.iterdir()) == []


def test_the_folder_of_a_run_of_tasks_is_left_alone(tmp_path: Path):
    (tmp_path / "attempts").mkdir()
    (tmp_path / "manifest.json").write_text("a run's")
    with pytest.raises(StagingError, match="holds a run"), staged(tmp_path) as folder:
        (folder / "manifest.json").write_text("another's")
    assert (tmp_path / "manifest.json").read_text() == "a run's"


def test_a_file_is_written_whole_with_its_folder_or_not_at_all(tmp_path: Path):
    path = tmp_path / "deep" / "down" / "file"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert [one.name for one in path.parent.iterdir()] == ["file"]
    with pytest.raises(StagingError, match="file/below: "):
        write_whole(path / "below", b"three")
    assert path.read_bytes() == b"two"
