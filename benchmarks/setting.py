"""The settings of measured attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bedside.configuration import default_toml, default_value
from bedside.themes import bundled_theme
from devices.types import Stage
from replay.hypnogram import first_sleep_epoch, longest_runs, rem_runs
from replay.setting import Setting
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
        steps=40,
        dropout=default_value("paprika", "replay.task_dropout", float),
        ends_at_stop=True,
    )


def start_points(stages: Sequence[Stage]) -> tuple[int, ...]:
    """The seed's start points: sleep onset, up to 12 REM starts, longest light, longest deep."""
    onset = first_sleep_epoch(stages)
    rem = [run for run in rem_runs(stages) if run.epochs >= 6]
    longest_12 = sorted(sorted(rem, key=lambda run: -run.epochs)[:12], key=lambda run: run.start)
    longest = longest_runs(stages)
    starts = [onset, *(run.start for run in longest_12)]
    starts += [longest[name].start for name in ("light", "deep") if name in longest]
    return tuple(start for start in starts if start is not None and start <= len(stages) - 41)
