"""Actions as members of a Gymnasium space, and as the agents' values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from gymnasium.error import InvalidAction
from gymnasium.spaces import Dict, Discrete, Space

from agents.types import Action, BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from agents.wire import KEYS, LONGEST_TEXT, action_to_json
from devices.types import PaprikaError, Volume
from replay.env.unicode import Unicode

KINDS: Final = tuple(KEYS)
"""wait, sound, whisper, object, stop: `kind` is the place in this row."""
VOLUMES: Final = tuple(Volume)
OBJECTS: Final = tuple(BedsideObject)


class MalformedAction(PaprikaError, InvalidAction):
    """An action that no night can take; the message names the key."""


def action_space() -> Dict:
    """kind, volume, line, object; what a kind does not use is ignored."""
    return Dict(
        {
            "kind": Discrete(len(KINDS)),
            "volume": Discrete(len(VOLUMES)),
            "line": Unicode(LONGEST_TEXT, min_length=1),
            "object": Discrete(len(OBJECTS)),
        }
    )


_SPACES: Final[Mapping[str, Space[Any]]] = action_space().spaces


def decoded(action: object) -> Action:
    """The agents' action that a member of the action space means.

    Only `kind` and the keys that it uses are looked at.
    """
    if not isinstance(action, Mapping):
        raise MalformedAction(
            f"an action is a dict with kind, volume, line and object, got {type(action).__name__}"
        )
    kind = KINDS[_number(action, "kind")]
    match kind:
        case "wait":
            return Wait()
        case "sound":
            return PlaySound(VOLUMES[_number(action, "volume")])
        case "whisper":
            return Whisper(_line(action), VOLUMES[_number(action, "volume")])
        case "object":
            return UseObject(OBJECTS[_number(action, "object")])
        case _:
            return Stop()


def encoded(action: Action) -> dict[str, Any]:
    """The member of the action space that means this action; its reason is lost."""
    given = action_to_json(action)
    kind = KINDS.index(given["kind"])
    volume = VOLUMES.index(Volume(given.get("volume", Volume.LOW)))
    thing = OBJECTS.index(BedsideObject(given.get("object", BedsideObject.SCENT)))
    return {
        "kind": np.int64(kind),
        "volume": np.int64(volume),
        "line": given.get("line", "-"),
        "object": np.int64(thing),
    }


def _number(action: Mapping[Any, Any], key: str) -> int:
    value = _value(action, key)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    space = _SPACES[key]
    if isinstance(value, bool | np.bool_) or value not in space:
        raise MalformedAction(f"action[{key!r}] is {value!r}, not in {space}")
    return int(value)


def _line(action: Mapping[Any, Any]) -> str:
    value = _value(action, "line")
    if value not in _SPACES["line"]:
        raise MalformedAction(
            f"action['line'] is {value!r}; a whisper needs a text of 1 to {LONGEST_TEXT} "
            "characters that is not blank"
        )
    return str(value)


def _value(action: Mapping[Any, Any], key: str) -> Any:
    if key not in action:
        raise MalformedAction(f"the action has no {key!r}")
    return action[key]
