"""A stand-in for a model's provider, over real HTTP in a thread, and an agent that asks it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agents.types import Action, AgentError, Observation, Outside, PlaySound, Request, Session, Wait

MODEL = "claude-haiku-4-5"
USAGE = {"input_tokens": 1000, "output_tokens": 100}
COST = 0.0015
"""Of one such answer: 1000 × 1 + 100 × 5 millionths of a dollar."""

Say = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """One client call; `body` and `asked` (headers) are kept by the provider."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    body: dict[str, Any]
    text: bytes

    def do_POST(self) -> None:
        provider: Provider = self.server.provider  # type: ignore[attr-defined]
        self.text = self.rfile.read(int(self.headers["content-length"]))
        self.body = json.loads(self.text)
        with provider.lock:
            provider.asked.append(self.body)
            provider.headers.append({k.lower(): v for k, v in self.headers.items()})
            number = len(provider.asked) - 1
        provider.choose(number, self)(self)

    def send(self, text: bytes, code: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""


def ok(handler: Handler) -> None:
    """A decision that depends on what was asked, and its usage."""
    choice = int(sha256(handler.text).hexdigest()[:2], 16) % 3
    action = {"kind": "sound" if choice == 0 else "wait", "reason": f"choice {choice}"}
    handler.send(json.dumps({"action": action, "usage": USAGE}).encode())


def status(code: int, *, after: str | None = None, text: bytes = b"{}") -> Say:
    headers = {} if after is None else {"retry-after": after}
    return lambda handler: handler.send(text, code, headers)


def raw(text: bytes, **headers: str) -> Say:
    return lambda handler: handler.send(text, 200, headers)


def never(handler: Handler) -> None:
    """Holds the line until the provider closes."""
    handler.server.provider.closing.wait(30)  # type: ignore[attr-defined]
    handler.close_connection = True


def hang_up(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def fails(share: float, seed: int) -> Callable[[int, Handler], Say]:
    """500 for a share of all questions, chosen by their content: asking again does not help."""

    def choose(number: int, handler: Handler) -> Say:
        text = json.dumps(handler.body, sort_keys=True)
        value = int(sha256(f"{seed}\0{text}".encode()).hexdigest()[:13], 16) / 16**13
        return status(500, after="0") if value < share else ok

    return choose


@dataclass
class Provider:
    """asked: every client call's body, in order."""

    choose: Callable[[int, Handler], Say]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def provider(
    script: Sequence[Say] = (), choose: Callable[[int, Handler], Say] | None = None
) -> Iterator[Provider]:
    """A provider that says each of `script` in turn, then `ok`; or what `choose` chooses."""

    def in_turn(number: int, handler: Handler) -> Say:
        return script[number] if number < len(script) else ok

    one = Provider(choose or in_turn)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.provider = one  # type: ignore[attr-defined]
    one.url = f"http://127.0.0.1:{server.server_port}/v1/messages"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield one
    finally:
        one.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


class PaidScript:
    """Asks the model at every `every`th step; a failure is an error, or a wait where it `waits`."""

    def __init__(
        self, *, every: int = 1, model: str | None = MODEL, waits: bool = False, times: int = 1
    ) -> None:
        self.name = "paid_script"
        self._every = every
        self._model = model
        self._waits = waits
        self._times = times
        self._outside: Outside | None = None
        self._step = 0
        self.cached: list[bool] = []

    def connect(self, outside: Outside) -> None:
        self._outside = outside

    def reset(self, session: Session) -> None:
        self._step = 0

    async def decide(self, observation: Observation) -> Action:
        self._step += 1
        if (self._step - 1) % self._every:
            return Wait("not asked now")
        for time in range(self._times):
            answer = await self._ask(observation, time)
        return answer

    async def _ask(self, observation: Observation, time: int) -> Action:
        assert self._outside is not None
        stage = None if observation.stage is None else observation.stage.value
        body: dict[str, Any] = {"max_tokens": 100, "messages": [observation.clock_s, stage, time]}
        if self._model is not None:
            body["model"] = self._model
        reply = await self._outside.call(Request("model", body, timeout_s=5.0))
        self.cached.append(reply.cached)
        if reply.body is None:
            if self._waits:
                return Wait("the model did not answer")
            raise AgentError(reply.error or "no answer")
        action = reply.body["action"]
        return PlaySound(reason=action["reason"]) if action["kind"] == "sound" else Wait()
