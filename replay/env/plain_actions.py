"""Actions as four whole numbers, for learners that cannot write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gymnasium import ActionWrapper, Env
from gymnasium.spaces import MultiDiscrete
from numpy.typing import NDArray

from devices.types import PaprikaError
from replay.env.actions import KINDS, OBJECTS, VOLUMES

LINES: Final = 3
"""Lines of every bundled theme."""


class NoLines(PaprikaError):
    """A whisper was asked for, and the session has no line."""


class PlainActions(ActionWrapper[Any, Any, Any]):
    """Takes [kind, volume, number of a line, object]; lines are those of the session.

    lines: how many numbers there are for lines; a number beyond the session's lines begins again
        at the first.
    """

    def __init__(self, env: Env[Any, Any], lines: int = LINES) -> None:
        super().__init__(env)
        self.action_space = MultiDiscrete([len(KINDS), len(VOLUMES), lines, len(OBJECTS)])
        self._lines: Sequence[str] = ()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._lines = info["lines"]
        return observation, info

    def action(self, action: NDArray[Any]) -> dict[str, Any]:
        kind, volume, line, thing = action
        if KINDS[kind] == "whisper" and not self._lines:
            raise NoLines("action[2]: this session has no line to whisper; choose another kind")
        said = self._lines[line % len(self._lines)] if self._lines else "-"
        return {"kind": kind, "volume": volume, "line": said, "object": thing}
