"""Rows of bars in columns: the value stands above its bar, so that nothing is told by colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from replay.report.figures.canvas import Drawing, Frame, box, fitted, path, text, wrapped


@dataclass(frozen=True, slots=True)
class Bar:
    """value: length, None: no bar. words: what stands above it. low, high: of an interval."""

    value: float | None
    words: str
    style: str = "amount"
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """full: the value of a bar as long as the column."""

    words: str
    full: float


@dataclass(frozen=True, slots=True)
class Bars:
    """rows: a name and one bar a column."""

    columns: Sequence[Column]
    rows: Sequence[tuple[str, Sequence[Bar]]]

    def draw(self, frame: Frame) -> Drawing:
        """In a narrow frame a row's name stands above its bars."""
        parts, y = self._heads(frame)
        for name, bars in self.rows:
            y, drawn = self._row(frame, y, name, bars)
            parts += drawn
        return Drawing(parts, y + 4)

    def _heads(self, frame: Frame) -> tuple[list[str], float]:
        size = frame.font - 1
        lines = [wrapped(column.words, size, self._room(frame)) for column in self.columns]
        deep = max(map(len, lines), default=0)
        parts = []
        for (x, _), said in zip(self._places(frame), lines, strict=True):
            top = 4 + (deep - len(said)) * (size + 3)
            parts += [
                text(x, top + size * (0.6 + 1.2 * number), words, size)
                for number, words in enumerate(said)
            ]
        return parts, 8 + deep * (size + 3)

    def _row(
        self, frame: Frame, y: float, name: str, bars: Sequence[Bar]
    ) -> tuple[float, list[str]]:
        size, parts = frame.font, []
        parts.append(path("grid", [f"M0 {y:.1f}H{frame.width:g}"]))
        if frame.is_narrow:
            parts.append(text(2, y + size, fitted(name, size, frame.width - 4), size, "strong"))
            y += size + 6
        else:
            named = fitted(name, size, self._left(frame) - 12)
            parts.append(text(2, y + 1.7 * size, named, size, "strong"))
        for (x, room), column, bar in zip(self._places(frame), self.columns, bars, strict=True):
            parts.append(text(x, y + size, fitted(bar.words, size, room + 8), size, "ink"))
            parts += _bar(x, y + 1.8 * size, room, column.full, bar)
        return y + 1.8 * size + 20, parts

    def _places(self, frame: Frame) -> Iterator[tuple[float, float]]:
        """Where each column starts, and how much room it has."""
        room = self._room(frame)
        for number in range(len(self.columns)):
            yield self._left(frame) + number * (room + 12), room

    def _room(self, frame: Frame) -> float:
        columns = max(1, len(self.columns))
        return (frame.width - self._left(frame) - 4 - 12 * (columns - 1)) / columns

    def _left(self, frame: Frame) -> float:
        return 2 if frame.is_narrow else 170


def _bar(x: float, y: float, room: float, full: float, bar: Bar) -> Iterator[str]:
    yield box(x, y, room, 9, "ground")
    unit = room / full if full else 0.0
    if bar.value:
        yield box(x, y, max(1.5, min(room, bar.value * unit)), 9, bar.style)
    if bar.low is not None and bar.high is not None and unit:
        low, high = x + bar.low * unit, x + min(room, bar.high * unit)
        ends = f"M{low:.1f} {y - 2:.1f}v13M{high:.1f} {y - 2:.1f}v13"
        yield path("span", [ends, f"M{low:.1f} {y + 4.5:.1f}H{high:.1f}"])
