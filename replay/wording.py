"""How the figures of a replay are said to a person, on a screen and on a page alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from bedside.clock import DAY_S, NOON_S
from devices.types import EPOCH_S
from replay.summary import Excluded, Summary

STAGE_WORDS: Final = {
    "awake": "awake",
    "rem": "REM",
    "light": "light",
    "deep": "deep",
    "none": "no reading",
}
TICK_MIN: Final = (5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440)
"""Distances between the clock times of an axis, in minutes."""
_JOINERS: Final = "\u200c\u200d"


def clean(text: str) -> str:
    """Data from a recording or an agent without what controls a terminal or turns a line round."""
    return "".join(
        char if char.isprintable() or char in _JOINERS else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def time_of_day(since_noon_s: float) -> str:
    """Local clock time, HH:MM; the minute that has begun."""
    minutes = int((since_noon_s + NOON_S) % DAY_S // 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def duration(seconds: float) -> str:
    """Hours and minutes, rounded down to the minute; seconds below one minute."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(int(seconds // 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def span_in_words(start_clock_s: float, length_s: float, *, assumed: bool) -> str:
    """From when to when, how long, and whether the time of day is a guess."""
    guess = " (time assumed)" if assumed else ""
    end = time_of_day(start_clock_s + length_s)
    return f"{time_of_day(start_clock_s)}–{end}{guess}, {duration(length_s)}"


def span_of_night(summary: Summary) -> str:
    length_s = len(summary.stages) * EPOCH_S
    return span_in_words(summary.start_clock_s, length_s, assumed=summary.start_assumed)


def clock_ticks(start_clock_s: float, length_s: float, most: int) -> Iterator[tuple[float, str]]:
    """Round clock times within a session, at most about `most`: (session seconds, HH:MM)."""
    spaced = (minutes * 60 for minutes in TICK_MIN if length_s <= most * minutes * 60)
    step_s = next(spaced, TICK_MIN[-1] * 60)
    t = -start_clock_s % step_s
    while t <= length_s:
        yield t, time_of_day(start_clock_s + t)
        t += step_s


def steps_in_words(steps: Sequence[int], most: int = 6) -> str:
    """Step numbers in ascending order as ranges: `step 37`, `steps 3–9, 71 and 4 more`."""
    ranges = list(_ranges(steps))
    said = ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in ranges[:most])
    left = sum(b - a + 1 for a, b in ranges[most:])
    more = f" and {left} more" if left else ""
    return f"{'step' if len(steps) == 1 else 'steps'} {said}{more}"


def excluded_in_words(excluded: Sequence[Excluded]) -> str:
    """Why and where epochs cannot be compared: `no reading in the recording: steps 37, 71`."""
    return "; ".join(f"{clean(one.why)}: {steps_in_words(one.steps)}" for one in excluded)


def counted(counts: Mapping[str, int], words: Mapping[str, str] | None = None) -> list[str]:
    """What occurred at all, most first: `["cue_in_deep 8", "cue_while_awake 1"]`."""
    found = sorted(counts.items(), key=lambda item: -item[1])
    return [f"{(words or {}).get(name, name)} {count}" for name, count in found if count]


def number(value: float) -> str:
    """Three digits or more as a whole number with thousands apart."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _ranges(steps: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for step in steps:
        if first is None or last is None:
            first = step
        elif step != last + 1:
            yield first, last
            first = step
        last = step
    if first is not None and last is not None:
        yield first, last
