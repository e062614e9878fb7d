"""Writes the pages of a run into one static folder, a night at a time, whole or not at all.

    index.html       what the run shows: figures, claims, one task, the ring of parts
    scores.html      the scoreboard
    night-N.html     a night with its start points and every cue
    tasks-N.html     any task of that night, each decision and its reason; two agents side by side
    attempts.html    every attempt, filtered by agent, rule, verdict, night, kind and scale

Each file stands for itself: it loads nothing, so that it also opens where a phone hands a browser
one file and not its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from devices.types import PaprikaError
from replay.experiment.folder import RunFolder
from replay.report.data import RunData
from replay.report.page import Link, Script, page
from replay.report.pages.attempts import attempts_script, attempts_sections
from replay.report.pages.night import night_sections, nights_menu
from replay.report.pages.overview import overview_sections
from replay.report.pages.scores import score_sections
from replay.report.pages.tasks import tasks_script, tasks_sections
from replay.scores.notes import stands_for
from replay.scores.scoreboard import scoreboard
from replay.staging import staged

if TYPE_CHECKING:
    from replay.progress import Report

INDEX: Final = "index.html"
SCORES: Final = "scores.html"
ATTEMPTS: Final = "attempts.html"
_PAGE: Final = re.compile(r"(index|scores|attempts|(night|tasks)-[1-9][0-9]*)\.html")
_OURS: Final = re.compile(rf"{_PAGE.pattern}|\.[0-9]+\.part")
"""A page, or what a killed writing left."""


class ReportError(PaprikaError):
    """The pages cannot be made; the message names the run and says what to do."""


def write_report(
    run: RunFolder, *, out: Path | None = None, progress: Report | None = None
) -> Path:
    """Write every page; what was in the folder before is gone only when all are written.

    out: by default `page` in the run's folder. Gives the first page's path.

    Raises:
        ReportError: the run has no attempt, or the folder holds what is no page of ours.
    """
    rows = run.rows()
    if not rows:
        raise ReportError(f"{run.path}: no attempt in this run, so there is nothing to show")
    sets = {one.id: run.verdicts(one.id) for one in run.verdict_sets()}
    newest = list(sets.values())[-1] if sets else {}
    board = scoreboard(rows, newest, manifest=run.manifest)
    found = RunData(run, rows, board, sets)
    folder = out or run.path / "page"
    _check_ours(folder)
    written = set()
    with staged(folder) as staging:
        for number, (name, text) in enumerate(_pages(found), 1):
            (staging / name).write_text(text, encoding="utf-8")
            written.add(name)
            if progress is not None:
                progress(number, 3 + 2 * len(found.nights), name)
    for path in folder.iterdir():
        if _PAGE.fullmatch(path.name) and path.name not in written:
            path.unlink()
    return folder / INDEX


def _check_ours(folder: Path) -> None:
    """Refuse a folder that something else lies in: pages of a run stand alone."""
    if not folder.is_dir():
        return
    foreign = sorted(path.name for path in folder.iterdir() if not _OURS.fullmatch(path.name))
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise ReportError(
            f"{folder}: holds {foreign[0]}{more}, which is no page of a run; "
            "choose another --out or an empty folder"
        )


def _pages(found: RunData) -> Iterator[tuple[str, str]]:
    """File name and text of each page, made one after the other."""
    run_id = str(found.manifest.get("id", ""))[:16]
    yield INDEX, _page(found, f"Run {run_id}", overview_sections(found), INDEX)
    yield SCORES, _page(found, f"Scores of run {run_id}", score_sections(found.board), SCORES)
    yield (
        ATTEMPTS,
        _page(
            found,
            f"Attempts of run {run_id}",
            attempts_sections(),
            ATTEMPTS,
            attempts_script(found),
        ),
    )
    for number, night in enumerate(found.nights, 1):
        courses = list(found.courses(night))
        name = f"night-{number}.html"
        sections = [nights_menu(found, "night"), *night_sections(found, night, courses)]
        yield name, _page(found, f"Night {night}", sections, name)
        name = f"tasks-{number}.html"
        sections = [nights_menu(found, "tasks"), *tasks_sections(number)]
        script = tasks_script(found, courses)
        yield name, _page(found, f"Tasks of night {night}", sections, name, script)


def _page(
    found: RunData,
    title: str,
    sections: Iterable[str],
    here: str,
    script: Script | None = None,
) -> str:
    links = (
        Link(INDEX, "Run"),
        Link(SCORES, "Scores"),
        *_night_links(found, here),
        Link(ATTEMPTS, "Attempts"),
    )
    return page(
        title,
        list(sections),
        links=links,
        here=here,
        synthetic=found.synthetic,
        caveat="" if here in (INDEX, SCORES) else " ".join(stands_for(found.manifest)),
        script=script,
        wide=here == ATTEMPTS,
    )


def _night_links(found: RunData, here: str) -> Iterator[Link]:
    """To the pages of the night that is open, else of the first."""
    number = here.partition("-")[2] or "1.html"
    several = len(found.nights) > 1
    yield Link(f"night-{number}", "Nights" if several else "Night")
    yield Link(f"tasks-{number}", "Tasks")
