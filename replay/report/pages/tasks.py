"""Any task of a night with each decision and its reason, alone or two agents side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from replay.experiment.rows import Row
from replay.report.courses import Asked, Course
from replay.report.data import RunData
from replay.report.page import Script
from replay.report.pages.attempts import NEEDS_SCRIPT, Book, verdict_letter

Words = Book[str]


def tasks_sections(number: int) -> Iterator[str]:
    yield (
        "<p>Each decision of one agent with its own reason, or of two agents side by side, step by "
        "step; where they first part is marked. Seen by the agent: the stage shown. "
        '<span class="hidden">Hidden from it</span>: the true stage, dropouts, the dice.</p>'
    )
    yield NEEDS_SCRIPT
    yield '<div id="view"></div>'
    yield f'<p><a href="night-{number}.html">The whole night and all cues on it</a></p>'


def tasks_script(found: RunData, courses: Sequence[tuple[Row, Course | None]]) -> Script:
    """The attempts on one night; words are numbers into one list."""
    words = Book([""])
    tasks, agents = Book[str](), Book[str]()
    attempts = [
        _attempt(row, course, found, words, tasks(row.unit.task), agents(row.unit.agent))
        for row, course in courses
    ]
    return Script(
        "tasks.js",
        {
            "tasks": tasks.values,
            "agents": agents.values,
            "first": _first(courses, tasks.values),
            "scales": sorted({row.unit.scale for row, _ in courses}),
            "base": found.base_scale,
            "attempts": attempts,
            "words": words.values,
        },
    )


def _first(courses: Sequence[tuple[Row, Course | None]], tasks: Sequence[str]) -> int:
    """The task to open: the first that can be cued, where there is one."""
    feasible = (row.unit.task for row, _ in courses if row.unit.feasible)
    return tasks.index(next(feasible, tasks[0]))


def _attempt(
    row: Row, course: Course | None, found: RunData, words: Words, task: int, agent: int
) -> dict[str, Any]:
    """Short keys: there are many of these."""
    packed: dict[str, Any] = {
        "t": task,
        "a": agent,
        "x": row.unit.scale,
        "s": words(row.status.value),
        "v": verdict_letter(found.newest.get(row.unit.key)),
        "w": row.wakings,
        "n": row.delivered,
        "th": words(row.unit.theme),
    }
    if row.detail:
        packed["d"] = words(row.detail)
    return packed | (_course(course, words) if course is not None else {})


def _course(course: Course, words: Words) -> dict[str, Any]:
    found: dict[str, Any] = {
        "c": course.start_clock_s,
        "shown": course.shown,
        "acts": course.actions,
        "why": [
            number
            for reason, group in groupby(course.reasons)
            for number in (words(reason), sum(1 for _ in group))
        ],
        "end": words(course.ending),
    }
    optional = {
        "true": course.hidden if course.hidden != course.shown else "",
        "cues": [_cue(one, words) for one in course.asked],
        "bad": [
            [step, words(status), words(error)] for step, (status, error) in course.troubles.items()
        ],
        "drop": list(course.dropouts),
        "late": [[step, latency_s] for step, latency_s in course.latencies.items()],
    }
    return found | {name: value for name, value in optional.items() if value}


def _cue(one: Asked, words: Words) -> list[Any]:
    """step, t, what, volume, played, line, said, shown, true, delivered, woke, rules, limits,
    refused by; words that are not there are 0."""
    names = (one.what, one.volume, one.played, one.line, one.said)
    return [
        one.step,
        one.t,
        *(words(name or "") for name in names),
        one.shown,
        one.true or "",
        int(one.delivered),
        int(one.woke),
        [words(name) for name in one.rules],
        [words(name) for name in one.limits],
        [words(name) for name in one.refused_by],
    ]
