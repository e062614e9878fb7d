"""Which tasks an environment may start with: by name, by epoch, or one that is drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from bedside.themes import bundled_themes
from devices.types import PaprikaError
from replay.conditions import PLAIN, Condition, condition_named
from replay.recorded_night import RecordedNight
from replay.tasks.composed import composed_conditions
from replay.tasks.task import StartKind, Task
from replay.tasks.task_set import ALL_KINDS, make_tasks

if TYPE_CHECKING:
    import numpy as np

ANY: Final = "any"
"""One that is drawn at each reset."""


class OptionError(PaprikaError):
    """An option of the environment cannot be; the message names it."""


class Starts:
    """The tasks of one night; its start points are looked for once."""

    def __init__(self, night: RecordedNight) -> None:
        self._night = night

    def first_rem(self, seed: int) -> Task | None:
        """The task at the first REM start, else at the first start point the night has."""
        tasks = self._tasks
        in_rem = [task for task in tasks if task.start.kind is StartKind.REM_ONSET]
        first = next(iter(in_rem or tasks), None)
        return None if first is None else self.under(first, seed)

    def drawn(self, seed: int, dice: np.random.Generator) -> Task:
        """One of the seed's start points."""
        usual = [task for task in self._tasks if task.start.kind is not StartKind.N1_ONSET]
        if not usual:
            raise OptionError(f"{self._night.place}: no start point; give start an epoch")
        return self.under(usual[int(dice.integers(len(usual)))], seed)

    def named(self, name: str) -> Task:
        """The task of this night with that name; the seed and the condition are in it."""
        found = re.fullmatch(r"(.+-t\d+)-s(\d+)(?:-(.+))?", name)
        if found is not None:
            point, seed, faults = found.groups()
            condition = condition_named(faults or PLAIN.name)
            for task in self._tasks:
                asked = replace(self.under(task, int(seed)), condition=condition)
                if asked.name == f"{point}-s{int(seed)}" + (f"-{condition.name}" if faults else ""):
                    return asked
        names = [task.name for task in self._tasks]
        near = (get_close_matches(name, names, 1) or names)[:1]
        such = f", a name such as {near[0]}" if near else ""
        raise OptionError(
            f"start {name!r} is no task of {self._night.place}: give an epoch{such}, or {ANY}"
        )

    def under(self, task: Task, seed: int) -> Task:
        """The same start under another seed, with the theme that it meets there."""
        themes = _themes()
        number = (task.theme_number - 1 + seed - task.seed) % len(themes)
        return replace(task, seed=seed, theme=themes[number], theme_number=number + 1)

    def check(self, epoch: int) -> int:
        """The same epoch, or OptionError where the night has no such epoch to start at."""
        last = self._night.epochs - 1
        if isinstance(epoch, bool) or not 0 <= epoch <= last:
            those = f"epochs 0 to {last}" if last >= 0 else "no epoch at all"
            raise OptionError(f"start {epoch!r}: {self._night.place} has {those}")
        return int(epoch)

    @cached_property
    def _tasks(self) -> tuple[Task, ...]:
        return make_tasks(self._night, seeds=(1,), kinds=ALL_KINDS)


def drawn_condition(dice: np.random.Generator) -> Condition:
    """One composition of faults, at least one fault in it."""
    conditions = composed_conditions()
    return conditions[int(dice.integers(len(conditions)))]


@cache
def _themes() -> tuple[str, ...]:
    """The names that tasks meet round and round with the seed, as `make_tasks` has them."""
    return tuple(bundled_themes())
