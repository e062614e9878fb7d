"""Two agents side by side in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from replay.scores.pairs_text import print_comparisons
from replay.scores.paper import Paper
from replay.scores.score_words import NOTHING, split_in_words
from replay.wording import plural, time_of_day

if TYPE_CHECKING:
    from rich.console import Console

    from replay.scores.side_by_side import SideBySide, TaskDifference

SHOWN: Final = 40
"""Tasks listed; `--json` has all."""
PASSED: Final = {True: "pass", False: "fail", None: "open"}


def print_side_by_side(found: SideBySide, *, console: Console | None = None) -> None:
    """The paired table, then every task that came out otherwise and where the traces part."""
    paper = Paper(console)
    left = f" · {found.alone} attempts of one side only left out" if found.alone else ""
    paper.words(
        f"{found.first.name} and {found.second.name} · wake scale {found.scale:g} · "
        f"{plural(found.tasks, 'task')} on the same dice{left}",
        style="bold",
    )
    for one in found.comparisons:
        paper.blank()
        paper.words(f"On {split_in_words(one.split)}:")
        print_comparisons(paper, [one])
    for note in found.notes:
        paper.blank()
        paper.words(note)
    if not found.differences:
        paper.words("\nNo task came out otherwise.")
        return
    _differences(paper, found)


def _differences(paper: Paper, found: SideBySide) -> None:
    several = len({one.night for one in found.differences}) > 1
    paper.table(
        f"{plural(len(found.differences), 'task')} that came out otherwise: {found.first.name} | "
        f"{found.second.name}",
        ("task", "passed", "wakings", "violations", "step", "they part where"),
        (_cells(one, several) for one in found.differences[:SHOWN]),
    )
    if len(found.differences) > SHOWN:
        paper.words(f"and {len(found.differences) - SHOWN} more (--json lists all)")


def _cells(one: TaskDifference, several_nights: bool) -> tuple[str, ...]:
    step = f"{one.parts.step} {time_of_day(one.parts.clock_s)}" if one.parts else NOTHING
    where = f"{one.parts.first}\n{one.parts.second}" if one.parts else NOTHING
    a, b = one.passed
    return (
        f"{one.night}\n{one.task}" if several_nights else one.task,
        f"{PASSED[a]} | {PASSED[b]}",
        _both(one.wakings),
        _both(one.violations),
        step,
        where,
    )


def _both(counts: tuple[int | None, int | None]) -> str:
    return " | ".join(NOTHING if count is None else str(count) for count in counts)
