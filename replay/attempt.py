"""One agent on one recorded night, or on a part of it: the same `Night` as at a bedside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agents.types import Agent, AsksOutside, Outside
from bedside.call_log import LoggedOutside
from bedside.plan import Ending
from bedside.trace import Trace
from replay.clock import run_virtual
from replay.latency import Delayed
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.sleeper import Waking
from replay.world import World, recorded_world

if TYPE_CHECKING:
    from bedside.outside import Service
    from replay.outside import HeldOutside


@dataclass(frozen=True, slots=True)
class Attempt:
    """How it went; the evidence is in the trace and the hidden trace."""

    ending: Ending
    wakings: tuple[Waking, ...]


class WayOut(Protocol):
    """What stands between an agent and the services it asks: caches, limits, prices."""

    @property
    def services(self) -> Mapping[str, Service]:
        """Services by name, beside those an agent brings itself (`cmd:`)."""
        ...

    def watching(self, agent: Agent) -> Agent:
        """The agent, its observations noted on the way to it."""
        ...

    def around(self, held: HeldOutside) -> Outside:
        """The way out, with everything that stands in it."""
        ...


def attempt(
    night: RecordedNight,
    agent: Agent,
    setting: Setting,
    *,
    session_id: str,
    trace: Trace,
    hidden: Trace,
    speed: float | None = None,
    progress: Report | None = None,
    way_out: WayOut | None = None,
) -> Attempt:
    """Run one attempt on virtual time; both traces are complete when it returns."""

    def world() -> World:
        return recorded_world(
            night, setting, session_id=session_id, hidden=hidden, progress=progress
        )

    work = play(world, agent, setting, trace=trace, way_out=way_out)
    return run_virtual(work, speed=speed)


async def play(
    build: Callable[[], World],
    agent: Agent,
    setting: Setting,
    *,
    trace: Trace,
    way_out: WayOut | None = None,
) -> Attempt:
    """Live one world through with an agent, on the running virtual-time loop."""
    world = build()
    deciding = agent if way_out is None else way_out.watching(agent)
    if setting.latency is not None:
        deciding = Delayed(deciding, setting.latency, world.dice)
    with ExitStack() as closing:
        held = _held_outside(agent, setting, way_out, closing)
        outside: Outside | None = held
        if held is not None:
            around = held if way_out is None else way_out.around(held)
            outside = LoggedOutside(around, trace, world.clock)
        ending = await world.night(deciding, trace, outside).run()
    if held is not None and held.fault is not None:
        raise held.fault
    world.sleeper.close(world.clock.t())
    return Attempt(ending, tuple(world.sleeper.wakings))


def _held_outside(
    agent: Agent, setting: Setting, way_out: WayOut | None, closing: ExitStack
) -> HeldOutside | None:
    """The way out for an agent that needs one; loaded only then."""
    if not isinstance(agent, AsksOutside):
        return None
    from bedside.agent_process import services_for
    from bedside.outside import SecondLoop
    from replay.outside import HeldOutside

    second = closing.enter_context(SecondLoop())
    services: dict[str, Service] = {} if way_out is None else dict(way_out.services)
    services |= services_for(agent)
    return HeldOutside(services, charges=setting.charges, second=second)
