"""A night at a bedside with a bell: the core loop alone, on virtual time, with nobody to wake."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from agents.types import Agent, Session, SessionKind
from bedside.clock import SessionClock, SessionStart
from bedside.configuration import default_toml
from bedside.night import Night, StepDone
from bedside.plan import Ending, NightPlan
from bedside.safety.gate import Mode
from bedside.safety.limits import PersonalLimits, Powers
from bedside.safety.words import own_words
from bedside.sleep_history import SleepHistory
from bedside.trace import Trace
from devices.ports import Actuator, Clock, Push
from devices.types import (
    Cue,
    CueKind,
    Outcome,
    OutcomeStatus,
    PersonAct,
    PersonEvent,
    Sample,
    Stream,
    StreamInfo,
    Volume,
)
from replay.clock import VirtualTimeLoop, run_virtual
from tests.replay.nights import START_CLOCK_S, Line, lines_of, recording

MEMORY = "my grey cat is asleep on my knees and she purrs"
LINES = ("my grey cat", "she purrs on my knees")


class Bell:
    """Rings for as long as a cue lasts, until faded or silenced. log: (t, what), in order."""

    def __init__(
        self,
        kinds: Iterable[CueKind] = tuple(CueKind),
        begins: Callable[[Cue], object] | None = None,
    ) -> None:
        self.name = "bell"
        self.kinds = frozenset(kinds)
        self.cues: list[Cue] = []
        self.log: list[tuple[float, str]] = []
        self._begins = begins
        self._end = asyncio.Event()
        self._silent = False
        self._clock: Clock | None = None

    @asynccontextmanager
    async def ready(self, clock: Clock) -> AsyncIterator[None]:
        self._clock = clock
        yield

    async def perform(self, cue: Cue) -> Outcome:
        if self._silent:
            return Outcome(OutcomeStatus.SILENCED, None, self._note("silent"))
        self.cues.append(cue)
        onset_t = self._note(f"ring {cue.number}")
        if self._begins is not None:
            answer = self._begins(cue)
            if asyncio.iscoroutine(answer):
                answer = await answer
            if answer is not None:
                return answer  # type: ignore[no-any-return]
        self._end.clear()
        status = OutcomeStatus.CONFIRMED
        try:
            async with asyncio.timeout(cue.duration_s):
                await self._end.wait()
            status = OutcomeStatus.SILENCED
        except TimeoutError:
            pass
        return Outcome(status, onset_t, self._note(f"end {cue.number}"), 33.0)

    def fade_out(self) -> None:
        self._note("fade")
        self._end.set()

    def silence(self) -> None:
        self._silent = True
        self._note("silence")
        self._end.set()

    def rearm(self) -> None:
        self._silent = False
        self._note("rearm")

    def said(self, what: str) -> list[float]:
        return [t for t, said in self.log if said == what]

    def _note(self, what: str) -> float:
        t = 0.0 if self._clock is None else self._clock.t()
        self.log.append((t, what))
        return t


class Tape:
    """A source that pushes samples at their times."""

    name = "tape"

    def __init__(self, streams: tuple[StreamInfo, ...], samples: Sequence[Sample]) -> None:
        self.streams = streams
        self._left = deque(samples)

    @asynccontextmanager
    async def pushing(self, push: Push, clock: Clock) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        self._loop, self._push, loop.feed = loop, push, self
        yield
        loop.feed = None

    def next_t(self) -> float | None:
        return self._left[0].t if self._left else None

    def deliver(self, limit: float) -> None:
        while self._left and self._left[0].t < limit and not self._loop.interrupted:
            self._loop.advance(self._left[0].t)
            self._push(self._left.popleft())


class Notebook:
    """A sink that keeps lines, and takes its time to make them safe.

    settling: seconds that each `settle` takes, the last for all that follow.
    """

    def __init__(self, settling: Sequence[float] = (0.0,)) -> None:
        self.written: list[bytes] = []
        self.settled: list[int] = []
        self._settling = list(settling)

    def write(self, line: bytes) -> None:
        self.written.append(line)

    async def settle(self, limit_s: float) -> bool:
        takes_s = self._settling.pop(0) if len(self._settling) > 1 else self._settling[0]
        await asyncio.sleep(min(takes_s, limit_s))
        if takes_s > limit_s:
            return False
        self.settled.append(len(self.written))
        return True

    def close(self) -> None:
        """Nothing is held."""

    @property
    def lines(self) -> list[Line]:
        return lines_of(b"".join(self.written))


@dataclass
class AtBedside:
    """What is set up for a night; `spend` lives it through.

    asleep_for: epochs of sustained sleep before the session, none of them told apart.
    """

    letters: str
    agent: Agent
    interval_s: float = 30.0
    extra: Sequence[Sample] = ()
    streams: Sequence[StreamInfo] = ()
    mode: Mode = Mode.OBSERVE
    personal: PersonalLimits = field(
        default_factory=lambda: PersonalLimits(Volume.MEDIUM, powers=Powers.MEDIUM)
    )
    session: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    actuators: Sequence[Actuator] | None = None
    sink: Notebook = field(default_factory=Notebook)
    outside: Any = None
    ends: Callable[[StepDone], Ending | None] | None = None
    confidence: float | None = None
    asleep_for: int = 10
    listens: tuple[Callable[[Sample], object], Stream] | None = None
    heard: list[Sample] = field(default_factory=list)

    def spend(self) -> list[Line]:
        """The lines of the trace."""
        self.ending = run_virtual(self._night())
        return self.sink.lines

    async def _night(self) -> Ending:
        made = recording(
            self.letters,
            interval_s=self.interval_s,
            extra=self.extra,
            streams=self.streams,
            confidence=self.confidence,
        )
        clock = SessionClock(SessionStart(made.info.start_wall_ns))
        source = Tape(made.info.streams, tuple(made.samples()))
        if self.actuators is None:
            self.actuators = (Bell(),)
        night = Night(
            self._plan(),
            clock=clock,
            sources=(source,),
            actuators=self.actuators,
            agent=self.agent,
            trace=Trace(self.sink),
            ended=self.ends or self._to_the_end,
            outside=self.outside,
        )
        self.night = night
        night.hub.subscribe(self.heard.append, Stream)
        if self.listens is not None:
            night.hub.subscribe(self.listens[0], (self.listens[1],))
        task = asyncio.current_task()
        assert task is not None
        self.task, self.clock = task, clock
        return await night.run()

    def _to_the_end(self, done: StepDone) -> Ending | None:
        return Ending.NIGHT_END if done.step + 1 == len(self.letters) else None

    def _plan(self) -> NightPlan:
        kind = self.session.get("kind", SessionKind.NIGHT)
        given = {"theme": "cat", "memory": MEMORY, "lines": LINES, "volume_cap": Volume.MEDIUM}
        told = {name: value for name, value in self.session.items() if name != "kind"}
        session = Session(kind, START_CLOCK_S, **{**given, **told})
        words = own_words(session.memory, session.lines, session.theme, default_toml("words"))
        since = -self.asleep_for if self.asleep_for else None
        slept = SleepHistory(onset=since, sustained_onset=since)
        more = {"history": slept, **self.plan}
        return NightPlan("bedside", session, self.mode, self.personal, words, **more)

    @property
    def bell(self) -> Bell:
        assert self.actuators is not None
        (bell,) = self.actuators
        assert isinstance(bell, Bell)
        return bell


def pressed(t: float, act: PersonAct, minutes: float | None = None) -> Sample:
    return Sample(Stream.PERSON, t, PersonEvent(act, minutes), "button")


BUTTON = StreamInfo(Stream.PERSON, None, "button")
