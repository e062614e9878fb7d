"""Nothing hidden reaches who acts: not by a key, not by the future, not by a name."""

import sys
from dataclasses import fields, replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.process import ProcessAgent
from agents.types import Agent, Observation, Outside, Reply, Request, Session
from bedside.recording import MemoryRecording, write_night
from bedside.trace import MemorySink, Trace
from devices.types import HeartRate, Sample, Stage, Stream, StreamInfo
from replay.attempt import attempt
from replay.env.options import opened
from replay.env.recorders import MemoryRecorder
from replay.env.rewards import RewardWeights
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.wake_rule import WakeTable
from tests.replay.env.environments import LOUD, SOFT, STOP, WAIT, environment, played
from tests.replay.nights import lines_of, recording, setting

OBSERVED = {
    "clock_s",
    "has_reading",
    "stage",
    "confidence",
    "minutes_in_stage",
    "cues_so_far",
    "theme",
    "memory",
}
BODY = {"heart_rate_bpm", "hrv_rmssd_ms", "movement_g", "skin_temperature_c"}
ROOM = {"temperature_c", "noise_dba", "light_lux", "humidity_pct", "co2_ppm"}
AT_RESET = {"step", "lines"}
AT_STEP = {"step", "decision", "rules", "delivered", "refused_by", "rewritten", "components"}
COMPONENTS = {"body", "theme", "violation", "progress"}
SESSION = {
    "kind",
    "start_clock_s",
    "theme",
    "memory",
    "lines",
    "volume_cap",
    "cue_budget",
    "planned_wake_clock_s",
    "digest",
}
OBSERVATION = {
    "clock_s",
    "session_kind",
    "has_reading",
    "stage",
    "fine_stage",
    "confidence",
    "minutes_in_stage",
    "rem_epochs_in_row",
    "rem_period",
    "cues_in_rem_period",
    "minutes_since_onset",
    "theme",
    "memory",
    "lines",
    "cues",
    "minutes_since_cue",
    "last_outcome",
    "budget_left",
    "volume_cap",
    "reported_awake",
    "paused_until_clock_s",
    "minutes_to_wake",
    "still_s",
    "digest",
    *BODY,
    *ROOM,
}
CUES = st.lists(st.sampled_from([WAIT, WAIT, SOFT, LOUD]), min_size=12, max_size=12)
HAPPENED = st.text("WLDR?", min_size=26, max_size=26)
START, STEPS = 4, 12
ALL_WAKE = 1e9
"""A wake scale at which every cue in sleep wakes, whatever is rolled."""


def episode(env: Any, actions: dict[int, Any], **reset: Any) -> list[tuple[Any, ...]]:
    """What one who acts is told: the first observation and info, then all of every step."""
    told: list[tuple[Any, ...]] = [env.reset(**reset)]
    while len(told) == 1 or not (told[-1][2] or told[-1][3]):
        told.append(env.step(actions.get(len(told) - 1, WAIT)))
    return told


def as_text(told: Any) -> str:
    """All of it, every digit of every number."""
    if isinstance(told, dict):
        return " ".join(f"{key}:{as_text(value)}" for key, value in told.items())
    if isinstance(told, list | tuple):
        return " ".join(map(as_text, told))
    return repr(told.tolist() if isinstance(told, np.ndarray | np.generic) else told)


# --- keys


def test_observations_and_infos_hold_the_allowed_keys_and_no_other() -> None:
    recorded = RecordedNight(recording("WLDR" * 15, truth="LLRR" * 15))
    actions = {1: LOUD, 2: SOFT, 30: STOP}
    with environment(recorded, body=True, room=True, wake_scale=4.0) as env:
        (first, at_reset), *steps = episode(env, actions)
    assert set(first) == OBSERVED | {"body", "room"}
    assert set(first["body"]) == BODY
    assert set(first["room"]) == ROOM
    assert set(at_reset) == AT_RESET
    for observation, reward, _, _, info in steps:
        assert set(observation) == OBSERVED | {"body", "room"}
        assert reward == 0.0
        assert set(info) - {"ending"} == AT_STEP
        assert set(info["components"]) == COMPONENTS
    assert "ending" in steps[-1][4]
    with environment(recorded) as env:
        assert set(env.reset()[0]) == OBSERVED


def test_a_reward_adds_no_key() -> None:
    recorded = RecordedNight(recording("R" * 60))
    with environment(recorded, reward=RewardWeights(), wake_scale=ALL_WAKE, start=0) as env:
        _, (_, reward, _, _, info), *_ = episode(env, {0: SOFT})
    assert set(info) == AT_STEP
    assert set(info["components"]) == COMPONENTS
    assert reward == -1.0


def test_what_an_agent_in_the_loop_is_told_has_the_allowed_fields_and_no_other() -> None:
    assert {one.name for one in fields(Observation)} == OBSERVATION
    assert {one.name for one in fields(Session)} == SESSION
    assert {one.name for one in fields(Request)} == {"service", "body", "timeout_s"}


# --- the future


def beating(letters: str, truth: str, bpm: float, after: int) -> RecordedNight:
    """A night whose heart beats at 50 up to the end of epoch `after`, then at `bpm`."""
    beats = [
        Sample(Stream.HEART_RATE, t, HeartRate(50.0 if t < (after + 1) * 30 else bpm), "strap")
        for t in range(5, len(letters) * 30, 10)
    ]
    stream = StreamInfo(Stream.HEART_RATE, 10.0, "strap")
    return RecordedNight(recording(letters, truth=truth, extra=beats, streams=[stream]))


def told_until(recorded: RecordedNight, actions: list[Any], last: int, **options: Any) -> list[Any]:
    with environment(recorded, start=START, steps=STEPS, body=True, **options) as env:
        told = episode(env, dict(enumerate(actions)), seed=3)
    return [as_text(one[:2]) for one in told[: last - START + 1]]


@given(HAPPENED, HAPPENED, HAPPENED, HAPPENED, CUES, st.integers(START, 16), st.booleans())
@settings(max_examples=15)
def test_rewriting_all_of_the_recording_after_an_epoch_changes_nothing_up_to_it(
    shown: str, true: str, shown_later: str, true_later: str, cues: Any, last: int, wakes: bool
) -> None:
    first = beating(shown, true, 50.0, last)
    rewritten = beating(
        shown[: last + 1] + shown_later[last + 1 :],
        true[: last + 1] + true_later[last + 1 :],
        90.0,
        last,
    )
    scale = ALL_WAKE if wakes else 0.0
    assert told_until(first, cues, last, wake_scale=scale) == told_until(
        rewritten, cues, last, wake_scale=scale
    )


@given(HAPPENED, HAPPENED, HAPPENED, CUES, st.integers(START, 16))
@settings(max_examples=15)
def test_rewriting_what_is_shown_after_an_epoch_changes_nothing_up_to_it_with_the_usual_dice(
    shown: str, true: str, shown_later: str, cues: Any, last: int
) -> None:
    rewritten = shown[: last + 1] + shown_later[last + 1 :]
    one, other = (beating(letters, true, 60.0, last) for letters in (shown, rewritten))
    options = {"dropout": 0.2, "latency": 3.0}
    assert told_until(one, cues, last, **options) == told_until(other, cues, last, **options)


@given(HAPPENED, HAPPENED, HAPPENED, CUES)
@settings(max_examples=15)
def test_another_truth_changes_nothing_where_no_cue_wakes(
    shown: str, true: str, other: str, cues: Any
) -> None:
    last = START + STEPS
    one, two = (beating(shown, truth, 60.0, 0) for truth in (true, other))
    assert told_until(one, cues, last, wake_scale=0.0) == told_until(
        two, cues, last, wake_scale=0.0
    )


def test_the_future_does_show_once_it_has_come() -> None:
    """The comparison above would see a difference."""
    one, two = (beating("R" * 10 + later, "R" * 26, 50.0, 9) for later in ("R" * 16, "D" * 16))
    told = told_until(one, [], 10, wake_scale=0.0), told_until(two, [], 10, wake_scale=0.0)
    assert told[0][:-1] == told[1][:-1]
    assert told[0] != told[1]


# --- names

SEED = 918_273_645
CHANCES = {"low": 0.4142135, "medium": 0.5772156, "high": 0.9159655, "object": 0.2622057}
SCALE = 1.0317203
CANARIES = ("canary", "918273645", "4142135", "5772156", "9159655", "2622057", "0317203")
LETTERS, TRUTH = "LLRRRRRRRRDDRRRRRRRRLL" * 3, "LDDRRRLLRRDDRRRRRWRRLD" * 3


def canary_night(folder: Path) -> Path:
    """A night file all of whose names can be recognised."""
    made = recording(LETTERS, truth=TRUTH, night_id="canary-night")
    info = replace(made.info, origin="canary-origin.edf", truth_origin="canary-expert")
    path = folder / "canary-folder" / "canary-file.mcap"
    path.parent.mkdir()
    write_night(path, MemoryRecording(info, tuple(made.samples()), made.truth()))
    return path


def hidden_words(hidden: bytes) -> list[str]:
    """Every number that was rolled, and the truth, as they stand in the hidden trace."""
    lines = lines_of(hidden)
    rolled = [repr(line["value"])[:10] for line in lines if line.get("event") == "roll"]
    (truth,) = (line["letters"] for line in lines if line.get("event") == "truth")
    assert len([value for value in rolled if value != "None"]) > 5
    return [value for value in rolled if value != "None"] + [truth, truth[:8]]


def test_no_hidden_name_number_or_letter_reaches_observations_or_infos(tmp_path: Path) -> None:
    recorder = MemoryRecorder()
    path = canary_night(tmp_path)
    given_ = {"recorder": recorder, "wake_scale": SCALE, "start": 2, "body": True, "room": True}
    with environment(path, **given_) as env:
        told = as_text(episode(env, dict.fromkeys(range(40), LOUD), seed=SEED)).lower()
        assert env.session_id not in told
    hidden = recorder.episodes[0].hidden
    assert [canary for canary in CANARIES if canary in told] == []
    assert [word for word in hidden_words(hidden) if word.lower() in told] == []
    evidence = (hidden + recorder.episodes[0].trace).decode()
    assert all(word in evidence for word in ("canary-night", "canary-origin", "918273645"))


class Overheard:
    """A way out that keeps every request."""

    def __init__(self) -> None:
        self.services: dict[str, Any] = {}
        self.requests: list[Request] = []

    def watching(self, agent: Agent) -> Agent:
        return agent

    def around(self, held: Outside) -> Outside:
        self._held = held
        return self

    async def call(self, request: Request) -> Reply:
        self.requests.append(request)
        return await self._held.call(request)


AGENT = """
import os, sys
with open(sys.argv[1], "w") as heard:
    heard.write(os.getcwd() + repr(dict(os.environ)) + "\\n")
    for line in sys.stdin:
        heard.write(line)
        heard.flush()
        loud = '{"kind": "sound", "volume": "high"}' if '"decide"' in line else "{}"
        print(loud, flush=True)
"""


@pytest.fixture
def overheard(tmp_path: Path) -> tuple[str, str, bytes]:
    """What a process was told, what was asked of the outside, and the hidden trace."""
    script, heard = tmp_path / "agent.py", tmp_path / "heard.txt"
    script.write_text(AGENT)
    agent = ProcessAgent(f"{quote(sys.executable)} {quote(str(script))} {quote(str(heard))}")
    table = WakeTable(dict.fromkeys((Stage.LIGHT, Stage.REM, Stage.DEEP), CHANCES), 4, SCALE)
    made: Setting = replace(setting(), wake_table=table, seed=SEED, first_epoch=2, steps=40)
    way, hidden = Overheard(), MemorySink()
    attempt(
        opened(canary_night(tmp_path)),
        agent,
        replace(made, charges=dict.fromkeys(range(1, 99), 0.0)),
        session_id="canary-session",
        trace=Trace(MemorySink()),
        hidden=Trace(hidden),
        way_out=way,
    )
    return heard.read_text(), repr(way.requests), hidden.bytes()


def test_no_hidden_name_number_or_letter_reaches_a_process_or_a_request(
    overheard: tuple[str, str, bytes],
) -> None:
    heard, asked, hidden = overheard
    lines = heard.splitlines()
    assert len(lines) == 1 + 1 + 40  # where it is, the session, and every step
    assert asked.count("'type': 'decide'") == 40
    for text in (*lines[1:], asked):
        assert [canary for canary in CANARIES if canary in text.lower()] == []
        assert [word for word in hidden_words(hidden) if word in text] == []
    assert "canary-f" not in lines[0]


def test_a_played_episode_tells_nothing_of_wakings_but_the_stages_that_follow() -> None:
    """Two nights that show the same: in one the cue woke, in the other the sleeper woke alone."""
    woken = RecordedNight(recording("R" * 30, night_id="a"))
    alone = RecordedNight(recording("RRWWWW" + "R" * 30, truth="R" * 36, night_id="b"))
    told = []
    for recorded, scale in ((woken, ALL_WAKE), (alone, 0.0)):
        with environment(recorded, start=0, steps=12, wake_scale=scale) as env:
            steps = played(env, {1: SOFT})
        told.append([as_text(step) for step in steps])
    assert told[0] == told[1]
