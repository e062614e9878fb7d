"""The contract test of an actuator."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Final

from devices.ports import Actuator
from devices.testing.promises import (
    CLOSE_S,
    LATE_S,
    LoopClock,
    Promise,
    broken,
    is_filled,
    keep,
    keep_named,
    no_tasks_left,
    opened,
)
from devices.types import Cue, CueKind, Outcome, OutcomeStatus, Volume

FADE_S: Final = 0.25
"""How soon a cue that is faded out has ended; a silenced one is held to no more."""


async def check_actuator(
    make_actuator: Callable[[], Actuator], *, duration_s: float = 0.6, patience_s: float = CLOSE_S
) -> None:
    """Let a new actuator perform each of its kinds, be faded, silenced and abandoned.

    Plays for real, at low volume. duration_s: of each cue. patience_s: for what
    should have ended.
    """
    before = asyncio.all_tasks()
    actuator = make_actuator()
    keep_named(actuator.name)
    kinds = actuator.kinds
    known = is_filled(kinds, frozenset, CueKind)
    keep(known, Promise.DECLARES_KINDS, f"kinds is {kinds!r}, not a frozenset")
    clock = LoopClock()
    _quiet_call(actuator.silence, Promise.SILENCES)
    _quiet_call(actuator.rearm, Promise.STAYS_SILENT)
    async with opened(actuator.ready(clock)):
        for number, kind in enumerate(sorted(kinds), 1):
            await _performs(actuator, _cue(number, kind, duration_s), clock, patience_s)
        kind = min(kinds)
        await _interrupted(actuator, actuator.fade_out, Promise.FADES_OUT, kind, patience_s)
        await _abandoned(actuator, kind, patience_s)
        await _interrupted(actuator, actuator.silence, Promise.SILENCES, kind, patience_s)
        await _stays_silent(actuator, kind, patience_s)
    _quiet_call(actuator.silence, Promise.SILENCES)
    await no_tasks_left(before)


async def _performs(actuator: Actuator, cue: Cue, clock: LoopClock, patience_s: float) -> None:
    asked_t = clock.t()
    limit_s = cue.deadline_s + cue.duration_s + patience_s
    try:
        async with asyncio.timeout(limit_s):
            outcome = await actuator.perform(cue)
    except TimeoutError:
        broken(
            Promise.ENDS_BY_ITSELF, f"a {cue.duration_s:g} s {cue.kind} was on after {limit_s:g} s"
        )
    except Exception as error:
        broken(Promise.PERFORMS, f"perform raised {error!r}; say FAILED in the outcome")
    _judge_outcome(outcome, cue, asked_t, clock.t())


def _judge_outcome(outcome: object, cue: Cue, asked_t: float, now_t: float) -> None:
    if not isinstance(outcome, Outcome):
        broken(Promise.PERFORMS, f"perform returned a {type(outcome).__name__}, not an Outcome")
    sounded = outcome.status in (OutcomeStatus.CONFIRMED, OutcomeStatus.UNCONFIRMED)
    onset_t, ended_t = outcome.onset_t, outcome.ended_t
    keep(not sounded or onset_t is not None, Promise.PERFORMS, "it played, but has no onset_t")
    keep(
        asked_t - LATE_S <= ended_t <= now_t + LATE_S,
        Promise.PERFORMS,
        f"ended_t is {ended_t:.3f} s, between {asked_t:.3f} and {now_t:.3f} by the session's clock",
    )
    if onset_t is None:
        return
    keep(
        asked_t - LATE_S <= onset_t <= ended_t,
        Promise.PERFORMS,
        f"onset_t is {onset_t:.3f} s, asked at {asked_t:.3f} and ended at {ended_t:.3f}",
    )
    late = onset_t - asked_t > cue.deadline_s
    keep(not (late and sounded), Promise.PERFORMS, "it began past its deadline and is not FAILED")
    early = sounded and now_t - asked_t < cue.duration_s - LATE_S
    keep(not early, Promise.RETURNS_AFTER_END, f"perform returned after {now_t - asked_t:.3f} s")


async def _interrupted(
    actuator: Actuator, end: Callable[[], None], promise: Promise, kind: CueKind, patience_s: float
) -> None:
    """Called from a thread that the loop waits for: neither may need the other."""
    performing = asyncio.create_task(actuator.perform(_cue(90, kind, 10.0)))
    await asyncio.sleep(LATE_S)
    _call_from_a_thread(end, promise, patience_s)
    _quiet_call(end, promise)
    await asyncio.wait((performing,), timeout=FADE_S + LATE_S)
    if not performing.done():
        await _cancelled(performing, patience_s)
        broken(promise, f"the cue was still on {FADE_S + LATE_S:g} s later")
    if (error := performing.exception()) is not None:
        broken(promise, f"perform raised {error!r} when it was ended")


async def _stays_silent(actuator: Actuator, kind: CueKind, patience_s: float) -> None:
    """After `silence` nothing plays until `rearm`."""
    try:
        async with asyncio.timeout(patience_s):
            outcome = await actuator.perform(_cue(92, kind, 10.0))
    except TimeoutError:
        broken(Promise.STAYS_SILENT, "a cue asked for after `silence` began to play")
    status = outcome.status
    said = f"after `silence` it said {status}"
    keep(status is OutcomeStatus.SILENCED, Promise.STAYS_SILENT, said)
    _quiet_call(actuator.rearm, Promise.STAYS_SILENT)


async def _abandoned(actuator: Actuator, kind: CueKind, patience_s: float) -> None:
    performing = asyncio.create_task(actuator.perform(_cue(91, kind, 10.0)))
    await asyncio.sleep(0)
    done = await _cancelled(performing, patience_s)
    keep(done, Promise.GIVES_UP, f"perform went on for {patience_s:g} s after it was cancelled")


async def _cancelled(task: asyncio.Task[Outcome], patience_s: float) -> bool:
    task.cancel()
    await asyncio.wait((task,), timeout=patience_s)
    return task.done()


def _call_from_a_thread(end: Callable[[], object], promise: Promise, patience_s: float) -> None:
    errors: list[AssertionError] = []

    def call() -> None:
        try:
            _quiet_call(end, promise)
        except AssertionError as error:
            errors.append(error)

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    caller.join(patience_s)
    keep(not caller.is_alive(), promise, "it waits for the loop; it must return at once")
    for error in errors:
        raise error


def _quiet_call(end: Callable[[], object], promise: Promise) -> None:
    try:
        answer = end()
    except Exception as error:
        broken(promise, f"it raised {error!r}; it must be safe at any moment")
    keep(not inspect.isawaitable(answer), promise, "it is a coroutine; it must be synchronous")


def _cue(number: int, kind: CueKind, duration_s: float) -> Cue:
    line = "the sea at night" if kind is CueKind.WHISPER else None
    return Cue(number, kind, Volume.LOW, "sea", duration_s, line)
