"""Repeats an attempt up to a step, gives another action there, and lets the night go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agents.types import Action
from agents.wire import action_to_json
from bedside.home import session_folder
from replay.branching.errors import BranchError
from replay.branching.parent import Parent, parent_of
from replay.branching.play import Play
from replay.branching.prefix import prefix_of
from replay.branching.scene import scene_of
from replay.manifest import code_sha256, digest_of, ingredients, write_manifest
from replay.staging import staged
from replay.summary import Summary, summarise
from replay.trace_lines import Line, read_lines

if TYPE_CHECKING:
    from replay.attempt import WayOut
    from replay.progress import Report

TRACE: Final = "trace.jsonl"
HIDDEN: Final = "hidden.jsonl"
MANIFEST: Final = "manifest.json"
GIVEN: Final = "given at the branch"
"""Reason of an action for which none was given."""


@dataclass(frozen=True, slots=True)
class Branched:
    """A branch and its parent.

    id: of the branch. step, action: where it parts from the parent, as asked for.
    agent: who goes on. otherwise: steps of the prefix at which that agent asked for something else
    than was recorded. parted: first step whose line differs; None: the two traces are the same.
    same_agent, same_code: whether agent and program are those of the parent.
    """

    id: str
    folder: Path
    files: Mapping[str, Path]
    step: int
    action: Action
    agent: str
    otherwise: tuple[int, ...]
    same_agent: bool
    same_code: bool
    parent_sha256: str
    parent: Summary
    branch: Summary
    parted: int | None


def branch(
    place: Path,
    at: int,
    action: Action,
    *,
    then: str | None = None,
    night: Path | None = None,
    out: Path | None = None,
    progress: Report | None = None,
    way_out: WayOut | None = None,
) -> Branched:
    """Branch the attempt of a trace, a session's folder, or a trace in a run's folder.

    then: agent that goes on; None: the recorded one. night: file of the night, where it is not the
    bundled one. out: by default the session folder of the branch.

    Raises:
        BranchError: where the prefix does not come out byte by byte as it was recorded.
    """
    parent = parent_of(place)
    scene = scene_of(parent, then, night)
    recorded, setting, agent = scene.night, scene.setting, scene.agent
    prefix = prefix_of(parent.trace, at)
    action = _with_reason(action, prefix[-1].action)
    made_of = {
        **ingredients(recorded, agent, setting),
        "branch": _branch_of(parent, at, action, then),
    }
    branch_id = digest_of({**made_of, "charges": None})[:16]
    folder = out or session_folder(branch_id)
    if folder.absolute() == parent.trace.path.absolute().parent:
        raise BranchError(f"{folder}: is the parent's own folder; choose another --out")
    with staged(folder) as staging:
        files = {name: staging / name for name in (TRACE, HIDDEN)}
        play = Play(parent, recorded, setting, agent, prefix, action, way_out, progress)
        otherwise = play.run(files[TRACE], files[HIDDEN])
        write_manifest(staging / MANIFEST, made_of, files)
        written = {name: read_lines(path) for name, path in files.items()}
    return Branched(
        id=branch_id,
        folder=folder,
        files={name: folder / name for name in (TRACE, HIDDEN, MANIFEST)},
        step=at,
        action=action,
        agent=agent.name,
        otherwise=otherwise,
        same_agent=scene.same_agent,
        same_code=parent.manifest.get("code_sha256") == code_sha256(),
        parent_sha256=parent.trace.sha256,
        parent=summarise(parent.trace.lines, parent.hidden.lines, recorded.shown),
        branch=summarise(written[TRACE], written[HIDDEN], recorded.shown),
        parted=_parted(parent.trace.lines, written[TRACE]),
    )


def _with_reason(action: Action, recorded: Mapping[str, Any]) -> Action:
    """The recorded reason where the action is the recorded one: then nothing is changed at all."""
    if action.reason:
        return action
    bare = {key: value for key, value in recorded.items() if key != "reason"}
    asked = {key: value for key, value in action_to_json(action).items() if key != "reason"}
    reason = recorded.get("reason") if bare == asked else GIVEN
    return replace(action, reason=str(reason or ""))


def _branch_of(parent: Parent, at: int, action: Action, then: str | None) -> dict[str, Any]:
    return {
        "parent_trace_sha256": parent.trace.sha256,
        "parent_hidden_sha256": parent.hidden.sha256,
        "parent_session": parent.header.get("session"),
        "parent_key": parent.key,
        "parent_branch": parent.manifest.get("branch"),
        "step": at,
        "action": action_to_json(action),
        "then": then,
    }


def _parted(parent: Sequence[Line], branched: Sequence[Mapping[str, Any]]) -> int | None:
    """The first step whose line is another one."""
    ours, theirs = ([x for x in lines if x["kind"] == "step"] for lines in (branched, parent))
    for mine, its in zip(ours, theirs, strict=False):
        if mine != its:
            return int(mine["step"])
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))
