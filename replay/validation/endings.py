"""Every way an attempt can end, on the small night, with what must be in the trace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from agents.types import Action, Agent, Observation, Session, Stop, Wait
from agents.wait import WaitAgent
from bedside.plan import Ending
from bedside.trace import MemorySink, Trace
from devices.types import EPOCH_S
from replay.clock import run_virtual
from replay.setting import Setting
from replay.trace_lines import Line, parsed
from replay.validation.findings import Check, Finding, found
from replay.validation.ground import Ground
from replay.validation.nights import BENCH, bench
from replay.validation.trials import SESSION

STOP_AT: Final = 2
STEPS: Final = 5
STABLE: Final = 3
LATE_START: Final = len(BENCH) - 4
CUT_T: Final = 3.5 * EPOCH_S
"""Between the third and the fourth decision."""


class StopsThird:
    """Stops at its third step."""

    name = "stops_third"

    def reset(self, session: Session) -> None:
        self._steps = 0

    async def decide(self, observation: Observation) -> Action:
        self._steps += 1
        return Stop("the third step") if self._steps == STOP_AT + 1 else Wait()


@dataclass(frozen=True, slots=True)
class Way:
    """How an attempt is brought to an ending, and after how many steps.

    terminated: the session came to its own end; else it was cut short. last: the trace holds the
    epoch after the last action.
    """

    steps: int
    terminated: bool
    last: bool
    setting: Mapping[str, Any]
    agent: Callable[[], Agent] = WaitAgent


WAYS: Final = {
    Ending.NIGHT_END: Way(len(BENCH), True, False, {}),
    Ending.AGENT_STOP: Way(STOP_AT + 1, True, True, {"ends_at_stop": True}, StopsThird),
    Ending.STABLE_DEEP: Way(BENCH.index("DDD") + STABLE, True, True, {"stable_deep": STABLE}),
    Ending.STEP_LIMIT: Way(STEPS, False, True, {"steps": STEPS}),
    Ending.RECORDING_EXHAUSTED: Way(4, False, False, {"first_epoch": LATE_START, "steps": STEPS}),
    Ending.TIME_LIMIT: Way(3, False, False, {}),
    Ending.CANCELLED: Way(3, False, False, {}),
}


def ending_checks() -> tuple[Check, ...]:
    """One an ending."""
    return tuple(Check(f"ends_by_{ending.value}", partial(_ends, ending)) for ending in WAYS)


def _ends(ending: Ending, ground: Ground) -> Finding:
    way = WAYS[ending]
    made = ground.bench_setting(**way.setting)
    lines = _lived(ground, way.agent(), made, _CUT.get(ending))
    got, steps = lines[-1]["ending"], sum(line["kind"] == "step" for line in lines)
    last = sum(line["kind"] == "last" for line in lines)
    cut_short = Ending(got).is_truncation
    line = f"{got} after {steps} steps, {'truncated' if cut_short else 'terminated'}, {last} last"
    passed = (got, steps, cut_short, last) == (ending, way.steps, not way.terminated, way.last)
    return found(passed, line, ending=got, steps=steps, truncated=cut_short, last=last)


def _lived(
    ground: Ground,
    agent: Agent,
    setting: Setting,
    cut: Callable[[Any, asyncio.Task[Any]], None] | None,
) -> list[Line]:
    """The trace of an attempt at the small night, cut at `CUT_T` where there is a `cut`."""
    trace, hidden = MemorySink(), MemorySink()

    async def lived() -> None:
        world = ground.environment.world(bench(), setting, session_id=SESSION, hidden=Trace(hidden))
        night = world.night(agent, Trace(trace))
        task = asyncio.ensure_future(night.run())
        if cut is not None:
            await asyncio.sleep(CUT_T)
            cut(night, task)
        with suppress(asyncio.CancelledError):
            await task

    work: Any = lived()
    run_virtual(work)
    return parsed(trace.bytes(), "trace of an ending")


def _cancelled(night: Any, task: asyncio.Task[Any]) -> None:
    task.cancel()


def _out_of_time(night: Any, task: asyncio.Task[Any]) -> None:
    night.end(Ending.TIME_LIMIT)


_CUT: Final = {Ending.CANCELLED: _cancelled, Ending.TIME_LIMIT: _out_of_time}
