"""A case: one planned attempt, what is known of it, and whether it passed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from replay.experiment.rows import Row, Status, Unit
from replay.scores.figures import Split
from replay.scores.verdicts import Value, Verdict

MISSING: Final = "missing"
"""The status of a planned attempt without a row."""

Group = tuple[Split, float, str]
"""Split, scale, agent: a row of the scoreboard."""


@dataclass(frozen=True, slots=True)
class Case:
    """row: None where it was planned and has not been played.

    passed: None while it is open. scored: its counts stand for a whole attempt.
    """

    unit: Unit
    row: Row | None
    passed: bool | None
    scored: bool

    @property
    def status(self) -> str:
        return MISSING if self.row is None else self.row.status.value

    @property
    def seen(self) -> bool:
        """Whether its traces tell what happened, be it to its end or not."""
        row = self.row
        return row is not None and row.evidence and row.status is not Status.ENV_ERROR

    @property
    def split(self) -> Split:
        return split_of(self.unit)

    @property
    def place(self) -> tuple[str, int]:
        """Night and cluster."""
        return self.unit.night, self.unit.cluster

    @property
    def start(self) -> tuple[str, str, int, str]:
        """What its seeds share, whatever the theme: pass^k is taken over them."""
        unit = self.unit
        return unit.night, unit.kind, unit.start_epoch, unit.condition


def split_of(unit: Unit) -> Split:
    return Split.HELD_OUT if unit.held_out else Split.DEVELOPMENT


def grouped_cases(rows: Sequence[Row], verdicts: Mapping[str, Verdict]) -> dict[Group, list[Case]]:
    """Cases by split, scale and agent; agents in the order in which the rows name them.

    Every agent and scale is held to all tasks of its split: what has no row is an open case.
    """
    groups: dict[Group, list[Case]] = {}
    for row in rows:
        group = split_of(row.unit), row.unit.scale, row.unit.agent
        groups.setdefault(group, []).append(_case(row, verdicts.get(row.unit.key)))
    agents = list(dict.fromkeys(row.unit.agent for row in rows))
    planned = _planned(rows)
    return {
        group: [*groups[group], *_missing(group, groups[group], planned[group[0]])]
        for group in sorted(groups, key=lambda one: (one[0], one[1], agents.index(one[2])))
    }


def _case(row: Row, verdict: Verdict | None) -> Case:
    whole = row.status in (Status.COMPLETED, Status.TRUNCATED) and row.evidence
    return Case(row.unit, row, _passed(verdict), whole)


def _passed(verdict: Verdict | None) -> bool | None:
    if verdict is None:
        return None
    return {Value.PASS: True, Value.FAIL: False}.get(verdict.overall)


def _planned(rows: Iterable[Row]) -> dict[Split, dict[tuple[str, str], Unit]]:
    """The tasks of each split, each as some unit of it; scale 1 wins, where it is there."""
    found: dict[Split, dict[tuple[str, str], Unit]] = {}
    for unit in (row.unit for row in rows):
        tasks = found.setdefault(split_of(unit), {})
        if unit.scale == 1.0 or (unit.night, unit.task) not in tasks:
            tasks[unit.night, unit.task] = unit
    return found


def _missing(
    group: Group, cases: Iterable[Case], tasks: Mapping[tuple[str, str], Unit]
) -> Iterable[Case]:
    known = {(case.unit.night, case.unit.task) for case in cases}
    for task, unit in tasks.items():
        if task not in known:
            lacking = replace(unit, scale=group[1], agent=group[2])
            yield Case(lacking, None, None, scored=False)
