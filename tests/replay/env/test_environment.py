"""The environment: what reset and step promise, endings, options, and clear errors."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from agents.types import PlaySound, Stop, Whisper
from bedside.recording import NightFile, write_night
from bedside.themes import Theme
from devices.types import (
    HeartRate,
    PaprikaError,
    Room,
    Sample,
    Stream,
    StreamInfo,
    Volume,
)
from replay.conditions import Condition, PersonAct, SignalFault
from replay.env.environment import PaprikaEnv
from replay.env.options import HeldOutSeed, OptionError
from replay.env.recorders import MemoryRecorder
from replay.env.registration import IDS
from replay.env.rewards import RewardWeights
from replay.latency import LatencyModel
from replay.manifest import made_of, recording_of, replay_id
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from tests.replay.env.environments import LOUD, SOFT, STOP, WAIT, environment, played
from tests.replay.nights import lines_of, night, recording

LETTERS = "WWLLLLDDDD" + "RRRRRRRR" * 4 + "LLLLLLLLLL" * 3
"""72 epochs; the only REM run begins at epoch 10."""


@pytest.mark.parametrize("name", IDS)
def test_every_registered_id_passes_the_checker_of_gymnasium(name: str) -> None:
    env = gymnasium.make(name)
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


@pytest.mark.parametrize(
    "options",
    [
        {"body": True, "room": True},
        {"reward": RewardWeights()},
        {"recording": night(LETTERS), "latency": 2.5, "mode": "enforce"},
        {"start": "any", "dropout": 0.5},
    ],
)
def test_the_checker_passes_with_options(options: dict[str, Any]) -> None:
    env = gymnasium.make("Paprika-v0", **options)
    try:
        check_env(env.unwrapped)
    finally:
        env.close()


def test_an_id_is_found_by_its_module_too() -> None:
    env = gymnasium.make("replay.env:Paprika-v0")
    assert isinstance(env.unwrapped, PaprikaEnv)
    env.close()


def test_reset_shows_the_epoch_at_which_the_task_starts_and_the_40th_step_is_truncated() -> None:
    with environment(night(LETTERS), start=10) as env:
        observation, info = env.reset()
        assert observation["clock_s"].tolist() == [39_600.0 + 11 * 30]
        assert observation["stage"] == 4
        assert observation["minutes_in_stage"].tolist() == [0.5]
        assert info["step"] == 0
        steps = played(env, {})
    assert len(steps) == 40
    assert [step[2:4] for step in steps] == [(False, False)] * 39 + [(False, True)]
    stages = [step[0]["stage"] for step in steps]
    assert stages == ["?WLDR".index(letter) for letter in LETTERS[11:51]]
    assert steps[-1][0]["clock_s"].tolist() == [39_600.0 + 51 * 30]
    assert steps[-1][4]["ending"] == "step_limit"


def test_the_last_observation_is_what_a_longer_episode_sees_at_that_step() -> None:
    actions = {3: SOFT, 20: LOUD, 39: SOFT}
    given = {"recording": RecordedNight(sample_night()), "start": 300, "body": True, "room": True}
    with environment(**given) as short, environment(**given, steps=50) as longer:
        last, same = played(short, actions)[39][0], played(longer, actions)[39][0]
    np.testing.assert_equal(last, same)
    assert last["cues_so_far"].tolist() == [3.0]


def test_by_default_an_episode_starts_at_the_first_rem_start() -> None:
    with environment(night(LETTERS)) as env:
        env.reset()
        assert env.setting is not None
        assert env.setting.first_epoch == 10
    with environment(night("W" * 60)) as env:
        env.reset()
        assert env.setting is not None
        assert env.setting.first_epoch == 0


def test_a_missing_reading_is_zero_with_the_flag_off_and_a_silent_device_says_minus_one() -> None:
    with environment(night("RR??RR" * 8), start=1) as env:
        observation, _ = env.reset()
        assert observation["has_reading"] == 1
        assert observation["confidence"].tolist() == [-1.0]
        observation, *_ = env.step(WAIT)
        assert observation["has_reading"] == observation["stage"] == 0
        assert observation["confidence"].tolist() == [0.0]
        assert observation["minutes_in_stage"].tolist() == [1.0]
    with environment(night("RR", confidence=0.123456), start=0) as env:
        assert env.reset()[0]["confidence"].tolist() == [0.1235]


def test_theme_and_memory_are_the_sleepers_own_words() -> None:
    own = Theme("夜の森", "In der Nacht gehe ich durch den Wald.", ("durch den Wald",), "de", 8.0)
    with environment(night(LETTERS), theme=own) as env:
        observation, info = env.reset()
        assert observation["theme"] == "夜の森"
        assert observation["memory"] == "In der Nacht gehe ich durch den Wald."
        assert info["lines"] == ("durch den Wald",)
        assert observation in env.observation_space


def test_where_no_memory_was_told_its_text_is_empty() -> None:
    with environment(night(LETTERS), condition=Condition(person=PersonAct.NO_MEMORY)) as env:
        observation, info = env.reset()
    assert observation["memory"] == ""
    assert observation["theme"]
    assert info["lines"] == ()


def test_body_and_room_are_flag_value_and_age() -> None:
    streams = [
        StreamInfo(Stream.HEART_RATE, 1.0, "strap"),
        StreamInfo(Stream.ROOM, 30.0, "room"),
    ]
    extra = [
        Sample(Stream.HEART_RATE, 27.0, HeartRate(54.0), "strap"),
        Sample(Stream.ROOM, 20.0, Room(temperature_c=-3.5), "room"),
    ]
    recorded = RecordedNight(recording("RRRR", extra=extra, streams=streams))
    with environment(recorded, start=0, steps=2, body=True, room=True) as env:
        observation, _ = env.reset()
        assert observation in env.observation_space
    assert observation["body"]["heart_rate_bpm"].tolist() == [1.0, 54.0, 3.0]
    assert observation["body"]["hrv_rmssd_ms"].tolist() == [0.0, 0.0, 0.0]
    assert observation["room"]["temperature_c"].tolist() == [1.0, -3.5, 10.0]
    assert observation["room"]["co2_ppm"].tolist() == [0.0, 0.0, 0.0]


# --- endings


@pytest.mark.parametrize(
    ("options", "actions", "ending", "steps", "terminated"),
    [
        ({"start": 10}, {5: STOP}, "agent_stop", 6, True),
        ({"start": 6, "stable_deep": 4}, {}, "stable_deep", 4, True),
        ({"start": 0, "steps": None}, {}, "night_end", 72, True),
        ({"start": 10}, {}, "step_limit", 40, False),
        ({"start": 10, "steps": 1}, {}, "step_limit", 1, False),
        ({"start": 60}, {}, "recording_exhausted", 12, False),
    ],
)
def test_each_ending_is_terminated_or_truncated_and_never_both(
    options: dict[str, Any], actions: Any, ending: str, steps: int, terminated: bool
) -> None:
    with environment(night(LETTERS), wake_scale=0.0, **options) as env:
        done = played(env, actions)
        with pytest.raises(ResetNeeded, match="over"):
            env.step(WAIT)
    assert len(done) == steps
    assert [type(flag) for flag in done[-1][2:4]] == [bool, bool]
    assert done[-1][2:4] == (terminated, not terminated)
    assert done[-1][4]["ending"] == ending
    assert all("ending" not in step[4] for step in done[:-1])


def test_a_cancelled_episode_is_truncated_where_it_stands() -> None:
    recorder = MemoryRecorder()
    with environment(night(LETTERS), start=10, recorder=recorder) as env:
        env.reset()
        before = env.step(LOUD)[0]
        env.cancel()
        observation, reward, terminated, truncated, info = env.step(WAIT)
        with pytest.raises(ResetNeeded):
            env.step(WAIT)
        assert env.reset()[1]["step"] == 0
        assert env.step(WAIT)[3] is False
    np.testing.assert_equal(observation, before)
    assert (reward, terminated, truncated, info["ending"]) == (0.0, False, True, "cancelled")
    trace, hidden = lines_of(recorder.episodes[0].trace), lines_of(recorder.episodes[0].hidden)
    assert (trace[-1]["kind"], trace[-1]["ending"], trace[-1]["steps"]) == (
        "footer",
        "cancelled",
        1,
    )
    assert hidden[-1]["kind"] == "footer"


def test_a_step_before_reset_is_refused() -> None:
    with environment(night(LETTERS)) as env, pytest.raises(ResetNeeded, match="no episode"):
        env.step(WAIT)
    env = gymnasium.make("Paprika-v0", recording=night(LETTERS))
    with pytest.raises(ResetNeeded):
        env.step(WAIT)
    env.close()


def test_a_malformed_action_leaves_the_night_where_it_was() -> None:
    with environment(night(LETTERS), start=10) as env:
        env.reset()
        with pytest.raises(PaprikaError, match="'volume'"):
            env.step({"kind": 1})
        assert env.step(SOFT)[4]["step"] == 1


# --- actions


def test_the_lines_of_the_session_can_be_whispered_and_others_break_a_rule() -> None:
    with environment(night("R" * 60), start=0, theme="sea", wake_scale=0.0) as env:
        _, info = env.reset()
        line = info["lines"][1]
        *_, said = env.step({"kind": 2, "volume": 0, "line": line})
        *_, foreign = env.step({"kind": 2, "volume": 0, "line": "fremde Worte 夜"})
    assert (said["rules"], said["delivered"], said["rewritten"]) == ((), "whisper", False)
    assert foreign["rules"] == ("words_not_said",)
    assert (foreign["delivered"], foreign["rewritten"]) == ("whisper", True)
    assert foreign["components"]["violation"] == 1.0


def test_agents_own_values_are_taken_as_they_are() -> None:
    recorder = MemoryRecorder()
    with environment(night("R" * 60), start=0, recorder=recorder) as env:
        env.reset()
        env.step(PlaySound(Volume.MEDIUM, "a reason"))
        env.step(Whisper("ab", Volume.LOW))
        assert env.step(Stop())[2] is True
    steps = [line for line in lines_of(recorder.episodes[0].trace) if line["kind"] == "step"]
    assert steps[0]["action"] == {"kind": "sound", "volume": "medium", "reason": "a reason"}


def test_in_enforce_the_gate_refuses_and_info_says_so() -> None:
    with environment(night("L" * 5 + "D" * 50), start=10, mode="enforce") as env:
        env.reset()
        *_, info = env.step(LOUD)
    assert info["delivered"] is None
    assert "cue_in_deep" in info["refused_by"]


def test_a_decision_of_30_seconds_is_late_and_no_cue() -> None:
    with environment(night("R" * 60), start=0, latency=30.0) as env:
        env.reset()
        observation, *_, info = env.step(SOFT)
    assert (info["decision"], info["delivered"]) == ("late", None)
    assert observation["cues_so_far"].tolist() == [0.0]


# --- dice


def shown_after(env: PaprikaEnv, **reset: Any) -> str:
    return "".join(
        str(step[0]["stage"]) for step in played(env, dict.fromkeys(range(40), LOUD), **reset)
    )


def test_a_seed_selects_the_dice_and_the_same_seed_gives_the_same_night() -> None:
    with environment(night("R" * 80), start=0) as env:
        first, other, again = (shown_after(env, seed=seed) for seed in (3, 4, 3))
    assert first == again != other


def seeds_of(env: PaprikaEnv, *asked: int | None) -> list[int]:
    """The seeds that are rolled when these are asked for."""
    found = []
    for seed in asked:
        env.reset(seed=seed)
        assert env.setting is not None
        found.append(env.setting.seed)
    return found


def test_a_seed_settles_the_dice_of_the_resets_that_are_given_none_after_it() -> None:
    with environment(night("R" * 80), start=0) as env:
        first, again = (seeds_of(env, 5, None, None) for _ in range(2))
    assert first[0] == 5
    assert first == again
    assert len(set(first)) == 3
    assert min(first[1:]) >= 65_536


def test_without_any_seed_every_environment_draws_other_dice() -> None:
    drawn = []
    for _ in range(3):
        env = PaprikaEnv(night("R" * 80), start=0)
        drawn += seeds_of(env, None, None)
        env.close()
    assert len(set(drawn)) == 6
    assert min(drawn) >= 65_536


def test_an_episode_that_drew_everything_is_repeated_by_the_seed_in_its_hidden_trace() -> None:
    recorder, actions = MemoryRecorder(), dict.fromkeys(range(40), LOUD)
    options = {"start": "any", "condition": "any", "recorder": recorder}
    for _ in range(4):
        env = PaprikaEnv(night(LETTERS * 2), **options)  # type: ignore[arg-type]
        played(env, actions)
        seed = lines_of(recorder.episodes[-1].hidden)[0]["seed"]
        played(env, actions, seed=seed)
        env.close()
        one, other = recorder.episodes[-2:]
        assert (one.trace, one.hidden) == (other.trace, other.hidden)


def test_held_out_dice_are_rolled_only_where_they_were_allowed() -> None:
    with environment(night("R" * 80), start=0) as env:
        assert seeds_of(env, 5, 9) == [5, 9]
        for seed in (6, 7, 8):
            with pytest.warns(HeldOutSeed, match=f"seed {seed} is held out.*held_out=True"):
                assert seeds_of(env, seed) == [65_500 + seed]
    with environment(night("R" * 80), start=0, held_out=True) as env:
        assert seeds_of(env, 6, 7, 8) == [6, 7, 8]


def test_a_held_out_task_is_refused_by_name_unless_it_was_allowed() -> None:
    task = {"task": "rem_onset-0941-t3-s8"}
    with environment() as env:
        with pytest.raises(OptionError, match=r"rem_onset-0941-t3-s8 is held out; .*held_out=True"):
            env.reset(options=task)
        env.reset(seed=2, options=task)  # an explicit seed takes the place of the task's
        assert env.setting is not None
        assert env.setting.seed == 2


def test_the_id_of_a_session_is_that_of_a_replay_of_the_same_making() -> None:
    with environment(night(LETTERS), agent="me") as env:
        ids = []
        for seed in (1, 1, 2):
            env.reset(seed=seed)
            ids.append(env.session_id)
        assert env.setting is not None
        made = {"name": "me", "source_sha256": None, "settings": {}}
        assert ids[2] == replay_id(made_of(recording_of(env.night), made, env.setting))
    assert ids[0] == ids[1] != ids[2]
    shown = [night(letters, truth="R" * 60) for letters in ("R" * 60, "R" * 59 + "L")]
    told = []
    for one in shown:
        with environment(one, start=0) as env:
            env.reset(seed=1)
            told.append(env.session_id)
    assert told[0] != told[1]  # what is shown is part of it, not the truth alone


def test_a_task_is_chosen_by_name_with_its_epoch_theme_seed_and_condition() -> None:
    with environment(held_out=True) as env:
        env.reset(options={"task": "rem_onset-0941-t1-s1"})
        made = env.setting
        assert made is not None
        # 04:50 and 582 epochs later: 291 minutes
        assert (made.first_epoch, made.seed, made.theme.name) == (582, 1, "forest")
        env.reset(options={"task": "rem_onset-0941-t3-s8-flicker+cue_late"})
        made = env.setting
        assert made is not None
        assert (made.first_epoch, made.seed, made.theme.name) == (582, 8, "cat")
        assert made.condition.name == "flicker+cue_late"
        env.reset(seed=2, options={"task": "rem_onset-0941-t1-s1", "condition": "frozen_stage"})
        made = env.setting
        assert made is not None
        assert (made.seed, made.theme.name) == (2, "sea")
        assert made.condition == Condition(signal=SignalFault.FROZEN_STAGE)


def test_any_draws_starts_and_conditions_by_the_seed() -> None:
    with environment(start="any", condition="any") as env:
        found = []
        for seed in (*range(11, 40), *range(11, 40)):
            env.reset(seed=seed)
            assert env.setting is not None
            found.append((env.setting.first_epoch, env.setting.condition.name))
    assert found[:29] == found[29:]
    assert len({epoch for epoch, _ in found}) > 8
    assert len({condition for _, condition in found}) > 15
    assert "plain" not in {condition for _, condition in found}


# --- mistakes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"start": 72}, "start 72: .* epochs 0 to 71"),
        ({"start": -1}, "start -1"),
        ({"start": True}, "start True"),
        ({"recording": night(""), "start": None}, "start 0: night-a has no epoch"),
        ({"start": "rem_onset-0000-t9-s1"}, "is no task of .* such as"),
        ({"start": "nonsense"}, "is no task"),
        ({"condition": "thunder"}, "condition 'thunder' is unknown.* dropout_burst"),
        ({"condition": "flicker+frozen_stage"}, "both faults of the signal; choose one"),
        ({"theme": "sae"}, "did you mean sea"),
        ({"theme": Theme("x", "y" * 2001, (), "en", 8.0)}, "2000"),
    ],
)
def test_a_start_theme_or_condition_that_cannot_be_is_told_at_reset(
    options: dict[str, Any], said: str
) -> None:
    env = PaprikaEnv(**{"recording": night(LETTERS), **options})
    with pytest.raises(PaprikaError, match=said):
        env.reset()
    env.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"dropout": 1.5}, "dropout is 1.5"),
        ({"stable_deep": 0}, "stable_deep is 0"),
        ({"wake_scale": -1.0}, "wake scale"),
        ({"mode": "gentle"}, "mode is 'gentle': give enforce or observe"),
        ({"latency": -2.0}, "latency"),
        ({"reward": "all"}, "reward is 'all'"),
    ],
)
def test_an_option_that_cannot_be_is_told_at_make(options: dict[str, Any], said: str) -> None:
    with pytest.raises(PaprikaError, match=said):
        PaprikaEnv(night(LETTERS), **options)


def test_an_unknown_reset_option_is_told() -> None:
    with environment(night(LETTERS)) as env, pytest.raises(OptionError, match="'taks'"):
        env.reset(options={"taks": 1})


def test_a_night_file_is_opened_and_a_missing_or_torn_one_is_told(tmp_path: Any) -> None:
    path = tmp_path / "n.mcap"
    write_night(path, recording(LETTERS))
    recorder = MemoryRecorder()
    for night_ in (str(path), path, RecordedNight(NightFile.open(path))):
        with environment(night_, latency=LatencyModel(1.0), recorder=recorder) as env:
            assert len(played(env, {3: SOFT})) == 40
    assert len({one.trace + one.hidden for one in recorder.episodes}) == 1
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(PaprikaError, match=r"torn\.mcap.*recover"):
        PaprikaEnv(torn)
    with pytest.raises(PaprikaError, match=r"missing\.mcap"):
        PaprikaEnv(tmp_path / "missing.mcap")
