"""What a cached decision is found by: everything that was known when it was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from replay.manifest import digest_of

PROMPT: Final = ("system", "messages", "prompt", "input")
TOOLS: Final = ("tools", "tool_choice")


@dataclass(frozen=True, slots=True)
class Question:
    """The key of a cached decision.

    history: digest of the session and every observation so far. body: digest of the whole request
    body; prompt, parameters, tools: of its parts, None where it has none. call: number of the call
    in its attempt. trial: several trials of one task have different answers.
    """

    service: str
    history: str
    body: str
    model: str | None
    prompt: str | None
    parameters: str | None
    tools: str | None
    task: str
    seed: int
    trial: int
    call: int

    @property
    def digest(self) -> str:
        """SHA-256 of the key, in hex digits."""
        return digest_of(asdict(self))


@dataclass(frozen=True, slots=True)
class Place:
    """Where in an experiment something is asked. task: with the night's name."""

    task: str
    seed: int
    trial: int = 1


def question(
    place: Place, history: str, call: int, service: str, body: Mapping[str, Any]
) -> Question:
    """The key for a request; ValueError or TypeError where its body is not JSON."""
    canonical(body)
    model = body.get("model")
    others = [name for name in body if name not in (*PROMPT, *TOOLS, "model")]
    return Question(
        service=service,
        history=history,
        body=digest_of(body),
        model=model if isinstance(model, str) else None,
        prompt=_part(body, PROMPT),
        parameters=_part(body, others),
        tools=_part(body, TOOLS),
        task=place.task,
        seed=place.seed,
        trial=place.trial,
        call=call,
    )


def canonical(value: object) -> bytes:
    """A JSON value as UTF-8 that is the same for equal values; ValueError where it is none."""
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode()


def _part(body: Mapping[str, Any], names: tuple[str, ...] | list[str]) -> str | None:
    part = {name: body[name] for name in names if name in body}
    return digest_of(part) if part else None
