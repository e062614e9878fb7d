"""An agent that does again what was recorded, up to a step, and lets another one take over.

The other one, who follows, is asked at every step of the prefix too, so that it has seen what it
would have seen; what it asks for there is compared with the record and goes no further.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from agents.types import Action, Agent, AgentError, Observation, Session, Wait
from agents.wire import action_from_json, action_to_json
from bedside.clock import SessionClock
from bedside.decider import DecisionStatus, told
from devices.types import EPOCH_S
from replay.trace_lines import Line

MARGIN_S: Final = 0.00049
"""How much later than recorded an answer may come: the session clock counts whole ms."""
CANCELLED_ITSELF: Final = "the agent cancelled itself"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A step of the prefix. calls: outside calls written between the step before and it.

    held_steps: steps after it at which nobody was asked, because it had not let go.
    """

    step: int
    action: Mapping[str, Any]
    status: DecisionStatus
    latency_s: float
    error: str | None
    calls: tuple[Line, ...] = ()
    held_steps: int = 0


@dataclass(slots=True)
class Following:
    """`agents.types.Agent` for a branch.

    name: of the recorded agent, because the prefix names it. free: called when the prefix is over.
    write_call: writes a recorded call into the trace.
    otherwise: steps of the prefix at which the follower asked for something else.
    """

    name: str
    follower: Agent
    prefix: Sequence[Recorded]
    action: Action
    clock: SessionClock
    free: Callable[[], None]
    write_call: Callable[[Line], None]
    otherwise: list[int] = field(default_factory=list)
    is_free: bool = False
    _start_clock_s: float = 0.0

    def reset(self, session: Session) -> None:
        self._start_clock_s = session.start_clock_s
        self.follower.reset(session)

    async def decide(self, observation: Observation) -> Action:
        if self.is_free:
            return await self.follower.decide(observation)
        since_t = self.clock.t()
        recorded = self.prefix[round(since_t / EPOCH_S) - 1 - self.prefix[0].step]
        calls = _Calls(recorded.calls, self.clock, self.write_call)
        last = recorded is self.prefix[-1]
        try:
            if last:
                return await self._branched(observation, recorded, since_t)
            return await self._repeated(observation, recorded, since_t)
        finally:
            calls.flush()
            if last:
                self.is_free = True
                self.free()

    async def _branched(
        self, observation: Observation, recorded: Recorded, since_t: float
    ) -> Action:
        in_time = recorded.status is not DecisionStatus.LATE
        due_t = since_t + (recorded.latency_s if in_time else 0.0)
        await self._asked(observation, due_t)
        await self._until(due_t)
        return self.action

    async def _repeated(
        self, observation: Observation, recorded: Recorded, since_t: float
    ) -> Action:
        """What was recorded, at its time, whatever the follower asks for."""
        late = recorded.status is DecisionStatus.LATE
        due_t = since_t + recorded.latency_s
        try:
            asked = await self._asked(observation, None if late else due_t)
        except asyncio.CancelledError:
            if not late or recorded.held_steps:
                self._note(recorded)
            if recorded.held_steps:
                await self._held(recorded, since_t)
            raise
        too_late = late and self.clock.t() >= due_t
        same = too_late or _is_same(asked, recorded)
        if not same:
            self._note(recorded)
        if late:
            await self._held(recorded, since_t)
        await self._until(due_t)
        failed = same and recorded.status is DecisionStatus.ERROR
        return _raised(asked) if failed else _as_recorded(recorded)

    async def _asked(self, observation: Observation, due_t: float | None) -> object:
        """The follower's answer, the exception it raised, or None where it took too long."""
        loop = asyncio.get_running_loop()
        deadline = None if due_t is None else loop.time() + due_t - self.clock.t() + MARGIN_S
        try:
            async with asyncio.timeout_at(deadline):
                return await self.follower.decide(observation)
        except TimeoutError as error:
            return error if deadline is None or loop.time() < deadline else None
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return error
        except (Exception, SystemExit) as error:
            return error

    async def _until(self, t: float) -> None:
        if t - self.clock.t() > MARGIN_S:
            await self.clock.until(t)

    async def _held(self, recorded: Recorded, since_t: float) -> None:
        """Never answer in time; let go only after the steps at which it had not let go."""
        if not recorded.held_steps and self.clock.t() < since_t + recorded.latency_s:
            await asyncio.get_running_loop().create_future()
        release_t = since_t + recorded.held_steps * EPOCH_S + EPOCH_S / 2
        while self.clock.t() < release_t:
            try:
                await self.clock.until(release_t)
            except asyncio.CancelledError:
                continue

    def _note(self, recorded: Recorded) -> None:
        self.otherwise.append(recorded.step)


class _Calls:
    """Recorded calls, written at their times, and at the latest before the decision is written."""

    def __init__(
        self, calls: Sequence[Line], clock: SessionClock, write: Callable[[Line], None]
    ) -> None:
        self._left = list(calls)
        self._write = write
        if not calls:
            return
        loop, t = asyncio.get_running_loop(), clock.t()
        for call in calls:
            loop.call_at(loop.time() + max(0.0, call["t"] - t), self._next, call)

    def flush(self) -> None:
        for call in list(self._left):
            self._next(call)

    def _next(self, call: Line) -> None:
        if call in self._left:
            self._left.remove(call)
            self._write(call)


class _Nonsense(Wait):
    """An answer that is none, for a given reason."""

    fault = ""

    @property
    def reason(self) -> str:
        raise AgentError(self.fault)


def _is_same(asked: object, recorded: Recorded) -> bool:
    match recorded.status:
        case DecisionStatus.OK:
            return _without_reason(_as_json(asked)) == _without_reason(recorded.action)
        case DecisionStatus.ERROR:
            return isinstance(asked, BaseException) and _error_of(asked) == recorded.error
        case DecisionStatus.NONSENSE:
            failed = asked is None or isinstance(asked, BaseException)
            return not failed and _as_json(asked) is None
        case _:
            return False


def _as_json(asked: object) -> dict[str, str] | None:
    try:
        return action_to_json(asked)
    except Exception:
        return None


def _without_reason(action: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What is done: the same thing may be done for a reason that is told otherwise."""
    if action is None:
        return None
    return {key: value for key, value in action.items() if key != "reason"}


def _error_of(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return CANCELLED_ITSELF
    if isinstance(error, SystemExit):
        return told(RuntimeError(f"the agent tried to exit ({error})"))
    return told(error)


def _raised(asked: object) -> NoReturn:
    assert isinstance(asked, BaseException)
    raise asked


def _as_recorded(recorded: Recorded) -> Action:
    if recorded.status is DecisionStatus.ERROR:
        _fail(recorded.error or "")
    if recorded.status is DecisionStatus.NONSENSE:
        nonsense = object.__new__(_Nonsense)
        object.__setattr__(nonsense, "fault", recorded.error or "")
        return nonsense
    return action_from_json(recorded.action)


def _fail(words: str) -> NoReturn:
    if words == CANCELLED_ITSELF:
        raise asyncio.CancelledError
    name, colon, message = words.partition(": ")
    raise type(name, (Exception,), {} if colon else {"__str__": _no_words})(message)


def _no_words(error: BaseException) -> str:
    raise ValueError("an error that cannot say what it is")
