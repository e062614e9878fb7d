"""The course of an attempt: its two traces, cut down to what a page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from devices.types import EPOCH_S, Stage
from replay.experiment.folder import hidden_path, trace_path
from replay.report.stages import stage_letter
from replay.trace_lines import Line, inserted_steps, parsed, read_bytes

ACTION_LETTERS: Final = {"wait": ".", "sound": "s", "whisper": "w", "object": "o", "stop": "x"}
INSERTED: Final = "i"
"""Letter of a hidden epoch that is no recording but wake after a cue."""
_SEEN: Final = b',"observation":{'
_ACTION: Final = b',"action":{'


@dataclass(frozen=True, slots=True)
class Asked:
    """A cue that was asked for.

    what: sound, whisper, scent, light or diffuser. played, said: volume and line that were
    delivered, where they are others than those asked. shown, true: letters at delivery; true None:
    nothing was rolled.
    """

    step: int
    t: float
    what: str
    volume: str | None
    played: str | None
    line: str | None
    said: str | None
    shown: str
    true: str | None
    delivered: bool
    woke: bool
    rules: tuple[str, ...]
    limits: tuple[str, ...]
    refused_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """One attempt, a letter a step where a letter will do.

    shown, hidden: stages; `i` in hidden is inserted wake. actions: of `ACTION_LETTERS`.
    reasons: of every decision, step by step. troubles: status and error of decisions that were not
    `ok`, by step. dropouts: steps that lost their readings. latencies: of decisions that took time.
    """

    start_clock_s: float
    first_epoch: int
    shown: str
    hidden: str
    actions: str
    reasons: tuple[str, ...]
    asked: tuple[Asked, ...]
    troubles: Mapping[int, tuple[str, str]]
    dropouts: tuple[int, ...]
    latencies: Mapping[int, float]
    ending: str

    def runs(self) -> list[tuple[int, int]]:
        """First step and length of decisions to be told as one: waits with one view and reason."""
        keys = (self._key(step) for step in range(len(self.actions)))
        found, start = [], 0
        for _, group in groupby(keys):
            length = sum(1 for _ in group)
            found.append((start, length))
            start += length
        return found

    def recorded_epoch(self, t: float) -> float:
        """Where the recording was at session time `t`, in epochs from its start."""
        played = t / EPOCH_S
        return self.first_epoch + played - self.hidden[: int(played)].count(INSERTED)

    def _key(self, step: int) -> tuple[object, ...]:
        if self.actions[step] != ACTION_LETTERS["wait"] or step in self.troubles:
            return (step,)
        return self.shown[step], self.hidden[step], self.reasons[step]


def read_course(folder: Path, key: str) -> Course:
    """The course of an attempt of the run in a folder.

    Raises:
        TraceError: a trace is missing or broken.
    """
    path, hidden = trace_path(folder, key), hidden_path(folder, key)
    return course(
        parsed(_without_observations(read_bytes(path)), str(path)),
        parsed(read_bytes(hidden), str(hidden)),
    )


def course(trace: Sequence[Line], hidden: Sequence[Line]) -> Course:
    """Cut down the lines of both traces of a whole attempt."""
    head = trace[0]
    steps = [line for line in trace if line["kind"] == "step"]
    events = [line for line in hidden if line["kind"] == "event"]
    rolls = {line["cue"]: line for line in events if line["event"] == "roll"}
    decisions = [(line["step"], line["decision"]) for line in steps]
    first_epoch = (head["night"] or {}).get("first_epoch", 0)
    return Course(
        start_clock_s=head["start_clock_s"],
        first_epoch=first_epoch,
        shown="".join(stage_letter(line["epoch"]["stage"]) for line in steps),
        hidden=_hidden(events, first_epoch, len(steps)),
        actions="".join(ACTION_LETTERS.get(line["action"]["kind"], "?") for line in steps),
        reasons=tuple(line["action"].get("reason") or "" for line in steps),
        asked=tuple(_asked(line, rolls) for line in steps if line["delivery"] is not None),
        troubles={
            step: (one["status"], one["error"] or "")
            for step, one in decisions
            if one["status"] != "ok"
        },
        dropouts=tuple(line["step"] for line in events if line["event"] == "dropout"),
        latencies={step: one["latency_s"] for step, one in decisions if one["latency_s"]},
        ending=trace[-1].get("ending", ""),
    )


def _without_observations(text: bytes) -> bytes:
    """The trace without what the agent saw: half of it, and nothing a page shows.

    A quote inside a JSON string has a backslash before it, so that no string can hold either mark.
    """
    first, *rest = text.split(_SEEN)
    parts = [first]
    for part in rest:
        end = part.find(_ACTION)
        parts += (part[end:],) if end >= 0 else (_SEEN, part)
    return b"".join(parts)


def _hidden(events: Sequence[Line], first_epoch: int, steps: int) -> str:
    """The true stage of every step that was played; a question mark where nothing is known."""
    letters = next((line["letters"] for line in events if line["event"] == "truth"), "")
    inserted, recorded = set(inserted_steps(events)), iter(letters[first_epoch:])
    return "".join(
        INSERTED if step in inserted else next(recorded, Stage.UNKNOWN.letter)
        for step in range(steps)
    )


def _asked(step: Line, rolls: Mapping[int, Line]) -> Asked:
    delivery, action = step["delivery"], step["action"]
    delivered: Mapping[str, Any] | None = delivery["delivered"]
    reached = delivered is not None and delivery["cue"] is not None
    roll = rolls.get(delivery["cue"]) if reached else None
    done = delivered or action
    line, volume = action.get("line"), action.get("volume")
    return Asked(
        step=step["step"],
        t=delivery["t"],
        what=done.get("object") or done["kind"],
        volume=volume,
        played=_if_other(done.get("volume"), volume),
        line=line,
        said=_if_other(done.get("line"), line),
        shown=stage_letter(delivery["shown"]),
        true=None if roll is None else stage_letter(roll["stage"]),
        delivered=reached,
        woke=roll is not None and roll["woken"],
        rules=tuple(delivery["rules"]),
        limits=tuple(delivery["limits"]),
        refused_by=tuple(delivery["refused_by"]),
    )


def _if_other(delivered: str | None, asked: str | None) -> str | None:
    return None if delivered == asked else delivered
