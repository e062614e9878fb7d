"""What every page of a run draws from, read once; traces are read a night at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from replay.experiment.folder import RunFolder
from replay.experiment.rows import Row
from replay.report.courses import Course, read_course
from replay.report.stages import stage_name
from replay.scores.figures import Scoreboard
from replay.scores.scoreboard import nearest_to_one
from replay.scores.verdicts import Property, Verdict
from replay.summary import Summary
from replay.wording import time_of_day

PROPERTIES: Final = tuple(Property)


@dataclass(frozen=True)
class RunData:
    """A run as the pages see it. sets: verdicts by set, oldest first."""

    run: RunFolder
    rows: Sequence[Row]
    board: Scoreboard
    sets: Mapping[str, Mapping[str, Verdict]]

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.run.manifest

    @property
    def newest(self) -> Mapping[str, Verdict]:
        return list(self.sets.values())[-1] if self.sets else {}

    @property
    def base_scale(self) -> float:
        """The wake scale at which figures without a scale of their own are drawn."""
        return nearest_to_one(self.board.scales)

    @cached_property
    def nights(self) -> tuple[str, ...]:
        """In plan order."""
        return tuple(dict.fromkeys(row.unit.night for row in self.rows))

    @cached_property
    def rows_of(self) -> Mapping[str, Sequence[Row]]:
        """The rows of each night."""
        found: dict[str, list[Row]] = {night: [] for night in self.nights}
        for row in self.rows:
            found[row.unit.night].append(row)
        return found

    @property
    def synthetic(self) -> bool:
        """Whether any night of the run was made by a program."""
        return any(self.facts(night).get("synthetic", False) for night in self.nights)

    def facts(self, night: str) -> Mapping[str, Any]:
        """Of a night, as the manifest has them."""
        facts: Mapping[str, Any] = self.manifest["nights"].get(night, {})
        return facts

    def number(self, night: str) -> int:
        """Of a night's own pages, from 1."""
        return self.nights.index(night) + 1

    def courses(self, night: str) -> Iterator[tuple[Row, Course | None]]:
        """What happened in each attempt on a night; None where there is no evidence."""
        for row in self.rows_of[night]:
            yield row, read_course(self.run.path, row.unit.key) if row.evidence else None


@dataclass(frozen=True, slots=True)
class Start:
    """A start point of a night, and how it is called; feasible: on how many of its seeds."""

    epoch: int
    kind: str
    clock: str
    themes: tuple[str, ...]
    seeds: tuple[int, ...]
    feasible: int

    @property
    def name(self) -> str:
        return f"{self.kind} {self.clock}"


def starts(rows: Sequence[Row], start_clock_s: float) -> list[Start]:
    """The start points of a night's tasks, in time order."""
    points: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        points.setdefault((row.unit.start_epoch, row.unit.kind), []).append(row)
    return [
        Start(
            epoch,
            kind,
            time_of_day(start_clock_s + 30.0 * epoch),
            tuple(dict.fromkeys(row.unit.theme for row in found)),
            tuple(sorted({row.unit.seed for row in found})),
            len({row.unit.seed for row in found if row.unit.feasible}),
        )
        for (epoch, kind), found in sorted(points.items())
    ]


def recorded_summary(night: str, facts: Mapping[str, Any]) -> Summary:
    """A night as it was recorded, as if nobody had cued, for what is said of whole nights."""
    stages = tuple(map(stage_name, facts["shown"]))
    return Summary(
        session="",
        night={"id": night, "synthetic": facts.get("synthetic", False), "first_epoch": 0},
        agent="",
        mode="",
        seed=0,
        wake_scale=1.0,
        start_clock_s=facts["start_clock_s"],
        start_assumed=facts.get("start_assumed", False),
        theme="",
        ending="night_end",
        stages=stages,
        inserted=(),
        compared=0,
        mismatched=0,
        excluded=(),
        cues=(),
        wakings=(),
        asked=0,
        refused=0,
        rewritten=0,
        violations={},
        violations_delivered={},
        limit_hits={},
        suspected_wakings=0,
        decisions={},
    )
