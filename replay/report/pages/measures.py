"""Figures that compare agents: cues by stage, wakings and violations, wakings against the scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from replay.report.figures.bars import Bar, Bars, Column
from replay.report.figures.canvas import figure
from replay.report.figures.scales import LINES, Curve, Point, Scales
from replay.scores.figures import AgentScore, Scoreboard, Split
from replay.scores.score_words import percent, share_in_words
from replay.summary import STAGE_NAMES
from replay.wording import STAGE_WORDS


def cues_by_stage(scores: Sequence[AgentScore]) -> str:
    """Every delivered cue by the stage shown at that moment."""
    columns = [Column(STAGE_WORDS[name], 1.0) for name in STAGE_NAMES]
    rows = [(_cued(score), _stage_bars(score)) for score in scores]
    return "<h3>Cues by stage</h3>" + figure(
        Bars(columns, rows).draw,
        said="; ".join(_said_by_stage(score) for score in scores),
        caption="Every delivered cue of attempts that left a trace, by the stage shown at "
        "delivery, in percent of the agent’s cues.",
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
                    Bar(
                        events.wakings_per_task,
                        _a_task(events.wakings_per_task),
                        "amount",
                        low,
                        high,
                    ),
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


_SCALES: Final = (
    "Wakings a task with 95 % intervals. Marks stand a little apart so that equal values can be "
    "seen; only their scale counts."
)


def against_scale(board: Scoreboard, split: Split) -> str:
    """Wakings as the assumed wake chances are scaled; several panels where agents are many."""
    lines = [
        Curve(
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
            caption=_SCALES if number == len(panels) else "",
        )
        for number, panel in enumerate(panels, 1)
    )
    return "<h3>Wakings against the wake scale</h3>" + "".join(drawn)


def _point(score: AgentScore) -> Point:
    interval = score.events.wakings_interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Point(score.scale, score.events.wakings_per_task, low, high)


def _along(line: Curve) -> str:
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
