"""A service behind HTTP: the body of a request is posted as JSON, a JSON object comes back.

    OutsideError (bedside.outside)
    └── ServiceError    an address or a token that cannot be used

No message holds a token, the address, or a word of what was asked or answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Never
from urllib.parse import urlsplit

from agents.types import Request
from bedside.outside import BoundedRequest, OutsideError, Said

if TYPE_CHECKING:
    import ssl

    import httpx

TOKEN_ENV: Final = "PAPRIKA_SERVICE_TOKEN"
"""The environment variable that holds the bearer token, where no other is named."""
MOST_ATTEMPTS: Final = 3
FIRST_BACK_OFF_S: Final = 0.5
"""Before the second attempt; doubles with each. Assumed."""
MARGIN_S: Final = 0.05
"""The service gives up so long before its caller does, to say how often it asked. Assumed."""
LONGEST_ANSWER_BYTES: Final = 1024 * 1024
LONGEST_COMPLAINT_BYTES: Final = 8 * 1024
MOST_COUNTS: Final = 16
_LOOPBACK: Final = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


class ServiceError(OutsideError):
    """An address or a token that cannot be used; the message never shows the token."""


class HttpService:
    """Posts each request's body to one address; asks again where that may help.

    Again after a lost connection, 429 and 5xx, up to `most_attempts` times: after what the service
    asks for (`retry-after`), else 0.5 s, 1 s, … The whole call stays inside the request's
    deadline. A client a call: nothing outlives the loop that the call ran on.
    """

    def __init__(
        self, url: str, *, token_env: str = TOKEN_ENV, most_attempts: int = MOST_ATTEMPTS
    ) -> None:
        self._url, self._local = checked_url(url)
        self._headers = {
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
            **_authorization(token_env, url),
        }
        self._most_attempts = most_attempts
        _load()

    async def answer(self, request: Request) -> Said:
        """The service's object and its usage; or an error and how often it was asked."""
        try:
            told = json.dumps(request.body, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            return Said(attempts=0, error=f"{request.service}: the request is not JSON")
        made = _Made(self._most(request))
        limit_s = max(request.timeout_s - min(MARGIN_S, request.timeout_s / 10), 0.0)
        try:
            async with asyncio.timeout(limit_s):
                body = await self._asked(told, made, asyncio.get_running_loop().time() + limit_s)
        except TimeoutError:
            told_error = f"no answer within {request.timeout_s:g} s"
        except _Failure as failure:
            told_error = failure.told
        else:
            return Said(body, usage_of(body), made.attempts)
        told_error = f"{request.service}: {told_error}{made.times}"
        return Said(attempts=made.attempts, error=told_error)

    def _most(self, request: Request) -> int:
        if isinstance(request, BoundedRequest):
            return min(self._most_attempts, request.most_attempts)
        return self._most_attempts

    async def _asked(self, told: bytes, made: _Made, until: float) -> Mapping[str, Any]:
        """The answer of the first attempt that has one; until: on the loop's clock."""
        clock = asyncio.get_running_loop().time
        async with _client(self._local) as client:
            while True:
                made.attempts += 1
                try:
                    return await self._once(client, told)
                except _Failure as failure:
                    if not failure.again or made.attempts >= made.most:
                        raise
                    back_off_s = FIRST_BACK_OFF_S * 2.0 ** (made.attempts - 1)
                    wait_s = back_off_s if failure.after_s is None else failure.after_s
                    if clock() + wait_s >= until:
                        raise _Failure(f"{failure.told}, no time to ask again") from None
                await asyncio.sleep(wait_s)

    async def _once(self, client: httpx.AsyncClient, told: bytes) -> Mapping[str, Any]:
        import httpx

        try:
            request = client.stream("POST", self._url, content=told, headers=self._headers)
            async with request as response:
                if response.is_success:
                    return _object(await _read(response, LONGEST_ANSWER_BYTES))
                await _refused(response)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            told_error = "cannot connect; is the service running at the address it was given?"
            raise _Failure(told_error, again=True) from None
        except (httpx.NetworkError, httpx.RemoteProtocolError):
            raise _Failure("the connection broke off", again=True) from None
        except httpx.HTTPError as error:
            raise _Failure(type(error).__name__) from None


def checked_url(url: str) -> tuple[str, bool]:
    """The address, and whether it is this machine's own; ServiceError says what is wrong."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ServiceError("a service's address is not a URL; give http://HOST:PORT/PATH") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ServiceError(f"{url[:80]}: a service's address begins with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ServiceError(
            f"{host}: a name or password in a service's address is seen by everybody; "
            "put a token into an environment variable instead"
        )
    return url, _LOOPBACK.fullmatch(host) is not None


def usage_of(body: Mapping[str, Any]) -> dict[str, int]:
    """The counts in the answer's `usage`; what is no count is left out."""
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return {}
    counts = {name: n for name, n in usage.items() if type(n) is int and 0 <= n < 2**53}
    return {name[:60]: n for name, n in list(counts.items())[:MOST_COUNTS]}


@dataclass(slots=True)
class _Made:
    """Client calls made for one request."""

    most: int
    attempts: int = 0

    @property
    def times(self) -> str:
        return f" ({self.attempts} attempts)" if self.attempts > 1 else ""


class _Failure(Exception):
    """One attempt without an answer. after_s: when the service wants to be asked again."""

    def __init__(self, told: str, *, again: bool = False, after_s: float | None = None) -> None:
        super().__init__(told)
        self.told, self.again, self.after_s = told, again, after_s


def _authorization(token_env: str, url: str) -> dict[str, str]:
    token = os.environ.get(token_env, "").strip()
    if not token:
        return {}
    if not (token.isascii() and token.isprintable()):
        raise ServiceError(f"${token_env}: a token is printable ASCII on one line")
    parts = urlsplit(url)
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(parts.hostname or ""):
        raise ServiceError(
            f"${token_env} would go to {parts.hostname} unencrypted; use https://, or unset it"
        )
    return {"authorization": f"Bearer {token}"}


def _load() -> None:
    """Load what is slow to load, so that no call is charged for it."""
    import httpx  # noqa: F401

    _certificates()


def _client(local: bool) -> httpx.AsyncClient:
    import httpx

    # The deadline is the whole call's; a proxy has no business with this machine's own services.
    return httpx.AsyncClient(timeout=None, verify=_certificates(), trust_env=not local)


@cache
def _certificates() -> ssl.SSLContext:
    import ssl

    return ssl.create_default_context()


async def _read(response: httpx.Response, most_bytes: int) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _Failure("answered in an encoding that was not asked for")
    read = bytearray()
    async for chunk in response.aiter_raw():
        read += chunk
        if len(read) > most_bytes:
            raise _Failure(f"answered with more than {most_bytes // 1024} kB")
    return bytes(read)


async def _refused(response: httpx.Response) -> Never:
    """What an answer other than 2xx means; its own words may repeat a key and are left out."""
    code = response.status_code
    told = f"HTTP {code} {_phrase(code)}"
    try:
        complaint = _object(await _read(response, LONGEST_COMPLAINT_BYTES)).get("error")
        kind = complaint.get("type") if isinstance(complaint, Mapping) else None
        if isinstance(kind, str) and re.fullmatch(r"[a-z][a-z_]{0,39}", kind):
            told += f" ({kind})"
    except _Failure:
        pass
    again = code == HTTPStatus.TOO_MANY_REQUESTS or code >= 500
    raise _Failure(told, again=again, after_s=_after_s(response.headers.get("retry-after", "")))


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "of no known meaning"


def _after_s(told: str) -> float | None:
    """`retry-after` in seconds; a date would need a wall clock and is passed over."""
    return float(told) if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", told) else None


def _object(text: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _Failure("answered with what is not JSON") from None
    if not isinstance(answer, dict):
        raise _Failure(f"answered with {type(answer).__name__}, not with a JSON object")
    return answer


def _no_constant(word: str) -> Never:
    raise ValueError(word)
