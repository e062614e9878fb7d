"""The agent that never cues; a replay with it must give the recording back."""

from __future__ import annotations

from typing import Final

from agents.types import Action, Observation, Session, Wait

WAITED: Final = Wait("this agent never cues")


class WaitAgent:
    """Waits at every step."""

    name = "wait"

    def reset(self, session: Session) -> None:
        """Nothing to begin."""

    async def decide(self, observation: Observation) -> Action:
        return WAITED
