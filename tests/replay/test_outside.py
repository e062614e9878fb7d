"""Real calls from a night, live and replayed, through real threads and sockets; no mocks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.types import Reply, Request
from bedside.outside import LiveOutside, OutsideError, Said, SecondLoop, SecondLoopClosed
from replay.clock import run_virtual
from replay.outside import ChargesRanOut, HeldOutside, NotOnVirtualTime

NEVER_S = 60.0


class Echo:
    """Answers with what it was sent, after `real_s` of real time."""

    async def answer(self, request: Request) -> Said:
        await asyncio.sleep(request.body.get("real_s", 0.0))
        return Said({"heard": request.body.get("say")}, {"words": 1})


class OverASocket:
    """Asks a real server on loopback, which takes 0.24 s."""

    async def answer(self, request: Request) -> Said:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            line = await reader.readline()
            await asyncio.sleep(0.24)
            writer.write(line.upper())
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"rem\n")
            answer = await reader.readline()
            writer.close()
            await writer.wait_closed()
        return Said({"stage": answer.decode().strip()})


class Broken:
    async def answer(self, request: Request) -> Said:
        raise ConnectionResetError("the other side went away")


class Leaving:
    async def answer(self, request: Request) -> Said:
        raise SystemExit(3)


class CancelsItself:
    async def answer(self, request: Request) -> Said:
        raise asyncio.CancelledError


class Babbling:
    async def answer(self, request: Request) -> Said:
        return "yes"  # type: ignore[return-value]


class Unstoppable:
    """Swallows its cancellation until its test has ended."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    async def answer(self, request: Request) -> Said:
        while not self.may_end.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return Said({})


class Blocking:
    """Blocks the whole second loop, for `real_s` or until its test has ended."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    async def answer(self, request: Request) -> Said:
        self.may_end.wait(request.body["real_s"])
        return Said({})


class Watched:
    """Never answers; says when it began and when it was cancelled."""

    def __init__(self) -> None:
        self.begun, self.cancelled = threading.Event(), threading.Event()

    async def answer(self, request: Request) -> Said:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return Said({})


SERVICES = {
    "echo": Echo(),
    "socket": OverASocket(),
    "broken": Broken(),
    "leaving": Leaving(),
    "cancels itself": CancelsItself(),
    "babbling": Babbling(),
    "blocking": Blocking(),
}


@pytest.fixture
def live() -> Iterator[LiveOutside]:
    outside = LiveOutside(SERVICES)
    yield outside
    outside.close()


@pytest.fixture
def second() -> Iterator[SecondLoop]:
    with SecondLoop() as second:
        yield second


def loop_time() -> float:
    return asyncio.get_running_loop().time()


# The second loop


def test_the_second_loop_starts_with_its_first_work_in_a_thread_of_its_own() -> None:
    async def where() -> str:
        return threading.current_thread().name

    before = threading.active_count()
    with SecondLoop() as second:
        assert threading.active_count() == before
        assert second.submit(where()).result(10) == "outside"
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_closing_cancels_what_still_runs_and_closing_again_is_harmless() -> None:
    watched = Watched()
    second = SecondLoop()
    second.submit(watched.answer(Request("watched", {})))
    assert watched.begun.wait(10)
    second.close()
    second.close()
    assert watched.cancelled.is_set()


def test_a_second_loop_that_never_worked_closes_too() -> None:
    SecondLoop().close()


def test_a_closed_second_loop_takes_no_work() -> None:
    second = SecondLoop()
    second.close()
    with pytest.raises(SecondLoopClosed, match="closed"):
        second.submit(asyncio.sleep(0))
    assert issubclass(SecondLoopClosed, OutsideError)


# Failures, the same live and replayed

ERRORS = [
    (Request("nobody", {}), "no service is named 'nobody'; there are: babbling, blocking, broken"),
    (Request("broken", {}), "broken: ConnectionResetError: the other side went away"),
    (Request("leaving", {}), "leaving: SystemExit: 3"),
    (Request("cancels itself", {}), "cancels itself: cancelled itself"),
    (Request("babbling", {}), "babbling: answered with str, not with Said"),
    (Request("echo", {"real_s": 60.0}, timeout_s=0.05), "echo: no answer within 0.05 s"),
    (Request("echo", {}, timeout_s=0.0), "echo: no answer within 0 s"),
    (Request("echo", {}, timeout_s=-1.0), "echo: no answer within -1 s"),
]


@pytest.mark.parametrize(("request_", "error"), ERRORS)
async def test_live_a_failure_is_a_reply_and_the_next_call_works(
    live: LiveOutside, request_: Request, error: str
) -> None:
    reply = await live.call(request_)
    assert reply.body is None
    assert (reply.error or "").startswith(error)
    assert (await live.call(Request("echo", {"say": "still here"}))).error is None


@pytest.mark.parametrize(("request_", "error"), ERRORS)
def test_replayed_a_failure_is_the_same_reply(
    second: SecondLoop, request_: Request, error: str
) -> None:
    reply = run_virtual(HeldOutside(SERVICES, second=second).call(request_))
    assert reply.body is None
    assert (reply.error or "").startswith(error)


@pytest.mark.parametrize("make", [LiveOutside, HeldOutside])
def test_a_service_that_swallows_its_cancellation_is_not_waited_for(
    second: SecondLoop, make: Callable[..., LiveOutside | HeldOutside]
) -> None:
    service = Unstoppable()
    outside = make({"unstoppable": service}, second=second)
    asked = outside.call(Request("unstoppable", {}, timeout_s=0.05))
    reply = asyncio.run(asked) if make is LiveOutside else run_virtual(asked)
    service.may_end.set()
    assert reply.error == "unstoppable: no answer within 0.05 s"


@pytest.mark.parametrize("make", [LiveOutside, HeldOutside])
def test_after_closing_a_call_gets_an_error(
    make: Callable[..., LiveOutside | HeldOutside],
) -> None:
    outside = make(SERVICES)
    outside.close()
    asked = outside.call(Request("echo", {}))
    reply = asyncio.run(asked) if make is LiveOutside else run_virtual(asked)
    assert reply.body is None
    assert (reply.error or "").startswith("echo: the second loop is closed")


# Live


async def test_live_the_night_goes_on_while_a_service_works(live: LiveOutside) -> None:
    ticks = 0
    asked = asyncio.ensure_future(live.call(Request("echo", {"say": "hi", "real_s": 0.1})))
    while not asked.done():
        await asyncio.sleep(0.01)
        ticks += 1
    reply = asked.result()
    assert (reply.body, reply.usage, reply.error) == ({"heard": "hi"}, {"words": 1}, None)
    assert ticks > 1
    assert reply.latency_s >= 0.1
    assert reply.latency_s == round(reply.latency_s, 3)


async def test_live_a_service_that_blocks_its_loop_does_not_block_the_night() -> None:
    service = Blocking()
    outside = LiveOutside({"blocking": service})
    reply = await outside.call(Request("blocking", {"real_s": 50.0}, timeout_s=0.1))
    assert not service.may_end.is_set()
    assert reply.error == "blocking: no answer within 0.1 s"
    service.may_end.set()
    outside.close()


async def test_live_a_cancelled_call_cancels_the_work() -> None:
    watched = Watched()
    outside = LiveOutside({"watched": watched})
    asked = asyncio.ensure_future(outside.call(Request("watched", {})))
    await asyncio.to_thread(watched.begun.wait, 10)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await asyncio.to_thread(watched.cancelled.wait, 10)
    outside.close()


async def test_live_closing_during_a_call_gives_it_an_error() -> None:
    watched = Watched()
    outside = LiveOutside({"watched": watched})
    asked = asyncio.ensure_future(outside.call(Request("watched", {})))
    await asyncio.to_thread(watched.begun.wait, 10)
    outside.close()
    assert (await asked).error == "watched: the call was cancelled"


# Replayed: the clock is held, then charged


async def night_with_a_call(
    outside: HeldOutside, request: Request
) -> tuple[Reply, float, list[float]]:
    """The reply, when it came, and the half seconds that had passed by then."""
    samples: list[float] = []

    async def player() -> None:
        while True:
            await asyncio.sleep(0.5)
            samples.append(loop_time())

    playing = asyncio.ensure_future(player())
    await asyncio.sleep(90.0)
    samples.clear()
    reply = await outside.call(request)
    playing.cancel()
    return reply, loop_time(), samples


@pytest.mark.parametrize("speed", [None, 1000.0])
def test_a_real_call_over_a_socket_is_charged_what_it_took(
    second: SecondLoop, speed: float | None
) -> None:
    outside = HeldOutside(SERVICES, second=second)
    reply, t, _ = run_virtual(night_with_a_call(outside, Request("socket", {})), speed=speed)
    assert reply.body == {"stage": "REM"}
    assert 0.24 <= reply.latency_s < 20.0
    assert t == 90.0 + reply.latency_s
    assert outside.charged == [reply.latency_s]
    assert reply.latency_s == round(reply.latency_s, 3)


def test_a_decision_of_2_4_s_lands_after_the_samples_of_those_2_4_s(second: SecondLoop) -> None:
    outside = HeldOutside(SERVICES, charges=iter([2.4]), second=second)
    reply, t, samples = run_virtual(night_with_a_call(outside, Request("echo", {})))
    assert (reply.latency_s, t) == (2.4, 92.4)
    # The night's own timer of 90 s was set at 0 s, the player's at 89.5 s: its sample comes second.
    assert samples == [90.0, 90.5, 91.0, 91.5, 92.0]


def test_a_timeout_of_5_s_around_a_call_of_0_24_s_does_not_fire(second: SecondLoop) -> None:
    async def main() -> Reply:
        outside = HeldOutside(SERVICES, second=second)
        return await asyncio.wait_for(outside.call(Request("socket", {})), 5.0)

    assert run_virtual(main()).body == {"stage": "REM"}


def test_a_timeout_shorter_than_the_charge_fires_in_virtual_time(second: SecondLoop) -> None:
    async def main() -> tuple[float, list[float]]:
        outside = HeldOutside(SERVICES, charges=[2.4], second=second)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(outside.call(Request("echo", {})), 1.5)
        return loop_time(), outside.charged

    assert run_virtual(main()) == (1.5, [2.4])


def test_a_charge_is_rounded_to_milliseconds_before_it_is_charged(second: SecondLoop) -> None:
    async def main() -> tuple[float, float]:
        outside = HeldOutside(SERVICES, charges=[1.23449], second=second)
        reply = await outside.call(Request("echo", {}))
        return reply.latency_s, loop_time()

    assert run_virtual(main()) == (1.234, 1.234)


@pytest.mark.parametrize("charge_s", [3.0, 2.9996, 100.0])
def test_a_charge_that_reaches_the_timeout_is_a_timeout_charged_at_it(
    second: SecondLoop, charge_s: float
) -> None:
    async def main() -> tuple[Reply, float]:
        outside = HeldOutside(SERVICES, charges=[charge_s], second=second)
        return await outside.call(Request("echo", {"say": "late"}, timeout_s=3.0)), loop_time()

    reply, t = run_virtual(main())
    assert (reply.body, reply.error) == (None, "echo: no answer within 3 s")
    assert (reply.latency_s, t) == (3.0, 3.0)


def test_a_charge_just_under_the_timeout_is_an_answer(second: SecondLoop) -> None:
    outside = HeldOutside(SERVICES, charges=[2.999], second=second)
    reply = run_virtual(outside.call(Request("echo", {"say": "hi"}, timeout_s=3.0)))
    assert (reply.body, reply.error) == ({"heard": "hi"}, None)


def test_a_service_that_blocks_longer_than_its_timeout_is_charged_its_timeout(
    second: SecondLoop,
) -> None:
    outside = HeldOutside(SERVICES, second=second)
    reply = run_virtual(outside.call(Request("blocking", {"real_s": 0.3}, timeout_s=0.1)))
    assert (reply.error, reply.latency_s) == ("blocking: no answer within 0.1 s", 0.1)


def test_concurrent_replies_enter_in_request_order_whatever_finishes_first(
    second: SecondLoop,
) -> None:
    async def main() -> list[tuple[float, str]]:
        outside, seen = HeldOutside(SERVICES, charges=[1.0] * 6, second=second), []

        async def ask(number: int) -> None:
            body = {"say": f"{number}", "real_s": (6 - number) * 0.02}
            reply = await outside.call(Request("echo", body))
            assert reply.body is not None
            seen.append((loop_time(), reply.body["heard"]))

        await asyncio.gather(*(ask(number) for number in range(6)))
        return seen

    assert run_virtual(main()) == [(1.0, f"{number}") for number in range(6)]


def test_concurrent_calls_are_charged_side_by_side(second: SecondLoop) -> None:
    async def main() -> list[float]:
        outside = HeldOutside(SERVICES, charges={1: 3.0, 2: 1.0}, second=second)

        async def ask() -> float:
            await outside.call(Request("echo", {}))
            return loop_time()

        return list(await asyncio.gather(ask(), ask()))

    assert run_virtual(main()) == [3.0, 1.0]


@pytest.mark.parametrize("charges", [[0.5], {1: 0.5}])
def test_running_out_of_charges_names_the_call(
    second: SecondLoop, charges: list[float] | dict[int, float]
) -> None:
    async def main() -> None:
        outside = HeldOutside(SERVICES, charges=charges, second=second)
        await outside.call(Request("echo", {}))
        with pytest.raises(ChargesRanOut, match="call 2"):
            await outside.call(Request("echo", {}))

    run_virtual(main())


@pytest.mark.parametrize("charge_s", [-0.1, float("nan"), float("inf")])
def test_a_charge_that_is_no_time_names_the_call(second: SecondLoop, charge_s: float) -> None:
    outside = HeldOutside(SERVICES, charges=[charge_s], second=second)
    with pytest.raises(ChargesRanOut, match="call 1"):
        run_virtual(outside.call(Request("echo", {})))


def test_on_an_ordinary_loop_a_held_call_is_refused(second: SecondLoop) -> None:
    with pytest.raises(NotOnVirtualTime, match="LiveOutside"):
        asyncio.run(HeldOutside(SERVICES, second=second).call(Request("echo", {})))


def test_cancelling_a_held_call_cancels_the_work_and_frees_the_clock(second: SecondLoop) -> None:
    watched = Watched()

    async def main() -> float:
        outside = HeldOutside({"watched": watched}, second=second)
        asked = asyncio.ensure_future(outside.call(Request("watched", {})))
        await asyncio.sleep(0)
        assert watched.begun.wait(10)
        asked.cancel()
        await asyncio.sleep(7.0)
        assert outside.charged == [0.0]
        return loop_time()

    assert run_virtual(main()) == 7.0
    assert watched.cancelled.wait(10)


async def asking_night(outside: HeldOutside, delays_s: list[float]) -> list[tuple[float, str]]:
    seen: list[tuple[float, str]] = []

    async def ask(number: int, real_s: float) -> None:
        timeout_s = 0.01 if real_s == NEVER_S else 20.0
        request = Request("echo", {"say": number, "real_s": real_s}, timeout_s)
        seen.append((loop_time(), repr(await outside.call(request))))

    for first in range(0, len(delays_s), 2):
        pair = list(enumerate(delays_s))[first : first + 2]
        await asyncio.gather(*(ask(number, real_s) for number, real_s in pair))
        await asyncio.sleep(30.0)
        seen.append((loop_time(), "epoch"))
    return seen


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.001, 0.005, NEVER_S]), max_size=5))
def test_a_rerun_from_the_stored_charges_is_the_same_night(delays_s: list[float]) -> None:
    with SecondLoop() as second:
        first = HeldOutside(SERVICES, second=second)
        measured = run_virtual(asking_night(first, delays_s))
        again = HeldOutside(SERVICES, charges=iter(first.charged), second=second)
        assert run_virtual(asking_night(again, delays_s)) == measured
        assert again.charged == first.charged
