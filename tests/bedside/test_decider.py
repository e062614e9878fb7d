"""What an agent may do wrong, on a real virtual-time loop."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agents.types import Action, PlaySound, Wait
from bedside.clock import SessionClock, SessionStart
from bedside.decider import Decider, Decision, DecisionStatus
from devices.types import Volume
from replay.clock import run_virtual


class Scripted:
    name = "scripted"

    def __init__(self, behave: Callable[[], Any]) -> None:
        self._behave = behave

    def reset(self, session: object) -> None: ...

    async def decide(self, observation: object) -> Action:
        answer = self._behave()
        return await answer if asyncio.iscoroutine(answer) else answer


def decide(behave: Callable[[], Any], *, limit_s: float = 30.0) -> Decision:
    async def ask() -> Decision:
        decider = Decider(Scripted(behave), SessionClock(SessionStart(None)))
        return await decider.ask(None, 0.0, limit_s)  # type: ignore[arg-type]

    return run_virtual(ask())


async def after(seconds: float, answer: Action) -> Action:
    await asyncio.sleep(seconds)
    return answer


CUE = PlaySound(Volume.LOW, "now")


def test_an_answer_is_passed_on_with_the_time_it_took() -> None:
    assert decide(lambda: CUE) == Decision(CUE, DecisionStatus.OK, 0.0)
    assert decide(lambda: after(2.4, CUE)) == Decision(CUE, DecisionStatus.OK, 2.4)


@pytest.mark.parametrize(("seconds", "status"), [(29.999, "ok"), (30.0, "late"), (35.0, "late")])
def test_an_answer_after_thirty_seconds_is_dropped(seconds: float, status: str) -> None:
    decision = decide(lambda: after(seconds, CUE))
    assert decision.status == status
    assert (decision.action == CUE) is (status == "ok")


def test_a_late_agent_is_waited_for_until_the_limit_and_no_longer() -> None:
    assert decide(lambda: after(1e6, CUE)).latency_s == 30.0


def raising(error: BaseException) -> Callable[[], Any]:
    def behave() -> Any:
        raise error

    return behave


@pytest.mark.parametrize("error", [ValueError("no idea"), SystemExit(3), asyncio.CancelledError()])
def test_an_agent_that_raises_waits(error: BaseException) -> None:
    decision = decide(raising(error))
    assert isinstance(decision.action, Wait)
    assert decision.status is DecisionStatus.ERROR


def test_the_error_says_what_was_raised() -> None:
    assert decide(raising(ValueError("no idea"))).error == "ValueError: no idea"


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "play",
        PlaySound("loud"),  # type: ignore[arg-type]
        PlaySound(Volume.LOW, "x" * 200_000),
        Wait(None),  # type: ignore[arg-type]
        PlaySound,
    ],
)
def test_nonsense_is_written_down_and_waits(nonsense: object) -> None:
    decision = decide(lambda: nonsense)
    assert decision.status is DecisionStatus.NONSENSE
    assert isinstance(decision.action, Wait)
    assert decision.error is not None
    assert len(decision.error) <= 500


def test_while_an_earlier_decision_holds_on_no_second_one_is_asked() -> None:
    asked = 0

    async def stubborn() -> Action:
        nonlocal asked
        asked += 1
        while True:
            try:
                await asyncio.sleep(1000.0)
                return CUE
            except asyncio.CancelledError:
                pass

    async def night() -> list[DecisionStatus]:
        clock = SessionClock(SessionStart(None))
        decider = Decider(Scripted(stubborn), clock)
        statuses = [(await decider.ask(None, clock.t(), 30.0)).status for _ in range(3)]  # type: ignore[arg-type]
        await asyncio.sleep(2000.0)
        return statuses

    assert run_virtual(night()) == ["late", "busy", "busy"]
    assert asked == 1
