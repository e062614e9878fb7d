"""An agent that is told what to do at every step of its task."""

from __future__ import annotations

from collections.abc import Mapping

from agents.types import Action, Observation, Session, Wait
from devices.types import EPOCH_S


class Oracle:
    """Replays a list of actions by step, and waits where it has none.

    Privileged: the list is worked out from the hidden stages and the dice of the task.
    """

    name = "oracle"

    def __init__(self, actions: Mapping[int, Action]) -> None:
        self._actions = dict(actions)
        self._start_clock_s = 0.0

    def reset(self, session: Session) -> None:
        self._start_clock_s = session.start_clock_s

    async def decide(self, observation: Observation) -> Action:
        elapsed_s = observation.clock_s - self._start_clock_s
        return self._actions.get(round(elapsed_s / EPOCH_S) - 1, Wait("the oracle waits"))
