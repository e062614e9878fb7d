"""The way out of an attempt to paid services, built from options that fit in a message.

The caps and the cache stand in `replay.decisions.asking`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from agents.types import Action, Agent, AsksOutside, Observation, Outside, Session
from agents.wire import observation_to_json, session_to_json
from bedside.outside import Service
from replay.decisions.asking import Asking, Attempted
from replay.decisions.cache import CacheMode
from replay.decisions.ledger import Paid
from replay.decisions.options import DecisionError, DecisionOptions
from replay.decisions.question import Place
from replay.outside import HeldOutside


class DecisionWayOut:
    """`replay.attempt.WayOut` of one attempt. Serves once.

    task: with the night's name. unit: name of the attempt in the ledger; the task's if not given.
    services: used instead of the addresses in the options.
    paid: what was really asked, in order.
    """

    def __init__(
        self,
        options: DecisionOptions,
        *,
        task: str,
        seed: int,
        trial: int = 1,
        unit: str | None = None,
        services: Mapping[str, Service] | None = None,
    ) -> None:
        if options.mode is CacheMode.FILL and options.fill is None:
            raise DecisionError("a fill has no number yet; begin it with DecisionOptions.begun()")
        self._options = options
        self._history = _History()
        self.services = _services(options) if services is None else services
        self.paid: list[Paid] = []
        self._attempted = Attempted(
            Place(task, seed, trial), task if unit is None else unit, self._history, self.paid
        )

    def watching(self, agent: Agent) -> Agent:
        """The agent, a digest kept of all it sees; itself where it asks nobody."""
        return _Watched(agent, self._history) if isinstance(agent, AsksOutside) else agent

    def around(self, held: HeldOutside) -> Outside:
        """The way out through allowance and cache; other services pass by."""
        names = {*self._options.services, *self.services}
        return Asking(self._options, self._attempted, names, held)


class _History:
    """Digest of everything an agent has seen."""

    def __init__(self) -> None:
        self._digest = sha256()

    def add(self, seen: Mapping[str, object]) -> None:
        self._digest.update(json.dumps(seen, sort_keys=True).encode() + b"\n")

    @property
    def digest(self) -> str:
        return self._digest.copy().hexdigest()


class _Watched:
    """An agent and the history of what it saw."""

    def __init__(self, agent: Agent, history: _History) -> None:
        self._agent = agent
        self._history = history

    @property
    def name(self) -> str:
        return self._agent.name

    def connect(self, outside: Outside) -> None:
        assert isinstance(self._agent, AsksOutside)
        self._agent.connect(outside)

    def reset(self, session: Session) -> None:
        self._history.add(session_to_json(session))
        self._agent.reset(session)

    async def decide(self, observation: Observation) -> Action:
        self._history.add(observation_to_json(observation))
        return await self._agent.decide(observation)


def _services(options: DecisionOptions) -> Mapping[str, Service]:
    """The services at the addresses; none where nobody may be asked."""
    if not options.services or not options.mode.asks:
        return {}
    from bedside.http_service import HttpService

    return {
        name: HttpService(url, token_env=options.token_env)
        for name, url in options.services.items()
    }
