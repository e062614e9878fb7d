"""What a replay came to, counted from its two traces alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bedside.trace import SCHEMA, TraceError
from devices.types import EPOCH_S, Stage

Line = Mapping[str, Any]

STAGE_NAMES: Final = ("awake", "rem", "light", "deep", "none")
"""Coarse stages in the field's order, wake on top; none: no reading."""
CHANGED: Final = ("dropout", "disturbed")
"""Hidden events of a step whose labels are not the recording's own."""
LONGEST_TRACE_BYTES: Final = 1 << 30
"""More than a night of any agent; a file that unpacks to more is refused. Assumed."""


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


def read_lines(path: Path) -> list[Line]:
    """The lines of a whole trace; `.zst` is decompressed.

    Raises:
        TraceError: naming file and line, where it is broken off, of a newer schema, or no trace.
    """
    return parsed(read_bytes(path), str(path))


def read_bytes(path: Path) -> bytes:
    """The bytes of a trace file, decompressed where its name ends in `.zst`."""
    if not path.is_file():
        raise TraceError(f"{path}: No such file; give a trace.jsonl")
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}") from error
    if path.suffix != ".zst":
        return packed
    from zstandard import ZstdDecompressor, ZstdError

    try:
        reader = ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        text = reader.read(LONGEST_TRACE_BYTES + 1)
    except ZstdError as error:
        raise TraceError(f"{path}: not a whole zstd file ({error})") from error
    if len(text) > LONGEST_TRACE_BYTES:
        raise TraceError(f"{path}: more than {LONGEST_TRACE_BYTES} bytes; not a trace of ours")
    return text


def parsed(text: bytes, place: str) -> list[Line]:
    """The lines of a whole trace; `place` names it in errors, which are those of `read_lines`."""
    rows = text.decode(errors="replace").removesuffix("\n").split("\n") if text else []
    lines = _all_at_once(rows) or [_line(place, number, row) for number, row in enumerate(rows, 1)]
    if not lines or lines[0].get("kind") != "header":
        raise TraceError(f"{place}: line 1: not a trace (no header)")
    schema = lines[0].get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise TraceError(
            f"{place}: schema {schema} is newer than {SCHEMA}, the newest known; update Paprika"
        )
    if schema != SCHEMA:
        raise TraceError(f"{place}: line 1: not a trace (no schema {SCHEMA})")
    if lines[-1].get("kind") != "footer":
        raise TraceError(f"{place}: broken off after line {len(lines)}; a broken run has no score")
    return lines


def summarise(trace: Sequence[Line], hidden: Sequence[Line], recorded: Sequence[Stage]) -> Summary:
    """Count one attempt.

    trace, hidden: lines of whole traces. recorded: what the recording's stage stream shows.
    """
    head, foot, dark = trace[0], trace[-1], hidden[0]
    steps = [line for line in trace if line["kind"] == "step"]
    rolls = {line["cue"]: line for line in hidden if line.get("event") == "roll"}
    wakings = [line for line in hidden if line.get("event") == "waking"]
    inserted = _inserted(wakings, len(steps))
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


def _all_at_once(rows: Sequence[str]) -> list[Line] | None:
    """The lines parsed as one text, which is faster; None where a line must be named."""
    try:
        lines = json.loads(f"[{','.join(rows)}]")
    except (ValueError, RecursionError):
        return None
    whole = len(lines) == len(rows) and all(isinstance(line, dict) for line in lines)
    return lines if whole else None


def _line(place: str, number: int, row: str) -> Line:
    try:
        line = json.loads(row)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{place}: line {number}: not JSON ({error})") from error
    if not isinstance(line, dict):
        raise TraceError(f"{place}: line {number}: not a JSON object")
    return line


def _inserted(wakings: Iterable[Line], steps: int) -> tuple[int, ...]:
    """Steps that are inserted wake rather than recording."""
    inserted = {
        step
        for waking in wakings
        for step in range(round(waking["from_t"] / EPOCH_S), round(waking["until_t"] / EPOCH_S))
    }
    return tuple(sorted(step for step in inserted if step < steps))


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
        true=None if roll is None else roll["stage"],
        woke=roll is not None and roll["woken"],
        rules=tuple(delivery["rules"]),
        reason=step["action"]["reason"],
    )


def _name(stage: str | None) -> str:
    return "none" if stage is None or stage == "unknown" else Stage(stage).coarse.value
