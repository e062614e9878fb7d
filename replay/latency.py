"""How long decisions take, in virtual time, where no real call is waited for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import exp, isfinite
from statistics import NormalDist

from agents.types import Action, Agent, AsksOutside, Observation, Outside, Session
from devices.types import PaprikaError
from replay.rolls import Dice, RollStream


class LatencyError(PaprikaError):
    """A latency that cannot be."""


@dataclass(frozen=True, slots=True)
class LatencyModel:
    """A latency for every decision: log-normal around `median_s`, by seeded rolls.

    spread: standard deviation of its logarithm; 0: always `median_s`.
    """

    median_s: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.median_s) and isfinite(self.spread)) or self.median_s < 0.0:
            raise LatencyError(f"latency {self.median_s:g} s: give a number of 0 or more")
        if self.spread < 0.0:
            raise LatencyError(f"spread {self.spread:g} of the latency: give 0 or more")

    def latency_s(self, dice: Dice, step: int) -> float:
        """Of the decision at this step, in whole milliseconds."""
        if not self.spread:
            return round(self.median_s, 3)
        value = max(dice.roll(RollStream.LATENCY, step), 2.0**-54)
        return round(self.median_s * exp(self.spread * NormalDist().inv_cdf(value)), 3)


class Delayed:
    """An agent whose every decision takes the time a model says."""

    def __init__(self, agent: Agent, model: LatencyModel, dice: Dice) -> None:
        self._agent = agent
        self._model = model
        self._dice = dice
        self._step = 0

    @property
    def name(self) -> str:
        return self._agent.name

    def connect(self, outside: Outside) -> None:
        if isinstance(self._agent, AsksOutside):
            self._agent.connect(outside)

    def reset(self, session: Session) -> None:
        self._step = 0
        self._agent.reset(session)

    async def decide(self, observation: Observation) -> Action:
        latency_s = self._model.latency_s(self._dice, self._step)
        self._step += 1
        action = await self._agent.decide(observation)
        await asyncio.sleep(latency_s)
        return action
