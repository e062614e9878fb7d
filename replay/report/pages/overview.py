"""The first page of a run: every figure of the seed document that is not of one night."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from replay.report.courses import course
from replay.report.data import RunData, starts
from replay.report.figures import environment
from replay.report.figures.bars import Bar, Bars, Column
from replay.report.figures.canvas import figure
from replay.report.figures.scales import LINES, Line, Point, Scales
from replay.report.pages.decisions import attempt_section, example_of
from replay.report.pages.scores import claims_section, cost_table, passes_table
from replay.report.tables import Cell, data, table
from replay.scores.figures import AgentScore, Split
from replay.scores.score_words import (
    NOTHING,
    dollars,
    interval_in_words,
    percent,
    share_in_words,
    split_in_words,
)
from replay.scores.verdicts import Value
from replay.summary import STAGE_NAMES
from replay.wording import STAGE_WORDS, plural


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
        yield against_scale(found, split)
        yield _costs(found, scores, split)
    yield _example(found)
    yield _environment()
    yield _verdict_sets(found)
    yield _made_of(found)


def cues_by_stage(scores: Sequence[AgentScore]) -> str:
    """Every delivered cue by the stage shown at that moment."""
    columns = [Column(STAGE_WORDS[name], 1.0) for name in STAGE_NAMES]
    rows = [(_cued(score), _stage_bars(score)) for score in scores]
    return "<h3>Cues by stage</h3>" + figure(
        Bars(columns, rows).draw,
        said="; ".join(_said_by_stage(score) for score in scores),
        caption="Every delivered cue of scored attempts by the stage shown at delivery, in percent "
        "of the agent’s cues.",
    )


def wakings_and_violations(scores: Sequence[AgentScore]) -> str:
    """Both a task; a violation is a rule that the asked cue broke."""
    rows = []
    for score in scores:
        events, interval = score.events, score.events.wakings_interval
        asked, done = (
            sum(counts.values()) / score.scored if score.scored else None
            for counts in (events.violations, events.violations_delivered)
        )
        low, high = (interval.low, interval.high) if interval else (None, None)
        rows.append(
            (
                score.agent,
                (
                    Bar(events.wakings_per_task, _a_task(events.wakings_per_task), "amount", low, high),
                    Bar(asked, _a_task(asked), "bad"),
                    Bar(done, _a_task(done), "bad"),
                ),
            )
        )
    wakings = max((bar.high or bar.value or 0.0 for _, bars in rows for bar in bars[:1]), default=0)
    broken = max((bar.value or 0.0 for _, bars in rows for bar in bars[1:]), default=0)
    columns = (
        Column("wakings a task", wakings),
        Column("violations a task, asked", broken),
        Column("violations a task, delivered", broken),
    )
    return "<h3>Wakings and violations a task</h3>" + figure(
        Bars(columns, rows).draw,
        said="; ".join(
            f"{name}: wakings {bars[0].words}, violations asked {bars[1].words}, delivered "
            f"{bars[2].words}"
            for name, bars in rows
        ),
        caption="Bars with a line: 95 % interval over clusters of start points. Wakings rest on "
        "assumed chances, violations do not.",
    )


def against_scale(found: RunData, split: Split) -> str:
    """Wakings as the assumed wake chances are scaled; several panels where agents are many."""
    board = found.board
    lines = [
        Line(
            agent,
            [
                _point(score)
                for score in board.scores
                if (score.agent, score.split) == (agent, split)
            ],
        )
        for agent in board.agents
    ]
    points = [point for line in lines for point in line.points]
    most = max((point.high or point.value or 0.0 for point in points), default=0.0)
    panels = [lines[k : k + LINES] for k in range(0, len(lines), LINES)]
    said = "; ".join(f"{line.name}: {_along(line)}" for line in lines)
    drawn = (
        figure(
            Scales(board.scales, panel, most).draw,
            said=said if number == 1 else f"further agents, panel {number}",
            caption="Wakings a task with 95 % intervals. Marks stand a little apart so that equal "
            "values can be seen; only their scale counts.",
        )
        for number, panel in enumerate(panels, 1)
    )
    return "<h3>Wakings against the wake scale</h3>" + "".join(drawn)


def _point(score: AgentScore) -> Point:
    interval = score.events.wakings_interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Point(score.scale, score.events.wakings_per_task, low, high)


def _along(line: Line) -> str:
    return ", ".join(f"{point.scale:g} times {_a_task(point.value)}" for point in line.points)


def _a_task(value: float | None) -> str:
    return share_in_words(value)


def _cued(score: AgentScore) -> str:
    return f"{score.agent} ({score.cues.delivered})"


def _stage_bars(score: AgentScore) -> list[Bar]:
    cues = score.cues.delivered
    shares = [score.cues.shown.get(name, 0) / cues if cues else None for name in STAGE_NAMES]
    return [
        Bar(share, percent(share), name) for name, share in zip(STAGE_NAMES, shares, strict=True)
    ]


def _said_by_stage(score: AgentScore) -> str:
    counts = ", ".join(
        f"{score.cues.shown.get(name, 0)} {STAGE_WORDS[name]}"
        for name in STAGE_NAMES
        if score.cues.shown.get(name, 0)
    )
    return f"{score.agent}: {counts or 'no cue'}"


def _facts(found: RunData) -> str:
    made, board = found.manifest, found.board
    tasks = len({(row.unit.night, row.unit.task) for row in found.rows})
    statuses = Counter(row.status.value for row in found.rows)
    broken = sum(n for name, n in statuses.items() if name not in ("completed", "truncated"))
    facts = (
        ("Agents", f"{len(board.agents)}", ""),
        ("Nights", f"{board.nights}", f"overlay: {made.get('overlay') or 'none'}"),
        ("Tasks", f"{tasks:,}", f"{plural(board.clusters, 'cluster')} of start points"),
        ("Attempts", f"{len(found.rows):,}", f"{broken} broken: never a score"),
        ("Wake scales", ", ".join(f"{scale:g}" for scale in board.scales), "of an assumed table"),
        ("Mode", str(made.get("mode", NOTHING)), f"dropout {made.get('dropout', 0):.0%}"),
    )
    cards = "".join(
        f"<div><dt>{name}</dt><dd>{data(value)}<small>{data(small)}</small></dd></div>"
        for name, value, small in facts
    )
    return f'<dl class="facts">{cards}</dl>'


def _in_short(found: RunData, scores: Sequence[AgentScore], split: Split) -> str:
    """The seed's own table, with wakings as the range that they are."""
    ranges = {one.agent: one for one in found.board.waking_ranges if one.split is split}
    several = len(found.board.scales) > 1
    rows = []
    for score in scores:
        one = ranges.get(score.agent)
        known = one is not None and one.low is not None and one.high is not None
        span = f"{one.low:.2f} to {one.high:.2f} over scales" if one and known and several else ""
        violations = sum(score.events.violations.values())
        delivered = sum(score.events.violations_delivered.values())
        rows.append(
            (
                score.agent,
                Cell(share_in_words(score.cues.per_task)),
                Cell(percent(score.cues.shown_rem_share)),
                Cell(share_in_words(score.events.wakings_per_task), span),
                Cell(f"{violations}", f"{delivered} delivered"),
                Cell(
                    share_in_words(score.dose.cues_per_rem_minute),
                    interval_in_words(score.dose.interval),
                ),
            )
        )
    return table(
        "In short. Cues in REM: sounds and whispers in shown REM, of all delivered cues.",
        ("agent", "cues a task", "cues in REM", "wakings a task", "violations", "cues a REM minute"),
        rows,
    )


def _costs(found: RunData, scores: Sequence[AgentScore], split: Split) -> str:
    paying = [score for score in scores if score.cost.calls or score.cost.failed_calls]
    head = "<h3>Calls and cost</h3>"
    if not paying:
        return f"{head}<p>No agent asked the outside world: 0 calls, $0.</p>"
    figures = (_cost_figure(found, score, split) for score in paying)
    return head + "".join(figures) + cost_table(scores)


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
    return "<h2>The replay environment</h2>" + figure(
        environment.draw,
        said="A ring: "
        + ", ".join(f"{part.name} passes {environment.passed(part)}" for part in environment.RING),
        caption="Made from the code of this version. The agent sees observations only. Dotted: "
        "hidden from the agent. Grey and dashed: the one assumed step, the chance that a cue wakes.",
    ) + f"<details><summary>What each part promises</summary>{parts}</details>"


def _verdict_sets(found: RunData) -> str:
    rows = []
    for number, (name, verdicts) in enumerate(found.sets.items(), 1):
        counts = Counter(verdict.overall for verdict in verdicts.values())
        newest = " (newest, used here)" if number == len(found.sets) else ""
        rows.append((f"{name}{newest}", *(Cell(f"{counts[value]:,}") for value in Value)))
    return "<h2>Verdict sets</h2>" + table(
        "Every grading of this run; a later one leaves the earlier as they are. The list of "
        "attempts shows any of them.",
        ("set", *(value.value.replace("_", " ") for value in Value)),
        rows,
    )


def _made_of(found: RunData) -> str:
    made = found.manifest
    rows = [("run", made.get("id")), ("comparability key", made.get("comparability_key"))]
    rows += [
        (name.replace("_", " "), made[name])
        for name in ("version", "code_sha256", "overlay", "training_exposure", "stop_is_latch")
        if name in made
    ]
    items = "".join(f"<dt>{data(name)}</dt><dd>{data(_plainly(v))}</dd>" for name, v in rows)
    nights = "".join(
        f"<li>{data(night)}: {starts_in_words(found, night)}</li>" for night in found.nights[:200]
    )
    return (
        f'<h2>What this run is made of</h2><dl class="about">{items}</dl>'
        f"<details><summary>Nights and start points</summary><ul>{nights}</ul></details>"
        '<p class="soft">Runs whose comparability keys differ do not belong in one table.</p>'
    )


def starts_in_words(found: RunData, night: str) -> str:
    points = starts(found.rows_of[night], found.facts(night).get("start_clock_s", 0.0))
    kinds = Counter(point.kind for point in points)
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return data(f"{plural(len(points), 'start point')} ({said})")


def _plainly(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
