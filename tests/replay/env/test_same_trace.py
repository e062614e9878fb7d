"""The loop and the steps are one night: byte for byte the same two traces."""

from collections.abc import Callable
from itertools import cycle, islice, product
from typing import Any

import pytest

from agents.fixed_timer import FixedTimer
from agents.gentle_rule import GentleRule
from agents.rem_rule import RemRule
from agents.types import Agent, AgentError, BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from agents.wait import WaitAgent
from bedside.safety.gate import Mode
from bedside.themes import bundled_theme
from devices.types import Volume
from replay.env.driver import AgentDriver, drive
from replay.env.environment import PaprikaEnv
from replay.env.recorders import MemoryRecorder
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from replay.tasks.composed import composed_conditions, single_faults
from replay.tasks.task_set import make_tasks
from tests.replay.env.environments import by_loop, by_steps, environment
from tests.replay.nights import Scripted, lines_of, night

RULES: dict[str, Callable[[], Agent]] = {
    "wait": WaitAgent,
    "fixed_timer": FixedTimer,
    "loud_timer": lambda: FixedTimer(0.5, Volume.HIGH),
    "rem_rule": RemRule,
    "gentle_rule": GentleRule,
}
NIGHT = RecordedNight(sample_night())
TASKS = [task.name for task in make_tasks(NIGHT, seeds=(1, 6))]

LATENCIES = (None, 2.4, 22.0, 29.999, 30.0, 35.0, LatencyModel(8.0, 1.2))
"""A sound of the theme cat lasts 8 s: after 22 s of latency it ends on the epoch's boundary."""


def compared(agent: Callable[[], Agent], **options: Any) -> list[dict[str, Any]]:
    """Play both ways, see that all bytes are equal, and give the trace."""
    recorder = MemoryRecorder()
    with environment(recorder=recorder, agent=agent().name, held_out=True, **options) as env:
        stepped = by_steps(env, recorder, agent())
        assert by_loop(env, agent()) == stepped
    return lines_of(stepped[0])


def test_all_tasks_of_the_bundled_night_are_found() -> None:
    assert len(TASKS) == 30


@pytest.mark.parametrize("name", RULES)
def test_every_rule_agent_leaves_the_same_bytes_on_tasks_of_the_bundled_night(
    name: str,
) -> None:
    scales, modes = (0.5, 1.0, 2.0, 4.0), tuple(Mode)
    settings = islice(cycle(product(LATENCIES, scales, (0.0, 0.2), modes)), len(TASKS))
    every = {"rem_rule": 3, "loud_timer": 4}.get(name, 6)
    tasks = TASKS[len(name) % every :: every]
    for task, (latency, scale, dropout, mode) in zip(tasks, settings, strict=False):
        trace = compared(
            RULES[name],
            recording=NIGHT,
            start=task,
            latency=latency,
            wake_scale=scale,
            dropout=dropout,
            mode=mode,
        )
        assert sum(line["kind"] == "step" for line in trace) == 40


@pytest.mark.parametrize("condition", [*single_faults(), *composed_conditions(sample=6)])
def test_the_same_bytes_under_every_fault(condition: Any) -> None:
    compared(RULES["loud_timer"], recording=NIGHT, start="any", condition=condition, latency=2.4)


def test_a_cue_that_ends_exactly_where_an_epoch_closes() -> None:
    trace = compared(
        lambda: FixedTimer(0.5),
        recording=NIGHT,
        start=300,
        theme="cat",
        latency=22.0,
        wake_scale=0.0,
    )
    ended = [line["ended_t"] for line in trace if line.get("event") == "outcome"]
    assert len(ended) > 20
    assert all(t % 30 == 0 for t in ended)


@pytest.mark.parametrize("start", [800, 940])
def test_the_same_bytes_where_the_recording_ends(start: int) -> None:
    steps = None if start == 800 else 40
    trace = compared(FixedTimer, recording=NIGHT, start=start, steps=steps)
    assert trace[-1]["ending"] == ("night_end" if start == 800 else "recording_exhausted")


EVERYTHING = {
    1: PlaySound(Volume.HIGH, "loud"),
    3: Whisper(bundled_theme("sea").lines[0], Volume.LOW, "one of the lines"),
    5: Whisper("ein fremdes Wort, 夜", Volume.MEDIUM, "not said"),
    8: UseObject(BedsideObject.SCENT, "scent"),
    11: UseObject(BedsideObject.LIGHT),
    14: Wait("with a reason"),
    20: Stop("enough"),
}


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("scale", [0.0, 1.0, 4.0])
def test_every_kind_of_action_leaves_the_same_bytes(mode: Mode, scale: float) -> None:
    trace = compared(
        lambda: Scripted(EVERYTHING),
        recording=night("LLRRDDLLRRWLLLRRRRLLDD" * 3),
        theme="sea",
        start=2,
        mode=mode,
        wake_scale=scale,
    )
    assert trace[-1]["ending"] == "agent_stop"
    assert trace[-2]["kind"] == "last"


def test_an_agent_that_waits_for_time_can_only_be_run_by_the_loop() -> None:
    with environment(night("R" * 50)) as env, pytest.raises(AgentError, match="only the loop"):
        drive(env, Scripted({2: (1.5, Wait())}))


def test_a_driver_gives_the_agents_own_action() -> None:
    driver = AgentDriver(Scripted({0: PlaySound(Volume.HIGH, "why not")}))
    with environment(night("R" * 50), start=0) as env:
        env.reset()
        driver.reset(env.session)
        assert env.observation_value is not None
        assert driver(env.observation_value) == PlaySound(Volume.HIGH, "why not")


def test_observation_is_the_value_that_an_agent_in_the_loop_sees() -> None:
    looped, stepped = (
        Scripted({4: Whisper("x y", Volume.LOW)}),
        Scripted({4: Whisper("x y", Volume.LOW)}),
    )
    with environment(night("LRRRDD" * 9), start=3) as env:
        drive(env, stepped)
        by_loop(env, looped)
    assert looped.seen == stepped.seen
    assert looped.sessions == stepped.sessions
    assert isinstance(env, PaprikaEnv)
