"""The pages about the environment say what is so."""

import re
from pathlib import Path
from typing import Any

import pytest

from bedside.recording import MemoryRecording, write_night
from devices.types import Stream
from replay.env.actions import action_space
from replay.env.environment import PaprikaEnv
from replay.env.observations import observation_space
from replay.env.registration import IDS
from replay.env.rewards import RewardWeights
from replay.sample_night import sample_night
from tests.replay.env.environments import night_threads

DOCS = Path(__file__).parents[3] / "docs"
HOW_TO = (DOCS / "how-to" / "train-in-gymnasium.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference" / "environment.md").read_text(encoding="utf-8")


def test_the_how_to_runs_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nights").mkdir()
    whole = sample_night()
    stages = tuple(whole.samples(frozenset({Stream.STAGE})))
    write_night(tmp_path / "nights" / "zeo-01.mcap", MemoryRecording(whole.info, stages))
    known: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", HOW_TO, re.DOTALL):
        exec(block.replace("num_envs=8", "num_envs=2"), known)  # processes take their time
        for name in ("env", "envs"):
            if name in known:
                known[name].close()
        known.pop("envs", None)
    (printed,) = re.findall(r"```\n(step_limit .*?)```", HOW_TO, re.DOTALL)
    assert capsys.readouterr().out == printed + "step_limit\n"
    assert night_threads() == []


def first_cells() -> set[str]:
    return {
        cell
        for row in re.findall(r"^\| (`.*?) \|", REFERENCE, re.MULTILINE)
        for cell in re.findall(r"`([^`]+)`", row)
    }


def test_the_reference_names_every_id_key_option_and_component() -> None:
    named = first_cells()
    assert set(IDS) <= named
    assert set(observation_space(body=True, room=True).spaces) <= named
    assert set(action_space().spaces) <= named
    options = set(PaprikaEnv.__init__.__annotations__) - {"return", "render_mode"}
    assert options <= named
    weights = RewardWeights()
    assert {"body", "theme", "waking", "violation", "progress"} <= named
    assert weights.version in REFERENCE
