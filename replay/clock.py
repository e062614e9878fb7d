"""Virtual time: an event loop whose clock jumps; a night takes a second and keeps its order.

Speed may not change the order of things, which is, each when all above it has settled:

1. callbacks that are ready, first in, first out;
2. results of real work, one at a time, in the order in which the work was asked for, while the
   clock stands still;
3. recorded happenings (`Feed`) earlier than the next timer;
4. the timers of the next instant, in the order in which they were set.

So an epoch that closes at an instant is closed before a sample of that same instant arrives.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_Main = Coroutine[Any, Any, Any]

POLL_EVERY: Final = 128
"""Turns of the loop between two looks at its descriptors while nothing waits for them."""

_LONGEST_WAIT_S: Final = 3600.0
_CANCELLED_KEPT: Final = 100


class NothingToWaitFor(RuntimeError):
    """Tasks wait, but no timer, happening or real work is left that could wake them."""


class Feed(Protocol):
    """Recorded happenings, in order of time, that lie between the timers."""

    def next_t(self) -> float | None:
        """Loop time of the next happening; None: none is left."""
        ...

    def deliver(self, limit: float) -> None:
        """Deliver every happening with t < limit, calling `loop.advance(t)` before each.

        Returns earlier only when `loop.interrupted`, asked after each happening.
        """
        ...


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time, which starts at 0.0 and moves only when all is settled.

    speed: None jumps from instant to instant. A number paces it: no instant comes before its real
        time divided by `speed`; what happens, and at which virtual time, stays the same.
    feed: recorded happenings to deliver between the timers, or None.
    interrupted: for feeds, whether to return: a callback is ready or a timer was set meanwhile.

    Its tasks and futures hash by the order of their making, so that the sets of `asyncio.wait`
    and `TaskGroup` are walked in the same order in every run.
    """

    if TYPE_CHECKING:
        _ready: deque[asyncio.Handle]
        _scheduled: list[_Timer]
        _selector: Any
        _stopping: bool
        _closed: bool
        _timer_cancelled_count: int
        _default_executor: concurrent.futures.Executor | None
        _check_closed: Callable[[], None]
        _check_default_executor: Callable[[], None]
        _process_events: Callable[[Any], None]
        _write_to_self: Callable[[], None]

    def __init__(self, speed: float | None = None) -> None:
        super().__init__()
        if speed is not None and not 0.0 < speed < math.inf:
            self.close()
            raise ValueError(f"speed must be a positive number, got {speed!r}")
        self.feed: Feed | None = None
        self.interrupted = False
        self._now = 0.0
        self._pace = None if speed is None else _Pace(speed)
        self._holds = 0
        self._entering: deque[tuple[concurrent.futures.Future[Any], asyncio.Future[Any]]] = deque()
        self._timer_numbers = count()
        self._future_numbers = count()
        self._turns_to_poll = POLL_EVERY
        self.set_task_factory(_NumberedTask)  # type: ignore[arg-type]

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._now

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As in asyncio; timers of one instant fire in the order in which they were set."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        if when != when:
            raise ValueError("a timer cannot be set for not-a-number")
        timer = _Timer(when, callback, args, self, context)
        timer._number = next(self._timer_numbers)
        timer._scheduled = True
        heapq.heappush(self._scheduled, timer)
        self.interrupted = True
        return timer

    def advance(self, t: float) -> None:
        """Move the clock to t, never backwards. For feeds, before each happening."""
        if t > self._now:
            self._now = t

    def hold(self) -> None:
        """Stop the clock until `release` was called as often as this; from the loop's thread only.

        A held loop waits for real things. To sleep in it while holding it is to wait for ever.
        """
        self._holds += 1

    def release(self) -> None:
        """Undo one `hold`."""
        if not self._holds:
            raise RuntimeError("release() without a hold()")
        self._holds -= 1

    @contextmanager
    def held(self) -> Iterator[None]:
        """The clock stands still inside."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    def entering(self, work: concurrent.futures.Future[T]) -> asyncio.Future[T]:
        """The result of work in another thread, at the instant at which it was asked for.

        The clock stands still until it is in. Results enter in the order of these calls, whatever
        finishes first. To cancel it is to cancel the work.
        """
        waiter: asyncio.Future[T] = _NumberedFuture(self)
        waiter.add_done_callback(lambda _: waiter.cancelled() and work.cancel())
        self._entering.append((work, waiter))
        work.add_done_callback(lambda _: self._write_to_self())
        return waiter

    def run_in_executor(
        self, executor: concurrent.futures.Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """As in asyncio, with the clock held; results enter in the order of the requests."""
        self._check_closed()
        if executor is None:
            self._check_default_executor()
            if self._default_executor is None:
                self._default_executor = concurrent.futures.ThreadPoolExecutor()
            executor = self._default_executor
        return self.entering(executor.submit(func, *args))

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait, in real time, for the threads; the timeout of 3.12 and later counts loop time."""
        with self.held():
            await super().shutdown_default_executor(*() if timeout is None else (timeout,))

    def _call_soon(
        self, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        self.interrupted = True
        return handle

    def _run_once(self) -> None:
        ready, timers = self._ready, self._scheduled
        self._turns_to_poll -= 1
        if not self._turns_to_poll:
            self._look_outside(0.0)
        if timers and timers[0]._when <= self._now:
            self._fire_due()
        elif not ready and not self._stopping:
            self._move_on()
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _fire_due(self) -> None:
        timers, now = self._scheduled, self._now
        while timers and timers[0]._when <= now:
            timer = heapq.heappop(timers)
            timer._scheduled = False
            if timer._cancelled:
                self._timer_cancelled_count -= 1
            else:
                self._ready.append(timer)

    def _move_on(self) -> None:
        """All has settled: let the next thing in, or move the clock to it."""
        if self._entering:
            return self._enter_next()
        if self._holds:
            return self._look_outside(None)
        when, feed = self._next_timer_t(), self.feed
        if feed is not None:
            t = feed.next_t()
            if t is not None and t < when:
                return self._deliver(feed, t, when)
        if when == math.inf:
            return self._wait_for_descriptors()
        if self._pace is None or self._reached(when, self._pace):
            self._now = when
            self._fire_due()
        return None

    def _enter_next(self) -> None:
        work, waiter = self._entering[0]
        if waiter.done():
            self._entering.popleft()
        elif work.done():
            self._entering.popleft()
            _hand_over(work, waiter)
        else:
            self._look_outside(None)

    def _deliver(self, feed: Feed, t: float, when: float) -> None:
        limit = when
        if self._pace is not None:
            if not self._reached(t, self._pace):
                return
            limit = min(when, max(math.nextafter(t, math.inf), self._pace.virtual_t()))
        self.interrupted = False
        if self._ready:
            return  # another thread was quicker
        try:
            feed.deliver(limit)
            left_t = feed.next_t()
            if not self.interrupted and left_t is not None and left_t < limit:
                raise RuntimeError(f"the feed left a happening at {left_t} s, before {limit} s")
        except BaseException:
            self.feed = None
            raise

    def _next_timer_t(self) -> float:
        timers = self._scheduled
        cancelled = self._timer_cancelled_count
        if cancelled > _CANCELLED_KEPT and 2 * cancelled > len(timers):
            self._scheduled = timers = [timer for timer in timers if not timer._cancelled]
            heapq.heapify(timers)
            self._timer_cancelled_count = 0
        while timers and timers[0]._cancelled:
            heapq.heappop(timers)._scheduled = False
            self._timer_cancelled_count -= 1
        return timers[0]._when if timers else math.inf

    def _reached(self, t: float, pace: _Pace) -> bool:
        """Whether real time has come to t; if not, wait for it or for something from outside."""
        wait_s = pace.real_s_until(t)
        if wait_s <= 0.0:
            return True
        self._look_outside(min(wait_s, _LONGEST_WAIT_S))
        return False

    def _look_outside(self, timeout: float | None) -> None:
        self._turns_to_poll = POLL_EVERY
        self._process_events(self._selector.select(timeout))

    def _wait_for_descriptors(self) -> None:
        # One descriptor is the loop's own self-pipe; any other is a socket somebody waits for.
        if len(self._selector.get_map()) > 1:
            return self._look_outside(None)
        raise NothingToWaitFor(
            f"at {self._now} s of virtual time tasks wait, but no timer, recorded happening or real"
            " work is left to wake them (real work runs in held(), entering() or run_in_executor())"
        )


def run_virtual(main: Coroutine[Any, Any, T], *, speed: float | None = None) -> T:
    """Run main on a new `VirtualTimeLoop`, as `asyncio.run` does; Ctrl-C cancels it."""
    with asyncio.Runner(loop_factory=partial(VirtualTimeLoop, speed)) as runner:
        return runner.run(main)


class _Timer(asyncio.TimerHandle):
    __slots__ = ("_number",)

    if TYPE_CHECKING:
        _number: int
        _when: float
        _scheduled: bool

    def __lt__(self, other: _Timer) -> bool:  # type: ignore[override]
        mine, theirs = self._when, other._when
        return mine < theirs or (mine == theirs and self._number < other._number)


class _NumberedTask(asyncio.Task[Any]):
    def __init__(self, loop: VirtualTimeLoop, coro: _Main, **options: Any) -> None:
        self._number: int = next(loop._future_numbers)  # first: to register a task is to hash it
        super().__init__(coro, loop=loop, **options)

    def __hash__(self) -> int:
        return self._number


class _NumberedFuture(asyncio.Future[Any]):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._number: int = next(loop._future_numbers)
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._number


class _Pace:
    """Real time against virtual time; starts when first asked."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._started_s: float | None = None

    def virtual_t(self) -> float:
        if self._started_s is None:
            self._started_s = time.monotonic()
        return (time.monotonic() - self._started_s) * self._speed

    def real_s_until(self, t: float) -> float:
        return (t - self.virtual_t()) / self._speed


def _hand_over(work: concurrent.futures.Future[Any], waiter: asyncio.Future[Any]) -> None:
    if work.cancelled():
        waiter.cancel()
    elif (error := work.exception()) is not None:
        waiter.set_exception(error)
    else:
        waiter.set_result(work.result())
