"""Calls to the outside world, as lines of the trace."""

import asyncio
from typing import Any

from agents.types import Reply, Request
from bedside.call_log import LoggedOutside
from bedside.clock import SessionClock, SessionStart
from bedside.trace import MemorySink, Trace
from replay.clock import run_virtual
from tests.replay.nights import lines_of


class Answering:
    """Gives its replies in order, each after its own latency."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)

    async def call(self, request: Request) -> Reply:
        reply = self._replies.pop(0)
        await asyncio.sleep(reply.latency_s)
        return reply


def logged(*replies: Reply) -> tuple[list[Reply], list[dict[str, Any]]]:
    sink = MemorySink()

    async def ask() -> list[Reply]:
        outside = LoggedOutside(Answering(*replies), Trace(sink), SessionClock(SessionStart(None)))
        return [await outside.call(Request("model", {"say": "secret"})) for _ in replies]

    return run_virtual(ask()), lines_of(sink.bytes())


def test_a_call_is_written_when_its_reply_is_in() -> None:
    reply = Reply({"text": "wait"}, 2.4, usage={"in": 900, "out": 12}, attempts=2)
    given, lines = logged(reply)
    assert given == [reply]
    assert lines == [
        {
            "kind": "call", "t": 2.4, "number": 1, "service": "model", "latency_s": 2.4,
            "attempts": 2, "usage": {"in": 900, "out": 12}, "cached": False, "error": None,
        }
    ]  # fmt: skip
    assert list(lines[0]) == [
        "kind", "t", "number", "service", "latency_s", "attempts", "usage", "cached", "error",
    ]  # fmt: skip


def test_calls_count_from_one_and_failed_ones_are_calls_too() -> None:
    _, lines = logged(
        Reply(None, 20.0, "no answer within 20 s"), Reply({}, 0.0, cached=True, attempts=0)
    )
    assert [(line["number"], line["t"]) for line in lines] == [(1, 20.0), (2, 20.0)]
    assert [line["error"] for line in lines] == ["no answer within 20 s", None]
    assert [(line["cached"], line["attempts"]) for line in lines] == [(False, 1), (True, 0)]


def test_what_was_asked_and_answered_stays_out_of_the_trace() -> None:
    _, lines = logged(Reply({"text": "private"}, 1.0))
    assert "secret" not in str(lines)
    assert "private" not in str(lines)
