"""The way out of the night: services answer on a loop of their own, in a thread of its own.

OutsideError
└── SecondLoopClosed    work handed over after the end
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from agents.types import Reply, Request
from devices.types import PaprikaError

T = TypeVar("T")

CLOSING_S: Final = 5.0
"""Assumed: how long work that will not end may delay the end of the program."""

GRACE_S: Final = 0.25
"""Assumed: how far behind its deadline the second loop may say so before the night gives up."""

LATENCY_DECIMALS: Final = 3
"""Latencies are whole milliseconds everywhere, so that what is stored is what was charged."""


class OutsideError(PaprikaError):
    """Base of the errors of the way out."""


class SecondLoopClosed(OutsideError):
    """Work was handed to a second loop that has been closed."""


class Service(Protocol):
    """One that answers; runs on the second loop, may fail or hang as it likes."""

    async def answer(self, request: Request) -> Said:
        """What it has to say; an exception is as good as a `Said` with an error."""
        ...


@dataclass(frozen=True, slots=True)
class Said:
    """What a service says to one request. `error` None: `body` (JSON values only) is its answer.

    usage: counts such as tokens. attempts: client calls made for it, retries included.
    """

    body: Mapping[str, Any] | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    attempts: int = 1
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BoundedRequest(Request):
    """A request for which at most so many client calls may be made, retries included."""

    most_attempts: int = 1


@dataclass(frozen=True, slots=True)
class Refusal(Reply):
    """A reply for which nobody was asked, because something was used up: `refused` says what."""

    refused: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service said, and how long it took in real time. `error` None: it answered."""

    took_s: float
    body: Mapping[str, Any] | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None
    attempts: int = 1

    def reply(self, latency_s: float) -> Reply:
        """The reply that the night gets after it waited latency_s."""
        return Reply(self.body, latency_s, self.error, self.usage, self.attempts)


class SecondLoop:
    """An ordinary event loop in a daemon thread, started by the first work handed to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: Callable[[], object] | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run work on the loop; from any thread. To cancel the future is to cancel the work."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._running())
        except BaseException:
            work.close()
            raise

    def close(self) -> None:
        """Cancel what still runs and end the thread; again is harmless."""
        with self._lock:
            self._closed = True
            if self._thread is None or self._end is None:
                return
            thread, end = self._thread, self._end
            self._thread = self._end = None
        end()
        thread.join(CLOSING_S)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise SecondLoopClosed("the second loop is closed: nothing outside can be asked")
            if self._loop is None:
                self._loop = self._start()
            return self._loop

    def _start(self) -> asyncio.AbstractEventLoop:
        started: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        thread = threading.Thread(target=self._run, args=(started,), name="outside", daemon=True)
        thread.start()
        self._thread = thread
        return started.result()

    def _run(self, started: concurrent.futures.Future[asyncio.AbstractEventLoop]) -> None:
        try:
            asyncio.run(self._serve(started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    async def _serve(self, started: concurrent.futures.Future[asyncio.AbstractEventLoop]) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: loop.call_soon_threadsafe(ended.set)
        started.set_result(loop)
        await ended.wait()


class LiveOutside:
    """`agents.types.Outside` in real time: services run on the second loop, the night goes on."""

    def __init__(self, services: Mapping[str, Service], second: SecondLoop | None = None) -> None:
        self._services = services
        self._second = SecondLoop() if second is None else second

    def close(self) -> None:
        """End the second loop; later calls get an error."""
        self._second.close()

    async def call(self, request: Request) -> Reply:
        """Ask; latency is on the night's clock. Anything that goes wrong stands in `error`."""
        loop = asyncio.get_running_loop()
        asked_t = loop.time()
        answer = await self._answer(request)
        return answer.reply(round(loop.time() - asked_t, LATENCY_DECIMALS))

    async def _answer(self, request: Request) -> Answer:
        work = ask(self._second, self._services, request)
        try:
            # The second loop keeps the deadline; this one holds even where a service blocks it.
            async with asyncio.timeout(max(request.timeout_s, 0.0) + GRACE_S):
                return await asyncio.wrap_future(work)
        except TimeoutError:
            return late(request, request.timeout_s + GRACE_S)


def ask(
    second: SecondLoop, services: Mapping[str, Service], request: Request
) -> concurrent.futures.Future[Answer]:
    """Put the request to its service on the second loop; the answer holds any failure."""
    service = services.get(request.service)
    if service is None:
        known = ", ".join(sorted(services)) or "none"
        return _at_once(f"no service is named {request.service!r}; there are: {known}")
    try:
        return second.submit(answered(service, request))
    except SecondLoopClosed as error:
        return _at_once(f"{request.service}: {error}")


async def answered(service: Service, request: Request) -> Answer:
    """The service's answer within `request.timeout_s` of real time; never raises."""
    clock = asyncio.get_running_loop().time
    asked = clock()
    work = asyncio.ensure_future(_guarded(service, request))
    try:
        # Not `asyncio.timeout`: a service that swallows its cancellation must not be waited for.
        await asyncio.wait((work,), timeout=max(request.timeout_s, 0.0))
        took_s = clock() - asked
        if not work.done() or took_s >= request.timeout_s:
            return late(request, took_s)
        said = work.result()
        return Answer(took_s, said.body, said.usage, said.error, said.attempts)
    except asyncio.CancelledError:
        return Answer(clock() - asked, error=f"{request.service}: the call was cancelled")
    finally:
        work.cancel()


def late(request: Request, took_s: float, attempts: int = 1) -> Answer:
    """The answer that did not come in time."""
    told = f"{request.service}: no answer within {request.timeout_s:g} s"
    return Answer(took_s, error=told, attempts=attempts)


async def _guarded(service: Service, request: Request) -> Said:
    try:
        said: object = await service.answer(request)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Said(error=f"{request.service}: cancelled itself")
    except BaseException as error:
        told = f"{request.service}: {type(error).__name__}: {error}".rstrip(": ")
        return Said(error=told)
    if not isinstance(said, Said):
        return Said(error=f"{request.service}: answered with {type(said).__name__}, not with Said")
    if said.error is None and not isinstance(said.body, Mapping):
        return Said(error=f"{request.service}: said nothing", attempts=said.attempts)
    return said


def _at_once(error: str) -> concurrent.futures.Future[Answer]:
    answer: concurrent.futures.Future[Answer] = concurrent.futures.Future()
    answer.set_result(Answer(0.0, error=error, attempts=0))
    return answer
