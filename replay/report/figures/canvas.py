"""The ground of every drawing: two widths, words that stay inside, colours by class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from replay.wording import clean


@dataclass(frozen=True, slots=True)
class Frame:
    """Sizes of one drawing, in its own units. left: the column of names; ticks: about how many."""

    key: str
    width: float
    left: float
    right: float
    font: float
    ticks: int

    @property
    def is_narrow(self) -> bool:
        return self.key == "narrow"

    @property
    def inner(self) -> float:
        return self.width - self.left - self.right


@dataclass(frozen=True, slots=True)
class Drawing:
    """SVG elements and the height they came to."""

    parts: Sequence[str]
    height: float


WIDE: Final = Frame("wide", 960, 110, 20, 14, 13)
NARROW: Final = Frame("narrow", 360, 62, 10, 12.5, 6)


def figure(draw: Callable[[Frame], Drawing], *, said: str, caption: str) -> str:
    """A figure in both widths, of which a media query shows one.

    said: what somebody who does not see it is told. caption: none where it is empty.
    """
    drawn = (
        f'<div class="{where}">{_svg(frame, draw(frame), said)}</div>'
        for where, frame in (("desk", WIDE), ("phone", NARROW))
    )
    below = f"<figcaption>{escape(clean(caption))}</figcaption>" if caption else ""
    return f"<figure>{''.join(drawn)}{below}</figure>"


def text(
    x: float, y: float, words: str, size: float, style: str = "", anchor: str = "start"
) -> str:
    """Words whose middle stands at y."""
    named = f' class="{style}"' if style else ""
    return (
        f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size:g}" '
        f'text-anchor="{anchor}"{named}>{escape(clean(words))}</text>'
    )


def box(x: float, y: float, width: float, height: float, style: str) -> str:
    return (
        f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{max(width, 0):.1f}" height="{height:.1f}"/>'
    )


def path(style: str, steps: Iterable[str]) -> str:
    """One path out of pieces; nothing where there is none."""
    d = "".join(steps)
    return f'<path class="{style}" d="{d}"/>' if d else ""


def length(words: str, size: float) -> float:
    """About how long words come out; fonts differ, and wide scripts count double."""
    return sum(1.0 if ord(char) < 0x1100 else 1.8 for char in words) * size * 0.56


def fitted(words: str, size: float, room: float) -> str:
    """The words, cut with an ellipsis where they would not fit."""
    words = clean(words)
    if length(words, size) <= room:
        return words
    while words and length(words + "…", size) > room:
        words = words[:-1]
    return words + "…"


def wrapped(words: str, size: float, room: float) -> list[str]:
    """The words in lines no longer than `room`; a single long word is cut."""
    lines: list[str] = []
    for word in words.split():
        if lines and length(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(fitted(word, size, room))
    return lines


def _svg(frame: Frame, drawn: Drawing, said: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="night" role="img" '
        f'viewBox="0 0 {frame.width:g} {drawn.height:.0f}" '
        f'aria-label="{escape(clean(said))}">{"".join(drawn.parts)}</svg>'
    )
