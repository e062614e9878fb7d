"""The virtual clock: what moves it, what stops it, and in which order things happen."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.clock import NothingToWaitFor, VirtualTimeLoop, run_virtual
from tests.replay.happenings import Happenings, virtual

ROOT = Path(__file__).parents[2]


# Time and timers


def test_time_starts_at_zero_and_jumps_to_each_timer_exactly() -> None:
    async def main() -> list[float]:
        loop = virtual()
        seen = [loop.time()]
        for delay_s in (0.25, 30.0, 28_800.0):
            await asyncio.sleep(delay_s)
            seen.append(loop.time())
        return seen

    assert run_virtual(main()) == [0.0, 0.25, 30.25, 28_830.25]


def test_twelve_timers_of_one_instant_fire_in_the_order_in_which_they_were_set() -> None:
    async def main() -> list[int]:
        fired: list[int] = []
        for number in range(12):
            virtual().call_at(30.0, fired.append, number)
        await asyncio.sleep(60.0)
        return fired

    assert run_virtual(main()) == list(range(12))


def test_sleepers_of_one_instant_wake_in_the_order_in_which_they_slept() -> None:
    async def main() -> list[str]:
        woken: list[str] = []

        async def sleeper(name: str, t: float) -> None:
            await asyncio.sleep(t)
            woken.append(name)

        await asyncio.gather(*(sleeper(name, 2 - k % 2) for k, name in enumerate("abcdef")))
        return woken

    assert run_virtual(main()) == ["b", "d", "f", "a", "c", "e"]


def test_a_timer_in_the_past_fires_at_once_even_beside_a_task_that_never_sleeps() -> None:
    async def main() -> float:
        fired = asyncio.Event()
        await asyncio.sleep(10.0)
        virtual().call_at(3.0, fired.set)
        while not fired.is_set():
            await asyncio.sleep(0)
        return virtual().time()

    assert run_virtual(main()) == 10.0


def test_a_cancelled_timer_neither_fires_nor_moves_the_clock() -> None:
    async def main() -> tuple[float, list[str]]:
        fired: list[str] = []
        virtual().call_at(5.0, fired.append, "cancelled").cancel()
        virtual().call_at(10.0, fired.append, "kept")
        virtual().call_at(10.0, fired.append, "cancelled beside it").cancel()
        await asyncio.sleep(10.0)
        return virtual().time(), fired

    assert run_virtual(main()) == (10.0, ["kept"])


def test_cancelled_timers_do_not_pile_up() -> None:
    async def main() -> int:
        for _ in range(5_000):
            async with asyncio.timeout(1e6):
                await asyncio.sleep(1.0)
        return len(virtual()._scheduled)

    assert run_virtual(main()) < 500


def test_timeouts_count_virtual_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.sleep(100.0), 40.0)
        return virtual().time()

    assert run_virtual(main()) == 40.0


def test_a_timer_at_not_a_number_is_refused() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="not-a-number"):
            virtual().call_at(math.nan, print)

    run_virtual(main())


@pytest.mark.parametrize("speed", [0.0, -1.0, math.inf, math.nan])
def test_a_speed_that_is_no_positive_number_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="speed must be a positive number"):
        VirtualTimeLoop(speed)


def test_a_closed_loop_takes_no_timers() -> None:
    loop = VirtualTimeLoop()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(1.0, print)


# Nothing left


async def wait_for_nothing() -> None:
    await asyncio.Event().wait()


async def sleep_for_ever() -> None:
    await asyncio.sleep(math.inf)


@pytest.mark.parametrize("main", [wait_for_nothing, sleep_for_ever])
@pytest.mark.parametrize("speed", [None, 1000.0])
def test_waiting_for_what_cannot_come_is_an_error_and_no_hang(
    main: Callable[[], asyncio.Future[None]], speed: float | None
) -> None:
    with pytest.raises(NothingToWaitFor, match=r"at 0\.0 s of virtual time"):
        run_virtual(main(), speed=speed)  # type: ignore[arg-type]


def test_a_feed_that_has_run_dry_is_nothing_to_wait_for() -> None:
    async def main() -> None:
        virtual().feed = Happenings(virtual(), [(7.0, "last")], lambda _: None)
        await asyncio.Event().wait()

    with pytest.raises(NothingToWaitFor, match=r"at 7\.0 s"):
        run_virtual(main())


# Recorded happenings


def test_a_happening_at_the_instant_of_a_timer_comes_after_all_the_timer_made_ready() -> None:
    async def main() -> list[str]:
        loop, seen = virtual(), []

        async def epoch() -> None:
            await asyncio.sleep(30.0)
            seen.append("timer")
            for turn in range(3):
                await asyncio.sleep(0)
                seen.append(f"settling {turn}")

        happenings = [(29.5, "before"), (30.0, "same instant"), (30.5, "after")]
        loop.feed = Happenings(loop, happenings, seen.append)
        await asyncio.gather(epoch(), asyncio.sleep(60.0))
        return seen

    settling = ["settling 0", "settling 1", "settling 2"]
    assert run_virtual(main()) == ["before", "timer", *settling, "same instant", "after"]


def test_the_clock_stands_at_each_happening_while_it_is_delivered() -> None:
    async def main() -> list[float]:
        loop, times = virtual(), []
        happenings = [(t, "") for t in (0.0, 0.5, 0.5, 12.25)]
        loop.feed = Happenings(loop, happenings, lambda _: times.append(loop.time()))
        await asyncio.sleep(20.0)
        return times

    assert run_virtual(main()) == [0.0, 0.5, 0.5, 12.25]


def test_what_a_happening_wakes_runs_before_the_next_happening() -> None:
    async def main() -> list[str]:
        loop, seen = virtual(), []
        queue: asyncio.Queue[str] = asyncio.Queue()

        async def listener() -> None:
            while True:
                seen.append("heard " + await queue.get())

        def push(what: str) -> None:
            seen.append(what)
            queue.put_nowait(what)

        listening = asyncio.ensure_future(listener())
        loop.feed = Happenings(loop, [(1.0, "a"), (2.0, "b")], push)
        await asyncio.sleep(3.0)
        listening.cancel()
        return seen

    assert run_virtual(main()) == ["a", "heard a", "b", "heard b"]


def test_a_timer_set_by_a_happening_fires_in_its_place_among_the_happenings() -> None:
    async def main() -> list[str]:
        loop, seen = virtual(), []

        def push(what: str) -> None:
            seen.append(what)
            if what == "a":
                loop.call_at(2.0, seen.append, "timer")

        loop.feed = Happenings(loop, [(1.0, "a"), (1.5, "b"), (2.0, "c")], push)
        await asyncio.sleep(3.0)
        return seen

    assert run_virtual(main()) == ["a", "b", "timer", "c"]


def test_a_feed_goes_on_without_any_timer() -> None:
    async def main() -> float:
        loop, ended = virtual(), asyncio.Event()
        happenings = [(1.0, "a"), (28_800.0, "end")]
        loop.feed = Happenings(loop, happenings, lambda what: what == "end" and ended.set())
        await ended.wait()
        return loop.time()

    assert run_virtual(main()) == 28_800.0


@pytest.mark.parametrize("speed", [None, 1000.0])
def test_a_happening_from_before_now_does_not_turn_the_clock_back(speed: float | None) -> None:
    async def main() -> list[float]:
        loop, times = virtual(), []
        await asyncio.sleep(10.0)
        happenings = [(-30.0, ""), (4.0, ""), (11.0, "")]
        loop.feed = Happenings(loop, happenings, lambda _: times.append(loop.time()))
        await asyncio.sleep(10.0)
        return times

    assert run_virtual(main(), speed=speed) == [10.0, 10.0, 11.0]


def test_a_feed_that_leaves_a_happening_behind_is_an_error() -> None:
    class Lazy(Happenings):
        def deliver(self, limit: float) -> None:
            pass

    async def main() -> None:
        virtual().feed = Lazy(virtual(), [(1.0, "left")], lambda _: None)
        await asyncio.sleep(2.0)

    with pytest.raises(RuntimeError, match=r"left a happening at 1\.0 s, before 2\.0 s"):
        run_virtual(main())


def test_an_error_in_a_happening_ends_the_run_with_that_error() -> None:
    async def main() -> None:
        virtual().feed = Happenings(virtual(), [(1.0, "broken")], lambda _: 1 / 0)
        try:
            await asyncio.sleep(2.0)
        finally:
            await asyncio.sleep(1.0)  # cleaning up may still take virtual time

    with pytest.raises(ZeroDivisionError):
        run_virtual(main())


INSTANTS = st.integers(0, 12).map(lambda k: k / 4)


@settings(max_examples=60, deadline=None)
@given(
    timers=st.lists(st.tuples(INSTANTS, st.integers(0, 3)), max_size=12),
    happenings=st.lists(INSTANTS, max_size=12).map(sorted),
)
def test_any_mixture_of_timers_and_happenings_comes_in_one_order_at_any_pace(
    timers: list[tuple[float, int]], happenings: list[float]
) -> None:
    def run(speed: float | None) -> list[tuple[float, str]]:
        async def main() -> list[tuple[float, str]]:
            loop, seen = virtual(), []

            async def timer(number: int, t: float, turns: int) -> None:
                await asyncio.sleep(t)
                for turn in range(turns + 1):
                    seen.append((loop.time(), f"timer {number}.{turn}"))
                    await asyncio.sleep(0)

            named = [(t, f"happening {number}") for number, t in enumerate(happenings)]
            loop.feed = Happenings(loop, named, lambda what: seen.append((loop.time(), what)))
            for number, (t, turns) in enumerate(timers):
                loop.call_at(
                    t, lambda n=number, k=turns: tasks.append(loop.create_task(timer(n, 0, k)))
                )
            tasks: list[asyncio.Task[None]] = []
            await asyncio.sleep(100.0)
            return seen

        return run_virtual(main(), speed=speed)

    # By hand: at each instant every timer's turns, a turn of each in the order of setting, then
    # the happenings of that instant.
    expected: list[tuple[float, str]] = []
    for t in sorted({t for t, _ in timers} | set(happenings)):
        here = [(n, turns) for n, (when, turns) in enumerate(timers) if when == t]
        for turn in range(4):
            expected += [(t, f"timer {n}.{turn}") for n, turns in here if turn <= turns]
        expected += [(t, f"happening {n}") for n, when in enumerate(happenings) if when == t]

    jumped = run(None)
    assert jumped == expected
    assert run(1e5) == jumped
