"""What can be known of a night in the morning: counted from its decision trace alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from devices.types import Stage

AWAKE_WITHIN: Final = 2
"""Epochs after a cue in which shown wake counts as wake after it. Assumed."""


@dataclass(frozen=True, slots=True)
class SeenCue:
    """A delivered cue. awake_after: the device showed wake soon after it, and none before."""

    step: int
    kind: str
    volume: str | None
    in_rem: bool
    awake_after: bool


@dataclass(frozen=True, slots=True)
class SeenNight:
    """A night as the device and the loop saw it. Nothing hidden is in it."""

    session: int
    steps: int
    rem_epochs: int
    cues: tuple[SeenCue, ...]


def seen_night(session: int, trace: Iterable[Mapping[str, Any]]) -> SeenNight:
    """From the lines of a whole trace."""
    steps = [line for line in trace if line["kind"] == "step"]
    stages = [step["epoch"]["stage"] for step in steps]
    cues = tuple(
        _cue(place, step, stages)
        for place, step in enumerate(steps)
        if step["delivery"] is not None and step["delivery"]["cue"] is not None
    )
    return SeenNight(session, len(steps), stages.count(Stage.REM.value), cues)


def _cue(place: int, step: Mapping[str, Any], stages: list[str]) -> SeenCue:
    delivery = step["delivery"]
    given = delivery["delivered"]
    after = stages[place + 1 : place + 1 + AWAKE_WITHIN]
    return SeenCue(
        step=step["step"],
        kind=given.get("object", given["kind"]),
        volume=given.get("volume"),
        in_rem=delivery["shown"] == Stage.REM.value and "object" not in given,
        awake_after=Stage.AWAKE.value in after and stages[place] != Stage.AWAKE.value,
    )
