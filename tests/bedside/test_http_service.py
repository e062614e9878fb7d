"""A service behind HTTP, asked over real sockets."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket

import pytest

from agents.types import Request
from bedside.http_service import HttpService, ServiceError, checked_url, usage_of
from bedside.outside import BoundedRequest, OutsideError, Said
from tests.replay.decisions.provider import (
    USAGE,
    Say,
    hang_up,
    never,
    provider,
    raw,
    status,
)

SECRET = "sk-very-secret-4711"
BODY = {"model": "small", "messages": ["how do you do"]}


async def said(*script: Say, request: Request | None = None) -> tuple[Said, int]:
    """What the service says, and how many client calls arrived."""
    with provider(script) as there:
        answer = await HttpService(there.url).answer(request or Request("model", BODY, 5.0))
        return answer, len(there.asked)


async def test_the_body_is_posted_as_json_and_the_answer_s_object_and_usage_come_back() -> None:
    with provider() as there:
        answer = await HttpService(there.url).answer(Request("model", BODY))
    assert there.asked == [BODY]
    assert there.headers[0]["content-type"] == "application/json"
    assert answer.body is not None
    assert answer.body["action"]["kind"] in ("sound", "wait")
    assert (answer.usage, answer.attempts, answer.error) == (USAGE, 1, None)


async def test_without_a_token_nothing_is_authorised_and_with_one_it_is_a_bearer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    with provider() as there:
        await HttpService(there.url).answer(Request("model", BODY))
        await HttpService(there.url, token_env="MY_TOKEN").answer(Request("model", BODY))
    assert [one.get("authorization") for one in there.headers] == [None, f"Bearer {SECRET}"]


# Asking again


@pytest.mark.parametrize("first", [status(529), hang_up])
async def test_a_server_error_is_asked_again_and_both_calls_are_counted(first: Say) -> None:
    answer, arrived = await said(first)
    assert (answer.error, answer.attempts, arrived) == (None, 2, 2)
    assert answer.usage == USAGE


async def test_after_three_failures_it_gives_up_and_says_so() -> None:
    answer, arrived = await said(*[status(500, after="0")] * 3)
    assert answer.error == "model: HTTP 500 Internal Server Error (3 attempts)"
    assert (answer.body, answer.attempts, arrived) == (None, 3, 3)


async def test_429_is_asked_again_when_the_service_wants_it() -> None:
    answer, arrived = await said(status(429, after="0.01"))
    assert (answer.error, answer.attempts, arrived) == (None, 2, 2)


async def test_a_wait_longer_than_the_deadline_is_not_begun() -> None:
    answer, arrived = await said(status(429, after="3600"))
    assert answer.error == "model: HTTP 429 Too Many Requests, no time to ask again"
    assert (answer.attempts, arrived) == (1, 1)


@pytest.mark.parametrize("after", ["Wed, 21 Oct 2026 07:28:00 GMT", "nan"])
async def test_a_retry_after_that_is_no_number_of_seconds_is_passed_over(after: str) -> None:
    answer, _ = await said(status(429, after=after))
    assert (answer.error, answer.attempts) == (None, 2)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 301, 302])
async def test_other_refusals_are_final(code: int) -> None:
    answer, arrived = await said(status(code))
    assert (answer.error or "").startswith(f"model: HTTP {code} ")
    assert arrived == 1


@pytest.mark.parametrize(("most", "arrives"), [(1, 1), (2, 2), (3, 3), (9, 3)])
async def test_a_bounded_request_makes_no_more_client_calls_than_it_may(
    most: int, arrives: int
) -> None:
    request = BoundedRequest("model", BODY, 5.0, most)
    answer, arrived = await said(*[status(500, after="0")] * 9, request=request)
    assert (answer.attempts, arrived) == (arrives, arrives)


async def test_nobody_listening_is_a_lost_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    answer = await HttpService(url, most_attempts=2).answer(Request("model", BODY, 5.0))
    assert (answer.error or "").startswith("model: cannot connect")
    assert answer.attempts == 2


async def test_the_whole_call_stays_inside_its_deadline_and_says_how_often_it_asked() -> None:
    request = Request("model", BODY, 0.4)
    answer, _ = await said(status(500, after="0.01"), never, request=request)
    assert answer == Said(attempts=2, error="model: no answer within 0.4 s (2 attempts)")


async def test_a_request_without_time_is_not_sent_twice() -> None:
    answer, _ = await said(request=Request("model", BODY, 0.0))
    assert answer.error == "model: no answer within 0 s"


async def test_a_cancelled_call_lets_go() -> None:
    with provider([never]) as there:
        asked = asyncio.ensure_future(HttpService(there.url).answer(Request("model", BODY)))
        while not there.asked:
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked


# What comes back


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"<html>busy</html>", "answered with what is not JSON"),
        (b"", "answered with what is not JSON"),
        (b"\xff\xfe", "answered with what is not JSON"),
        (b'{"n": NaN}', "answered with what is not JSON"),
        (b"[" * 100_000, "answered with what is not JSON"),
        (b'{"n": ' + b"9" * 5000 + b"}", "answered with what is not JSON"),
        (b"[1]", "answered with list, not with a JSON object"),
        (b'{"a": "' + b"x" * (1 << 20) + b'"}', "answered with more than 1024 kB"),
    ],
    ids=["html", "empty", "bytes", "nan", "deep", "digits", "list", "huge"],
)
async def test_garbage_is_an_error_and_is_not_asked_for_again(text: bytes, error: str) -> None:
    answer, arrived = await said(raw(text))
    assert answer.error == f"model: {error}"
    assert (answer.attempts, arrived) == (1, 1)


async def test_a_compressed_answer_that_nobody_asked_for_is_not_unpacked() -> None:
    answer, _ = await said(raw(gzip.compress(b"{}"), **{"content-encoding": "gzip"}))
    assert answer.error == "model: answered in an encoding that was not asked for"


async def test_a_body_that_is_not_json_is_never_sent() -> None:
    answer, arrived = await said(request=Request("model", {"n": float("nan")}))
    assert (answer.error, answer.attempts, arrived) == ("model: the request is not JSON", 0, 0)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"input_tokens": 7, "output_tokens": 0}, {"input_tokens": 7, "output_tokens": 0}),
        ({"a": -1, "b": 1.5, "c": True, "d": None, "e": 2**60, "f": "9", "g": 3}, {"g": 3}),
        ({f"{n}": n for n in range(40)}, {f"{n}": n for n in range(16)}),
        ([1, 2], {}),
        (None, {}),
    ],
)
def test_only_counts_are_usage(usage: object, counts: dict[str, int]) -> None:
    assert usage_of({"usage": usage}) == counts


# No secrets


async def test_no_message_repeats_the_token_the_address_or_the_provider_s_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PAPRIKA_SERVICE_TOKEN", SECRET)
    complaint = {"error": {"type": "authentication_error", "message": f"bad key {SECRET}"}}
    text = json.dumps(complaint).encode()
    with provider([status(401, text=text)]) as there:
        answer = await HttpService(there.url + "?key=hidden").answer(Request("model", BODY))
    assert answer.error == "model: HTTP 401 Unauthorized (authentication_error)"


@pytest.mark.parametrize("kind", ["Bad Key sk-1", "x" * 60, 7, None])
async def test_an_error_s_type_is_shown_only_where_it_is_a_plain_word(kind: object) -> None:
    answer, _ = await said(status(400, text=json.dumps({"error": {"type": kind}}).encode()))
    assert answer.error == "model: HTTP 400 Bad Request"


@pytest.mark.parametrize(
    "url",
    ["", "model", "ftp://a/b", "http://", "http://[1", "http://a:b", "http://me:secret@a/v1"],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ServiceError) as error:
        HttpService(url)
    assert "secret" not in str(error.value)
    assert issubclass(ServiceError, OutsideError)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:80/a", True),
        ("http://localhost/a", True),
        ("http://[::1]:9/", True),
        ("https://example.com/a", False),
        ("http://127.example.com", False),
    ],
)
def test_the_own_machine_is_told_from_others(url: str, local: bool) -> None:
    assert checked_url(url) == (url, local)


def test_a_token_never_leaves_this_machine_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPRIKA_SERVICE_TOKEN", SECRET)
    with pytest.raises(ServiceError, match="unencrypted") as error:
        HttpService("http://example.com/v1")
    assert SECRET not in str(error.value)
    HttpService("https://example.com/v1")
    HttpService("http://127.0.0.1:1/v1")


@pytest.mark.parametrize("token", ["two\nlines", "ä"])
def test_a_token_that_is_no_header_is_refused(monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("PAPRIKA_SERVICE_TOKEN", token)
    with pytest.raises(ServiceError, match="printable ASCII") as error:
        HttpService("http://127.0.0.1:1/v1")
    assert token not in str(error.value)
