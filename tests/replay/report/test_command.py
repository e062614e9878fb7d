"""`paprika report`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devices.types import PaprikaError
from replay.commands.report import report
from replay.experiment.folder import RunFolder


def test_the_command_says_where_the_pages_are(
    run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert report(run.path, out=tmp_path) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{tmp_path / 'index.html'}: 5 pages, ")


def test_json_is_one_object(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert report(run.path, out=tmp_path, json=True) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["run"] == run.manifest["id"]
    assert said["index"] == str(tmp_path / "index.html")
    assert said["bytes"] == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert len(said["pages"]) == 5


def test_a_folder_without_a_run_is_one_clear_line(tmp_path: Path):
    with pytest.raises(PaprikaError, match="give a run's folder"):
        report(tmp_path)
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "paprika", "report", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=root,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(tmp_path) in done.stderr
