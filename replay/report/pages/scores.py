"""Everything that may be concluded from a run, and how surely: the scoreboard as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from replay.report.pages.scales import over_scales, saturation_section
from replay.report.pages.score_tables import (
    comparisons_table,
    cues_table,
    dose_table,
    events_table,
    pass_k_table,
    passes_table,
)
from replay.report.tables import Cell, data, table
from replay.scores.figures import AgentScore, Part, Scoreboard, Split
from replay.scores.score_words import (
    NOTHING,
    percent,
    split_in_words,
)
from replay.scores.scoreboard import nearest_to_one
from replay.wording import counted, plural


def score_sections(board: Scoreboard) -> Iterator[str]:
    """Three claims first, then each kind of seeds at the scale nearest to 1, then over scales."""
    yield claims_section(board)
    base = nearest_to_one(board.scales)
    for split in dict.fromkeys(score.split for score in board.scores):
        seeds = ", ".join(map(str, board.seeds[split.value]))
        name = split_in_words(split).capitalize()
        yield f"<h2>{escape(name)} ({escape(seeds)}), wake scale {base:g}</h2>"
        yield from _at_scale(board, split, base)
        yield from over_scales(board, split)
        others = [scale for scale in board.scales if scale != base]
        yield from (_folded(board, split, scale) for scale in others)
        yield from _nights(board, split)
    yield saturation_section(board)


def claims_section(board: Scoreboard) -> str:
    """Three claims that are often taken for one, and what must be said beside the figures."""
    claims = "".join(f"<li>{_with_code(claim)}</li>" for claim in board.claims)
    notes = "".join(f"<li>{data(note)}</li>" for note in board.notes)
    return (
        f"<h2>What this shows and does not show</h2><ol>{claims}</ol>"
        + (f"<ul>{notes}</ul>" if notes else "")
        + f"<p class='soft'>{plural(board.clusters, 'cluster')} of start points whose windows "
        f"overlap; 95 % intervals from {board.resamples:,} resamples of clusters. "
        "A share in brackets is such an interval.</p>"
    )


def _with_code(words: str) -> str:
    """What stands between backticks is a command."""
    parts = words.split("`")
    return "".join(
        f"<code>{data(part)}</code>" if number % 2 else data(part)
        for number, part in enumerate(parts)
    )


def _at_scale(board: Scoreboard, split: Split, scale: float) -> Iterator[str]:
    scores = [s for s in board.scores if (s.split, s.scale) == (split, scale)]
    yield passes_table(scores)
    yield pass_k_table(scores)
    yield dose_table(scores)
    yield cues_table(scores)
    yield events_table(scores)
    pairs = [c for c in board.comparisons if (c.split, c.scale) == (split, scale)]
    yield comparisons_table(pairs)
    yield _parts("start kind", [p for p in board.kinds if (p.split, p.scale) == (split, scale)])
    parts = [p for p in board.conditions if (p.split, p.scale) == (split, scale)]
    if len({part.name for part in parts}) > 1:
        yield _parts("condition", parts)
    yield _went_wrong(scores)


def _parts(what: str, parts: Sequence[Part]) -> str:
    names = list(dict.fromkeys(part.name for part in parts))
    found = {(part.agent, part.name): part for part in parts}
    if not found:
        return ""
    return table(
        f"Passes of cue-feasible attempts by {what}; open ones are neither passed nor failed.",
        ("agent", *names),
        (
            (agent, *(Cell(_part(found.get((agent, name)))) for name in names))
            for agent in dict.fromkeys(part.agent for part in parts)
        ),
    )


def _part(part: Part | None) -> str:
    if part is None:
        return NOTHING
    unsure = f", {part.open} open" if part.open else ""
    return f"{part.passed} of {part.planned}{unsure}"


def _went_wrong(scores: Sequence[AgentScore]) -> str:
    """Attempts that are no score and decisions that were none."""
    return table(
        "How the attempts ran. What an attempt is worth is a verdict, and another matter.",
        ("agent", "attempts by status", "decisions", "mean latency", "waits at the call limit"),
        (
            (
                score.agent,
                ", ".join(counted(score.statuses)) or NOTHING,
                ", ".join(counted(score.decisions)) or NOTHING,
                Cell(seconds_or_nothing(score.cost.latency_mean_s)),
                Cell(percent(score.cost.limit_wait_share), f"{score.cost.limit_waits} steps"),
            )
            for score in scores
        ),
    )


def seconds_or_nothing(value: float | None) -> str:
    """With a decimal: decisions take seconds."""
    return NOTHING if value is None else f"{value:.1f} s"


def _folded(board: Scoreboard, split: Split, scale: float) -> str:
    inner = "".join(_at_scale(board, split, scale))
    name = split_in_words(split)
    return (
        f"<details><summary>All of it at wake scale {scale:g} ({name})</summary>{inner}</details>"
    )


def _nights(board: Scoreboard, split: Split) -> Iterator[str]:
    found = [one for one in board.differ_most if one.split is split]
    if not found:
        return
    yield table(
        "Nights on which the shares of cues in shown and in true REM differ most, by agent.",
        ("agent", "night", "cues", "in shown REM", "in true REM", "wakings"),
        (
            (
                one.agent,
                one.night,
                Cell(f"{one.delivered}"),
                Cell(percent(one.shown_rem_share), f"{one.rem_cues}"),
                Cell(percent(one.true_rem_share), f"{one.true_rem_cues}"),
                Cell(f"{one.wakings}"),
            )
            for one in found
        ),
    )
