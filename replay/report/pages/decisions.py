"""One attempt: its stages and cues, and each decision with the agent's own reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from devices.types import EPOCH_S
from replay.controls.contenders import CONTROLS
from replay.experiment.rows import Row
from replay.hypnogram_svg import NARROW, WIDE, night_figure
from replay.report.courses import Asked, Course
from replay.report.stages import stage_name
from replay.report.tables import data
from replay.summary import summarise
from replay.trace_lines import Line
from replay.wording import STAGE_WORDS, plural, time_of_day


def example_of(rows: Sequence[Row], scale: float) -> Row | None:
    """The attempt that shows most: of an agent that asks the outside world, if there is one, else
    of one that is no control; of those one with a waking, then with most cues."""
    found = [row for row in rows if row.evidence and row.unit.scale == scale]
    return max(
        found,
        key=lambda row: (
            row.calls > 0,
            row.unit.agent not in CONTROLS,
            row.wakings > 0,
            row.delivered,
        ),
        default=None,
    )


def attempt_section(row: Row, trace: Sequence[Line], hidden: Sequence[Line], made: Course) -> str:
    """The figure of one attempt without any script."""
    summary = summarise(trace, hidden, ())
    figures = "".join(
        f'<div class="{where}">{night_figure(summary, layout)}</div>'
        for where, layout in (("desk", WIDE), ("phone", NARROW))
    )
    unit = row.unit
    woke = f", {plural(row.wakings, 'waking')}" if row.wakings else ", nobody woke"
    return (
        f"<p>{data(unit.agent)} on {data(unit.task)}, theme {data(unit.theme)}, wake scale "
        f"{unit.scale:g}: {plural(row.delivered, 'cue')}{woke}.</p>"
        f"<figure>{figures}<figcaption>Top: stages as shown, and the cues. Below: each decision "
        "with the agent’s own reason; waits that say the same are one row.</figcaption></figure>"
        f"{decisions_table(made)}"
    )


def decisions_table(made: Course) -> str:
    asked = {one.step: one for one in made.asked}
    rows = "".join(_row(made, start, epochs, asked.get(start)) for start, epochs in made.runs())
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Decisions">'
        '<table class="decisions"><caption><span>Decisions, an epoch of 30 s each</span></caption>'
        "<thead><tr>"
        '<th scope="col">time</th><th scope="col">shown</th><th scope="col">decision</th>'
        f'<th scope="col">reason</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(made: Course, start: int, epochs: int, asked: Asked | None) -> str:
    waited = asked is None and made.actions[start] != "x"
    at = time_of_day_s(made.start_clock_s + EPOCH_S * (start + 1))
    shown = STAGE_WORDS[stage_name(made.shown[start])]
    hidden = made.hidden[start]
    if hidden not in (made.shown[start], "?", "i"):
        shown += f" (hidden: {STAGE_WORDS[stage_name(hidden)]})"
    said = " · ".join(_flags(made, start, asked))
    return (
        f"<tr{' class=wait' if waited else ''}><td>{at}</td><td>{escape(shown)}</td>"
        f"<td>{data(_decision(made, start, epochs, asked))}</td>"
        f"<td>{data(made.reasons[start])}{_tags(said, asked)}</td></tr>"
    )


def _decision(made: Course, start: int, epochs: int, asked: Asked | None) -> str:
    if asked is None:
        if made.actions[start] == "x":
            return "stop"
        return "wait" if epochs == 1 else f"wait, {epochs} steps"
    volume = f", {asked.volume}" if asked.volume else ""
    line = f": “{asked.line}”" if asked.line else ""
    return f"{asked.what}{volume}{line}"


def _flags(made: Course, start: int, asked: Asked | None) -> Iterator[str]:
    if start in made.troubles:
        status, error = made.troubles[start]
        yield f"{status}: {error}" if error else status
    if start in made.latencies:
        yield f"took {made.latencies[start]:.1f} s"
    if asked is not None and asked.played is not None:
        yield f"played {asked.played}"
    if asked is not None and asked.said is not None:
        yield f"said instead: “{asked.said}”"
    if asked is not None and asked.refused_by:
        yield f"refused by {', '.join(asked.refused_by)}"


def _tags(said: str, asked: Asked | None) -> str:
    notes = f"<small>{data(said)}</small>" if said else ""
    if asked is None:
        return notes
    woke = ' <strong class="tag alarm">woke the sleeper</strong>' if asked.woke else ""
    rules = "".join(f' <span class="tag">{data(rule)}</span>' for rule in asked.rules)
    return f"{woke}{rules}{notes}"


def time_of_day_s(since_noon_s: float) -> str:
    """HH:MM:SS."""
    return f"{time_of_day(since_noon_s)}:{int(since_noon_s % 60):02d}"
