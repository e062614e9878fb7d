"""The ids that `gymnasium.make` knows once `replay.env` is imported."""

from __future__ import annotations

from typing import Any, Final

from gymnasium.envs.registration import register, registry

ENTRY_POINT: Final = "replay.env.environment:PaprikaEnv"
IDS: Final[dict[str, dict[str, Any]]] = {
    "Paprika-v0": {},
    "Paprika-Composed-v0": {"start": "any", "condition": "any"},
    "Paprika-Night-v0": {"start": 0, "steps": None},
}
"""A task; a start and a composition of faults drawn at each reset; a night from end to end."""


def register_all() -> None:
    """Register every id that is not there yet."""
    for name, given in IDS.items():
        if name not in registry:
            register(id=name, entry_point=ENTRY_POINT, kwargs=given)
