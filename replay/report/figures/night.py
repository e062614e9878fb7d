"""A recorded night: its stages, where tasks start, and where each agent cued.

A stage is told by its lane, a waking by the length and the head of its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from devices.types import EPOCH_S
from replay.report.figures.canvas import Drawing, Frame, fitted, length, path, text
from replay.report.stages import LANES, stage_name
from replay.wording import STAGE_WORDS, clock_ticks


@dataclass(frozen=True, slots=True)
class Given:
    """A delivered cue by its place in the recording, in epochs."""

    at: float
    woke: bool


@dataclass(frozen=True, slots=True)
class NightChart:
    """letters: the stages, one an epoch; truth: the experts' where they are others. starts: epochs
    at which tasks start. cues: of each agent, by name."""

    letters: str
    start_clock_s: float
    truth: str = ""
    starts: Sequence[int] = ()
    cues: Sequence[tuple[str, Sequence[Given]]] = ()

    def draw(self, frame: Frame) -> Drawing:
        axis = _Axis(frame, max(1, len(self.letters)), self.start_clock_s)
        lane = 26.0 if frame.is_narrow else 32.0
        y, top = 34.0, 34.0
        parts: list[str] = []
        titles: list[str] = []
        for title, letters in self._panels():
            if title:
                y += 12
                titles.append(text(2, y, title, frame.font, "title"))
                y += 12
            parts += axis.lanes(letters, y, lane)
            y += lane * len(LANES)
        if self.starts:
            parts += axis.starts(self.starts, top - 4, y)
        parts += titles
        y += 8
        for name, cues in self.cues:
            y += 46 if frame.is_narrow else 34
            parts += axis.cue_row(name, cues, y)
        y += frame.font + 8
        return Drawing([*parts, *axis.clock(y)], y + frame.font)

    def _panels(self) -> Iterator[tuple[str, str]]:
        if self.truth:
            yield "shown by the device", self.letters
            yield "scored by experts (hidden from the agent)", self.truth
        else:
            yield "", self.letters


class _Axis:
    """Knows where an epoch stands."""

    def __init__(self, frame: Frame, epochs: int, start_clock_s: float) -> None:
        self._frame = frame
        self._epochs = epochs
        self._start_clock_s = start_clock_s
        self._right = frame.width - frame.right
        self._unit = (self._right - frame.left) / epochs

    def lanes(self, letters: str, top: float, lane: float) -> Iterator[str]:
        """Bars by stage; a gap covers all lanes."""
        bottom = top + lane * len(LANES)
        lines = [
            f"M{self._frame.left:g} {top + k * lane:g}H{self._right:g}"
            for k in range(len(LANES) + 1)
        ]
        lines += [f"M{x:.1f} {top:g}V{bottom:g}" for x, _ in self._ticks()]
        yield path("grid", lines)
        paths: dict[str, list[str]] = {}
        for letter, start, epochs in _runs(letters):
            x, wide = self.x(start), max(epochs * self._unit, 0.8)
            name = stage_name(letter)
            number = LANES.index(name) if name in LANES else None
            y = top if number is None else top + lane * number + lane * 0.2
            high = bottom - top if number is None else lane * 0.6
            bar = f"M{x:.1f} {y:.1f}h{wide:.1f}v{high:.1f}h-{wide:.1f}z"
            paths.setdefault("gap" if number is None else name, []).append(bar)
        for style, bars in paths.items():
            yield path(style, bars)
        for number, name in enumerate(LANES):
            y = top + (number + 0.5) * lane
            words, left = STAGE_WORDS[name], self._frame.left - 7
            yield text(left, y, words, self._frame.font, "ink", "end")

    def starts(self, epochs: Sequence[int], top: float, bottom: float) -> Iterator[str]:
        """Dashed lines with their numbers; numbers too close to the last one go up a row."""
        size = self._frame.font - 2.5
        yield path("start", [f"M{self.x(epoch):.1f} {top:g}V{bottom:g}" for epoch in epochs])
        last, up = -99.0, False
        for number, epoch in enumerate(epochs, 1):
            x = self.x(epoch)
            up = not up and x - last < length(f"{number}", size) + 2
            yield text(x, top - (18 if up else 7), f"{number}", size, "ink", "middle")
            last = x

    def cue_row(self, name: str, cues: Sequence[Given], y: float) -> Iterator[str]:
        """Short lines for cues, long ones with a head for those that woke."""
        frame, woken = self._frame, [self.x(cue.at) for cue in cues if cue.woke]
        said = f"{name}: {len(cues)}" + (f", {len(woken)} woke" if woken else "")
        yield path("grid", [f"M{frame.left:g} {y:g}H{self._right:g}"])
        if frame.is_narrow:
            said = fitted(said, frame.font, frame.width - 4)
            yield text(2, y - 33, said, frame.font, "ink")
        else:
            named = fitted(name, frame.font, frame.left - 9)
            count = said[len(name) + 2 :]
            yield text(frame.left - 7, y - 18, named, frame.font, "ink", "end")
            yield text(frame.left - 7, y - 3, fitted(count, 12, frame.left - 9), 12, "", "end")
        quiet = (f"M{self.x(cue.at):.1f} {y:g}v-10" for cue in cues if not cue.woke)
        yield path("tick", quiet)
        yield path("wake", (f"M{x:.1f} {y:g}v-18" for x in woken))
        yield path("wakehead", (f"M{x:.1f} {y - 15:g}l-4 -7h8z" for x in woken))

    def clock(self, y: float) -> Iterator[str]:
        size = self._frame.font
        half = length("00:00", size) / 2
        for x, label in self._ticks():
            if self._frame.left + half * 0.6 <= x <= self._frame.width - half:
                yield text(x, y, label, size, "", "middle")

    def x(self, epoch: float) -> float:
        return self._frame.left + epoch * self._unit

    def _ticks(self) -> Iterator[tuple[float, str]]:
        length_s = self._epochs * EPOCH_S
        for t, label in clock_ticks(self._start_clock_s, length_s, self._frame.ticks):
            yield self.x(t / EPOCH_S), label


def _runs(letters: str) -> Iterator[tuple[str, int, int]]:
    start = 0
    for letter, group in groupby(letters):
        epochs = sum(1 for _ in group)
        yield letter, start, epochs
        start += epochs
