"""An agent's own decisions, taken outside the loop: what shows that both faces are one night."""

from __future__ import annotations

from typing import Any

from agents.types import Action, Agent, AgentError, Observation, Session


class AgentDriver:
    """Asks an agent, which need not wait for anything, for one decision at a time."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def reset(self, session: Session) -> None:
        self._agent.reset(session)

    def __call__(self, observation: Observation) -> Action:
        """The decision; AgentError where the agent would wait for time or for the outside."""
        deciding: Any = self._agent.decide(observation)
        try:
            deciding.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        except RuntimeError as error:
            if "no running event loop" not in str(error):
                raise
        finally:
            deciding.close()
        raise AgentError(f"{self._agent.name} waits while it decides: only the loop can run it")


def drive(env: Any, agent: Agent, *, seed: int | None = None, **options: Any) -> str:
    """Play one episode with the agent, by its own full observations; how it ended.

    The environment should be made with `agent=agent.name`, for the trace's header.
    """
    plain, driver = env.unwrapped, AgentDriver(agent)
    env.reset(seed=seed, options=options)
    driver.reset(plain.session)
    while True:
        *_, terminated, truncated, info = env.step(driver(plain.observation_value))
        if terminated or truncated:
            return str(info["ending"])
