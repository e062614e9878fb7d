"""What a replay came to, counted from its two traces alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from devices.types import Stage
from replay.trace_lines import Line, inserted_steps

STAGE_NAMES: Final = ("awake", "rem", "light", "deep", "none")
"""Coarse stages in the field's order, wake on top; none: no reading."""
CHANGED: Final = ("dropout", "disturbed")
"""Hidden events of a step whose labels are not the recording's own."""


@dataclass(frozen=True, slots=True)
class CueDone:
    """A delivered cue. shown: coarse stage or none at delivery; true: hidden stage that was rolled
    on, None where nothing was rolled; woke: whether the roll woke the sleeper."""

    number: int
    step: int
    t: float
    kind: str
    volume: str | None
    shown: str
    true: str | None
    woke: bool
    rules: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Excluded:
    """Steps that cannot be compared with the recording, and why."""

    why: str
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of one attempt; `stages` has one name of `STAGE_NAMES` a step, as shown."""

    session: str
    night: Line
    agent: str
    mode: str
    seed: int
    wake_scale: float
    start_clock_s: float
    start_assumed: bool
    theme: str
    ending: str
    stages: tuple[str, ...]
    inserted: tuple[int, ...]
    compared: int
    mismatched: int
    excluded: tuple[Excluded, ...]
    cues: tuple[CueDone, ...]
    wakings: tuple[float, ...]
    asked: int
    refused: int
    rewritten: int
    violations: Mapping[str, int]
    violations_delivered: Mapping[str, int]
    limit_hits: Mapping[str, int]
    suspected_wakings: int
    decisions: Mapping[str, int]

    @property
    def epochs(self) -> int:
        """Recorded epochs that were played; inserted wake is not among them."""
        return len(self.stages) - len(self.inserted)

    @property
    def cues_by_stage(self) -> dict[str, int]:
        counts = Counter(cue.shown for cue in self.cues)
        return {name: counts[name] for name in STAGE_NAMES}

    @property
    def stage_counts(self) -> dict[str, int]:
        counts = Counter(self.stages)
        return {name: counts[name] for name in STAGE_NAMES}


def summarise(trace: Sequence[Line], hidden: Sequence[Line], recorded: Sequence[Stage]) -> Summary:
    """Count one attempt.

    trace, hidden: lines of whole traces. recorded: what the recording's stage stream shows.
    """
    head, foot, dark = trace[0], trace[-1], hidden[0]
    steps = [line for line in trace if line["kind"] == "step"]
    rolls = {line["cue"]: line for line in hidden if line.get("event") == "roll"}
    wakings = [line for line in hidden if line.get("event") == "waking"]
    inserted = tuple(step for step in inserted_steps(hidden) if step < len(steps))
    changed = {line["step"]: line["event"] for line in hidden if line.get("event") in CHANGED}
    compared, mismatched, excluded = _compare(steps, inserted, changed, head, recorded)
    deliveries = [step for step in steps if step["delivery"] is not None]
    return Summary(
        session=head["session"],
        night=head["night"],
        agent=head["agent"],
        mode=head["mode"],
        seed=dark["seed"],
        wake_scale=dark["wake_scale"],
        start_clock_s=head["start_clock_s"],
        start_assumed=head["start_assumed"],
        theme=head["theme"],
        ending=foot["ending"],
        stages=tuple(_name(step["epoch"]["stage"]) for step in steps),
        inserted=inserted,
        compared=compared,
        mismatched=mismatched,
        excluded=excluded,
        cues=tuple(_cue(step, rolls) for step in deliveries if step["delivery"]["cue"]),
        wakings=tuple(line["t"] for line in wakings),
        asked=len(deliveries),
        refused=foot["refused"],
        rewritten=foot["rewritten"],
        violations=foot["violations"],
        violations_delivered=foot["violations_delivered"],
        limit_hits=foot["limit_hits"],
        suspected_wakings=foot["suspected_wakings"],
        decisions=foot["decisions"],
    )


def _compare(
    steps: Sequence[Line],
    inserted: Sequence[int],
    changed: Mapping[int, str],
    head: Line,
    recorded: Sequence[Stage],
) -> tuple[int, int, tuple[Excluded, ...]]:
    """Compare every played epoch with the recording's own label."""
    skipped = frozenset(inserted)
    played = [step for step in steps if step["step"] not in skipped]
    first = head["night"]["first_epoch"]
    compared = mismatched = 0
    excluded: dict[str, list[int]] = {}
    for step, label in zip(played, recorded[first:], strict=False):
        if label is Stage.UNKNOWN:
            excluded.setdefault("no reading in the recording", []).append(step["step"])
        elif step["step"] in changed:
            excluded.setdefault(changed[step["step"]], []).append(step["step"])
        else:
            compared += 1
            mismatched += step["epoch"]["stage"] != label.coarse.value
    found = tuple(Excluded(why, tuple(numbers)) for why, numbers in excluded.items())
    return compared, mismatched, found


def _cue(step: Line, rolls: Mapping[int, Line]) -> CueDone:
    delivery = step["delivery"]
    roll = rolls.get(delivery["cue"])
    return CueDone(
        number=delivery["cue"],
        step=step["step"],
        t=delivery["t"],
        kind=delivery["delivered"].get("object", delivery["delivered"]["kind"]),
        volume=delivery["delivered"].get("volume"),
        shown=_name(delivery["shown"]),
        true=None if roll is None else _name(roll["stage"]),
        woke=roll is not None and roll["woken"],
        rules=tuple(delivery["rules"]),
        reason=step["action"]["reason"],
    )


def _name(stage: str | None) -> str:
    return "none" if stage is None or stage == "unknown" else Stage(stage).coarse.value
