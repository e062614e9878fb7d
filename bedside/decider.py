"""Asks the agent, within a time limit; whatever goes wrong becomes Wait and is written down."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from agents.types import Action, Agent, AgentError, Observation, Wait
from agents.wire import checked_action
from devices.ports import Clock

LONGEST_ERROR: Final = 500
"""Characters of an error in the trace. Assumed."""


class DecisionStatus(StrEnum):
    """How a decision came about. All but OK are a Wait of ours."""

    OK = "ok"
    LATE = "late"
    ERROR = "error"
    NONSENSE = "nonsense"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Decision:
    """An action, how it came about, and how long the night went on meanwhile (s)."""

    action: Action
    status: DecisionStatus
    latency_s: float
    error: str | None = None


class Decider:
    """One agent, at most one decision in flight."""

    def __init__(self, agent: Agent, clock: Clock) -> None:
        self._agent = agent
        self._clock = clock
        self._task: asyncio.Task[Action] | None = None

    async def ask(self, observation: Observation, since_t: float, limit_s: float) -> Decision:
        """The agent's decision; one that is not there before `since_t + limit_s` is dropped.

        since_t: the end of the epoch; latencies count from there.
        """
        if self._task is not None and not self._task.done():
            return self._ours(DecisionStatus.BUSY, 0.0, "an earlier decision has not let go yet")
        task = self._task = asyncio.create_task(self._decide(observation), name="decide")
        try:
            await asyncio.sleep(0)  # an agent that need not wait has answered by then
            if not task.done():
                left_s = max(0.0, since_t + limit_s - self._clock.t())
                await asyncio.wait((task,), timeout=left_s)
        finally:
            if not task.done():
                task.cancel()
        latency_s = round(self._clock.t() - since_t, 3)
        if not task.done() or latency_s >= limit_s:
            return self._ours(DecisionStatus.LATE, latency_s, f"no answer within {limit_s:g} s")
        if task.cancelled():
            return self._ours(DecisionStatus.ERROR, latency_s, "the agent cancelled itself")
        error = task.exception()
        if error is not None:
            return self._ours(DecisionStatus.ERROR, latency_s, told(error))
        answer = task.result()
        fault = _fault_of(answer)
        if fault is not None:
            return self._ours(DecisionStatus.NONSENSE, latency_s, fault)
        return Decision(answer, DecisionStatus.OK, latency_s)

    async def _decide(self, observation: Observation) -> Action:
        try:
            return await self._agent.decide(observation)
        except SystemExit as error:
            raise RuntimeError(f"the agent tried to exit ({error})") from error

    def _ours(self, status: DecisionStatus, latency_s: float, error: str) -> Decision:
        return Decision(Wait(status.value), status, latency_s, error[:LONGEST_ERROR])


def told(error: BaseException) -> str:
    """What was raised, in one phrase; whatever its own words do."""
    try:
        return f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    except (Exception, SystemExit):
        return type(error).__name__


def _fault_of(answer: object) -> str | None:
    try:
        checked_action(answer)
    except AgentError as error:
        return str(error)
    except (Exception, SystemExit) as error:
        return told(error)
    return None
