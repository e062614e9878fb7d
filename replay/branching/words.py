"""Actions as a person types them: JSON of the agent protocol, or a short form."""

from __future__ import annotations

import json
from typing import Any, Final

from agents.types import Action, AgentError, BedsideObject, UseObject, Wait, Whisper
from agents.wire import action_from_json
from replay.branching.errors import BranchError

SHORT: Final = "wait, sound:low, whisper:LINE, scent, light, diffuser or stop"


def asked_action(text: str) -> Action:
    """The action that is meant.

    Raises:
        BranchError: naming what is wrong with it and what it may be.
    """
    try:
        return action_from_json(_as_json(text.strip()))
    except AgentError as error:
        raise BranchError(f"--action {text}: {error}; give JSON or {SHORT}") from error


def action_in_words(action: Action) -> str:
    """The short form."""
    match action:
        case Whisper(line=line):
            return f"whisper:{line}"
        case UseObject(object=thing):
            return thing.value
        case Wait():
            return "wait"
        case _:
            volume = getattr(action, "volume", None)
            return "stop" if volume is None else f"sound:{volume.value}"


def _as_json(text: str) -> Any:
    if text.startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BranchError(f"--action {text}: not JSON ({error}); or give {SHORT}") from error
    kind, colon, rest = text.partition(":")
    if kind == "sound" and colon:
        return {"kind": kind, "volume": rest}
    if kind == "whisper":
        return {"kind": kind, "line": rest or None}
    if not colon and kind in list(BedsideObject):
        return {"kind": "object", "object": kind}
    return {"kind": text}
