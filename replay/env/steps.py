"""A night that is lived step by step: it runs in a thread of its own and stands still while its
agent's decision is awaited elsewhere.

    step()                     the night's thread
      put action  ──────────▶  decide() returns; sleep goes on, a cue plays, the epoch closes
      wait        ◀──────────  decide(observation): the loop is blocked, virtual time stands still

Nothing else of the loop runs while `decide` waits, so the loop and the steps give the same trace.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any, Final
from weakref import WeakSet, finalize

from agents.types import Action, Observation, Session, Wait
from bedside.plan import Ending
from bedside.trace import Trace
from devices.types import PaprikaError
from replay.attempt import play
from replay.clock import run_virtual
from replay.env.recorders import NotedTrace, Sinks
from replay.setting import Setting
from replay.world import World

THREAD_NAME: Final = "paprika-night"
LET_GO_S: Final = 5.0
"""How long a night that was told to end may take for it, in real time. Assumed."""

Line = Mapping[str, Any]
Build = Callable[[Trace], World]
"""The world of an attempt, given its hidden trace."""


class NightGone(PaprikaError):
    """The night's thread is not there any more."""


@dataclass(frozen=True, slots=True)
class Happened:
    """What an action led to.

    step: the step's line of the trace; None before the first action. wakings: caused since.
    """

    step: Line | None = None
    wakings: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """The night waits for an action."""

    observation: Observation
    happened: Happened


@dataclass(frozen=True, slots=True)
class Over:
    """The night is over. last: the trace's line of the epoch after the last action, if any."""

    ending: Ending
    happened: Happened
    last: Line | None


class SteppedNight:
    """One attempt, an action at a time.

    Args:
        build: called in the night's thread. name: what the trace calls the one who acts.
        sinks: where the evidence goes; None: nowhere.
    """

    def __init__(self, build: Build, setting: Setting, *, name: str, sinks: Sinks | None) -> None:
        self._channel = channel = _Channel(name)
        self._thread = Thread(
            target=_live, args=(channel, build, setting, sinks), name=THREAD_NAME, daemon=True
        )
        # The thread knows the channel only: a night that nobody holds any more is let go.
        finalize(self, channel.end).atexit = False
        self.over = False
        self._thread.start()

    @property
    def session(self) -> Session:
        """What the agent of this night is told once."""
        assert self._channel.session is not None, "begin() comes first"
        return self._channel.session

    def begin(self) -> Asked:
        """The first observation. An error of the night is raised here."""
        first = self._next()
        assert isinstance(first, Asked), "a night asks before it ends"
        return first

    def act(self, action: Action) -> Asked | Over:
        """Hand the action over and live on to the next decision, or to the ending."""
        if not self._thread.is_alive():  # as in a child process that was forked meanwhile
            self.over = True
            raise NightGone("the night's thread is gone; call reset() in this process")
        self._channel.answers.put(action)
        return self._next()

    def cancel(self) -> Over:
        """End the night instead of acting."""
        self._channel.end()
        told = self._next()
        assert isinstance(told, Over), "a night that was told to end does not ask"
        return told

    def close(self) -> None:
        """End the night and wait until its thread is gone. May be called twice."""
        self.over = True
        self._channel.end()
        if self._thread is not current_thread():
            self._thread.join(LET_GO_S)

    def _next(self) -> Asked | Over:
        try:
            told = self._channel.told.get()
        except BaseException:  # interrupted: which step the night is at is not known any more
            self.over = True
            self._channel.end()
            raise
        if isinstance(told, Asked):
            return told
        self.over = True
        self._thread.join(LET_GO_S)
        if isinstance(told, Over):
            return told
        raise told


class _End:
    """Told to a night instead of an action."""


class _Channel:
    """Between the two threads: one waits while the other runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told: SimpleQueue[Asked | Over | BaseException] = SimpleQueue()
        self.answers: SimpleQueue[Action | _End] = SimpleQueue()
        self.session: Session | None = None
        self.happened = Happened()
        self.last: Line | None = None
        self._main: asyncio.Task[Any] | None = None
        _open.add(self)

    def end(self) -> None:
        self.answers.put(_End())

    async def run(self, night: Callable[[], Any]) -> Ending:
        self._main = asyncio.current_task()
        return await night()  # type: ignore[no-any-return]

    # as the agent of the night

    def reset(self, session: Session) -> None:
        self.session = session

    async def decide(self, observation: Observation) -> Action:
        happened, self.happened = self.happened, Happened()
        self.told.put(Asked(observation, happened))
        answer = self.answers.get()
        if isinstance(answer, _End):
            assert self._main is not None
            self._main.cancel()  # the decision below is not looked at any more
            return Wait()
        return answer

    # as the reader of its traces

    def note(self, kind: str, fields: Line) -> None:
        if kind == "step":
            self.happened = replace(self.happened, step=fields)
        elif kind == "last":
            self.last = fields

    def note_hidden(self, kind: str, fields: Line) -> None:
        if kind == "event" and fields["event"] == "waking":
            self.happened = replace(self.happened, wakings=self.happened.wakings + 1)


_open: WeakSet[_Channel] = WeakSet()


def _live(channel: _Channel, build: Build, setting: Setting, sinks: Sinks | None) -> None:
    told: Over | BaseException
    try:
        ending = run_virtual(channel.run(lambda: _night(channel, build, setting, sinks)))
        told = Over(ending, channel.happened, channel.last)
    except BaseException as error:
        told = error
    channel.told.put(told)


async def _night(channel: _Channel, build: Build, setting: Setting, sinks: Sinks | None) -> Ending:
    trace = NotedTrace(None if sinks is None else sinks.trace, channel.note)
    hidden = NotedTrace(None if sinks is None else sinks.hidden, channel.note_hidden)
    worlds: list[World] = []

    def built() -> World:
        worlds.append(build(hidden))
        return worlds[0]

    try:
        attempt = await play(built, channel, setting, trace=trace)
    except asyncio.CancelledError:
        for world in worlds:
            world.sleeper.close(world.clock.t())
        return Ending.CANCELLED
    return attempt.ending


@atexit.register
def _end_all() -> None:
    """No night outlives the interpreter: its thread must not wake while that is torn down."""
    for channel in tuple(_open):
        channel.end()
    for thread in _threads():
        thread.join(LET_GO_S)


def _threads() -> list[Thread]:
    from threading import enumerate as alive

    return [thread for thread in alive() if thread.name == THREAD_NAME]
