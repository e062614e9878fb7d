"""A figure against the wake scale: the one assumption of a run, halved, doubled, and doubled again.

Agents are told apart by mark, dash and name; colour repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Final

from replay.report.figures.canvas import Drawing, Frame, fitted, length, path, text

USED: Final = 1.0
"""The wake table as it stands."""
DASHES: Final = ("", "7 4", "2 3", "9 3 2 3", "4 2", "1 3")
LINES: Final = len(DASHES)
"""More lines than this in one panel cannot be told apart."""
_SHAPES: Final = (
    "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
    "m-4.2 -4.2h8.4v8.4h-8.4z",
    "m0 -5.6l5.2 9.2h-10.4z",
    "m0 -6l6 6l-6 6l-6 -6z",
    "m0 5.6l5.2 -9.2h-10.4z",
    "m-5.6 -1.8h3.8v-3.8h3.6v3.8h3.8v3.6h-3.8v3.8h-3.6v-3.8h-3.8z",
)


@dataclass(frozen=True, slots=True)
class Point:
    """None: nothing was scored there, or there is no interval."""

    scale: float
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Scales:
    """Up to `LINES` lines over the scales. most: of all panels of the same figure."""

    scales: Sequence[float]
    lines: Sequence[Curve]
    most: float

    def draw(self, frame: Frame) -> Drawing:
        height = 190.0 if frame.is_narrow else 240.0
        plot = _Plot(frame, self.scales, top=14, bottom=height, most=self.most or 1.0)
        parts = [*plot.axes()]
        for number, line in enumerate(self.lines):
            parts += plot.line(number, len(self.lines), line)
        legend, y = self._legend(frame, height + 2.9 * frame.font + 22)
        return Drawing([*parts, *legend], y)

    def _legend(self, frame: Frame, y: float) -> tuple[list[str], float]:
        parts, x, size = [], 4.0, frame.font
        for number, line in enumerate(self.lines):
            words = fitted(line.name, size, frame.width - 60)
            wide = 44 + length(words, size) + 18
            if x + wide > frame.width and x > 4:
                x, y = 4.0, y + size + 10
            parts += [
                _stroke(number, [f"M{x:.1f} {y:.1f}h34"]),
                path(f"m{number}", [f"M{x + 17:.1f} {y:.1f}{_SHAPES[number]}"]),
                text(x + 42, y, words, size, "ink"),
            ]
            x += wide
        return parts, y + size


class _Plot:
    """Knows where a scale and a value stand."""

    def __init__(
        self, frame: Frame, scales: Sequence[float], *, top: float, bottom: float, most: float
    ) -> None:
        self._frame = frame
        self._scales = scales
        self._top = top
        self._bottom = bottom
        self._step = _tick_step(most)
        self._most = self._step * ceil(most / self._step)
        self._left = 46.0
        logs = [log2(scale) for scale in scales if scale > 0]
        self._low = min(logs, default=0.0)
        self._span = max(logs, default=0.0) - self._low

    def axes(self) -> Iterator[str]:
        size, right = self._frame.font, self._frame.width - self._frame.right
        count = round(self._most / self._step)
        for number in range(count + 1):
            value = number * self._step
            y = self._y(value)
            yield path("grid", [f"M{self._left:g} {y:.1f}H{right:g}"])
            yield text(self._left - 6, y, f"{value:g}", size, anchor="end")
        for scale in self._scales:
            x = self._x(scale)
            if scale == USED:
                yield path("start", [f"M{x:.1f} {self._top:g}V{self._bottom:g}"])
            yield text(x, self._bottom + 1.4 * size, f"{scale:g}×", size, "ink", "middle")
        words = "scale of the assumed wake chances; dashed: 1×"
        said = fitted(words, size - 0.5, self._frame.width - 4)
        yield text(2, self._bottom + 2.9 * size, said, size - 0.5)

    def line(self, number: int, lines: int, line: Curve) -> Iterator[str]:
        """Points a little apart, so that equal values stay apart, too."""
        shift = (number - (lines - 1) / 2) * 6.0
        found = [point for point in line.points if point.value is not None]
        places = [(self._x(p.scale) + shift, self._y(p.value or 0.0), p) for p in found]
        steps = [f"{'L' if k else 'M'}{x:.1f} {y:.1f}" for k, (x, y, _) in enumerate(places)]
        yield _stroke(number, steps)
        for x, y, point in places:
            if point.low is not None and point.high is not None:
                low, high = self._y(point.low), self._y(min(point.high, self._most))
                bars = f"M{x:.1f} {low:.1f}V{high:.1f}M{x - 3:.1f} {low:.1f}h6M{x - 3:.1f} "
                yield path(f"s{number}", [f"{bars}{high:.1f}h6"])
            yield path(f"m{number}", [f"M{x:.1f} {y:.1f}{_SHAPES[number]}"])

    def _x(self, scale: float) -> float:
        inner = self._frame.width - self._frame.right - self._left - 80
        if not self._span or scale <= 0:
            return self._left + 40 + inner / 2 * (scale > 0)
        return self._left + 40 + (log2(scale) - self._low) / self._span * inner

    def _y(self, value: float) -> float:
        return self._bottom - value / self._most * (self._bottom - self._top)


def _tick_step(most: float) -> float:
    """1, 2 or 5 times a power of ten; at most six steps."""
    step = 1e-3
    for factor in (2, 2.5, 2) * 6:
        if most / step <= 6:
            break
        step *= factor
    return float(f"{step:.3g}")


def _stroke(number: int, steps: Sequence[str]) -> str:
    dash = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
    return f'<path class="s{number}"{dash} d="{"".join(steps)}"/>' if steps else ""
