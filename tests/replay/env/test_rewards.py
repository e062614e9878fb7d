"""Rewards: components by name, their weighted sum, shaping by a potential, whole numbers."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.env.plain_actions import NoLines, PlainActions
from replay.env.recorders import FolderRecorder, MemoryRecorder
from replay.env.rewards import (
    Components,
    PotentialShaping,
    RewardError,
    RewardWeights,
    SeedReward,
)
from replay.export.hidden import HiddenLines
from replay.export.records import trace_records
from tests.replay.env.environments import LOUD, SOFT, STOP, environment, played
from tests.replay.nights import lines_of, night

ALL_WAKE = 1e9


def test_the_reward_is_zero_unless_one_is_chosen() -> None:
    with environment(night("R" * 60), start=0, wake_scale=ALL_WAKE) as env:
        rewards = [step[1] for step in played(env, dict.fromkeys(range(40), LOUD))]
    assert rewards == [0.0] * 40
    assert {type(reward) for reward in rewards} == {float}


def test_components_are_recorded_step_by_step_and_a_missing_one_is_null() -> None:
    recorder = MemoryRecorder()
    with environment(
        night("R" * 60), start=0, steps=6, wake_scale=ALL_WAKE, recorder=recorder
    ) as env:
        # a soft cue wakes at step 1; the loud one at step 3 meets a woken sleeper
        steps = played(env, {1: SOFT, 3: LOUD})
    lines = lines_of(recorder.episodes[0].components)
    assert list(lines[0]) == [
        "kind",
        "step",
        "body",
        "theme",
        "waking",
        "violation",
        "progress",
        "reward",
        "weights",
    ]
    assert [line["step"] for line in lines] == [0, 1, 2, 3, 4, 5]
    assert [line["waking"] for line in lines] == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    # while awake, and a high volume: two rules at once
    assert [line["violation"] for line in lines] == [0.0, 0.0, 0.0, 2.0, 0.0, 0.0]
    for line in lines:
        assert line["body"] is line["theme"] is line["progress"] is line["weights"] is None
    assert [step[4]["components"]["violation"] for step in steps] == [0.0, 0.0, 0.0, 2.0, 0.0, 0.0]
    assert all("waking" not in step[4]["components"] for step in steps)


def test_the_seed_reward_sums_what_is_known_by_its_weights() -> None:
    weights = RewardWeights("mine", body=2.0, theme=3.0, waking=-5.0, violation=-7.0, progress=11.0)
    reward = SeedReward(weights)
    assert reward(Components()) == 0.0
    assert reward(Components(waking=2.0, violation=1.0)) == -17.0
    assert reward(Components(0.5, 1.0, 0.0, 0.0, 1.0)) == 15.0


def test_a_chosen_reward_stands_in_the_record_with_the_version_of_its_weights() -> None:
    recorder = MemoryRecorder()
    weights = RewardWeights("v9", waking=-4.0, violation=-0.25)
    with environment(
        night("R" * 60), start=0, steps=3, wake_scale=ALL_WAKE, recorder=recorder, reward=weights
    ) as env:
        rewards = [step[1] for step in played(env, {0: LOUD})]
    assert rewards == [-4.25, 0.0, 0.0]
    lines = lines_of(recorder.episodes[0].components)
    assert [(line["reward"], line["weights"]) for line in lines] == [
        (-4.25, "v9"),
        (0.0, "v9"),
        (0.0, "v9"),
    ]


def test_a_refused_cue_costs_as_much_as_a_delivered_one_because_limits_are_no_reward() -> None:
    rewards = []
    for mode in ("observe", "enforce"):
        with environment(
            night("D" * 60), start=0, wake_scale=0.0, mode=mode, reward=RewardWeights(violation=-1)
        ) as env:
            rewards.append([step[1] for step in played(env, {0: SOFT, 30: SOFT})])
    assert rewards[0] == rewards[1]
    assert sum(rewards[0]) == -2.0


def test_the_seed_reward_says_that_it_is_not_potential_based() -> None:
    assert "*not* potential-based" in (SeedReward.__doc__ or "")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_weight_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(RewardError, match="weight theme"):
        RewardWeights(theme=value)


class Line(gymnasium.Env[int, int]):
    """A walk over given states that ends as it is told to."""

    observation_space = gymnasium.spaces.Discrete(1000)
    action_space = gymnasium.spaces.Discrete(1)

    def __init__(self, states: list[int], terminated: bool) -> None:
        self._states, self._terminated = states, terminated

    def reset(self, **_: object) -> tuple[int, dict[str, object]]:  # type: ignore[override]
        self._place = 0
        return self._states[0], {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, object]]:
        self._place += 1
        over = self._place == len(self._states) - 1
        ends = (over and self._terminated, over and not self._terminated)
        return self._states[self._place], 1.0, *ends, {}


STATES = st.lists(st.integers(0, 99), min_size=2, max_size=12)


@given(STATES, st.sampled_from([0.0, 0.5, 0.9, 1.0]), st.booleans())
def test_shaping_adds_only_the_potentials_of_both_ends_to_the_return(
    states: list[int], gamma: float, terminated: bool
) -> None:
    env = PotentialShaping(Line(states, terminated), lambda state: 3.0 * state, gamma)
    for _ in range(2):
        env.reset()
        added = [float(env.step(0)[1]) - 1.0 for _ in states[1:]]
        steps = len(added)
        end = 0.0 if terminated else gamma**steps * 3.0 * states[-1]
        total = sum(gamma**number * value for number, value in enumerate(added))
        assert total == pytest.approx(end - 3.0 * states[0])


def test_shaping_works_on_a_night_and_leaves_the_rest_alone() -> None:
    with environment(night("LLRR" * 20), start=0, steps=4) as plain:
        env = PotentialShaping(plain, lambda seen: float(seen["stage"] == 4), 0.5)
        rewards = [step[1] for step in played(env, {})]
    # phi: 0 at reset, then 0, 1, 1, 0; the last step is truncated
    assert rewards == [0.0, 0.5, -0.5, -1.0]


def test_gamma_must_be_a_discount() -> None:
    with environment(night("R" * 60)) as env, pytest.raises(RewardError, match="gamma"):
        PotentialShaping(env, lambda _: 0.0, 1.5)


# --- whole numbers


def test_four_whole_numbers_reach_every_kind_of_action_and_every_line() -> None:
    recorder = MemoryRecorder()
    with environment(
        night("R" * 60), start=0, theme="sea", recorder=recorder, wake_scale=0.0
    ) as plain:
        env = PlainActions(plain)
        _, info = env.reset()
        moves = [[0, 0, 0, 0], [1, 2, 0, 0], [2, 1, 0, 0], [2, 0, 2, 0], [3, 0, 0, 1], [4, 0, 0, 0]]
        for move in moves:
            assert np.array(move) in env.action_space
            *_, terminated, _, _ = env.step(np.array(move))
    asked = [line["action"] for line in lines_of(recorder.episodes[0].trace) if "action" in line]
    assert [one["kind"] for one in asked] == [
        "wait", "sound", "whisper", "whisper", "object", "stop",
    ]  # fmt: skip
    assert [one["line"] for one in asked if "line" in one] == [info["lines"][0], info["lines"][2]]
    assert asked[1]["volume"] == "high"
    assert asked[4]["object"] == "light"
    assert terminated is True
    assert STOP == {"kind": 4}


def test_a_number_beyond_the_lines_begins_again_and_no_line_is_told() -> None:
    with environment(night("R" * 60), start=0, theme="sea") as plain:
        env = PlainActions(plain, lines=5)
        _, info = env.reset()
        assert env.action(np.array([2, 0, 4, 0]))["line"] == info["lines"][1]
    with environment(night("R" * 60), condition="no_memory") as plain:
        env = PlainActions(plain)
        env.reset()
        assert env.action(np.array([0, 0, 1, 0]))["kind"] == 0
        with pytest.raises(NoLines, match="no line to whisper"):
            env.action(np.array([2, 0, 0, 0]))


@pytest.mark.parametrize("condition", ["plain", "cue_late", "cue_fails+stop_pressed"])
@pytest.mark.parametrize("latency", [None, 2.4, 29.0])
def test_components_follow_from_the_traces_as_an_export_works_them_out(
    tmp_path: Path, condition: str, latency: float | None
) -> None:
    with environment(
        night("RRRRLLDDRRWL" * 6),
        start=2,
        condition=condition,
        latency=latency,
        wake_scale=3.0,
        recorder=FolderRecorder(tmp_path),
    ) as env:
        played(env, {step: (SOFT, LOUD)[step % 2] for step in range(0, 39, 3)}, seed=4)
    shown = trace_records(tmp_path / "0001.trace.jsonl", 1).records
    hidden = HiddenLines(tmp_path / "0001.hidden.jsonl").records(shown, 2)
    lines = lines_of((tmp_path / "0001.components.jsonl").read_bytes())
    assert len(lines) == len(shown) - 1
    for line, step, unseen in zip(lines, shown, hidden, strict=False):
        told = {**step["reward_components"], "waking": unseen["reward_waking"]}
        assert told == {name: line[name] for name in Components().as_dict()}
    assert condition != "plain" or sum(line["waking"] for line in lines) > 0
