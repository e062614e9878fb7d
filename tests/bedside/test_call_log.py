"""Calls to the outside world, as lines of the trace."""

import asyncio
from typing import Any

import pytest

from agents.types import Reply, Request
from bedside.call_log import LoggedOutside
from bedside.clock import SessionClock, SessionStart
from bedside.outside import Refusal
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


def logged(
    *replies: Reply, asked: dict[str, Any] | None = None
) -> tuple[list[Reply], list[dict[str, Any]]]:
    sink = MemorySink()
    request = Request("model", {"say": "secret"} if asked is None else asked)

    async def ask() -> list[Reply]:
        outside = LoggedOutside(Answering(*replies), Trace(sink), SessionClock(SessionStart(None)))
        return [await outside.call(request) for _ in replies]

    return run_virtual(ask()), lines_of(sink.bytes())


def test_a_call_is_written_when_its_reply_is_in() -> None:
    reply = Reply({"text": "wait"}, 2.4, usage={"in": 900, "out": 12}, attempts=2)
    given, lines = logged(reply)
    assert given == [reply]
    assert lines == [
        {
            "kind": "call", "t": 2.4, "number": 1, "service": "model", "model": None,
            "latency_s": 2.4, "attempts": 2, "usage": {"in": 900, "out": 12}, "error": None,
            "refused": None,
        }
    ]  # fmt: skip
    assert list(lines[0]) == [
        "kind", "t", "number", "service", "model", "latency_s", "attempts", "usage", "error",
        "refused",
    ]  # fmt: skip


def test_calls_count_from_one_and_failed_ones_are_calls_too() -> None:
    _, lines = logged(Reply(None, 20.0, "no answer within 20 s"), Reply({}, 0.0, attempts=0))
    assert [(line["number"], line["t"]) for line in lines] == [(1, 20.0), (2, 20.0)]
    assert [line["error"] for line in lines] == ["no answer within 20 s", None]
    assert [line["attempts"] for line in lines] == [1, 0]


def test_what_was_asked_and_answered_stays_out_of_the_trace() -> None:
    _, lines = logged(Reply({"text": "private"}, 1.0))
    assert "secret" not in str(lines)
    assert "private" not in str(lines)


def test_a_reply_from_a_cache_leaves_the_same_line_as_the_call_it_repeats() -> None:
    _, asked = logged(Reply({"text": "wait"}, 2.4, attempts=2))
    _, repeated = logged(Reply({"text": "wait"}, 2.4, attempts=2, cached=True))
    assert asked == repeated


@pytest.mark.parametrize(
    ("asked", "answered", "model"),
    [
        ({"model": "small-1"}, {"model": "small-1-of-may"}, "small-1"),
        ({}, {"model": "small-1"}, "small-1"),
        ({"model": 7}, {"model": ""}, None),
        ({"model": "x" * 300}, None, "x" * 100),
    ],
)
def test_a_call_names_its_model(
    asked: dict[str, Any], answered: dict[str, Any] | None, model: str | None
) -> None:
    error = None if answered is not None else "away"
    _, (line,) = logged(Reply(answered, 0.1, error), asked=asked)
    assert line["model"] == model


def test_a_refused_call_says_what_was_used_up() -> None:
    _, (line,) = logged(Refusal(None, 0.0, "no call is left", attempts=0, refused="call_limit"))
    assert (line["refused"], line["attempts"]) == ("call_limit", 0)
