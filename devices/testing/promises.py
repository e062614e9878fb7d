"""What a source and an actuator promise, by name, and how a broken promise is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Final, NoReturn

LATE_S: Final = 0.25
"""How far a time stamp may lie from the clock, or an end from when it is due. Assumed."""
CLOSE_S: Final = 5.0
"""How long opening, closing and giving up may take. Assumed."""


class Promise(StrEnum):
    """What a source or an actuator promises, by the name a failure begins with."""

    NAMED = "named"
    DECLARES_STREAMS = "declares_streams"
    DECLARES_KINDS = "declares_kinds"
    OPENS = "opens"
    SENDS_SAMPLES = "sends_samples"
    SILENT_AFTER_CLOSE = "silent_after_close"
    OWN_THREAD = "own_thread"
    WELL_FORMED = "well_formed"
    STAMPED_ON_ARRIVAL = "stamped_on_arrival"
    LETS_ERRORS_THROUGH = "lets_errors_through"
    LEAVES_NO_TASKS = "leaves_no_tasks"
    PERFORMS = "performs"
    RETURNS_AFTER_END = "returns_after_end"
    ENDS_BY_ITSELF = "ends_by_itself"
    FADES_OUT = "fades_out"
    SILENCES = "silences"
    STAYS_SILENT = "stays_silent"
    GIVES_UP = "gives_up"


class LoopClock:
    """Session seconds on the running loop, from the moment it is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()

    def t(self) -> float:
        return self._loop.time() - self._start


async def no_tasks_left(before: set[asyncio.Task[object]]) -> None:
    await asyncio.sleep(0)
    left = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    keep(not left, Promise.LEAVES_NO_TASKS, f"still running once closed: {', '.join(left)}")


@asynccontextmanager
async def opened(context: object) -> AsyncIterator[None]:
    """The context, opened and closed within `CLOSE_S` each."""
    enter, leave = getattr(context, "__aenter__", None), getattr(context, "__aexit__", None)
    if enter is None or leave is None:
        broken(Promise.OPENS, f"a {type(context).__name__} is no async context manager")
    try:
        async with asyncio.timeout(CLOSE_S):
            await enter()
    except Exception as error:
        broken(Promise.OPENS, f"opening gave {error!r}; an absent device is no error")
    try:
        yield
    except BaseException as error:
        async with asyncio.timeout(CLOSE_S):
            swallowed = await leave(type(error), error, error.__traceback__)
        if not swallowed:
            raise
    else:
        try:
            async with asyncio.timeout(CLOSE_S):
                await leave(None, None, None)
        except Exception as error:
            broken(Promise.OPENS, f"closing gave {error!r}")


def is_filled(values: object, container: type, kind: type) -> bool:
    """Whether it is such a container with at least one value, all of them of the kind."""
    if not isinstance(values, tuple | frozenset) or not isinstance(values, container):
        return False
    return bool(values) and all(isinstance(value, kind) for value in values)


def keep_named(name: object) -> None:
    keep(isinstance(name, str) and bool(name), Promise.NAMED, f"its name is {name!r}")


def keep(kept: bool, promise: Promise, detail: str) -> None:
    if not kept:
        broken(promise, detail)


def broken(promise: Promise, detail: str) -> NoReturn:
    raise AssertionError(f"{promise}: {detail}")
