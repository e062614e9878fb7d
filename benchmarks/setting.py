"""The settings of measured attempts."""

from __future__ import annotations

from dataclasses import replace

from bedside.configuration import default_toml, default_value
from bedside.themes import bundled_theme
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.tasks.start_points import start_points
from replay.tasks.task import STEPS
from replay.wake_rule import wake_table


def plain(wake_scale: float = 1.0) -> Setting:
    """A whole night as `paprika replay` does it."""
    return Setting(bundled_theme("forest"), wake_table(default_toml("wake_table"), wake_scale))


def task(first_epoch: int, *, seed: int = 1, wake_scale: float = 1.0) -> Setting:
    """A task of the seed: 40 steps, 2 % dropout, over when the agent stops."""
    return replace(
        plain(wake_scale),
        seed=seed,
        first_epoch=first_epoch,
        steps=STEPS,
        dropout=default_value("paprika", "replay.task_dropout", float),
        ends_at_stop=True,
    )


def starts_of(night: RecordedNight) -> tuple[int, ...]:
    """The epochs at which the seed's tasks start."""
    return tuple(point.epoch for point in start_points(night).points)
