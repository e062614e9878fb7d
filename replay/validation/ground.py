"""What the checks stand on: one night, one environment, and trials that several checks look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from agents.types import Agent
from agents.wait import WaitAgent
from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from bedside.themes import bundled_theme
from replay.controls.contenders import contender, needs_latch
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.summary import Summary
from replay.tasks.feasibility import feasible
from replay.tasks.task import Task
from replay.tasks.task_set import make_tasks, task_setting
from replay.trace_lines import Line
from replay.validation.environment import Environment
from replay.validation.nights import bench
from replay.validation.trials import Trial, trial
from replay.wake_rule import WakeTable

T = TypeVar("T")
SEED = 1
BENCH_DROPOUT = 0.25
"""On the small night, so that cues meet steps without a reading. Assumed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is kept of a trial: small, so that long nights and many tasks fit.

    cues: asked by the agent. deliveries: steps of the trace that asked for one.
    """

    summary: Summary
    steps: int
    cues: int
    deliveries: tuple[Line, ...]


class Ground:
    """A night, the environment under test, and trials made once."""

    def __init__(
        self, night: RecordedNight, environment: Environment, file: Path | None = None
    ) -> None:
        self.night = night
        self.environment = environment
        self.file = file
        self._kept: dict[str, Any] = {}

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Of the first seed."""
        return make_tasks(self.night, seeds=(SEED,))

    @cached_property
    def feasible(self) -> tuple[Task, ...]:
        """Tasks that can be passed."""
        table = self.setting().wake_table
        return tuple(one for one in self.tasks if feasible(self.night, one, table, dropout=0.0))

    def some_tasks(self, count: int) -> tuple[Task, ...]:
        """At most so many of the tasks, spread over all of them."""
        tasks = self.tasks
        every = max(1, -(-len(tasks) // count))
        return tasks[::every]

    def setting(self, scale: float = 1.0) -> Setting:
        """The whole night."""
        return Setting(bundled_theme("cat"), _table(self.environment, scale), SEED)

    def task_setting(self, task: Task, spec: str = "", *, scale: float = 1.0) -> Setting:
        """Of one attempt at a task, by this contender."""
        return task_setting(
            task,
            self.night,
            wake_table=_table(self.environment, scale),
            mode=Mode.OBSERVE,
            dropout=0.0,
            ends_at_stop=not needs_latch(spec),
        )

    def bench_setting(self, spec: str = "", **given: Any) -> Setting:
        """Of an attempt at the whole small night, in which no cue wakes."""
        made = Setting(bundled_theme("cat"), _table(self.environment, 0.0), SEED)
        return replace(made, **{"ends_at_stop": not needs_latch(spec), **given})

    def trial(self, agent: Agent, setting: Setting, night: RecordedNight | None = None) -> Trial:
        """One attempt, on this night unless another is given."""
        return trial(self.environment, night or self.night, agent, setting)

    @cached_property
    def waited(self) -> Trial:
        """The whole night, without a cue."""
        return self.trial(WaitAgent(), self.setting())

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """What several checks compare with, made once."""
        if name not in self._kept:
            self._kept[name] = make()
        value: T = self._kept[name]
        return value

    def at_task(self, spec: str, task: Task) -> Trial:
        """A contender at a task."""
        setting = self.task_setting(task, spec)
        return self.trial(contender(spec, night=self.night, task=task, setting=setting), setting)

    def on_tasks(self, spec: str) -> tuple[Seen, ...]:
        """A contender on all tasks; made once."""

        def made() -> tuple[Seen, ...]:
            return tuple(_kept(self.at_task(spec, task)) for task in self.tasks)

        return self.kept(f"{spec} on tasks", made)

    def on_bench(self, spec: str, *, dropout: float = 0.0) -> Seen:
        """A contender on the small night; made once."""

        def made() -> Seen:
            setting = self.bench_setting(spec, dropout=dropout)
            return _kept(self.trial(contender(spec), setting, bench()))

        return self.kept(f"{spec} on the small night, {dropout:g}", made)


def _kept(done: Trial) -> Seen:
    return Seen(done.summary, len(done.steps), done.probe.cues, tuple(done.deliveries))


@cache
def _table(environment: Environment, scale: float) -> WakeTable:
    return environment.wake_table(default_toml("wake_table"), scale)
