"""Our agents keep what an agent promises, and the check names each promise that is broken."""

import asyncio
import random
from collections.abc import Callable

import pytest

from agents.fixed_timer import FixedTimer
from agents.gentle_rule import GentleRule
from agents.process import ProcessAgent
from agents.rem_rule import RemRule
from agents.testing import STAGES, check_agent, sample_observations
from agents.types import (
    Action,
    Agent,
    Observation,
    Outside,
    PlaySound,
    Reply,
    Request,
    Session,
    Wait,
    Whisper,
)
from agents.wait import WaitAgent
from devices.types import Stage


@pytest.mark.parametrize("make", [WaitAgent, FixedTimer, RemRule, GentleRule])
async def test_our_agents_keep_their_promises(make: Callable[[], Agent]) -> None:
    await check_agent(make)


class Waiting:
    """A process that waits, without a process."""

    async def call(self, request: Request) -> Reply:
        return Reply({"kind": "wait"}, 0.0)


async def test_an_agent_behind_a_process_keeps_them_too() -> None:
    await check_agent(lambda: ProcessAgent("anything"), outside=Waiting())


class Good:
    name = "good"

    def reset(self, session: Session) -> None:
        self.count = 0

    async def decide(self, observation: Observation) -> Action:
        self.count += 1
        return Wait(f"step {self.count}")


class Nameless(Good):
    name = ""


class ResetsLate(Good):
    async def reset(self, session: Session) -> None:  # type: ignore[override]
        pass


class FailsReset(Good):
    def reset(self, session: Session) -> None:
        raise KeyError("theme")


class NotAsync(Good):
    def decide(self, observation: Observation) -> Action:  # type: ignore[override]
        return Wait()


class NeedsReading(Good):
    async def decide(self, observation: Observation) -> Action:
        return Wait(observation.stage.value)  # type: ignore[union-attr]


class Hangs(Good):
    async def decide(self, observation: Observation) -> Action:
        await asyncio.sleep(3600)
        return Wait()


class Shrugs(Good):
    async def decide(self, observation: Observation) -> Action:
        return None  # type: ignore[return-value]


class SaysALoudWord(Good):
    async def decide(self, observation: Observation) -> Action:
        return PlaySound("loud")  # type: ignore[arg-type]


class Invents(Good):
    async def decide(self, observation: Observation) -> Action:
        return Whisper("simmering coconut")


class RollsDice(Good):
    async def decide(self, observation: Observation) -> Action:
        return Wait(str(DICE.randrange(1_000_000_000)))


DICE = random.Random(1)


class Remembers(Good):
    count = 0

    def reset(self, session: Session) -> None:
        pass


class LeavesWork(Good):
    async def decide(self, observation: Observation) -> Action:
        if observation.reported_awake:
            LEFT.append(asyncio.create_task(asyncio.sleep(3600), name="left over"))
        return Wait()


LEFT: list[asyncio.Task[None]] = []


class AsksNobody(Good):
    def connect(self, outside: Outside) -> None:
        pass


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Nameless, "named: its name is ''"),
        (ResetsLate, "resets: reset must be `def reset`, not async"),
        (FailsReset, "resets: reset raised KeyError('theme')"),
        (NotAsync, "decides: decide must be `async def decide`"),
        (NeedsReading, "decides: decide raised AttributeError"),
        (Hangs, "decides: no answer within 0.05 s at 39630 s with the stage awake"),
        (AsksNobody, "decides: it asks outside: hand check_agent an outside="),
        (Shrugs, "acts: decide must return Wait, PlaySound, Whisper, UseObject or Stop, got None"),
        (SaysALoudWord, "acts: volume must be a Volume, got 'loud'"),
        (Invents, "whispers_own_lines: 'simmering coconut' is none of the session's lines"),
        (RollsDice, "repeats: a second agent in the same night did Wait"),
        (Remembers, "forgets: the same agent after a new reset did Wait(reason='step 81')"),
        (LeavesWork, "leaves_no_tasks: still running: left over"),
    ],
)
async def test_a_broken_promise_is_named(make: Callable[[], Agent], told: str) -> None:
    await check_agent(Good)
    try:
        with pytest.raises(AssertionError) as broken:
            await check_agent(make, decide_s=0.05)
    finally:
        for task in LEFT:
            task.cancel()
        LEFT.clear()
    assert str(broken.value).startswith(told)


async def test_own_lines_and_repeating_can_be_left_out() -> None:
    await check_agent(Invents, own_lines=False)
    await check_agent(RollsDice, repeats=False)


def test_the_sample_night_shows_an_agent_every_kind_of_step() -> None:
    seen = sample_observations(cued=[30, 34])
    assert len(seen) == len(STAGES)
    assert {each.stage for each in seen} == {None, Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM}
    assert [each.cue_count for each in seen][-1] == 2
    assert max(each.rem_period for each in seen) == 1
    assert any(each.reported_awake for each in seen)
    assert any(each.paused_until_clock_s is not None for each in seen)
    assert any(each.budget_left == 0 for each in seen)
    assert any(each.still_s is not None for each in seen)
    assert any(each.still_s is None for each in seen)


def test_the_sample_night_counts_as_the_words_say() -> None:
    """Onset: epoch 6 is the first of ten sleep epochs; REM begins with epoch 26 and runs 8."""
    seen = sample_observations()
    assert STAGES[6:16] == "LLLLLLLLLL"[:9] + STAGES[15]
    assert [each.minutes_since_onset for each in seen[14:17]] == [None, 5.0, 5.5]
    rem = STAGES.index("R")
    assert [each.minutes_in_stage for each in seen[rem : rem + 3]] == [0.5, 1.0, 1.5]
    gap = STAGES.index("?", rem)
    assert seen[gap].minutes_in_stage == seen[gap - 1].minutes_in_stage
    assert seen[gap].rem_epochs_in_row == 0
