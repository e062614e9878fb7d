"""Virtual time and the world outside: real work, executors, pace and Ctrl-C."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from replay.clock import POLL_EVERY, run_virtual
from tests.replay.happenings import Happenings, virtual

ROOT = Path(__file__).parents[2]


# Real things


def sent_by_a_thread(delay_s: float) -> socket.socket:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)

    def send() -> None:
        time.sleep(delay_s)
        theirs.send(b"x")
        theirs.close()

    threading.Thread(target=send).start()
    return ours


async def tick() -> None:
    while True:
        await asyncio.sleep(30.0)


def test_a_plain_await_on_a_socket_lets_virtual_time_run_away() -> None:
    async def main() -> float:
        ticking = asyncio.ensure_future(tick())
        with sent_by_a_thread(0.1) as ours:
            await virtual().sock_recv(ours, 1)
        ticking.cancel()
        return virtual().time()

    assert run_virtual(main()) > 60.0


def test_a_plain_await_on_a_socket_times_out_long_before_its_real_time() -> None:
    async def main() -> None:
        with sent_by_a_thread(0.1) as ours:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(virtual().sock_recv(ours, 1), 5.0)
            await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0.15)

    run_virtual(main())


@pytest.mark.parametrize("speed", [None, 1000.0])
def test_a_held_wait_for_a_socket_takes_no_virtual_time(speed: float | None) -> None:
    async def main() -> float:
        ticking = asyncio.ensure_future(tick())
        await asyncio.sleep(45.0)
        with sent_by_a_thread(0.1) as ours, virtual().held():
            await asyncio.wait_for(virtual().sock_recv(ours, 1), 5.0)
        ticking.cancel()
        return virtual().time()

    assert run_virtual(main(), speed=speed) == 45.0


def test_holds_are_counted() -> None:
    async def main() -> float:
        loop = virtual()
        loop.hold()
        loop.hold()
        loop.release()
        with sent_by_a_thread(0.05) as ours:
            await loop.sock_recv(ours, 1)
        loop.release()
        with pytest.raises(RuntimeError, match=r"release\(\) without a hold\(\)"):
            loop.release()
        return loop.time()

    assert run_virtual(main()) == 0.0


def test_happenings_wait_while_the_clock_is_held() -> None:
    async def main() -> list[str]:
        loop, seen = virtual(), []
        loop.feed = Happenings(loop, [(0.0, "at once"), (1.0, "later")], seen.append)
        with sent_by_a_thread(0.05) as ours, loop.held():
            await loop.sock_recv(ours, 1)
            seen.append("answer")
        await asyncio.sleep(2.0)
        return seen

    assert run_virtual(main()) == ["answer", "at once", "later"]


def test_a_socket_with_nothing_beside_it_is_really_waited_for() -> None:
    async def main() -> bytes:
        with sent_by_a_thread(0.05) as ours:
            return await virtual().sock_recv(ours, 1)

    assert run_virtual(main()) == b"x"


def test_another_thread_gets_in_while_the_clock_jumps() -> None:
    async def main() -> None:
        loop, called = virtual(), asyncio.Event()
        threading.Thread(target=loop.call_soon_threadsafe, args=(called.set,)).start()
        while not called.is_set():
            await asyncio.sleep(30.0)

    run_virtual(main())


def test_another_thread_gets_in_during_a_paced_wait() -> None:
    async def main() -> float:
        loop, called = virtual(), asyncio.Event()
        timer = loop.call_later(3600.0, print)
        threading.Thread(target=loop.call_soon_threadsafe, args=(called.set,)).start()
        await called.wait()
        timer.cancel()
        return loop.time()

    assert run_virtual(main(), speed=1.0) == 0.0


def test_a_signal_handler_gets_in_within_a_few_turns_of_a_jumping_clock() -> None:
    async def main() -> int:
        loop, came = virtual(), asyncio.Event()
        loop.add_signal_handler(signal.SIGUSR1, came.set)
        os.kill(os.getpid(), signal.SIGUSR1)
        turns = 0
        while not came.is_set():
            await asyncio.sleep(30.0)
            turns += 1
        return turns

    assert run_virtual(main()) <= 2 * POLL_EVERY


# Executors


def test_results_of_threads_enter_in_the_order_of_the_requests_with_the_clock_held() -> None:
    async def main() -> list[tuple[float, int]]:
        loop, entered = virtual(), []
        first_may_end = threading.Event()

        def job(number: int) -> int:
            if number == 0:
                first_may_end.wait()
            elif number == 3:
                first_may_end.set()
            return number

        async def ask(number: int) -> None:
            entered.append((loop.time(), await asyncio.to_thread(job, number)))

        ticking = asyncio.ensure_future(tick())
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            loop.set_default_executor(threads)
            await asyncio.gather(*(ask(number) for number in range(4)))
        ticking.cancel()
        return entered

    assert run_virtual(main()) == [(0.0, 0), (0.0, 1), (0.0, 2), (0.0, 3)]


def test_each_result_settles_before_the_next_one_enters() -> None:
    async def main() -> list[str]:
        seen: list[str] = []

        async def ask(name: str) -> None:
            await asyncio.to_thread(str)
            for turn in range(3):
                seen.append(f"{name}{turn}")
                await asyncio.sleep(0)

        await asyncio.gather(ask("a"), ask("b"))
        return seen

    assert run_virtual(main()) == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_an_error_in_a_thread_is_raised_where_it_is_awaited() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            await asyncio.to_thread(int, "x")

    run_virtual(main())


def test_a_cancelled_job_is_not_waited_for() -> None:
    async def main() -> float:
        may_end = threading.Event()
        job = asyncio.ensure_future(asyncio.to_thread(may_end.wait))
        await asyncio.sleep(0)
        job.cancel()
        await asyncio.sleep(5.0)
        may_end.set()
        return virtual().time()

    assert run_virtual(main()) == 5.0


def test_work_that_is_cancelled_by_its_own_side_cancels_who_waits() -> None:
    async def main() -> None:
        work: concurrent.futures.Future[None] = concurrent.futures.Future()
        threading.Timer(0.02, work.cancel).start()
        with pytest.raises(asyncio.CancelledError):
            await virtual().entering(work)

    run_virtual(main())


def test_cancelling_who_waits_cancels_the_work() -> None:
    async def main() -> bool:
        work: concurrent.futures.Future[None] = concurrent.futures.Future()
        waiting = virtual().entering(work)
        waiting.cancel()
        await asyncio.sleep(1.0)
        return work.cancelled()

    assert run_virtual(main())


def test_the_end_of_a_run_waits_for_its_threads_in_real_time() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(0.1)
        ended.set()

    async def main() -> None:
        job = asyncio.get_running_loop().run_in_executor(None, work)
        begun.wait()
        job.cancel()

    run_virtual(main())
    assert ended.is_set()


def test_no_job_is_taken_after_the_executor_was_shut_down() -> None:
    async def main() -> None:
        await virtual().shutdown_default_executor()
        with pytest.raises(RuntimeError, match="shutdown"):
            await asyncio.to_thread(str)

    run_virtual(main())


# Pace


async def some_night() -> list[tuple[float, str]]:
    loop, seen = virtual(), []
    loop.feed = Happenings(
        loop,
        [(k / 2, f"sample {k}") for k in range(120)],
        lambda what: seen.append((loop.time(), what)),
    )
    for epoch in range(2):
        await asyncio.sleep(30.0)
        seen.append((loop.time(), f"epoch {epoch}"))
        answer = await asyncio.to_thread(lambda k: time.sleep(0.02) or f"answer {k}", epoch)
        await asyncio.sleep(2.4)
        seen.append((loop.time(), answer))
    return seen


@pytest.mark.parametrize("speed", [200.0, 5000.0, 1e9])
def test_pace_changes_nothing_of_what_happens_and_when(speed: float) -> None:
    assert run_virtual(some_night(), speed=speed) == run_virtual(some_night())


def test_no_instant_comes_before_its_real_time() -> None:
    async def main() -> list[float]:
        loop = virtual()
        begun_s, early = time.monotonic(), []

        def check(_: str) -> None:
            early.append(loop.time() / 100.0 - (time.monotonic() - begun_s))

        loop.feed = Happenings(loop, [(1.0, ""), (2.0, ""), (2.5, ""), (9.0, "")], check)
        for _ in range(4):
            await asyncio.sleep(3.0)
            check("")
        return early

    assert max(run_virtual(main(), speed=100.0)) <= 0.0


# Ctrl-C

INTERRUPTED = """
import asyncio, signal, sys
from replay.clock import run_virtual
signal.signal(signal.SIGINT, signal.default_int_handler)

class Endless:
    def __init__(self, loop): self.loop, self.t = loop, 0.0
    def next_t(self): return self.t
    def deliver(self, limit):
        while self.t < limit:
            self.loop.advance(self.t)
            self.t += 0.5
            if self.loop.interrupted: return

async def main(how):
    loop = asyncio.get_running_loop()
    print("ready", flush=True)
    try:
        if how == "timers":
            while True: await asyncio.sleep(30)
        if how == "busy":
            while True: await asyncio.sleep(0)
        if how == "feed":
            loop.feed = Endless(loop)
            await asyncio.Event().wait()
        if how == "held":
            with loop.held(): await asyncio.Event().wait()
        await asyncio.sleep(3600)
    finally:
        loop.feed = None
        print("cleaned up", flush=True)

speed = None if sys.argv[2] == "max" else float(sys.argv[2])
try:
    run_virtual(main(sys.argv[1]), speed=speed)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(130)
"""


@pytest.mark.parametrize(
    ("how", "speed"),
    [
        ("timers", "max"),
        ("busy", "max"),
        ("feed", "max"),
        ("held", "max"),
        ("sleep", "1"),
        ("feed", "1"),
        ("held", "1"),
    ],
)
def test_ctrl_c_cancels_the_night_which_cleans_up(how: str, speed: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, how, speed],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as night:
        assert night.stdout is not None
        assert night.stdout.readline() == "ready\n"
        time.sleep(0.1)
        night.send_signal(signal.SIGINT)
        said, _ = night.communicate(timeout=30)
    assert (said, night.returncode) == ("cleaned up\ninterrupted\n", 130)
