"""The first page of a run: every figure of the seed document that is not of one night."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from replay.controls.contenders import CONTROLS
from replay.report.courses import course
from replay.report.data import RunData
from replay.report.figures import environment
from replay.report.figures.canvas import figure
from replay.report.pages.costs import costs_section
from replay.report.pages.decisions import attempt_section, example_of
from replay.report.pages.measures import (
    against_scale,
    cues_by_stage,
    wakings_and_violations,
)
from replay.report.pages.provenance import made_of_section, verdict_sets_section
from replay.report.pages.score_tables import passes_table
from replay.report.pages.scores import claims_section
from replay.report.tables import Cell, data, table
from replay.scores.figures import AgentScore, Split
from replay.scores.score_words import (
    NOTHING,
    interval_in_words,
    percent,
    range_in_words,
    share_in_words,
    split_in_words,
)
from replay.wording import plural


def overview_sections(found: RunData) -> Iterator[str]:
    """Facts and claims, then figures by kind of seeds, then one task, the ring and the ledger."""
    yield _facts(found)
    yield claims_section(found.board)
    base = found.base_scale
    for split in dict.fromkeys(score.split for score in found.board.scores):
        scores = [s for s in found.board.scores if (s.split, s.scale) == (split, base)]
        seeds = ", ".join(map(str, found.board.seeds[split.value]))
        name = split_in_words(split)
        yield f"<h2>Agents on {escape(name)} ({escape(seeds)}), wake scale {base:g}</h2>"
        yield _in_short(found, scores, split)
        yield passes_table(scores)
        yield cues_by_stage(scores)
        yield wakings_and_violations(scores)
        yield against_scale(found.board, split)
        yield costs_section(found, scores, split)
    yield _example(found)
    yield _environment()
    yield verdict_sets_section(found)
    yield made_of_section(found)


def _facts(found: RunData) -> str:
    made, board = found.manifest, found.board
    tasks = len({(row.unit.night, row.unit.task) for row in found.rows})
    statuses = Counter(row.status.value for row in found.rows)
    broken = sum(n for name, n in statuses.items() if name not in ("completed", "truncated"))
    facts = (
        ("Agents", f"{len(board.agents)}", ""),
        ("Nights", f"{board.nights}", f"overlay: {made.get('overlay') or 'none'}"),
        ("Tasks", f"{tasks:,}", f"{plural(board.clusters, 'cluster')} of start points"),
        ("Attempts", f"{len(found.rows):,}", _broken(broken)),
        ("Wake scales", ", ".join(f"{scale:g}" for scale in board.scales), "of an assumed table"),
        ("Mode", str(made.get("mode", NOTHING)), f"dropout {made.get('dropout', 0):.0%}"),
    )
    cards = "".join(
        f"<div><dt>{name}</dt><dd>{data(value)}<small>{data(small)}</small></dd></div>"
        for name, value, small in facts
    )
    return f'<dl class="facts">{cards}</dl>{_privileged(board.agents)}'


def _broken(attempts: int) -> str:
    return f"{attempts} broken, open in every rate" if attempts else "none broken"


def _privileged(agents: Sequence[str]) -> str:
    """Controls that know what no agent may; nothing where none took part."""
    known = [name for name in agents if name in CONTROLS and CONTROLS[name].privileged]
    if not known:
        return ""
    names = data(", ".join(known))
    return f"<p><strong>Control with knowledge no agent may have:</strong> {names}. No score.</p>"


def _in_short(found: RunData, scores: Sequence[AgentScore], split: Split) -> str:
    """The seed's own table, with wakings as the range that they are."""
    ranges = {one.agent: one for one in found.board.waking_ranges if one.split is split}
    rows = []
    for score in scores:
        one = ranges.get(score.agent)
        span = range_in_words(one) if one and one.low is not None else ""
        violations = sum(score.events.violations.values())
        delivered = sum(score.events.violations_delivered.values())
        rows.append(
            (
                score.agent,
                Cell(share_in_words(score.cues.per_task)),
                Cell(percent(score.cues.shown_rem_share)),
                Cell(share_in_words(score.events.wakings_per_task), span),
                Cell(f"{violations}", f"({delivered})"),
                Cell(
                    share_in_words(score.dose.cues_per_rem_minute),
                    interval_in_words(score.dose.interval),
                ),
            )
        )
    return table(
        "In short. Cues in REM: sounds and whispers in shown REM, of all delivered cues. Rules "
        "broken: as asked, in brackets as delivered. Small: range over wake scales, 95 % interval.",
        (
            "agent",
            "cues a task",
            "cues in REM",
            "wakings a task",
            "rules broken",
            "cues a REM minute",
        ),
        rows,
    )


def _example(found: RunData) -> str:
    row = example_of(found.rows, found.base_scale)
    head = "<h2>One task, each decision and its reason</h2>"
    if row is None:
        return f"{head}<p>No attempt left a trace.</p>"
    trace, hidden = found.run.trace(row.unit.key), found.run.hidden(row.unit.key)
    link = f'<a href="tasks-{found.number(row.unit.night)}.html">any task and agent</a>'
    return (
        f"{head}<p>An example; {link} of this night can be chosen (with JavaScript).</p>"
        + attempt_section(row, trace, hidden, course(trace, hidden))
    )


def _environment() -> str:
    parts = table(
        "The parts, and what their own code says of them",
        ("part", "passes on", "what it promises"),
        (
            (part.place, Cell(environment.passed(part), style=""), environment.promise(part))
            for part in environment.RING
        ),
    )
    return (
        "<h2>The replay environment</h2>"
        + figure(
            environment.draw,
            said="A ring: "
            + ", ".join(
                f"{part.name} passes {environment.passed(part)}" for part in environment.RING
            ),
            caption="Made from the code of this version. The agent sees observations only. Dotted: "
            "hidden from the agent. Grey and dashed: the one assumed step, the chance that a cue "
            "wakes.",
        )
        + f"<details><summary>What each part promises</summary>{parts}</details>"
    )
