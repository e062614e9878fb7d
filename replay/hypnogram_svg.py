"""A replayed night drawn as SVG: hypnogram in the field's order, cues and wakings, clock time.

A stage is told by its lane and its label, never by colour alone. Colours are classes, so that a
page gives them for dark and light; `night_svg` brings its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Final

from devices.types import EPOCH_S, Stage
from replay.cue_marks import MARKS, mark_path
from replay.night_colours import LIGHT_COLOURS, STYLE, colours_css
from replay.summary import CueDone, Summary
from replay.wording import STAGE_WORDS, clean, clock_ticks, plural, span_of_night

LANES: Final = ("awake", "rem", "light", "deep")


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of one drawing, in its own units; `key` keeps ids apart where two share a page."""

    key: str
    width: float
    left: float
    right: float
    lane: float
    bar: float
    font: float
    mark: float
    ticks: int


WIDE: Final = Layout("wide", 960, 60, 16, 36, 22, 14, 4.5, 13)
NARROW: Final = Layout("narrow", 360, 52, 8, 32, 19, 12.5, 4.5, 6)


def night_svg(summary: Summary) -> str:
    """The night as a file of its own, titled, on a light ground."""
    made = "SYNTHETIC night" if summary.night["synthetic"] else "night"
    title = f"{made} {clean(summary.night['id'])}, {clean(summary.agent)}, seed {summary.seed}"
    body, height = _body(summary, WIDE, title, None)
    style = f".night{{{colours_css(LIGHT_COLOURS)}}}{STYLE}"
    ground = f'<rect width="{WIDE.width:g}" height="{height:g}" fill="var(--paper)"/>'
    return _svg(summary, WIDE, height, f"<style>{style}</style>{ground}{body}") + "\n"


def night_figure(summary: Summary, layout: Layout, recorded: bytes | None = None) -> str:
    """The night as an element of a page that has `STYLE` and the colours.

    recorded: letters of the recording, one an epoch from its start; epochs that show something else
        are ticked.
    """
    body, height = _body(summary, layout, None, recorded)
    return _svg(summary, layout, height, body)


def _svg(summary: Summary, layout: Layout, height: float, body: str) -> str:
    woke = sum(cue.woke for cue in summary.cues)
    said = (
        f"Hypnogram of night {clean(summary.night['id'])}, {span_of_night(summary)}: "
        f"{plural(len(summary.cues), 'cue')}, {woke} of them woke the sleeper."
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="night" role="img" '
        f'viewBox="0 0 {layout.width:g} {height:g}" aria-labelledby="said-{layout.key}">'
        f'<title id="said-{layout.key}">{escape(said)}</title>{body}</svg>'
    )


def _body(
    summary: Summary, layout: Layout, title: str | None, recorded: bytes | None
) -> tuple[str, float]:
    """Everything inside the svg element, and the height it came to."""
    draw = _Drawing(summary, layout, top=8 if title is None else 40)
    parts: list[str] = []
    if title is not None:
        parts.append(_text(layout.left, 24, title, layout.font + 2, "ink", "start"))
    parts += draw.grid()
    parts += draw.stages()
    y = draw.bottom
    differing = _differing(summary, recorded)
    if differing:
        y += layout.font + 4
        parts += draw.differences(differing, y)
    y += 22
    parts += draw.cues(y)
    if any(cue.woke for cue in summary.cues):
        y += layout.font + 7
        parts += draw.woke_labels(y)
    y += layout.font + 14
    parts += draw.clock(y)
    notes = ["ticks: differs from the recording"] if differing else []
    legend, y = draw.legend(y + layout.font + 10, notes)
    return "".join(parts + legend), y


class _Drawing:
    """Knows where things stand; every method gives elements."""

    def __init__(self, summary: Summary, layout: Layout, *, top: float) -> None:
        self._summary = summary
        self._layout = layout
        self._top = top
        self._steps = max(1, len(summary.stages))
        self._right = layout.width - layout.right
        self._px = (self._right - layout.left) / self._steps
        self.bottom = top + layout.lane * len(LANES)

    def grid(self) -> Iterator[str]:
        at = self._layout.left
        lines = [
            f"M{at:g} {self._top + k * self._layout.lane:g}H{self._right:g}"
            for k in range(len(LANES) + 1)
        ]
        lines += [f"M{x:.1f} {self._top:g}V{self.bottom:g}" for x, _ in self._ticks()]
        yield f'<path class="grid" d="{"".join(lines)}"/>'
        for k, name in enumerate(LANES):
            yield self._label(self._top + (k + 0.5) * self._layout.lane, STAGE_WORDS[name])

    def stages(self) -> Iterator[str]:
        """Bars by lane, joined in order of time; epochs without a reading as bands."""
        paths: dict[str, list[str]] = {}
        joins, before = [], None
        for name, start, epochs in _runs(self._summary):
            lane = "awake" if name == "inserted" else name
            paths.setdefault(name, []).append(self._bar(name, start, epochs))
            middle = None if name == "none" else self._middle(lane)
            if before is not None and middle is not None and before != middle:
                joins.append(f"M{self._x(start):.1f} {before:g}V{middle:g}")
            before = middle
        if "none" in paths:
            yield f'<path class="gap" d="{"".join(paths["none"])}"/>'
        yield f'<path class="join" d="{"".join(joins)}"/>'
        for name in LANES:
            if name in paths:
                yield f'<path class="{name}" d="{"".join(paths[name])}"/>'
        if "inserted" in paths:
            yield self._hatch()
            yield self._hatched("".join(paths["inserted"]))

    def differences(self, steps: Iterable[int], y: float) -> Iterator[str]:
        yield self._label(y, "differs")
        ticks = "".join(f"M{self._x(step + 0.5):.1f} {y - 5:g}v10" for step in steps)
        yield f'<path class="differs" d="{ticks}"/>'

    def cues(self, y: float) -> Iterator[str]:
        """Marks by kind in a row, a thin line from each up to the stage that was shown."""
        yield self._label(y, "cues")
        if not self._summary.cues:
            yield _text(self._layout.left + 4, y, "none", self._layout.font, "", "start")
            return
        leads = (
            f"M{self._cue_x(cue):.1f} {y:g}V{self._middle(cue.shown):g}"
            for cue in self._summary.cues
        )
        yield f'<path class="lead" d="{"".join(leads)}"/>'
        for style, cues in (("cue", self._cues(woke=False)), ("woke", self._cues(woke=True))):
            marks = "".join(_mark(cue.kind, self._cue_x(cue), y, self._layout.mark) for cue in cues)
            if marks:
                yield f'<path class="{style}" d="{marks}"/>'

    def woke_labels(self, y: float) -> Iterator[str]:
        """One label a waking; those too close for theirs share one."""
        size = self._layout.font
        groups: list[list[float]] = []
        for cue in self._cues(woke=True):
            x = self._cue_x(cue)
            if groups and x - groups[-1][0] < 6.5 * size:
                groups[-1].append(x)
            else:
                groups.append([x])
        for xs in groups:
            word = "woke" if len(xs) == 1 else f"woke ×{len(xs)}"
            half = _width(word, size) / 2
            x = min(max(sum(xs) / len(xs), self._layout.left + half), self._right - half)
            yield _text(x, y, word, size, "alarm", "middle")

    def clock(self, y: float) -> Iterator[str]:
        size = self._layout.font
        half = _width("00:00", size) / 2
        for x, label in self._ticks():
            if self._layout.left + half * 0.6 <= x <= self._layout.width - half:
                yield _text(x, y, label, size, "", "middle")

    def legend(self, y: float, notes: Iterable[str]) -> tuple[list[str], float]:
        """What occurs in the drawing, in words, then notes; and where the drawing ends."""
        size, x = self._layout.font, self._layout.left
        parts: list[str] = []
        for mark, words in [*self._legend_entries(), *(("", note) for note in notes)]:
            width = 18 + _width(words, size) + 16
            if x + width > self._layout.width and x > self._layout.left:
                x, y = self._layout.left, y + size + 8
            parts += [mark.format(x=x + 6, y=y), _text(x + 18, y, words, size, "", "start")]
            x += width
        return parts, y + size

    def _legend_entries(self) -> Iterator[tuple[str, str]]:
        r, at = self._layout.mark, 'transform="translate({x:.1f} {y:g})"'
        seen = [kind for kind in MARKS if any(cue.kind == kind for cue in self._summary.cues)]
        for kind in seen:
            yield f'<path class="cue" {at} d="{mark_path(kind, r)}"/>', kind
        if any(cue.woke for cue in self._summary.cues):
            yield f'<path class="woke" {at} d="{mark_path(seen[0], r)}"/>', "woke the sleeper"
        box = f'd="M-6 -6h12v12h-12z" {at}/>'
        if self._summary.inserted:
            fill = f'fill="url(#hatch-{self._layout.key})"'
            yield f'<path class="inserted" {fill} {box}', "wake inserted after a cue"
        if "none" in self._summary.stages:
            epochs = self._summary.stages.count("none")
            yield f'<path class="gap" {box}', f"no reading ({plural(epochs, 'epoch')})"
        if self._summary.start_assumed:
            yield "", "time of day assumed"

    def _cues(self, *, woke: bool) -> list[CueDone]:
        return [cue for cue in self._summary.cues if cue.woke is woke]

    def _ticks(self) -> Iterator[tuple[float, str]]:
        length_s = self._steps * EPOCH_S
        for t, label in clock_ticks(self._summary.start_clock_s, length_s, self._layout.ticks):
            yield self._x(t / EPOCH_S), label

    def _x(self, step: float) -> float:
        return self._layout.left + step * self._px

    def _cue_x(self, cue: CueDone) -> float:
        return self._x(cue.t / EPOCH_S)

    def _middle(self, name: str) -> float:
        lane = LANES.index(name) if name in LANES else len(LANES) - 0.5
        return self._top + (lane + 0.5) * self._layout.lane

    def _bar(self, name: str, start: int, epochs: int) -> str:
        """A rectangle, never too thin to be seen; a gap covers all lanes."""
        least = 2.0 if name in ("none", "inserted") else 0.8
        width = max(epochs * self._px, least)
        if name == "none":
            y, height = self._top, self.bottom - self._top
        else:
            height = self._layout.bar
            y = self._middle("awake" if name == "inserted" else name) - height / 2
        return f"M{self._x(start):.1f} {y:g}h{width:.1f}v{height:g}h-{width:.1f}z"

    def _hatch(self) -> str:
        return (
            f'<pattern id="hatch-{self._layout.key}" width="4" height="4" '
            'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<path class="hatch" d="M0 0V4"/></pattern>'
        )

    def _hatched(self, path: str) -> str:
        return f'<path class="inserted" fill="url(#hatch-{self._layout.key})" d="{path}"/>'

    def _label(self, y: float, words: str) -> str:
        return _text(self._layout.left - 7, y, words, self._layout.font, "ink", "end")


def _runs(summary: Summary) -> Iterator[tuple[str, int, int]]:
    """Name, first step and length of each run; inserted wake is a stage of its own here."""
    inserted = frozenset(summary.inserted)
    names = ("inserted" if k in inserted else name for k, name in enumerate(summary.stages))
    start = 0
    for name, group in groupby(names):
        epochs = sum(1 for _ in group)
        yield name, start, epochs
        start += epochs


def _differing(summary: Summary, recorded: bytes | None) -> list[int]:
    """Steps that show something else than the recording's letter of their epoch."""
    if recorded is None:
        return []
    inserted = frozenset(summary.inserted)
    played = [step for step in range(len(summary.stages)) if step not in inserted]
    letters = recorded.decode("ascii", "replace")[summary.night["first_epoch"] :]
    return [
        step
        for step, letter in zip(played, letters, strict=False)
        if letter != _LETTERS[summary.stages[step]]
    ]


def _text(x: float, y: float, words: str, size: float, style: str, anchor: str) -> str:
    """A word whose middle stands at y."""
    named = f' class="{style}"' if style else ""
    return (
        f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size:g}" '
        f'text-anchor="{anchor}"{named}>{escape(words)}</text>'
    )


def _width(words: str, size: float) -> float:
    """About how wide words come out; fonts differ."""
    return len(words) * size * 0.56


def _mark(kind: str, x: float, y: float, r: float) -> str:
    return f"M{x:.1f} {y:g}{mark_path(kind, r)}"


_LETTERS: Final = {
    "none": Stage.UNKNOWN.letter,
    **{name: Stage(name).letter for name in LANES},
}
