"""The REM rule with an answer that comes late, in virtual time."""

from __future__ import annotations

import asyncio

from agents.rem_rule import RemRule
from agents.types import Action, Observation


class _Late(RemRule):
    """Decides on what it saw, `latency_s` after it saw it."""

    def __init__(self, latency_s: float) -> None:
        super().__init__()
        self._latency_s = latency_s

    async def decide(self, observation: Observation) -> Action:
        action = await super().decide(observation)
        await asyncio.sleep(self._latency_s)
        return action


class Late25(_Late):
    """25 s: in time, but its sound reaches what the sleeper does by then.

    Where REM turns to deep sleep it breaks `cue_in_deep`; a clock that stands still meanwhile
    would not show it.
    """

    name = "late_25s"

    def __init__(self) -> None:
        super().__init__(25.0)


class Late35(_Late):
    """35 s: every answer is dropped, so it never cues."""

    name = "late_35s"

    def __init__(self) -> None:
        super().__init__(35.0)
