"""One attempt in memory, watched from outside: what the agent saw and answered, and both traces."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from agents.types import Action, Agent, Observation, Session, Stop, Wait
from bedside.trace import MemorySink, Trace
from replay.attempt import play
from replay.clock import run_virtual
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.summary import Summary, summarise
from replay.trace_lines import Line, parsed
from replay.validation.environment import Environment
from replay.world import World

SESSION: str = "validation"


class Probe:
    """Stands between a night and an agent, and keeps what passes.

    sessions, seen, answers: what the agent was told, saw, and answered, in order.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.name = agent.name
        self.sessions: list[Session] = []
        self.seen: list[Observation] = []
        self.answers: list[Action] = []

    def reset(self, session: Session) -> None:
        self.sessions.append(session)
        self._agent.reset(session)

    async def decide(self, observation: Observation) -> Action:
        self.seen.append(observation)
        action = await self._agent.decide(observation)
        self.answers.append(action)
        return action

    @property
    def cues(self) -> int:
        """Answers that ask for a cue."""
        return sum(not isinstance(answer, Wait | Stop) for answer in self.answers)


@dataclass(frozen=True)
class Trial:
    """An attempt and its evidence."""

    night: RecordedNight
    probe: Probe
    trace: bytes = field(repr=False)
    hidden: bytes = field(repr=False)

    @cached_property
    def lines(self) -> list[Line]:
        return parsed(self.trace, "trace of a trial")

    @cached_property
    def hidden_lines(self) -> list[Line]:
        return parsed(self.hidden, "hidden trace of a trial")

    @cached_property
    def summary(self) -> Summary:
        return summarise(self.lines, self.hidden_lines, self.night.shown)

    @property
    def steps(self) -> list[Line]:
        return [line for line in self.lines if line["kind"] == "step"]

    @property
    def deliveries(self) -> list[Line]:
        """Steps that asked for a cue."""
        return [step for step in self.steps if step["delivery"] is not None]

    @property
    def rolls(self) -> list[Line]:
        return [line for line in self.hidden_lines if line.get("event") == "roll"]

    @property
    def digest(self) -> str:
        """SHA-256 of both traces."""
        return sha256(self.trace + b"\0" + self.hidden).hexdigest()


def trial(
    environment: Environment,
    night: RecordedNight,
    agent: Agent,
    setting: Setting,
    *,
    session_id: str = SESSION,
    speed: float | None = None,
) -> Trial:
    """Live one attempt through in this environment."""
    trace, hidden, probe = MemorySink(), MemorySink(), Probe(agent)

    def world() -> World:
        return environment.world(night, setting, session_id=session_id, hidden=Trace(hidden))

    work: Any = play(world, probe, setting, trace=Trace(trace))
    run_virtual(work, speed=speed)
    return Trial(night, probe, trace.bytes(), hidden.bytes())
