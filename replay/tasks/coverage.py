"""What the tasks of some nights cover: families of starts against conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from replay.conditions import Condition
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.tasks.composed import SelfCheck, Standing, self_check
from replay.tasks.task import StartKind
from replay.tasks.task_set import make_tasks
from replay.wake_rule import WakeTable

CHECKED_SEEDS: Final = (1, 6)
"""A development and a held-out seed. Assumed: enough to see whether a condition can be passed."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Tasks of one family under one condition, each counted once.

    restraint: cannot be passed, so that waiting is right. invalid: the self-check fails.
    """

    development: int = 0
    held_out: int = 0
    restraint: int = 0
    invalid: int = 0

    @property
    def uncovered(self) -> bool:
        """No task that stands is there."""
        return not (self.development or self.held_out or self.restraint)


@dataclass(frozen=True, slots=True)
class Coverage:
    """cells: by family and name of the condition. problems: of invalid tasks, by name."""

    families: tuple[StartKind, ...]
    conditions: tuple[str, ...]
    cells: Mapping[tuple[StartKind, str], Cell]
    problems: Mapping[str, tuple[str, ...]]

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        cells = [
            {"family": family, "condition": name, **asdict(cell), "uncovered": cell.uncovered}
            for (family, name), cell in self.cells.items()
        ]
        return {
            "cells": cells,
            "problems": {name: list(why) for name, why in self.problems.items()},
        }


def coverage(
    nights: Iterable[RecordedNight],
    *,
    seeds: Sequence[int],
    kinds: Sequence[StartKind],
    conditions: Sequence[Condition],
    wake_table: WakeTable,
    dropout: float,
    progress: Report | None = None,
) -> Coverage:
    """Check every task of the nights under every condition, and count."""
    cells: dict[tuple[StartKind, str], Counter[str]] = {
        (kind, condition.name): Counter() for kind in kinds for condition in conditions
    }
    problems: dict[str, tuple[str, ...]] = {}
    for night in nights:
        tasks = make_tasks(night, seeds=seeds, kinds=kinds, conditions=conditions)
        for number, task in enumerate(tasks):
            if progress is not None:
                progress(number, len(tasks), night.info.night_id)
            found = self_check(night, task, wake_table=wake_table, dropout=dropout)
            cells[task.start.kind, task.condition.name][_counted_as(found)] += 1
            if found.problems:
                problems[f"{task.night}/{task.name}"] = found.problems
    return Coverage(
        tuple(kinds),
        tuple(condition.name for condition in conditions),
        {place: Cell(**counts) for place, counts in cells.items()},
        problems,
    )


def _counted_as(found: SelfCheck) -> str:
    if found.standing is not Standing.VALID:
        return found.standing.value
    return "held_out" if found.task.held_out else "development"
