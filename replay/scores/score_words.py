"""How figures of a scoreboard are said, on a screen and on a page alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from replay.scores.figures import Bound, Difference, Interval, Rate, Split, WakingRange

NOTHING = "-"
"""Said of what there is none of."""


def split_in_words(split: Split) -> str:
    """`development seeds` or `held-out seeds`."""
    return f"{split.value.replace('_', '-')} seeds"


def share_in_words(value: float | None) -> str:
    """Two decimals; None as a dash."""
    return NOTHING if value is None else f"{value:.2f}"


def percent(value: float | None) -> str:
    """Whole percent."""
    return NOTHING if value is None else f"{100 * value:.0f} %"


def between(lower: float, upper: float) -> str:
    """One figure, or two bounds that differ: `0.40–0.53`."""
    low, high = share_in_words(lower), share_in_words(upper)
    return low if low == high else f"{low}–{high}"


def rate_in_words(rate: Rate | None) -> str:
    """One share, or two bounds while attempts are open."""
    return NOTHING if rate is None else between(rate.lower, rate.upper)


def interval_in_words(interval: Interval | None) -> str:
    """`[0.31–0.74]`."""
    return NOTHING if interval is None else f"[{interval.low:.2f}–{interval.high:.2f}]"


def range_in_words(found: WakingRange) -> str:
    """`0.31–0.74`; a dash where a scale is not known."""
    return NOTHING if found.low is None or found.high is None else between(found.low, found.high)


def scales_in_words(scales: Sequence[float]) -> str:
    """`wake scale 2`, `wake scales 0.5, 2, 4`."""
    return f"wake scale{'s' * (len(scales) != 1)} {', '.join(f'{scale:g}' for scale in scales)}"


def cells_in_words(cells: Iterable[str]) -> str:
    """Cells of the wake table: `light high, REM high`."""
    return ", ".join(cell.replace("rem ", "REM ") for cell in cells)


def count_in_words(rate: Rate | None) -> str:
    """`45 of 75`, and how many of them are open."""
    if rate is None:
        return NOTHING
    unsure = f", {rate.open} open" if rate.open else ""
    return f"{rate.passed} of {rate.planned}{unsure}"


def p_in_words(p: float | None) -> str:
    """Three decimals; `<0.001` below."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def bound_in_words(bound: Bound) -> str:
    """`0 of 75 (≤ 3.9 %)`: attempts with an event, and the most their share may still be."""
    if bound.upper is None:
        return NOTHING
    digits = 0 if bound.upper >= 0.1 else 1
    unsure = f", {bound.open} open" if bound.open else ""
    return f"{bound.events} of {bound.attempts}{unsure} (≤ {100 * bound.upper:.{digits}f} %)"


def difference_in_words(found: Difference) -> str:
    """`+0.20`; on a line of its own what it lies between while attempts are open."""
    if found.mean is None or found.lower is None or found.upper is None:
        return NOTHING
    unsure = abs(found.upper - found.lower) > 1e-9
    bounds = f"\n{found.lower:+.2f}/{found.upper:+.2f}" if unsure else ""
    return f"{found.mean:+.2f}{bounds}"


def stages_in_words(counts: Mapping[str, int]) -> str:
    """`41 12 0 3 0`: REM, light, deep, awake, no reading."""
    return " ".join(str(counts.get(name, 0)) for name in ("rem", "light", "deep", "awake", "none"))


def rules_in_words(asked: Mapping[str, int], delivered: Mapping[str, int]) -> str:
    """A line a rule, asked and delivered: `cue_in_deep 8 (3)`; a dash where none was broken."""
    lines = (
        f"{name} {count} ({delivered.get(name, 0)})"
        for name, count in sorted(asked.items(), key=lambda item: -item[1])
        if count
    )
    return "\n".join(lines) or NOTHING


def seconds(value: float | None) -> str:
    """Whole seconds, from 100 s on minutes."""
    if value is None:
        return NOTHING
    return f"{value:.0f} s" if value < 100 else f"{value / 60:.1f} min"


def dollars(value: float | None) -> str:
    """Four significant decimals below a cent; an unknown price is no 0."""
    if value is None:
        return "unknown"
    return f"${value:.2f}" if value >= 0.01 or value == 0 else f"${value:.4f}"
