"""Night, setting and agent of a branch, found again from what stands beside its parent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.types import Agent, AgentError
from bedside.agent_loading import identity
from replay.branching.errors import BranchError
from replay.branching.parent import Parent, check_stages, night_of, setting_of
from replay.controls.contenders import contender
from replay.experiment.folder import MANIFEST

if TYPE_CHECKING:
    from replay.experiment.spec import RunSpec
    from replay.recorded_night import RecordedNight
    from replay.setting import Setting


@dataclass(frozen=True, slots=True)
class Scene:
    """agent: who goes on. same_agent: it is the recorded one, as it was built then."""

    night: RecordedNight
    setting: Setting
    agent: Agent
    same_agent: bool


def scene_of(parent: Parent, then: str | None, night: Path | None) -> Scene:
    """The scene of a session from its manifest, of an attempt of a run from the run's spec."""
    if parent.key is not None:
        return _of_run(parent, parent.key, then)
    recorded, setting = night_of(parent, night), setting_of(parent)
    name = str(parent.header.get("agent"))
    try:
        agent = contender(then or name)
    except AgentError as error:
        raise error if then else BranchError(f"{error}; give who goes on with --then") from error
    return Scene(recorded, setting, agent, parent.manifest.get("agent") == identity(agent))


def _of_run(parent: Parent, key: str, then: str | None) -> Scene:
    """What has changed since the run was made is told, not refused: the prefix proves itself."""
    from replay.experiment.folder import SPEC
    from replay.experiment.nights import opened
    from replay.experiment.run import agent_of, resolve
    from replay.experiment.run import setting_of as planned_setting
    from replay.experiment.spec import read_spec

    name = key.partition("/")[0]
    run = resolve(_narrowed(read_spec(parent.folder / SPEC), parent, key))
    planned = next((one for one in run.planned if one.unit.key == key), None)
    if planned is None:
        raise BranchError(f"{parent.trace.path}: no attempt {key} is planned in {parent.folder}")
    night = opened(run.nights[name].path, run.spec.overlay, in_memory=True)
    check_stages(night, _told(parent, "nights", name))
    setting = planned_setting(run.spec, planned, night)
    if then is not None:
        return Scene(night, setting, contender(then), False)
    same = _told(parent, "agents", planned.unit.agent) == run.manifest["agents"][planned.unit.agent]
    return Scene(night, setting, agent_of(run.spec, planned, night, setting), same)


def _narrowed(spec: RunSpec, parent: Parent, key: str) -> RunSpec:
    """The spec without the nights and tasks that the attempt is none of, where that is told."""
    night, name, _, scale = key.split("/")
    listed = parent.manifest.get("tasks")
    tasks = listed if isinstance(listed, list) else []
    tasks = [task for task in tasks if isinstance(task, Mapping)]
    mine = [task for task in tasks if (task.get("night"), task.get("name")) == (night, name)]
    told = {word: [task.get(word) for task in mine] for word in ("seed", "kind", "condition")}
    return replace(
        spec,
        nights=tuple(path for path in spec.nights if path.stem == night) or spec.nights,
        seeds=tuple(seed for seed in spec.seeds if seed in told["seed"]) or spec.seeds,
        kinds=tuple(kind for kind in spec.kinds if kind in told["kind"]) or spec.kinds,
        conditions=tuple(one for one in spec.conditions if one.name in told["condition"])
        or spec.conditions,
        scales=tuple(one for one in spec.scales if f"x{one:g}" == scale) or spec.scales,
    )


def _told(parent: Parent, *keys: str) -> Mapping[str, Any]:
    """An object inside a run's manifest."""
    found: Any = parent.manifest
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping):
        raise BranchError(f"{parent.folder / MANIFEST}: no {'.'.join(keys)} in it; run it again")
    return found
