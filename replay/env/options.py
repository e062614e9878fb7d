"""From what `gymnasium.make` and `reset` are given to the setting of an episode."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from bedside.themes import Theme, bundled_theme, bundled_themes
from devices.types import Stream
from replay.conditions import PLAIN, Condition, condition_named
from replay.env.observations import LONGEST_MEMORY, LONGEST_THEME
from replay.env.starts import ANY, OptionError, Starts, drawn_condition
from replay.latency import LatencyModel
from replay.manifest import file_sha256, recording_of
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.tasks.task import HELD_OUT_SEEDS, STEPS, Task
from replay.tasks.task_set import theme_of
from replay.wake_rule import WakeTable, wake_table

if TYPE_CHECKING:
    import numpy as np

RESET_OPTIONS: Final = ("task", "start", "theme", "condition")
"""What `reset(options=…)` may hold; each goes before what the environment was made with."""
FIRST_OWN_SEED: Final = 65_536
"""Dice that the environment draws itself start here."""
INSTEAD: Final = 65_500
"""Added to a held-out seed that may not be rolled: dice that are neither drawn nor held out."""
ALLOWED: Final = "make(…, held_out=True) allows it"

Recorded = RecordedNight | str | PathLike[str] | None
Start = int | str | Task | None


class HeldOutSeed(UserWarning):
    """A held-out seed was given, and others were rolled in its place."""


@dataclass(frozen=True, slots=True)
class Options:
    """The rules of every episode; `docs/reference/environment.md` tells each."""

    start: Start = None
    steps: int | None = STEPS
    theme: Theme | str | None = None
    condition: Condition | str | None = None
    wake_scale: float = 1.0
    mode: Mode = Mode.OBSERVE
    dropout: float = 0.0
    latency: LatencyModel | None = None
    stable_deep: int | None = None
    held_out: bool = False

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise OptionError(f"steps is {self.steps}: give 1 or more, or None for all the night")
        if not 0.0 <= self.dropout <= 1.0:
            raise OptionError(f"dropout is {self.dropout}: give a chance from 0 to 1")
        if self.stable_deep is not None and self.stable_deep < 1:
            raise OptionError(f"stable_deep is {self.stable_deep}: give 1 or more, or None")
        _scaled(self.wake_scale)

    def setting(
        self,
        starts: Starts,
        asked: Mapping[str, Any],
        seed: int | None,
        own: np.random.Generator,
    ) -> Setting:
        """The setting of one episode.

        asked: the options of `reset`. seed: what `reset` was given; None: the seed of a task that
        is asked for by name, else one drawn from `own`. Whatever is drawn follows from the seed,
        so an episode is repeated by the seed that its hidden trace tells.
        """
        rolled = _drawn(own) if seed is None else self._allowed(seed)
        dice = _dice(rolled)
        start = asked.get("task", asked.get("start", self.start))
        task = self._task(starts, start, rolled, seed is None, dice)
        theme = asked.get("theme", self.theme)
        condition = _condition(asked.get("condition", self.condition), task, dice)
        if isinstance(task, Task):
            task = replace(task, condition=condition)
        return Setting(
            theme=_theme(theme, task),
            wake_table=_scaled(self.wake_scale),
            seed=task.seed if isinstance(task, Task) else rolled,
            mode=self.mode,
            first_epoch=task.start.epoch if isinstance(task, Task) else task,
            steps=self.steps,
            dropout=self.dropout,
            condition=condition,
            ends_at_stop=True,
            stable_deep=self.stable_deep,
            latency=self.latency,
        )

    def _task(
        self,
        starts: Starts,
        start: Start,
        rolled: int,
        by_name: bool,
        dice: np.random.Generator,
    ) -> Task | int:
        """The task, or else the epoch, at which the episode starts.

        by_name: whether a task that is named keeps its own seed.
        """
        if start is None:
            return starts.first_rem(rolled) or starts.check(0)
        if start == ANY:
            return starts.drawn(rolled, dice)
        if isinstance(start, str):
            start = starts.named(start)
        if isinstance(start, Task):
            starts.check(start.start.epoch)
            if not by_name:
                return starts.under(start, rolled)
            if start.held_out and not self.held_out:
                raise OptionError(f"task {start.name} is held out; {ALLOWED}")
            return start
        return starts.check(start)

    def _allowed(self, seed: int) -> int:
        if self.held_out or seed not in HELD_OUT_SEEDS:
            return seed
        warnings.warn(
            f"seed {seed} is held out: {INSTEAD + seed} is rolled in its place; {ALLOWED}",
            HeldOutSeed,
            stacklevel=2,
        )
        return INSTEAD + seed


def options_of(**given: Any) -> Options:
    """Options from words and numbers as well as from values."""
    try:
        given["mode"] = Mode(given["mode"])
    except ValueError:
        raise OptionError(f"mode is {given['mode']!r}: give {' or '.join(Mode)}") from None
    latency = given["latency"]
    if isinstance(latency, int | float):
        given["latency"] = LatencyModel(float(latency))
    return Options(**given)


def opened(recording: Recorded) -> RecordedNight:
    """The night that is meant: itself, a night file, or the bundled one.

    A file without EEG is read once and kept: an episode then begins in milliseconds.
    """
    if isinstance(recording, RecordedNight):
        return recording
    if recording is None:
        return _bundled()
    from bedside.recording import MemoryRecording, NightFile

    path = Path(recording)
    night = NightFile.open(path)
    if not night.closed:
        raise OptionError(
            f"{path}: torn or still being written; run `paprika recover {path}` first"
        )
    if any(info.stream is Stream.EEG for info in night.info.streams):
        return RecordedNight(night)
    return RecordedNight(MemoryRecording(night.info, tuple(night.samples()), night.truth()))


def recording_of_file(night: RecordedNight, recording: Recorded) -> Mapping[str, Any]:
    """What the recording brings to a trace's id; a file that was read into memory is itself."""
    made = recording_of(night)
    if recording is None or isinstance(recording, RecordedNight):
        return made
    return {**made, "file_sha256": file_sha256(Path(recording))}


def checked_reset_options(asked: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The same options, or OptionError where one is unknown."""
    asked = asked or {}
    for key in asked:
        if key not in RESET_OPTIONS:
            raise OptionError(f"reset option {key!r} is unknown; known: {', '.join(RESET_OPTIONS)}")
    return asked


def _drawn(own: np.random.Generator) -> int:
    return int(own.integers(FIRST_OWN_SEED, 2**31))


def _dice(seed: int) -> np.random.Generator:
    from numpy.random import PCG64, Generator

    return Generator(PCG64(seed))


@cache
def _bundled() -> RecordedNight:
    from replay.sample_night import sample_night

    return RecordedNight(sample_night())


@cache
def _scaled(scale: float) -> WakeTable:
    return wake_table(default_toml("wake_table"), scale)


@cache
def _named(theme: str) -> Theme:
    return bundled_theme(theme)


@cache
def _first_theme() -> Theme:
    return next(iter(bundled_themes().values()))


def _theme(asked: Theme | str | None, task: Task | int) -> Theme:
    if asked is None:
        return theme_of(task) if isinstance(task, Task) else _first_theme()
    theme = asked if isinstance(asked, Theme) else _named(asked)
    if len(theme.name) > LONGEST_THEME or len(theme.memory) > LONGEST_MEMORY:
        raise OptionError(
            f"theme {theme.name[:40]!r}: its name may have {LONGEST_THEME} characters, its memory "
            f"{LONGEST_MEMORY}; shorten it"
        )
    return theme


def _condition(
    asked: Condition | str | None, task: Task | int, dice: np.random.Generator
) -> Condition:
    if asked is None:
        return task.condition if isinstance(task, Task) else PLAIN
    if isinstance(asked, Condition):
        return asked
    return drawn_condition(dice) if asked == ANY else condition_named(asked)
