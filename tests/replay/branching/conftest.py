"""No branch of a test may end up in somebody's own folder."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


