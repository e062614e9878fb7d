"""Calls and cost of agents that ask the outside world."""

from __future__ import annotations

from collections.abc import Sequence

from replay.report.data import RunData
from replay.report.figures.bars import Bar, Bars, Column
from replay.report.figures.canvas import figure
from replay.report.tables import Cell, table
from replay.scores.figures import AgentScore, Split
from replay.scores.score_words import dollars, percent


def costs_section(found: RunData, scores: Sequence[AgentScore], split: Split) -> str:
    paying = [score for score in scores if score.cost.calls or score.cost.failed_calls]
    head = "<h3>Calls and cost</h3>"
    if not paying:
        return f"{head}<p>No agent asked the outside world: 0 calls, $0.</p>"
    figures = (_cost_figure(found, score, split) for score in paying)
    return head + "".join(figures) + _cost_table(scores)


def _cost_figure(found: RunData, score: AgentScore, split: Split) -> str:
    """Calls and cost a task of one agent, by start point; by night where there are many."""
    several = len(found.nights) > 1
    sums: dict[str, list[tuple[int, float | None]]] = {}
    for row in found.rows:
        unit = row.unit
        held = Split.HELD_OUT if unit.held_out else Split.DEVELOPMENT
        if (unit.agent, unit.scale, held) == (score.agent, score.scale, split):
            name = unit.night if several else unit.task.split("-t")[0].replace("-", " ")
            sums.setdefault(name, []).append((row.calls, row.cost_nominal))
    rows = []
    for name, spent in sums.items():
        calls = sum(calls for calls, _ in spent) / len(spent)
        known = [cost for _, cost in spent if cost is not None]
        cost = sum(known) / len(spent) if len(known) == len(spent) else None
        rows.append((name, (Bar(calls, f"{calls:.1f}"), Bar(cost, dollars(cost)))))
    columns = (
        Column("calls a task", max(bars[0].value or 0.0 for _, bars in rows)),
        Column("nominal cost a task", max(bars[1].value or 0.0 for _, bars in rows)),
    )
    return figure(
        Bars(columns, rows).draw,
        said=f"{score.agent}: {score.cost.calls} calls, nominal cost "
        f"{dollars(score.cost.cost_nominal)}",
        caption=f"{score.agent}: calls and nominal cost a task, mean over seeds. Steps that waited "
        f"because no call was left: {percent(score.cost.limit_wait_share)}.",
    )


def _cost_table(scores: Sequence[AgentScore]) -> str:
    return table(
        "Calls and cost, broken attempts included. Paid: what was charged. Nominal: as if nothing "
        "had come from the cache. An unknown price is unknown, never nothing.",
        (
            "agent",
            "calls",
            "client calls",
            "cached",
            "failed",
            "tokens in",
            "out",
            "paid",
            "nominal",
        ),
        (
            (
                score.agent,
                Cell(f"{score.cost.calls:,}"),
                Cell(f"{score.cost.client_calls:,}"),
                Cell(f"{score.cost.cached:,}"),
                Cell(f"{score.cost.failed_calls:,}"),
                Cell(f"{score.cost.tokens_in:,}"),
                Cell(f"{score.cost.tokens_out:,}"),
                Cell(dollars(score.cost.cost_paid)),
                Cell(dollars(score.cost.cost_nominal)),
            )
            for score in scores
        ),
    )
