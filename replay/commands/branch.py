"""The command that asks what another action would have led to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.cli import print_json
from replay.progress import output_to_errors, shown_progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from replay.branching import Branched
    from replay.summary import Summary


def branch(
    trace: Path,
    /,
    *,
    at: int,
    action: str,
    then: str | None = None,
    night: Path | None = None,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Repeat an attempt up to a step, give another action there, and go on.

    The repeated part must come out byte by byte as it was recorded; else nothing is written.

    Parameters
    ----------
    trace
        A trace with its hidden trace and manifest beside it, or the folder of a session.
    at
        Step at which the action is given.
    action
        wait, sound:low, whisper:LINE, scent, light, diffuser or stop; or the JSON of an action.
    then
        Agent that goes on; by default the recorded one. It has seen what the recorded one saw.
    night
        File of the night, where it is not the bundled one.
    out
        Folder for trace, hidden trace and manifest.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.branching import asked_action
    from replay.branching import branch as play

    asked = asked_action(action)
    with output_to_errors(), shown_progress("Branching", quiet=json) as progress:
        done = play(trace, at, asked, then=then, night=night, out=out, progress=progress)
    if json:
        print_json(as_json(done))
    else:
        _say(done)
    return 0


def as_json(done: Branched) -> dict[str, Any]:
    """What `branch --json` prints."""
    from agents.wire import action_to_json

    return {
        "id": done.id,
        "parent_trace_sha256": done.parent_sha256,
        "step": done.step,
        "action": action_to_json(done.action),
        "then": done.agent,
        "same_agent": done.same_agent,
        "same_code": done.same_code,
        "asked_otherwise": list(done.otherwise),
        "parted": done.parted,
        "parent": _figures(done.parent),
        "branch": _figures(done.branch),
        "files": {name: str(path) for name, path in done.files.items()},
    }


def _figures(summary: Summary) -> dict[str, Any]:
    return {
        "ending": summary.ending,
        "steps": len(summary.stages),
        "cues": len(summary.cues),
        "cues_by_stage": summary.cues_by_stage,
        "asked": summary.asked,
        "refused": summary.refused,
        "wakings": len(summary.wakings),
        "violations": dict(summary.violations),
        "violations_delivered": dict(summary.violations_delivered),
    }


def _say(done: Branched) -> None:
    from replay.branching import action_in_words
    from replay.screen import Screen
    from replay.wording import clean, plural, steps_in_words

    screen, parent = Screen(), done.parent
    screen.heading(
        [
            f"Night {clean(str(parent.night['id']))}",
            f"{clean(parent.agent)}, then {clean(done.agent)}",
            f"at step {done.step}: {clean(action_in_words(done.action))}",
        ],
        style="bold",
    )
    repeated = f"{plural(done.step, 'step')} repeated byte by byte"
    parted = "the same to the end" if done.parted is None else f"another from step {done.parted}"
    screen.heading([repeated, parted])
    screen.blank()
    for label, one in (("", None), ("parent", done.parent), ("branch", done.branch)):
        screen.line(label, [(_row(one), "" if one else "bold")])
    for note in _notes(done, steps_in_words(done.otherwise) if done.otherwise else ""):
        screen.flow("note", [note], style="yellow")
    screen.flow("files", [f"{clean(str(done.folder))}/", *done.files])


def _row(summary: Summary | None) -> str:
    if summary is None:
        return f"{'steps':>6}{'cues':>6}{'in REM':>8}{'wakings':>9}{'violations':>12}  ending"
    return (
        f"{len(summary.stages):>6}{len(summary.cues):>6}{summary.cues_by_stage['rem']:>8}"
        f"{len(summary.wakings):>9}{_sum(summary.violations):>12}  {summary.ending}"
    )


def _sum(counts: Mapping[str, int]) -> int:
    return sum(counts.values())


def _notes(done: Branched, where: str) -> list[str]:
    notes = []
    if where:
        notes.append(f"{done.agent} asked for something else than was recorded: {where}")
    if not done.same_agent and done.agent == done.parent.agent:
        notes.append(f"{done.agent} is not built as it was when the trace was made")
    if not done.same_code:
        notes.append("the program has changed since the trace was made; the prefix has not")
    return notes
