"""The tasks of one night, counted: what lies in their windows, and how many can be passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from replay.conditions import PLAIN, Condition
from replay.hypnogram import counts4
from replay.recorded_night import RecordedNight
from replay.tasks.oracle import oracle_actions
from replay.tasks.start_points import WINDOW, start_points
from replay.tasks.task import StartKind, StartPoint
from replay.tasks.task_set import make_tasks
from replay.tasks.uncued import shown_stages
from replay.wake_rule import WakeTable


@dataclass(frozen=True, slots=True)
class StartRow:
    """A start point. epochs: of each shown stage in its window. feasible: seeds that can be passed,
    by wake scale; the other seeds ask for restraint."""

    point: StartPoint
    epochs: Mapping[str, int]
    feasible: Mapping[float, int]


@dataclass(frozen=True, slots=True)
class TaskTable:
    """seeds: dice of each start point."""

    night: str
    synthetic: bool
    start_assumed: bool
    seeds: tuple[int, ...]
    condition: Condition
    rows: tuple[StartRow, ...]
    lacking: Mapping[StartKind, str]

    @property
    def tasks(self) -> int:
        return len(self.rows) * len(self.seeds)

    @property
    def clusters(self) -> int:
        """Groups of windows that do not overlap."""
        return len({row.point.cluster for row in self.rows})

    def feasible(self, scale: float) -> int:
        """Tasks that can be passed at a wake scale."""
        return sum(row.feasible[scale] for row in self.rows)

    def as_dict(self, scales: Sequence[float]) -> dict[str, Any]:
        """For `--json`."""
        counts = {f"{scale:g}": self.feasible(scale) for scale in scales}
        return {
            "night": self.night,
            "synthetic": self.synthetic,
            "start_assumed": self.start_assumed,
            "seeds": list(self.seeds),
            "condition": self.condition.name,
            "tasks": self.tasks,
            "clusters": self.clusters,
            "feasible": counts,
            "restraint": {scale: self.tasks - count for scale, count in counts.items()},
            "starts": [_as_dict(row) for row in self.rows],
            "lacking": {str(kind): why for kind, why in self.lacking.items()},
        }


def task_table(
    night: RecordedNight,
    *,
    seeds: Sequence[int],
    kinds: Sequence[StartKind],
    scales: Sequence[float],
    wake_table: WakeTable,
    dropout: float,
    condition: Condition = PLAIN,
) -> TaskTable:
    """Count the tasks of a night under one condition."""
    found = start_points(night, kinds)
    tasks = make_tasks(night, seeds=seeds, kinds=kinds, conditions=(condition,))
    tables = {scale: replace(wake_table, scale=scale) for scale in scales}
    passable: Counter[tuple[StartPoint, float]] = Counter()
    for task in tasks:
        shown = shown_stages(night, task, dropout)
        for scale, table in tables.items():
            found_one = oracle_actions(night, task, table, dropout=dropout, shown=shown)
            passable[task.start, scale] += found_one is not None
    rows = tuple(
        StartRow(
            point,
            counts4(night.shown[point.epoch : point.epoch + WINDOW]),
            {scale: passable[point, scale] for scale in scales},
        )
        for point in found.points
    )
    return TaskTable(
        night.info.night_id,
        night.info.synthetic,
        night.info.start_wall_ns is None,
        tuple(seeds),
        condition,
        rows,
        found.lacking,
    )


def _as_dict(row: StartRow) -> dict[str, Any]:
    return {
        **asdict(row.point),
        "epochs": dict(row.epochs),
        "feasible": {f"{scale:g}": count for scale, count in row.feasible.items()},
    }
