"""What changes with the wake scale, and what does not."""

from __future__ import annotations

from collections.abc import Iterator

from replay.report.tables import Cell, data, scored, table
from replay.scores.figures import Scoreboard, Split
from replay.scores.score_words import (
    NOTHING,
    cells_in_words,
    range_in_words,
    scales_in_words,
    share_in_words,
)
from replay.scores.wakings import lacking
from replay.wording import plural


def over_scales(board: Scoreboard, split: Split) -> Iterator[str]:
    if len(board.scales) < 2:
        return
    heads = ("agent", *(f"{scale:g}×" for scale in board.scales))
    rates = {(s.agent, s.scale): s for s in board.scores if s.split is split}
    yield table(
        "Passes on cue-feasible tasks by wake scale.",
        heads,
        (
            (
                agent,
                *(
                    scored(rates[agent, scale].passes) if (agent, scale) in rates else NOTHING
                    for scale in board.scales
                ),
            )
            for agent in board.agents
        ),
    )
    ranges = [one for one in board.waking_ranges if one.split is split]
    missing = lacking(board.scales)
    said = (
        f"No range: {scales_in_words(missing)} not played."
        if missing
        else "The chances are assumed, so the range over all is the result and no column is."
    )
    yield table(
        f"Wakings a task by wake scale. {said}",
        (*heads, *(() if missing else ("range",))),
        (
            (
                one.agent,
                *(Cell(share_in_words(one.by_scale.get(f"{s:g}"))) for s in board.scales),
                *(() if missing else (Cell(range_in_words(one)),)),
            )
            for one in ranges
        ),
    )
    for agreement in board.rank_agreement:
        if agreement.split is split and agreement.by_pair:
            said = ", ".join(
                f"{pair} {share_in_words(tau)}" for pair, tau in agreement.by_pair.items()
            )
            yield (
                f"<p>Order of {plural(agreement.agents, 'agent')} by wakings between two scales "
                f"(Kendall's tau; 1: the same order): {data(said)}. Lowest: "
                f"{share_in_words(agreement.lowest)}.</p>"
            )


def saturation_section(board: Scoreboard) -> str:
    full = [one for one in board.saturation if one.cells]
    if not full:
        return ""
    return "<h2>Where the wake table is full</h2>" + table(
        "Cells of the wake table that a scale lifts to certainty: there a scale cannot be read as "
        "a multiple.",
        ("scale", "cells", "which"),
        (
            (f"{one.scale:g}×", Cell(f"{len(one.cells)} of 9"), cells_in_words(one.cells))
            for one in full
        ),
    )
