"""A replay in a folder, to branch from, and agents that are hard to repeat."""

from pathlib import Path
from typing import Any

from agents.types import Action
from bedside.agent_loading import load_agent
from bedside.recording import NightFile, write_night
from replay.branching import Branched, branch
from replay.recorded_night import RecordedNight
from replay.replaying import replay
from tests.replay.nights import lines_of, recording, setting, steps_of

LETTERS = "LLLL" + "R" * 20 + "DDDD" + "LLLLLL"
"""rem_rule cues at steps 9, 13, 17 and 21: REM has lasted 3 min when step 9 has closed."""

AGENTS = '''
import asyncio
from agents.types import *
from devices.types import Volume

class Counting:
    """Says how often it was asked, so that its state can be seen."""
    name = "counting"
    def reset(self, session):
        self.asked = 0
    async def decide(self, observation):
        self.asked += 1
        return Wait(f"asked {self.asked} times")

class Thinking(Counting):
    """Takes as long as the step is old, and cues every third time."""
    name = "thinking"
    async def decide(self, observation):
        self.asked += 1
        await asyncio.sleep((self.asked % 7) / 3)
        return PlaySound() if self.asked % 3 == 0 else Wait(f"asked {self.asked}")

class Failing(Counting):
    """Fails in every way in turn: error, nonsense, cancels itself, exits, late, and is right."""
    name = "failing"
    async def decide(self, observation):
        self.asked += 1
        turn = self.asked % 8
        if turn == 1:
            raise ValueError(f"turn {self.asked}")
        if turn == 2:
            return "play something"
        if turn == 3:
            raise asyncio.CancelledError
        if turn == 4:
            raise SystemExit(3)
        if turn == 5:
            await asyncio.sleep(1000)
        if turn == 6:
            raise ValueError
        return PlaySound(Volume.LOW, f"turn {self.asked}")

class Stubborn(Counting):
    """Does not let go for two steps now and then."""
    name = "stubborn"
    async def decide(self, observation):
        self.asked += 1
        if self.asked % 4 == 0:
            for _ in range(5):
                try:
                    await asyncio.sleep(20)
                except asyncio.CancelledError:
                    pass
        return PlaySound(Volume.LOW, f"asked {self.asked}")
'''


def written(done: Branched) -> list[dict[str, Any]]:
    return lines_of(done.files["trace.jsonl"].read_bytes())


def night_file(folder: Path, letters: str = LETTERS, **given: Any) -> Path:
    path = folder / "night-a.mcap"
    write_night(path, recording(letters, **given))
    return path


class Played:
    """A replay of a night file in a folder."""

    def __init__(self, folder: Path, agent: Any, made: Any = None, letters: str = LETTERS) -> None:
        self.night = night_file(folder, letters)
        self.folder = folder / "parent"
        recorded = RecordedNight(NightFile.open(self.night))
        replay(recorded, agent, made or setting(0.0), out=self.folder)

    @property
    def trace(self) -> Path:
        return self.folder / "trace.jsonl"

    @property
    def steps(self) -> list[dict[str, Any]]:
        return steps_of(lines_of(self.trace.read_bytes()))

    def branch(self, at: int, action: Action, **given: Any) -> Branched:
        given.setdefault("out", self.folder.parent / "branch")
        return branch(self.folder, at, action, night=self.night, **given)

    def is_same_as(self, done: Branched) -> bool:
        names = ("trace.jsonl", "hidden.jsonl")
        return all((self.folder / n).read_bytes() == done.files[n].read_bytes() for n in names)


def loaded(agents: str, name: str) -> Any:
    return load_agent(f"{agents}:{name}")
