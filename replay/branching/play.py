"""Plays a branch: the recorded prefix, then whoever goes on, in the same world."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from agents.types import Action, Agent, AsksOutside, Outside, Reply, Request
from bedside.call_log import LoggedOutside
from bedside.clock import SessionClock
from bedside.night import StepDone
from bedside.plan import Ending
from bedside.trace import FileSink, Trace
from replay.branching.errors import BranchError
from replay.branching.following import Following, Recorded
from replay.branching.parent import Parent
from replay.branching.verified import VerifiedSink
from replay.clock import run_virtual
from replay.latency import Delayed
from replay.world import World, recorded_world

if TYPE_CHECKING:
    from bedside.outside import Service
    from replay.attempt import WayOut
    from replay.outside import HeldOutside
    from replay.progress import Report
    from replay.recorded_night import RecordedNight
    from replay.setting import Setting


@dataclass(frozen=True, slots=True)
class Play:
    """One run of a branch."""

    parent: Parent
    night: RecordedNight
    setting: Setting
    agent: Agent
    prefix: Sequence[Recorded]
    action: Action
    way_out: WayOut | None
    progress: Report | None

    def run(self, trace_path: Path, hidden_path: Path) -> tuple[int, ...]:
        """Write both traces; the steps at which the agent that goes on asked otherwise.

        Raises:
            BranchError: naming the first line of the prefix that is not as it was recorded.
        """
        recorded, hidden = self.parent.trace, self.parent.hidden
        opened: list[FileSink] = []
        try:
            opened += [FileSink(trace_path)]
            opened += [FileSink(hidden_path)]
            trace = VerifiedSink(opened[0], recorded.raw, recorded.path)
            dark = VerifiedSink(opened[1], hidden.raw, hidden.path)
            otherwise = run_virtual(self._live(trace, dark))
            for sink in opened:
                sink.close()
        except BaseException:
            for sink in opened:
                sink.discard()
            raise
        return otherwise

    async def _live(self, trace: VerifiedSink, dark: VerifiedSink) -> tuple[int, ...]:
        world = self._world(trace, dark)
        step_line = next(
            raw
            for raw, line in zip(self.parent.trace.raw, self.parent.trace.lines, strict=True)
            if line.get("kind") == "step" and line["step"] == self.prefix[-1].step
        )

        def free() -> None:
            trace.free(step_line)
            dark.free()

        written = Trace(trace)
        with ExitStack() as closing:
            following = Following(
                name=str(self.parent.header.get("agent")),
                follower=self._follower(world),
                prefix=self.prefix,
                action=self.action,
                clock=world.clock,
                free=free,
                write_call=lambda call: written.line("call", call),
            )
            self._connect(following, written, world.clock, closing)
            await world.night(following, written).run()
        # A hidden difference ends the night, and so comes before the one that this makes.
        difference = dark.difference or trace.difference
        if difference is not None:
            raise BranchError(
                f"{difference}: the prefix cannot be repeated; "
                "was the trace changed, or the program?"
            )
        world.sleeper.close(world.clock.t())
        return tuple(following.otherwise)

    def _world(self, trace: VerifiedSink, dark: VerifiedSink) -> World:
        world = recorded_world(
            self.night,
            self.setting,
            session_id=str(self.parent.header.get("session")),
            hidden=Trace(dark),
            progress=self.progress,
        )

        def ended(done: StepDone) -> Ending | None:
            differs = trace.difference is not None or dark.difference is not None
            return Ending.CANCELLED if differs else world.ended(done)

        return replace(world, ended=ended)

    def _follower(self, world: World) -> Agent:
        agent = self.agent if self.way_out is None else self.way_out.watching(self.agent)
        model = self.setting.latency
        return agent if model is None else Delayed(agent, model, world.dice)

    def _connect(
        self, following: Following, trace: Trace, clock: SessionClock, closing: ExitStack
    ) -> None:
        """Hand the follower its way out, where it asks for one."""
        if not isinstance(self.agent, AsksOutside):
            return
        from bedside.agent_process import services_for
        from bedside.outside import SecondLoop
        from replay.outside import HeldOutside as Held

        second = closing.enter_context(SecondLoop())
        services: dict[str, Service] = dict(self.way_out.services) if self.way_out else {}
        services |= services_for(self.agent)
        calls = [call for recorded in self.prefix for call in recorded.calls]
        charges = chain((float(call["latency_s"] or 0.0) for call in calls), repeat(0.0))
        before = self._around(Held(services, charges=charges, second=second))
        after = self._around(Held(services, second=second))
        logged = _Further(after, trace, clock, len(calls))
        self.agent.connect(_Parting(following, before, logged))

    def _around(self, held: HeldOutside) -> Outside:
        return held if self.way_out is None else self.way_out.around(held)


class _Further(LoggedOutside):
    """Goes on counting the calls of the prefix."""

    def __init__(self, outside: Outside, trace: Trace, clock: SessionClock, number: int) -> None:
        super().__init__(outside, trace, clock)
        self._number = number


@dataclass(frozen=True, slots=True)
class _Parting:
    """Calls of the prefix are charged as recorded and not written; the recorded ones are."""

    following: Following
    before: Outside
    after: Outside

    async def call(self, request: Request) -> Reply:
        return await (self.after if self.following.is_free else self.before).call(request)
