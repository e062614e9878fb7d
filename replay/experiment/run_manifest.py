"""The manifest of a run: everything that settles its bytes, and nothing about the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from bedside.clock import SessionStart, clock_s
from bedside.configuration import default_toml
from devices.types import Stage
from devices.version import VERSION
from replay.experiment.contestants import development
from replay.experiment.spec import RunSpec
from replay.hypnogram import fine_letters, from_fine_letters, letters
from replay.manifest import (
    KEY_LENGTH,
    code_sha256,
    digest_of,
    recording_of,
    wake_table_of,
    words_sha256,
)
from replay.recorded_night import RecordedNight
from replay.tasks.start_points import start_points
from replay.tasks.task import STEPS, Task
from replay.wake_rule import WakeTable

SCHEMA: Final = 1
OF_ONE_SIDE: Final = ("agents", "seeds", "scales", "training_exposure", "units")
"""Fields of a manifest in which runs may differ and still stand in one table."""


@dataclass(frozen=True, slots=True)
class NightFacts:
    """What a run keeps of a night beside its samples. shown: fine letters."""

    id: str
    path: Path | None
    shown: str
    facts: Mapping[str, Any]

    def recorded(self) -> tuple[Stage, ...]:
        """What the stage stream shows."""
        return _stages(self.shown)


def run_manifest(
    spec: RunSpec,
    table: WakeTable,
    agents: Mapping[str, tuple[str, Mapping[str, Any]]],
    nights: Mapping[str, NightFacts],
    tasks: list[Mapping[str, Any]],
    units: int,
) -> dict[str, Any]:
    """Everything that settles the bytes of a run, with its id and comparability key."""
    parts: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "code_sha256": code_sha256(),
        "words_sha256": words_sha256(),
        "themes_sha256": digest_of(default_toml("themes")),
        "agents": dict(agents.values()),
        "seeds": list(spec.seeds),
        "scales": list(spec.scales),
        "steps": STEPS,
        "kinds": list(spec.kinds),
        "conditions": [condition.name for condition in spec.conditions],
        "mode": spec.mode,
        "dropout": spec.dropout,
        "overlay": spec.overlay,
        "latency_model": None
        if spec.latency is None
        else {"median_s": spec.latency.median_s, "spread": spec.latency.spread},
        "stop_is_latch": spec.stop_is_latch,
        "decisions": {**spec.decisions.as_dict(), "trial": spec.trial},
        "wake_table": wake_table_of(table),
        "awake_epochs": table.awake_epochs,
        "wake_options": table.options,
        "training_exposure": [night.info.night_id for night in development(spec.development)],
        "nights": {name: night.facts for name, night in nights.items()},
        "tasks": tasks,
        "units": units,
    }
    return {
        "id": digest_of(parts)[:KEY_LENGTH],
        "comparability_key": digest_of(_shared(parts))[:KEY_LENGTH],
        **parts,
    }


def night_facts(night: RecordedNight, path: Path | None) -> NightFacts:
    """What a manifest says of a night."""
    info = night.info
    start = SessionStart(info.start_wall_ns, info.utc_offset_s or 0)
    starts = start_points(night)
    facts = {
        **recording_of(night),
        "start_clock_s": clock_s(start),
        "start_assumed": start.assumed,
        "has_truth": info.truth_origin is not None,
        "shown": letters(night.shown),
        "hidden": letters(night.hidden),
        "lacking": dict(starts.lacking),
    }
    return NightFacts(info.night_id, path, fine_letters(night.shown), facts)


def task_facts(task: Task) -> Mapping[str, Any]:
    """What a manifest says of a task."""
    return {
        "night": task.night,
        "name": task.name,
        "kind": task.start.kind,
        "epoch": task.start.epoch,
        "clock": task.start.clock,
        "cluster": task.start.cluster,
        "theme": task.theme,
        "theme_number": task.theme_number,
        "seed": task.seed,
        "condition": task.condition.name,
    }


def _shared(parts: Mapping[str, Any]) -> dict[str, Any]:
    """What runs must have in common to stand in one table."""
    shared = {name: value for name, value in parts.items() if name not in OF_ONE_SIDE}
    shared["tasks"] = sorted({(t["night"], t["epoch"], t["condition"]) for t in parts["tasks"]})
    return shared


@lru_cache(4)
def _stages(shown: str) -> tuple[Stage, ...]:
    return from_fine_letters(shown)
