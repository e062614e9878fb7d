"""A run worked out: its nights, tasks, agents and units in order, and the manifest of it all."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from agents.types import Agent
from bedside.configuration import default_toml
from devices.types import PaprikaError
from replay.controls.contenders import contender, needs_latch
from replay.experiment.contestants import development, identities
from replay.experiment.nights import opened, task_night
from replay.experiment.rows import Unit
from replay.experiment.run_manifest import NightFacts, night_facts, run_manifest, task_facts
from replay.experiment.spec import RunSpec
from replay.manifest import made_of, recording_of, replay_id
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.tasks.feasibility import feasible
from replay.tasks.judging import unit_of
from replay.tasks.task import Task
from replay.tasks.task_set import make_tasks, task_setting
from replay.wake_rule import WakeTable, wake_table


class RunError(PaprikaError):
    """A run that cannot be made; the message names the option and says what to do."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One attempt to make. session: its id, which settles its bytes. agent: how to load it."""

    unit: Unit
    task: Task
    agent: str
    session: str


@dataclass(frozen=True, slots=True)
class Run:
    """Everything about a run before its first attempt; the manifest settles all of its bytes."""

    spec: RunSpec
    nights: Mapping[str, NightFacts]
    planned: tuple[Planned, ...]
    manifest: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.manifest["id"])


def resolve(spec: RunSpec, progress: Report | None = None) -> Run:
    """Work a run out; nothing is written and no attempt is made.

    Raises:
        PaprikaError: a night, an agent, an option is not as it must be.
    """
    _check(spec)
    table = _table(spec)
    agents = identities(spec)
    nights: dict[str, NightFacts] = {}
    planned: list[Planned] = []
    tasks: list[Mapping[str, Any]] = []
    paths = spec.nights or (None,)
    for number, path in enumerate(paths):
        if progress is not None and len(paths) > 1:
            progress(number, len(paths), "looking at nights")
        night = opened(path, spec.overlay, in_memory=path is None)
        facts = night_facts(night, path)
        if facts.id in nights:
            raise RunError(f"{path}: a second night {facts.id}; each can be in a run once")
        nights[facts.id] = facts
        base = task_night(path, spec.overlay, night)
        made = make_tasks(base, seeds=spec.seeds, kinds=spec.kinds, conditions=spec.conditions)
        tasks += [task_facts(task) for task in made]
        planned += _planned(spec, night, made, table, agents)
    if not planned:
        raise RunError("no night has a start point of these kinds; see `paprika tasks`")
    manifest = run_manifest(spec, table, agents, nights, tasks, len(planned))
    return Run(spec, nights, tuple(planned), manifest)


def setting_of(spec: RunSpec, planned: Planned, night: RecordedNight) -> Setting:
    """The setting of one attempt."""
    return _setting(spec, planned.agent, planned.task, night, _scaled(spec, planned.unit.scale))


def agent_of(spec: RunSpec, planned: Planned, night: RecordedNight, setting: Setting) -> Agent:
    """A new agent for one attempt."""
    return contender(
        planned.agent,
        night=night,
        task=planned.task,
        setting=setting,
        development=development(spec.development),
    )


def _setting(
    spec: RunSpec, agent: str, task: Task, night: RecordedNight, table: WakeTable
) -> Setting:
    return task_setting(
        task,
        night,
        wake_table=table,
        mode=spec.mode,
        dropout=spec.dropout,
        latency=spec.latency,
        ends_at_stop=not (spec.stop_is_latch or needs_latch(agent)),
    )


def _planned(
    spec: RunSpec,
    night: RecordedNight,
    tasks: tuple[Task, ...],
    table: WakeTable,
    agents: Mapping[str, tuple[str, Mapping[str, Any]]],
) -> Iterator[Planned]:
    recording, asked = recording_of(night), _asked(spec)
    for task in tasks:
        for scale in spec.scales:
            scaled = replace(table, scale=scale)
            possible = feasible(
                night, task, scaled, dropout=spec.dropout, mode=spec.mode, latency=spec.latency
            )
            for agent, (label, made) in agents.items():
                setting = _setting(spec, agent, task, night, scaled)
                parts = {**made_of(recording, made, setting), "decisions": asked}
                unit = unit_of(task, label, scale=scale, feasible=possible)
                yield Planned(unit, task, agent, replay_id(parts))


def _check(spec: RunSpec) -> None:
    for option, values in (
        ("--agents", spec.agents),
        ("--seeds", spec.seeds),
        ("--wake-scale", tuple(f"{scale:g}" for scale in spec.scales)),
        ("--conditions", tuple(condition.name for condition in spec.conditions)),
    ):
        if not values:
            raise RunError(f"{option}: give at least one")
        if len(set(values)) < len(values):
            raise RunError(f"{option}: {' '.join(map(str, values))}: each may be given once")
    if spec.trial < 1:
        raise RunError(f"--trial {spec.trial}: give 1 or more")
    for scale in spec.scales:
        wake_table(default_toml("wake_table"), scale)
    if not 0.0 <= spec.dropout <= 1.0:
        raise RunError(f"--dropout {spec.dropout:g}: give a chance from 0 to 1")


def _asked(spec: RunSpec) -> Mapping[str, Any]:
    """What of paid services settles the bytes of a trace; nothing where there are none."""
    if not spec.decisions.services:
        return {}
    return {**spec.decisions.as_dict(), "trial": spec.trial}


def _table(spec: RunSpec) -> WakeTable:
    return _read_table(spec.wake_table, spec.wake_options)


def _scaled(spec: RunSpec, scale: float) -> WakeTable:
    return replace(_table(spec), scale=scale)


@cache
def _read_table(path: Path | None, options: tuple[str, ...]) -> WakeTable:
    if path is None:
        return wake_table(default_toml("wake_table"), options=options)
    try:
        with path.open("rb") as file:
            return wake_table(tomllib.load(file), options=options)
    except OSError as error:
        raise RunError(f"--wake-table {path}: {error.strerror}") from None
    except (PaprikaError, ValueError) as error:
        raise RunError(f"--wake-table {path}: {error}") from None
