"""The scoreboard in a terminal: tables of at most 80 columns, each under what it is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from replay.scores.figures import (
    AgentScore,
    PassK,
    RankAgreement,
    Scoreboard,
    Split,
)
from replay.scores.pairs_text import print_comparisons
from replay.scores.paper import Paper
from replay.scores.score_words import (
    between,
    bound_in_words,
    count_in_words,
    dollars,
    interval_in_words,
    percent,
    range_in_words,
    rate_in_words,
    rules_in_words,
    seconds,
    share_in_words,
    split_in_words,
    stages_in_words,
)
from replay.scores.scoreboard import nearest_to_one
from replay.scores.wakings import lacking
from replay.wording import counted, plural

if TYPE_CHECKING:
    from rich.console import Console

MOST_K: Final = 5
"""Columns of pass^k: the first four and the last."""


def print_scoreboard(board: Scoreboard, *, console: Console | None = None) -> None:
    """Everything that may be concluded; first at the wake scale nearest to 1, then over scales."""
    paper = Paper(console)
    scale = nearest_to_one(board.scales)
    paper.words(_title(board), style="bold")
    for split in dict.fromkeys(score.split for score in board.scores):
        scores = [s for s in board.scores if (s.split, s.scale) == (split, scale)]
        under = f"wake scale {scale:g}, {split_in_words(split)} {_seeds(board, split)}"
        _passes(paper, scores, under)
        _pass_k(paper, scores)
        _dose(paper, scores)
        _cues(paper, scores)
        _events(paper, scores)
        _wakings(paper, board, split)
        _over_scales(paper, board, split)
        _compared(paper, board, split, scale)
        _nights(paper, board, split)
        _costs(paper, scores)
        _went_wrong(paper, scores)
    paper.blank()
    for note in board.notes:
        paper.words(note)
    for claim in board.claims:
        paper.words(claim, style="dim")


def _title(board: Scoreboard) -> str:
    return " · ".join(
        (
            plural(len(board.agents), "agent"),
            plural(board.nights, "night"),
            plural(board.clusters, "cluster") + " of start points",
            f"wake scales {' '.join(f'{scale:g}' for scale in board.scales)}",
            f"95 % intervals from {board.resamples:,} resamples",
        )
    )


def _seeds(board: Scoreboard, split: Split) -> str:
    return " ".join(map(str, board.seeds[split.value]))


def _passes(paper: Paper, scores: Sequence[AgentScore], under: str) -> None:
    flips = {score.passes.resolution for score in scores if score.passes}
    flip = f"; one flipped attempt is {max(flips):.3f}" if flips else ""
    paper.table(
        f"Passes on cue-feasible tasks: {under}{flip}",
        ("agent", "passed", "rate", "95 %", "restraint tasks"),
        (
            (
                score.agent,
                count_in_words(score.passes),
                rate_in_words(score.passes),
                interval_in_words(score.passes.interval if score.passes else None),
                count_in_words(score.restraint),
            )
            for score in scores
        ),
    )


def _pass_k(paper: Paper, scores: Sequence[AgentScore]) -> None:
    ks = [one.k for score in scores for one in score.pass_k]
    if not ks:
        return
    columns = _some(range(1, max(ks) + 1))
    starts = max(score.start_points for score in scores)
    paper.table(
        f"pass^k: chance that k seeds of a start point all pass, over {starts} start points",
        ("agent", *(f"k = {k}" for k in columns)),
        (
            (score.agent, *(_k_in_words(one) for one in score.pass_k if one.k in columns))
            for score in scores
        ),
    )


def _some(ks: Sequence[int]) -> list[int]:
    return list(ks) if len(ks) <= MOST_K else [*ks[: MOST_K - 1], ks[-1]]


def _k_in_words(one: PassK) -> str:
    return f"{between(one.lower, one.upper)}\n{interval_in_words(one.interval)}"


def _dose(paper: Paper, scores: Sequence[AgentScore]) -> None:
    paper.table(
        "Dose on cue-feasible tasks: sounds and whispers in shown REM",
        ("agent", "a REM minute", "95 %", "REM periods cued", "first cue after"),
        (
            (
                score.agent,
                share_in_words(score.dose.cues_per_rem_minute),
                interval_in_words(score.dose.interval),
                percent(score.dose.periods_cued_share),
                seconds(score.dose.first_cue_median_s),
            )
            for score in scores
        ),
    )


def _cues(paper: Paper, scores: Sequence[AgentScore]) -> None:
    paper.table(
        "Delivered cues; by stage: REM, light, deep, awake, without reading",
        (
            "agent",
            "a\ntask",
            "\nasked",
            "re-\nworded",
            "shown\nREM",
            "by shown\nstage",
            "true\nREM",
            "by true\nstage",
        ),
        (
            (
                score.agent,
                share_in_words(score.cues.per_task),
                str(score.cues.asked),
                str(score.cues.rewritten),
                percent(score.cues.shown_rem_share),
                stages_in_words(score.cues.shown),
                percent(score.cues.true_rem_share),
                stages_in_words(score.cues.true),
            )
            for score in scores
        ),
    )


def _events(paper: Paper, scores: Sequence[AgentScore]) -> None:
    paper.table(
        "Attempts with a waking or a violation, and the most their share may be (95 %)",
        ("agent", "a waking", "a violation", "rules broken (delivered)"),
        (
            (
                score.agent,
                bound_in_words(score.events.waking_bound),
                bound_in_words(score.events.violation_bound),
                rules_in_words(score.events.violations, score.events.violations_delivered),
            )
            for score in scores
        ),
    )


def _wakings(paper: Paper, board: Scoreboard, split: Split) -> None:
    scales = [f"{scale:g}" for scale in board.scales]
    ranged = not lacking(board.scales)
    paper.table(
        f"Wakings a task by wake scale{', and as a range over all' if ranged else ''}",
        ("agent", *(f"× {scale}" for scale in scales), *(("range",) if ranged else ())),
        (
            (
                one.agent,
                *(share_in_words(one.by_scale.get(scale)) for scale in scales),
                *((range_in_words(one),) if ranged else ()),
            )
            for one in board.waking_ranges
            if one.split is split
        ),
    )
    for one in board.rank_agreement:
        if one.split is split and one.by_pair:
            paper.words(_agreement(one))


def _over_scales(paper: Paper, board: Scoreboard, split: Split) -> None:
    if len(board.scales) < 2:
        return
    rates = {(s.agent, s.scale): s.passes for s in board.scores if s.split is split}
    paper.table(
        "Pass rate by wake scale",
        ("agent", *(f"× {scale:g}" for scale in board.scales)),
        (
            (agent, *(rate_in_words(rates.get((agent, scale))) for scale in board.scales))
            for agent in board.agents
        ),
    )


def _agreement(one: RankAgreement) -> str:
    taus = ", ".join(f"{pair} {share_in_words(tau)}" for pair, tau in one.by_pair.items())
    head = f"Order of {one.agents} agents by wakings between two scales (Kendall's tau): {taus}"
    if one.lowest is None:
        return f"{head}; nothing to rank."
    same = "the same at every scale" if one.lowest > 1 - 1e-9 else f"lowest {one.lowest:.2f}"
    return f"{head}; {same}."


def _compared(paper: Paper, board: Scoreboard, split: Split, scale: float) -> None:
    found = [one for one in board.comparisons if (one.split, one.scale) == (split, scale)]
    print_comparisons(paper, found)


def _nights(paper: Paper, board: Scoreboard, split: Split) -> None:
    found = [one for one in board.differ_most if one.split is split]
    if not found:
        return
    paper.table(
        "Nights where cues in shown and in true REM differ most",
        ("agent", "night", "cues", "shown REM", "true REM"),
        (
            (
                one.agent,
                one.night,
                str(one.delivered),
                percent(one.shown_rem_share),
                percent(one.true_rem_share),
            )
            for one in found
        ),
        names=2,
    )


def _costs(paper: Paper, scores: Sequence[AgentScore]) -> None:
    paid = [score for score in scores if score.cost.calls or score.cost.failed_calls]
    if not paid:
        return
    paper.table(
        "Calls and cost, broken attempts included",
        ("agent", "calls", "client", "cached", "failed", "tokens", "paid", "nominal", "at limit"),
        (
            (
                score.agent,
                f"{score.cost.calls:,}",
                f"{score.cost.client_calls:,}",
                f"{score.cost.cached:,}",
                f"{score.cost.failed_calls:,}",
                f"{score.cost.tokens_in + score.cost.tokens_out:,}",
                dollars(score.cost.cost_paid),
                dollars(score.cost.cost_nominal),
                percent(score.cost.limit_wait_share),
            )
            for score in paid
        ),
    )


def _went_wrong(paper: Paper, scores: Sequence[AgentScore]) -> None:
    """Attempts that are no score, decisions that were none, cues that were not played."""
    lines = []
    for score in scores:
        broken = {name: n for name, n in score.statuses.items() if name != "completed"}
        bad = {name: n for name, n in score.decisions.items() if name != "ok"}
        kept = {"refused by the gate": score.cues.refused}
        for what, counts in (("attempts", broken), ("decisions", bad), ("cues", kept)):
            if any(counts.values()):
                lines.append(f"{score.agent}: {what} {', '.join(counted(counts))}")
    if lines:
        paper.blank()
    for line in lines:
        paper.words(line)
