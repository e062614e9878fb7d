"""The agent that never cues."""

from agents.types import Wait
from agents.wait import WaitAgent
from tests.agents.timelines import seen, sounds


async def test_it_never_cues_whatever_the_stage() -> None:
    assert await sounds(WaitAgent(), "WLDR?" * 40) == []


async def test_its_reason_says_that_it_is_no_accident() -> None:
    assert await WaitAgent().decide(seen()) == Wait("this agent never cues")
