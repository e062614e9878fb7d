"""A small night as a file, and runs of a few short attempts on it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from bedside.recording import write_night
from replay.experiment.run import Run, resolve
from replay.experiment.running import Made, make
from replay.experiment.spec import RunSpec
from tests.replay.nights import recording

LETTERS = "W" * 4 + "L" * 30 + "D" * 30 + "L" * 10 + "R" * 40 + "L" * 20 + "W" * 6
"""Sleep onset and longest light at epoch 4, longest deep at 34, a REM start at 74."""
QUIET_LETTERS = "W" * 6 + "L" * 60 + "D" * 20 + "L" * 20
"""A night without REM: every task asks for restraint."""


def small_night(folder: Path, letters: str = LETTERS, name: str = "small", **given: Any) -> Path:
    path = folder / f"{name}.mcap"
    write_night(path, recording(letters, night_id=name, **given))
    return path


def small_spec(folder: Path, *agents: str, **given: Any) -> RunSpec:
    """Four tasks a seed on the small night; no dropout."""
    nights = given.pop("nights", None) or (small_night(folder),)
    return RunSpec(agents or ("wait", "rem_rule"), nights=nights, **given)


def small_run(folder: Path, *agents: str, **given: Any) -> Run:
    return resolve(small_spec(folder, *agents, **given))


def made(run: Run, folder: Path, **given: Any) -> Made:
    return make(run, folder, **given)


def bytes_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file that must not depend on how a run was made."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
        if path.name != "spec.json"
    }


def agent_file(folder: Path, body: str, name: str = "made_up") -> str:
    """An agent in a file of its own; `body` is what `decide` does."""
    path = folder / f"{name}.py"
    path.write_text(
        "import os, time\n"
        "from agents.types import PlaySound, Wait\n"
        "class Made:\n"
        f"    name = {name!r}\n"
        "    def reset(self, session):\n"
        "        self.step = 0\n"
        "        self.session = session\n"
        "    async def decide(self, observation):\n"
        "        self.step += 1\n"
        f"        {body}\n"
        "        return Wait()\n",
        encoding="utf-8",
    )
    return f"{path}:Made"
