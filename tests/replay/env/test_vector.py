"""Many nights at once: side by side and in processes, with every way of resetting by itself."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import replay.env
from replay.env.environment import PaprikaEnv
from replay.env.options import HeldOutSeed
from tests.replay.env.environments import night_threads
from tests.replay.nights import night

LETTERS = "LLLLRRRRRRRRDDRR" * 2
assert replay.env


def make(start: int, **options: Any) -> gymnasium.Env[Any, Any]:
    return PaprikaEnv(night(LETTERS), start=start, steps=3, **options)


NIGHTS: list[Callable[[], gymnasium.Env[Any, Any]]] = [partial(make, start) for start in (0, 4, 12)]


def waiting(envs: Any) -> Any:
    actions = envs.action_space.sample()
    actions["kind"] = np.zeros(envs.num_envs, np.int64)
    return actions


def history(envs: Any, steps: int) -> list[Any]:
    """Everything that resets and steps give, copied."""
    envs.action_space.seed(1)
    told: list[Any] = [envs.reset(seed=15)]
    try:
        for _ in range(steps):
            told.append(envs.step(waiting(envs)))
    finally:
        envs.close()
    return told


def test_nights_side_by_side_are_truncated_and_reset_on_the_following_step() -> None:
    told = history(SyncVectorEnv(NIGHTS), 5)
    stages = [observation["stage"].tolist() for observation, *_ in told]
    assert stages == [[2, 4, 3], [2, 4, 3], [2, 4, 4], [2, 4, 4], [2, 4, 3], [2, 4, 3]]
    assert [one[3].tolist() for one in told[1:]] == [[False] * 3] * 2 + [[True] * 3] + [
        [False] * 3
    ] * 2
    assert not any(one[2].any() for one in told[1:])
    steps = [one[-1]["step"].tolist() for one in told]
    assert steps == [[0] * 3, [1] * 3, [2] * 3, [3] * 3, [0] * 3, [1] * 3]
    assert told[0][0]["theme"] == ("forest",) * 3
    assert night_threads() == []


def test_reset_in_the_same_step_keeps_the_last_observation() -> None:
    told = history(SyncVectorEnv(NIGHTS, autoreset_mode=AutoresetMode.SAME_STEP), 3)
    observation, _, _, truncated, info = told[-1]
    assert truncated.all()
    assert observation["stage"].tolist() == [2, 4, 3]
    assert [int(last["stage"]) for last in info["final_obs"]] == [2, 4, 4]
    assert info["final_info"]["ending"].tolist() == ["step_limit"] * 3


def test_without_autoreset_one_night_is_reset_at_a_time() -> None:
    envs = SyncVectorEnv(NIGHTS, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=15)
    for _ in range(3):
        *_, truncated, _ = envs.step(waiting(envs))
    assert truncated.all()
    observation, info = envs.reset(options={"reset_mask": np.array([True, True, True])})
    assert observation["stage"].tolist() == [2, 4, 3]
    assert info["step"].tolist() == [0, 0, 0]
    envs.close()


@pytest.mark.parametrize("shared_memory", [True, False])
def test_nights_in_processes_give_the_same_as_side_by_side(shared_memory: bool) -> None:
    options = {"body": True, "wake_scale": 4.0}
    nights = [partial(make, start, **options) for start in (0, 4)]
    there = history(AsyncVectorEnv(nights, shared_memory=shared_memory), 5)
    here = history(SyncVectorEnv(nights), 5)
    np.testing.assert_equal(there, here)


def test_texts_of_any_script_pass_through_shared_memory() -> None:
    from bedside.themes import Theme

    theme = Theme("夜の森 🌲", "Ich gehe durch den Wald.", ("durch den Wald",), "de", 8.0)
    envs = AsyncVectorEnv([partial(make, 4, theme=theme)] * 2)
    try:
        observation, _ = envs.reset(seed=1)
    finally:
        envs.close()
    assert observation["theme"] == ("夜の森 🌲",) * 2
    assert observation["memory"] == ("Ich gehe durch den Wald.",) * 2


def test_the_seed_of_a_vector_counts_up_and_sampled_actions_are_taken() -> None:
    envs = gymnasium.make_vec(
        "Paprika-v0",
        num_envs=3,
        vectorization_mode="sync",
        recording=night(LETTERS),
        start=4,
        steps=9,
    )
    envs.action_space.seed(1)
    observation, _ = envs.reset(seed=11)
    assert observation in envs.observation_space
    plain = [env.unwrapped for env in envs.envs]  # type: ignore[attr-defined]
    assert [env.setting.seed for env in plain] == [11, 12, 13]
    for _ in range(30):
        actions = envs.action_space.sample()
        assert actions in envs.action_space
        observation, *_ = envs.step(actions)
        assert observation in envs.observation_space
    envs.close()
    assert night_threads() == []


@pytest.mark.parametrize("seed", [None, 1])
def test_eight_nights_roll_eight_dice_and_none_of_them_is_held_out(seed: int | None) -> None:
    envs = gymnasium.make_vec(
        "Paprika-v0",
        num_envs=8,
        vectorization_mode="sync",
        recording=night(LETTERS * 3),
        start="any",
    )
    plain = [env.unwrapped for env in envs.envs]  # type: ignore[attr-defined]
    rolled: list[int] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldOutSeed)
        for given in (seed, None, None):
            envs.reset(seed=given)
            rolled += [env.setting.seed for env in plain]
    envs.close()
    assert len(set(rolled)) == 24
    assert not {6, 7, 8} & set(rolled)


def test_an_observation_flattens_to_numbers() -> None:
    env = gymnasium.wrappers.FlattenObservation(PaprikaEnv(night(LETTERS), start=4, room=True))
    observation, _ = env.reset()
    assert observation.dtype == np.float64
    assert observation in env.observation_space
    env.close()
