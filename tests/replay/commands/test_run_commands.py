"""`paprika run`, `plan`, `regrade` and `check` as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT
from tests.replay.experiment.runs import agent_file, small_night
from tests.replay.experiment.test_regrading import TABLE

pytestmark = pytest.mark.timeout(120)


SMALL = ("run", "--agents", "wait", "rem_rule", "--wake-scale", "1")


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def paprika(home: Path, *words: object) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "paprika", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PAPRIKA_HOME": str(home), "COLUMNS": "100"},
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one small run in it."""
    folder = tmp_path_factory.mktemp("home")
    small_night(folder)
    made = paprika(
        folder,
        "run",
        "--agents",
        "wait",
        "rem_rule",
        "--nights",
        folder,
        "--jobs",
        1,
        "--wake-scale",
        1,
    )
    assert made.code == 0, made.err
    assert "8 attempts made in" in made.out
    return folder


def test_the_seeds_own_command_runs_and_says_where_everything_lies(home: Path):
    again = paprika(
        home, "run", "--agents", "wait", "rem_rule", "--nights", home, "--wake-scale", 1
    )
    assert again.code == 0
    assert "Nothing to make: 8 attempts were there already" in again.out
    (folder,) = (home / "runs").iterdir()
    assert str(folder) in again.out
    assert "rem_rule" in again.out
    assert not again.err


def test_json_is_one_object_with_run_statuses_and_scoreboard(home: Path):
    told = paprika(
        home, "run", "--agents", "wait", "rem_rule", "--nights", home, "--json", "--wake-scale", 1
    ).json
    assert told["statuses"] == {"completed": 8}
    assert {score["agent"] for score in told["scoreboard"]["scores"]} == {"wait", "rem_rule"}
    assert Path(told["folder"]).is_dir()


def test_a_dry_run_makes_nothing(home: Path, tmp_path: Path):
    out = tmp_path / "run"
    told = paprika(
        home, "run", "--agents", "wait", "one_cue", "--nights", home, "--seeds", "1-3", "5",
        "--wake-scale", "0.5", "1", "--out", out, "--dry-run", "--json",
    ).json  # fmt: skip
    assert told["attempts"] == 2 * 4 * 4 * 2
    assert told["seeds"] == [1, 2, 3, 5]
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--seeds", "1-x"), "--seeds 1-x"),
        (("--seeds", "5-1"), "--seeds 5-1"),
        (("--seed", "6.5"), "--seed 6.5"),
        (("--seed", "9" * 30), "--seed 999"),
        (("--episode", "--seed", "6", "--wake-scale", "1"), "--seed 6: held out"),
        (("--seed", "1", "--seeds", "2"), "--seed and --seeds"),
        (("--latency", "soon"), "--latency soon"),
        (("--jobs", "0"), "--jobs 0"),
        (("--dropout", "2"), "--dropout 2"),
        (("--conditions", "thunder"), "thunder"),
        (("--nights", "nowhere"), "nowhere"),
        (("--service", "model"), "--service model"),
        (("--cache-mode", "sometimes"), "sometimes"),
        (("--episode", "--wake-scale", "1", "2"), "--wake-scale: an episode takes one"),
        (("--episode", "--conditions", "flicker"), "--conditions: an episode does not take it"),
        (("--episode", "--jobs", "2"), "--jobs: an episode does not take it"),
        (("--conditions", "no_report"), "no_report"),
        (("--wake-option", "moon"), "moon"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_two(
    home: Path, words: tuple[str, ...], says: str
):
    done = paprika(home, "run", "--agents", "wait", *words)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_run_some_attempts_of_which_left_no_trace_ends_with_exit_code_one(tmp_path: Path):
    small_night(tmp_path)
    path = tmp_path / "cannot.py"
    path.write_text(
        "class Cannot:\n"
        "    name = 'cannot'\n"
        "    def reset(self, session): raise ValueError('not tonight')\n"
        "    async def decide(self, observation): ...\n",
        encoding="utf-8",
    )
    done = paprika(
        tmp_path, "run", "--agents", f"{path}:Cannot", "--nights", tmp_path, "--wake-scale", 1
    )
    assert done.code == 1
    assert "4 of 4 attempts left no trace" in done.out
    assert "not tonight" in done.out


def test_plan_tells_another_wake_table_from_no_change(home: Path, tmp_path: Path):
    table = tmp_path / "table.toml"
    table.write_text(TABLE, encoding="utf-8")
    (folder,) = (home / "runs").iterdir()
    assert paprika(home, "plan", "--json").json["counts"] == {
        "keep": 8,
        "regrade": 0,
        "rerun": 0,
        "make": 0,
    }
    changed = paprika(home, "plan", folder, "--wake-table", table)
    assert "       8  rerun" in changed.out
    assert "changed: wake_table.rem.low: 0.05 → 0.06" in changed.out


def test_regrade_says_that_there_is_nothing_to_judge(home: Path):
    done = paprika(home, "regrade")
    assert "Nothing to regrade" in done.out
    assert len(paprika(home, "regrade", "--json").json["verdict_sets"]) == 1


def test_check_keeps_agents_to_their_promises(tmp_path: Path):
    assert paprika(tmp_path, "check", "rem_rule").code == 0
    rude = agent_file(tmp_path, "raise ValueError('no')", "rude")
    broken = paprika(tmp_path, "check", rude, "--json")
    assert broken.code == 1
    assert json.loads(broken.out)["kept"] is False
    leaving = agent_file(tmp_path, "raise SystemExit(0)", "leaving")
    left = paprika(tmp_path, "check", leaving, "--json")
    assert left.code == 1
    assert json.loads(left.out)["kept"] is False
    unknown = paprika(tmp_path, "check", "rem_rul")
    assert unknown.code == 2
    assert "did you mean rem_rule" in unknown.err
