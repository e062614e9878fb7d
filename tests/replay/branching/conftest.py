"""No branch of a test may end up in somebody's own folder."""

from pathlib import Path

import pytest

from tests.replay.branching.played import AGENTS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def agents(tmp_path: Path) -> str:
    path = tmp_path / "these_agents.py"
    path.write_text(AGENTS)
    return str(path)
