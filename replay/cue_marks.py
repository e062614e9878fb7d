"""Shapes of cues in drawings: each kind has its own, so that colour is not needed to tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

MARKS: Final[Mapping[str, Sequence[tuple[float, float]]]] = {
    "sound": (),
    "whisper": ((0, -1.2), (1.2, 2.2), (-2.4, 0)),
    "scent": ((0, -1.4), (1.4, 1.4), (-1.4, 1.4), (-1.4, -1.4)),
    "light": ((-1, -1), (2, 0), (0, 2), (-2, 0)),
    "diffuser": ((0, 1.2), (-1.2, -2.2), (2.4, 0)),
}
"""Relative steps from the middle, in radii; no steps: a circle."""


def mark_path(kind: str, r: float) -> str:
    """A closed path around the current point, a shape of its own for each kind of cue."""
    points = MARKS.get(kind, MARKS["sound"])
    if not points:
        return f"m-{r:g} 0a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 -{2 * r:g} 0z"
    steps = "l".join(f"{dx * r:.3g} {dy * r:.3g}" for dx, dy in points)
    return f"m{steps}z"
