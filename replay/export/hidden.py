"""What the agent could not see, as records of a file of its own: one beside each step's record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from devices.types import EPOCH_S, LETTERS, Stage
from replay.export.columns import HIDDEN, shaped
from replay.export.errors import ExportError
from replay.export.lines import Line, trace_lines
from replay.export.records import Record

STAGES: Final = {
    letter: stage.value
    for stage, letter in LETTERS.items()
    if stage not in (Stage.N1, Stage.N2, Stage.UNKNOWN)
}
"""Coarse stage by letter; no stage for an epoch without one."""
_LISTS: Final = {"roll": "rolls", "waking": "wakings"}


class HiddenLines:
    """The hidden trace of one attempt."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: Line = {}
        self._events: list[tuple[int, Line]] = []
        self._wakings: list[tuple[float, float]] = []
        self._letters = ""
        for number, line in trace_lines(path):
            self._take(number, line)

    def _take(self, number: int, line: Line) -> None:
        if line.get("kind") == "header":
            self.header = line
        elif line.get("event") == "truth":
            self._letters = str(line.get("letters") or "")
        elif line.get("kind") == "event":
            self._events.append((number, line))
            if line.get("event") == "waking":
                self._wakings.append((self._time(number, line, "from_t"), self._until(line)))

    def records(self, steps: Sequence[Record], first_epoch: int) -> list[Record]:
        """One hidden record for each record of the trace, in the same order."""
        made = {record["step"]: self._record(record, first_epoch) for record in steps}
        for number, line in self._events:
            self._place(made, number, line)
        where = f"{self.path}: hidden record"
        return [shaped(record, HIDDEN, where) for record in made.values()]

    def _record(self, record: Record, first_epoch: int) -> Record:
        stage, inserted = self._stage(record["step"], first_epoch)
        return {
            "episode": record["episode"],
            "step": record["step"],
            "true_stage": stage,
            "inserted": inserted,
            "dropped": False,
            "rolls": [],
            "wakings": [],
            "awake_already": [],
            "reward_waking": 0.0 if record["valid"] else None,
        }

    def _stage(self, step: int, first_epoch: int) -> tuple[str | None, bool]:
        """The sleeper's stage in the epoch of a step, and whether a waking inserted it."""
        t, inserted = step * EPOCH_S, 0
        for from_t, until_t in self._wakings:
            if from_t <= t < until_t:
                return Stage.AWAKE.value, True
            inserted += round((until_t - from_t) / EPOCH_S) if t >= until_t else 0
        epoch = first_epoch + step - inserted
        letter = self._letters[epoch] if 0 <= epoch < len(self._letters) else ""
        return STAGES.get(letter), False

    def _place(self, made: Mapping[int, Record], number: int, line: Line) -> None:
        name = line["event"]
        step = line.get("step")
        if not isinstance(step, int):
            step = int(self._time(number, line, "t") // EPOCH_S) - 1
        record = made.get(step)
        if record is None:
            return  # of a step that the trace does not have: it was cancelled
        fields = {key: value for key, value in line.items() if key not in ("kind", "event")}
        if name == "dropout":
            record["dropped"] = True
        elif name == "awake_already":
            record["awake_already"].append(fields.get("cue"))
        elif name in _LISTS:
            fields.pop("step", None)
            record[_LISTS[name]].append(fields)
            if name == "waking" and record["reward_waking"] is not None:
                record["reward_waking"] += 1.0
        else:
            raise ExportError(f"{self.path}: line {number}: event {name!r} has no column")

    def _time(self, number: int, line: Line, key: str) -> float:
        value: Any = line.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9:
            return float(value)
        raise ExportError(f"{self.path}: line {number}: {key} is no time, got {value!r}")

    def _until(self, line: Line) -> float:
        return self._time(0, line, "until_t")
