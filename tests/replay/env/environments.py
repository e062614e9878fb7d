"""Environments on small nights, and how they are played."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gymnasium.utils.seeding import np_random

from agents.types import Agent
from bedside.trace import MemorySink, Trace
from replay.attempt import attempt
from replay.env.driver import drive
from replay.env.environment import PaprikaEnv
from replay.env.recorders import MemoryRecorder
from replay.env.steps import THREAD_NAME

WAIT = {"kind": 0}
SOFT = {"kind": 1, "volume": 0}
LOUD = {"kind": 1, "volume": 2}
STOP = {"kind": 4}

Step = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


@contextmanager
def environment(*given: Any, **options: Any) -> Iterator[PaprikaEnv]:
    """An environment whose own dice are the same every time."""
    env = PaprikaEnv(*given, **options)
    env.np_random, _ = np_random(1)
    try:
        yield env
    finally:
        env.close()


def played(env: Any, actions: Any, **reset: Any) -> list[Step]:
    """Every step until the episode is over; `actions` by step, waiting where there is none."""
    env.reset(**reset)
    steps: list[Step] = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(actions.get(len(steps), WAIT)))
    return steps


def by_steps(
    env: PaprikaEnv, recorder: MemoryRecorder, agent: Agent, **asked: Any
) -> tuple[bytes, bytes]:
    """Trace and hidden trace of an episode that the agent plays through `step`."""
    drive(env, agent, **asked)
    return recorder.episodes[-1].trace, recorder.episodes[-1].hidden


def by_loop(env: PaprikaEnv, agent: Agent) -> tuple[bytes, bytes]:
    """The same episode, played by the loop of `replay.attempt`."""
    assert env.setting is not None
    trace, hidden = MemorySink(), MemorySink()
    attempt(
        env.night,
        agent,
        env.setting,
        session_id=env.session_id,
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    return trace.bytes(), hidden.bytes()


def night_threads() -> list[Any]:
    from threading import enumerate as alive

    return [thread for thread in alive() if thread.name == THREAD_NAME]
