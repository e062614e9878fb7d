"""The tasks of a night: every start point under every seed and condition, with its theme."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from bedside.safety.gate import Mode
from bedside.themes import Theme, bundled_theme, bundled_themes
from replay.conditions import PLAIN, Condition, PersonAct
from replay.latency import LatencyModel
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.tasks.start_points import DEFAULT_KINDS, start_points
from replay.tasks.task import STEPS, StartKind, Task
from replay.wake_rule import WakeTable

ALL_KINDS: Final = tuple(StartKind)


def make_tasks(
    night: RecordedNight,
    *,
    seeds: Sequence[int],
    themes: Sequence[str] | None = None,
    kinds: Collection[StartKind] = DEFAULT_KINDS,
    conditions: Sequence[Condition] = (PLAIN,),
) -> tuple[Task, ...]:
    """Every start point, under every seed, under every condition, in this order.

    The theme is number (place of the start point + seed − 1) of the names in `themes`, by default
    the five bundled ones, round and round: over five seeds in a row a start point meets each theme
    once, and the starts of one seed share them out evenly. The place is counted among all kinds,
    so that asking for fewer of them, or for conditions, changes no theme.
    """
    names = tuple(themes) if themes is not None else tuple(_themes())
    places = {
        (point.kind, point.epoch): place
        for place, point in enumerate(start_points(night, ALL_KINDS).points)
    }
    tasks = []
    for point in start_points(night, kinds).points:
        for seed in seeds:
            number = (places[point.kind, point.epoch] + seed - 1) % len(names)
            tasks += [
                Task(night.info.night_id, point, names[number], number + 1, seed, condition)
                for condition in conditions
            ]
    return tuple(tasks)


def task_setting(
    task: Task,
    night: RecordedNight,
    *,
    wake_table: WakeTable,
    mode: Mode,
    dropout: float,
    latency: LatencyModel | None = None,
    ends_at_stop: bool = True,
    digest: tuple[str, ...] = (),
) -> Setting:
    """The setting of one attempt at a task of this night."""
    return Setting(
        theme=theme_of(task),
        wake_table=wake_table,
        seed=task.seed,
        mode=mode,
        first_epoch=task.start.epoch,
        steps=STEPS,
        dropout=dropout,
        condition=task.condition,
        ends_at_stop=ends_at_stop,
        latency=latency,
        digest=digest,
    )


def theme_of(task: Task) -> Theme:
    """The theme that is dreamt of: the task's, or the bundled one after it where it was changed."""
    if task.condition.person is not PersonAct.THEME_CHANGED:
        return _themes()[task.theme] if task.theme in _themes() else bundled_theme(task.theme)
    names = tuple(_themes())
    return _themes()[names[(names.index(task.theme) + 1) % len(names)]]


@cache
def _themes() -> dict[str, Theme]:
    return bundled_themes()
