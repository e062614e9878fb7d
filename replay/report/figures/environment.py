"""The replay environment as a ring of the code's own parts.

Parts are looked up and what passes between them is read from their signatures, so that the drawing
cannot say what the code no longer does: a part or a signature that is gone is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import getdoc, signature
from typing import Any, Final

from devices.types import PaprikaError
from replay.report.figures.canvas import Drawing, Frame, fitted, path, text


class DiagramError(PaprikaError):
    """The drawing names a part that the code does not have."""


@dataclass(frozen=True, slots=True)
class Part:
    """place: `module:Name` in the code. role: in the words of the seed.

    passes: `module:Class.method` whose value goes on to the next part; of: its parameter, or
    `return`. style: of its box; `hidden` is never seen by the agent, `assumed` is no measurement.
    """

    place: str
    role: str
    passes: str
    of: str
    style: str = "node"

    @property
    def name(self) -> str:
        return self.place.split(":")[1]

    @property
    def module(self) -> str:
        return self.place.split(":")[0]


RING: Final = (
    Part("replay.player:Player", "recorded night", "devices.ports:Push.__call__", "sample"),
    Part("bedside.hub:Hub", "every sample, once", "bedside.hub:Hub.__call__", "sample"),
    Part("bedside.epocher:Epocher", "30 s a step", "bedside.epocher:Epocher.close", "return"),
    Part(
        "bedside.observer:Observer",
        "all it may know",
        "bedside.observer:Observer.observe",
        "return",
    ),
    Part("agents.types:Agent", "decides", "agents.types:Agent.decide", "return"),
    Part("bedside.decider:Decider", "in time, or wait", "bedside.decider:Decider.ask", "return"),
    Part("bedside.safety.gate:judge", "six rules, limits", "devices.ports:Actuator.perform", "cue"),
    Part("replay.room:SilentRoom", "performs the cue", "replay.sleeper:Sleeper.hear", "cue"),
    Part(
        "replay.sleeper:Sleeper",
        "true stage, dice",
        "replay.wake_rule:WakeTable.chance",
        "stage",
        "hidden",
    ),
    Part(
        "replay.wake_rule:WakeTable",
        "wakes? ASSUMED",
        "replay.sleeper:Sleeper.hear",
        "return",
        "assumed",
    ),
)
"""In the order in which a step goes round."""
_WIDE: Final = ((0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (2, 2), (1, 2), (0, 2), (0, 1))
_NARROW: Final = (*((0, row) for row in range(5)), *((1, row) for row in range(4, -1, -1)))


def found(place: str) -> Any:
    """The object at `module:Name` or `module:Class.method`.

    Raises:
        DiagramError: it is gone.
    """
    module, _, names = place.partition(":")
    try:
        value: Any = import_module(module)
        for name in names.split("."):
            value = getattr(value, name)
    except (ImportError, AttributeError) as error:
        raise DiagramError(
            f"{place} is drawn and not there ({error}); mend RING in {__name__}"
        ) from error
    return value


def passed(part: Part) -> str:
    """The type that goes on from a part, as its signature says."""
    says = signature(found(part.passes))
    known = {name: one.annotation for name, one in says.parameters.items()}
    known["return"] = says.return_annotation
    if part.of not in known:
        raise DiagramError(f"{part.passes} has no {part.of}; mend RING in {__name__}")
    told = known[part.of]
    return str(getattr(told, "__name__", told)).removesuffix(" | None")


def promise(part: Part) -> str:
    """What the code says of the part, in its own first line."""
    return " ".join((getdoc(found(part.place)) or "").split("\n\n")[0].split())


def draw(frame: Frame) -> Drawing:
    """The ring; a box is a part, an arrow what it hands on."""
    spots = _NARROW if frame.is_narrow else _WIDE
    ring = _Ring(frame, columns=2 if frame.is_narrow else 4)
    boxes = [ring.box(part, *spot) for part, spot in zip(RING, spots, strict=True)]
    arrows = [
        arrow
        for number, part in enumerate(RING)
        for arrow in ring.arrow(spots[number], spots[(number + 1) % len(RING)], f"{passed(part)}")
    ]
    rows = 1 + max(row for _, row in spots)
    return Drawing([*arrows, *boxes], ring.bottom(rows))


class _Ring:
    """Knows where a box stands."""

    def __init__(self, frame: Frame, *, columns: int) -> None:
        self._frame = frame
        self._high = 66.0
        self._down = 40.0
        self._across = 36.0 if frame.is_narrow else 88.0
        self._wide = (frame.width - 4 - self._across * (columns - 1)) / columns

    def box(self, part: Part, column: int, row: int) -> str:
        found(part.place)
        x, y = self._corner(column, row)
        size = self._frame.font
        round_ = 30 if part.style == "assumed" else 6
        lines = (
            (part.name, size + 1, "strong"),
            (part.module, size - 2.5, "code"),
            (part.role, size - 1, "ink"),
        )
        said = "".join(
            text(
                x + self._wide / 2,
                y + 14 + 18 * k,
                fitted(words, at, self._wide - 6),
                at,
                style,
                "middle",
            )
            for k, (words, at, style) in enumerate(lines)
        )
        return (
            f'<rect class="{part.style}" x="{x:.1f}" y="{y:.1f}" rx="{round_}" '
            f'width="{self._wide:.1f}" height="{self._high:g}"/>{said}'
        )

    def arrow(self, start: tuple[int, int], end: tuple[int, int], words: str) -> Iterator[str]:
        """From box to box, along a row or along a column."""
        across, down = end[0] - start[0], end[1] - start[1]
        size = self._frame.font - 1.5
        x, y = self._corner(*start)
        if across:
            x = x + self._wide if across > 0 else x
            y += self._high / 2
            span = across * self._across
            yield path("arrow", [f"M{x:.1f} {y:.1f}h{span - across * 7:.1f}"])
            yield path("head", [f"M{x + span:.1f} {y:.1f}l{-9 * across} -5v10z"])
            yield from self._label(x + span / 2, y, words, size, "middle")
        else:
            x += self._wide / 2
            y = y + self._high if down > 0 else y
            span = down * self._down
            yield path("arrow", [f"M{x:.1f} {y:.1f}v{span - down * 7:.1f}"])
            yield path("head", [f"M{x:.1f} {y + span:.1f}l-5 {-9 * down}h10z"])
            yield text(x + 9, y + span / 2, words, size, "ink")

    def _label(self, x: float, y: float, words: str, size: float, anchor: str) -> Iterator[str]:
        """Above an arrow where it fits between boxes; else below the boxes beside it."""
        if self._frame.is_narrow:
            yield text(x, y + self._high / 2 + 10, words, size, "ink", anchor)
        else:
            yield text(x, y - 9, fitted(words, size, self._across), size, "ink", anchor)

    def bottom(self, rows: int) -> float:
        extra = 22 if self._frame.is_narrow else 10
        return rows * self._high + (rows - 1) * self._down + extra

    def _corner(self, column: int, row: int) -> tuple[float, float]:
        return (
            2 + column * (self._wide + self._across),
            2 + row * (self._high + self._down),
        )
