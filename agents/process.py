"""An agent that is a process of any language and speaks JSON lines.

The lines stand in docs/reference/agent-protocol.md. Nothing is started here: each line is a
request to the outside service `process`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from agents.types import Action, AgentError, Observation, Outside, Request, Session
from agents.wire import action_from_json, observation_to_json, session_to_json

SERVICE: Final = "process"
PROTOCOL: Final = 1


class ProcessAgent:
    """Forwards sessions and observations through `Outside`, and reads the actions that come back.

    command: as after `cmd:`; the name shows it with folders left out.
    timeout_s: of one line and its answer.
    """

    def __init__(self, command: str, timeout_s: float = 20.0) -> None:
        self.command = command
        self.name = f"cmd:{without_folders(command)}"
        self._timeout_s = timeout_s
        self._outside: Outside | None = None
        self._greeting: Mapping[str, Any] | None = None

    def connect(self, outside: Outside) -> None:
        self._outside = outside

    def reset(self, session: Session) -> None:
        """Keep the session; it is sent before the next observation."""
        told = session_to_json(session)
        self._greeting = {"type": "reset", "protocol": PROTOCOL, "session": told}

    async def decide(self, observation: Observation) -> Action:
        if self._greeting is not None:
            await self._ask(self._greeting)
            self._greeting = None
        seen = observation_to_json(observation)
        return action_from_json(await self._ask({"type": "decide", "observation": seen}))

    async def _ask(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._outside is None:
            raise AgentError(f"{self.name} was not connected to an Outside")
        reply = await self._outside.call(Request(SERVICE, body, self._timeout_s))
        if reply.error is not None or reply.body is None:
            raise AgentError(reply.error or f"{self.name} gave no answer")
        if "error" in reply.body:
            raise AgentError(f"{self.name} reports: {str(reply.body['error'])[:200]}")
        return reply.body


def without_folders(command: str) -> str:
    """The command as it may stand in a trace: no folder of this machine in it."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return " ".join(PurePath(word).name if "/" in word else word for word in words)
