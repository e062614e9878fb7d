"""The Gymnasium face is the same night, a step at a time."""

from __future__ import annotations

import warnings
from typing import Any, Final

from agents.rem_rule import RemRule
from agents.types import Agent
from replay.setting import Setting
from replay.validation.environment import REAL
from replay.validation.findings import Finding, found, not_applicable
from replay.validation.ground import Ground
from replay.validation.nights import bench
from replay.validation.trials import SESSION, trial

TASKS: Final = 3
INFO: Final = frozenset(
    {
        *("step", "lines", "decision", "rules", "delivered", "refused_by", "rewritten"),
        *("components", "ending"),
    }
)
"""All that `info` may hold."""
Evidence = tuple[bytes, bytes]
"""Trace and hidden trace."""


def steps_give_the_same_trace(ground: Ground) -> Finding:
    """Each task stepped from outside, and one by way of `PaprikaEnv`, writes what the loop does."""
    tasks = ground.some_tasks(TASKS)
    if not tasks:
        return not_applicable("no task fits into the night")
    same = steps = 0
    for task in tasks:
        setting = ground.task_setting(task)
        looped = ground.trial(RemRule(), setting)
        steps += len(looped.steps)
        same += _stepped(ground, RemRule(), setting) == (looped.trace, looped.hidden)
    by_env, extra = _by_gymnasium(ground, tasks[0])
    line = (
        f"{same} of {len(tasks)} tasks stepped ({steps} steps) and {by_env} of 1 by PaprikaEnv "
        f"give the loop's bytes; {len(extra)} names in info beside {len(INFO)} allowed"
    )
    return found(
        same == len(tasks) and by_env == 1 and not extra,
        line,
        tasks=len(tasks),
        same=same,
        by_env=by_env,
        steps=steps,
        extra=sorted(extra),
    )


def gymnasium_checks_pass(ground: Ground) -> Finding:
    """Gymnasium's own check finds nothing to say about any registered id, on the small night: it
    copies what an environment is made of."""
    from gymnasium import make
    from gymnasium.utils.env_checker import check_env

    from replay.env.registration import IDS, register_all

    register_all()
    said: list[str] = []
    for name in IDS:
        made = make(name, recording=bench(), disable_env_checker=True)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                check_env(made.unwrapped, skip_render_check=True)
            except Exception as error:  # an assertion of the checker, or what the env raised
                said.append(f"{name}: {error}")
            finally:
                made.close()
        said += [f"{name}: {warning.message}" for warning in heard]
    line = f"{len(IDS)} ids checked, {len(said)} complaints" + (f": {said[0]}" if said else "")
    return found(not said, line, ids=list(IDS), complaints=said)


def _stepped(ground: Ground, agent: Agent, setting: Setting) -> Evidence:
    """The evidence of an attempt whose every decision is taken outside the loop."""
    from replay.env.driver import AgentDriver
    from replay.env.recorders import MemoryEpisode, Sinks
    from replay.env.steps import Asked, SteppedNight

    def world(hidden: Any) -> Any:
        return ground.environment.world(ground.night, setting, session_id=SESSION, hidden=hidden)

    episode, driver = MemoryEpisode(), AgentDriver(agent)
    living = SteppedNight(world, setting, name=agent.name, sinks=Sinks(*episode.sinks))
    try:
        told: Any = living.begin()
        driver.reset(living.session)
        while isinstance(told, Asked):
            told = living.act(driver(told.observation))
    finally:
        living.close()
    return episode.trace, episode.hidden


def _by_gymnasium(ground: Ground, task: Any) -> tuple[int, set[str]]:
    """Whether `PaprikaEnv` gives the loop's bytes, and the names in `info` that nobody allowed."""
    from replay.env.driver import AgentDriver
    from replay.env.environment import PaprikaEnv
    from replay.env.recorders import MemoryRecorder

    recorder, driver = MemoryRecorder(), AgentDriver(RemRule())
    env = PaprikaEnv(ground.night, start=task, recorder=recorder, agent=RemRule.name)
    try:
        _, info = env.reset(seed=task.seed)
        names, over = set(info), False
        driver.reset(env.session)
        while not over and env.observation_value is not None:
            *_, terminated, truncated, info = env.step(driver(env.observation_value))
            names |= set(info)
            over = terminated or truncated
        setting, session_id = env.setting, env.session_id
    finally:
        env.close()
    assert setting is not None
    looped = trial(REAL, ground.night, RemRule(), setting, session_id=session_id)
    (episode,) = recorder.episodes
    same = (episode.trace, episode.hidden) == (looped.trace, looped.hidden)
    return int(same), names - INFO
