"""The page of one night: its stages, where tasks start, and every cue of every agent on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from devices.types import EPOCH_S
from replay.experiment.rows import Row
from replay.page_tables import stage_shares_section
from replay.report.courses import Asked, Course
from replay.report.data import RunData, Start, recorded_summary, starts
from replay.report.figures.canvas import figure
from replay.report.figures.night import Given, NightChart
from replay.report.tables import Cell, data, table
from replay.scores.figures import NightScore
from replay.scores.score_words import percent, split_in_words
from replay.wording import plural, span_in_words


def night_sections(
    found: RunData, night: str, courses: Sequence[tuple[Row, Course | None]]
) -> Iterator[str]:
    facts = found.facts(night)
    start_s, letters = facts["start_clock_s"], facts["shown"]
    span = span_in_words(start_s, len(letters) * EPOCH_S, assumed=facts.get("start_assumed", False))
    points = starts([row for row, _ in courses], start_s)
    yield f"<p>{data(span)}. {data(_kind(facts))}</p>"
    yield _chart(found, night, courses, points)
    yield _starts_table(points)
    yield stage_shares_section(recorded_summary(night, facts))
    yield _scores(found, night)
    number = found.number(night)
    yield (
        f'<p><a href="tasks-{number}.html">Each task of this night, with every decision and its '
        "reason</a></p>"
    )


def _kind(facts: Mapping[str, object]) -> str:
    truth = "with experts’ stages" if facts.get("has_truth") else "without experts’ stages"
    return f"Recording of kind {facts.get('kind', 'unknown')}, {truth}."


def _chart(
    found: RunData,
    night: str,
    courses: Sequence[tuple[Row, Course | None]],
    points: Sequence[Start],
) -> str:
    facts, scale = found.facts(night), found.base_scale
    truth = facts["hidden"] if facts.get("has_truth") else ""
    cues = [
        (agent, [_given(course, one) for course in made for one in course.asked if one.delivered])
        for agent, made in _by_agent(courses, scale)
    ]
    chart = NightChart(
        facts["shown"],
        facts["start_clock_s"],
        truth=truth,
        starts=[point.epoch for point in points],
        cues=cues,
    )
    said = "; ".join(
        f"{agent}: {plural(len(given), 'cue')}, {sum(cue.woke for cue in given)} woke"
        for agent, given in cues
    )
    numbered = " Dashed lines, numbered: where tasks start." if points else ""
    return "<h2>The night, its start points and every cue</h2>" + figure(
        chart.draw,
        said=f"Hypnogram of {night} with {plural(len(points), 'start point')}; {said}",
        caption=f"One bar per run of a stage, 30 s an epoch.{numbered} Below: the cues of each "
        f"agent over all its tasks and seeds at wake scale {scale:g}, where they lie in the "
        "recording; long lines with a head are cues that woke the sleeper.",
    )


def _by_agent(
    courses: Sequence[tuple[Row, Course | None]], scale: float
) -> Iterator[tuple[str, list[Course]]]:
    found: dict[str, list[Course]] = {}
    for row, course in courses:
        if course is not None and row.unit.scale == scale:
            found.setdefault(row.unit.agent, []).append(course)
    yield from found.items()


def _given(course: Course, one: Asked) -> Given:
    return Given(course.recorded_epoch(one.t), one.woke)


def _starts_table(points: Sequence[Start]) -> str:
    return table(
        "Where tasks start. Cue-feasible: some step shows REM and can be cued without a waking.",
        ("number", "kind", "clock", "themes", "seeds", "cue-feasible seeds"),
        (
            (
                f"{number}",
                point.kind.replace("_", " ").replace("rem ", "REM "),
                Cell(point.clock, style=""),
                ", ".join(point.themes),
                _ranges(point.seeds),
                Cell(f"{point.feasible} of {len(point.seeds)}"),
            )
            for number, point in enumerate(points, 1)
        ),
    )


def _ranges(numbers: Sequence[int]) -> str:
    """`1–5, 8`."""
    parts = []
    for _, group in groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
        run = [number for _, number in group]
        parts.append(f"{run[0]}" if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return ", ".join(parts)


def _scores(found: RunData, night: str) -> str:
    here = [score for score in found.board.night_scores if score.night == night]
    scores = [score for score in here if score.scale == found.base_scale]
    if not scores:
        return ""
    return "<h2>Cues in shown and in true REM</h2>" + table(
        f"Scored attempts of this night at wake scale {found.base_scale:g}. True stages are hidden "
        "from the agent.",
        ("agent", "seeds", "attempts", "cues", "in shown REM", "in true REM", "wakings"),
        (_score_row(score) for score in scores),
    )


def _score_row(score: NightScore) -> Sequence[Cell | str]:
    return (
        score.agent,
        split_in_words(score.split),
        Cell(f"{score.attempts}"),
        Cell(f"{score.delivered}"),
        Cell(percent(score.shown_rem_share)),
        Cell(percent(score.true_rem_share)),
        Cell(f"{score.wakings}"),
    )


def nights_menu(found: RunData, pages: str) -> str:
    """A folded list of the same page of every night; nothing where there is one night.

    pages: `night` or `tasks`.
    """
    if len(found.nights) < 2:
        return ""
    items = "".join(
        f'<li><a href="{pages}-{number}.html">{data(night)}</a></li>'
        for number, night in enumerate(found.nights, 1)
    )
    words = f"Choose one of {len(found.nights)} nights"
    return f'<details><summary>{words}</summary><ul class="menu">{items}</ul></details>'
