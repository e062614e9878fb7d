"""Everything that may be concluded from a run, and how surely: the scoreboard as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape

from replay.report.tables import Cell, data, scored, table
from replay.scores.figures import AgentScore, Comparison, Difference, Part, Scoreboard, Split
from replay.scores.score_words import (
    NOTHING,
    between,
    bound_in_words,
    difference_in_words,
    dollars,
    interval_in_words,
    p_in_words,
    percent,
    rules_in_words,
    seconds,
    share_in_words,
    split_in_words,
    stages_in_words,
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
        yield from _over_scales(board, split)
        others = [scale for scale in board.scales if scale != base]
        yield from (_folded(board, split, scale) for scale in others)
        yield from _nights(board, split)
    yield _saturation(board)


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
    yield _pass_k(scores)
    yield _dose(scores)
    yield _cues(scores)
    yield _events(scores)
    yield _comparisons([c for c in board.comparisons if (c.split, c.scale) == (split, scale)])
    yield _parts("start kind", [p for p in board.kinds if (p.split, p.scale) == (split, scale)])
    parts = [p for p in board.conditions if (p.split, p.scale) == (split, scale)]
    if len({part.name for part in parts}) > 1:
        yield _parts("condition", parts)
    yield _went_wrong(scores)


def passes_table(scores: Sequence[AgentScore]) -> str:
    flips = {score.passes.resolution for score in scores if score.passes}
    flip = f" One flipped attempt changes a rate by {max(flips):.3f}." if flips else ""
    return table(
        "Passes: at least one cue in REM, no waking, no violation, on cue-feasible tasks. Restraint "
        f"tasks, which cannot be passed by a cue, are apart and never in pass^k.{flip}",
        ("agent", "attempts", "scored", "passes", "restraint tasks"),
        (
            (
                score.agent,
                Cell(f"{score.attempts}"),
                Cell(f"{score.scored}"),
                scored(score.passes),
                scored(score.restraint),
            )
            for score in scores
        ),
    )


def _pass_k(scores: Sequence[AgentScore]) -> str:
    ks = sorted({one.k for score in scores for one in score.pass_k})
    if not ks:
        return ""
    starts = max(score.start_points for score in scores)
    return table(
        f"pass^k: the chance that k seeds of a start point all pass, over {starts} start points "
        "every planned seed of which is cue-feasible.",
        ("agent", *(f"k = {k}" for k in ks)),
        (
            (
                score.agent,
                *(
                    Cell(between(one.lower, one.upper), interval_in_words(one.interval))
                    for one in score.pass_k
                ),
            )
            for score in scores
            if score.pass_k
        ),
    )


def _dose(scores: Sequence[AgentScore]) -> str:
    return table(
        "Dose on cue-feasible tasks: sounds and whispers in shown REM. One low cue and then silence "
        "passes nearly always, so a pass says little without it.",
        ("agent", "cues a REM minute", "REM minutes", "REM periods cued", "first cue after (median)"),
        (
            (
                score.agent,
                Cell(
                    share_in_words(score.dose.cues_per_rem_minute),
                    interval_in_words(score.dose.interval),
                ),
                Cell(f"{score.dose.rem_minutes:,.0f}"),
                Cell(
                    percent(score.dose.periods_cued_share),
                    f"{score.dose.rem_periods_cued} of {score.dose.rem_periods}",
                ),
                Cell(
                    seconds(score.dose.first_cue_median_s),
                    f"in {plural(score.dose.first_cues, 'attempt')}",
                ),
            )
            for score in scores
        ),
    )


def _cues(scores: Sequence[AgentScore]) -> str:
    by_stage = "by stage: REM, light, deep, awake, no reading"
    return table(
        f"Cues of scored attempts, {by_stage}. The true stage is hidden from the agent.",
        ("agent", "asked", "delivered", "a task", "refused", "reworded", "in shown REM", "in true REM"),
        (
            (
                score.agent,
                Cell(f"{score.cues.asked}"),
                Cell(f"{score.cues.delivered}"),
                Cell(share_in_words(score.cues.per_task)),
                Cell(f"{score.cues.refused}"),
                Cell(f"{score.cues.rewritten}"),
                Cell(percent(score.cues.shown_rem_share), stages_in_words(score.cues.shown)),
                Cell(percent(score.cues.true_rem_share), stages_in_words(score.cues.true)),
            )
            for score in scores
        ),
    )


def _events(scores: Sequence[AgentScore]) -> str:
    return table(
        "Attempts with at least one event, and how large their true share may still be (95 %): "
        "none seen is not none there. Rules as asked, in brackets as delivered.",
        ("agent", "wakings a task", "with a waking", "with a violation", "rules broken", "suspected"),
        (
            (
                score.agent,
                Cell(
                    share_in_words(score.events.wakings_per_task),
                    f"{score.events.wakings} {interval_in_words(score.events.wakings_interval)}",
                ),
                Cell(bound_in_words(score.events.waking_bound)),
                Cell(bound_in_words(score.events.violation_bound)),
                rules_in_words(
                    score.events.violations, score.events.violations_delivered
                ).replace("\n", ", "),
                Cell(f"{score.events.suspected_wakings}"),
            )
            for score in scores
        ),
    )


def _comparisons(found: Sequence[Comparison]) -> str:
    if not found:
        return ""
    many = f", Holm over {plural(len(found), 'comparison')}" if len(found) > 1 else ""
    measures: tuple[tuple[str, Callable[[Comparison], Difference]], ...] = (
        ("pass rate", lambda one: one.passes),
        ("wakings a task", lambda one: one.wakings),
        ("cues a REM minute", lambda one: one.dose),
    )
    rows = [
        _difference_row(one, title, measure(one)) for title, measure in measures for one in found
    ]
    return table(
        "Pairs of agents on the same task, seed and scale: first minus second. p: exchanged within "
        f"each pair{many}. p of clusters: whole clusters exchanged, which asks about other sleep.",
        ("pair", "measure", "conclusion", "differs by", "p", "p (Holm)", "p of clusters", "McNemar"),
        rows,
    )


def _difference_row(one: Comparison, title: str, found: Difference) -> Sequence[Cell | str]:
    """The exact test of discordant pairs goes with passes alone."""
    exact = found is one.passes
    alone = f"{one.only_first} to {one.only_second} alone" if exact else ""
    flip = f"; a flip is {one.resolution:.3f}" if exact and one.resolution else ""
    return (
        f"{one.first}, {one.second}",
        title,
        found.word.value,
        Cell(
            difference_in_words(found).replace("\n", " "), f"{plural(found.pairs, 'pair')}{flip}"
        ),
        Cell(p_in_words(found.p_permutation)),
        Cell(p_in_words(found.p_holm)),
        Cell(p_in_words(found.p_clusters)),
        Cell(p_in_words(one.p_mcnemar) if exact else "", alone),
    )


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


def cost_table(scores: Sequence[AgentScore]) -> str:
    return table(
        "Calls and cost, broken attempts included. Paid: what was charged. Nominal: as if nothing "
        "had come from the cache. An unknown price is unknown, never nothing.",
        ("agent", "calls", "client calls", "cached", "failed", "tokens in", "out", "paid", "nominal"),
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


def seconds_or_nothing(value: float | None) -> str:
    """With a decimal: decisions take seconds."""
    return NOTHING if value is None else f"{value:.1f} s"


def _over_scales(board: Scoreboard, split: Split) -> Iterator[str]:
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
    yield table(
        "Wakings a task by wake scale, and as a range over all. The chances are assumed, so the "
        "range is the result and no single column is.",
        (*heads, "range"),
        (
            (
                one.agent,
                *(Cell(share_in_words(one.by_scale.get(f"{s:g}"))) for s in board.scales),
                Cell(_range(one.low, one.high)),
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


def _range(low: float | None, high: float | None) -> str:
    return NOTHING if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _folded(board: Scoreboard, split: Split, scale: float) -> str:
    inner = "".join(_at_scale(board, split, scale))
    name = split_in_words(split)
    return f"<details><summary>All of it at wake scale {scale:g} ({name})</summary>{inner}</details>"


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


def _saturation(board: Scoreboard) -> str:
    full = [one for one in board.saturation if one.cells]
    if not full:
        return ""
    return "<h2>Where the wake table is full</h2>" + table(
        "Cells of the wake table that a scale lifts to certainty: there a scale cannot be read as "
        "a multiple.",
        ("scale", "cells", "which"),
        (
            (f"{one.scale:g}×", Cell(f"{len(one.cells)} of 9"), ", ".join(one.cells))
            for one in full
        ),
    )
