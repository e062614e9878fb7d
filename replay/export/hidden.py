"""What the agent could not see, as records of a file of its own: one beside each step's record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from devices.types import EPOCH_S, LETTERS, Stage
from replay.export.columns import HAPPENED, HIDDEN, shaped
from replay.export.errors import ExportError
from replay.export.records import MOST_STEPS, Record
from replay.trace_lines import INSERTS, Line, inserted_steps, read_lines

STAGES: Final = {
    letter: stage.value
    for stage, letter in LETTERS.items()
    if stage not in (Stage.N1, Stage.N2, Stage.UNKNOWN)
}
"""Coarse stage by letter; no stage for an epoch without one."""
OF_ONE_STEP: Final = ("dropout", "disturbed")
"""Events that speak of the step they name, and of no other."""


class HiddenLines:
    """The hidden trace of one attempt."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = read_lines(path)
        self.header: Line = lines[0]
        self._events = [(n, x) for n, x in enumerate(lines, 1) if x.get("kind") == "event"]
        for number, line in self._events:
            if line.get("event") in INSERTS:
                self._time(number, line, "from_t")
                self._time(number, line, "until_t")
        truths = (line for _, line in self._events if line.get("event") == "truth")
        self._letters = "".join(str(line.get("letters") or "") for line in truths)
        lengthened = lines[-1].get("inserted_epochs")  # 0 of a simulated night: it sleeps on
        self._inserted = frozenset(inserted_steps(lines) if lengthened else ())

    def records(self, steps: Sequence[Record], first_epoch: int) -> list[Record]:
        """One hidden record for each record of the trace, in the same order."""
        made = {record["step"]: self._record(record, first_epoch) for record in steps}
        for number, line in self._events:
            if line.get("event") != "truth":
                self._place(made, number, line)
        where = f"{self.path}: hidden record"
        return [shaped(record, HIDDEN, where) for record in made.values()]

    def _record(self, record: Record, first_epoch: int) -> Record:
        step = record["step"]
        lists = [column for column, _ in HAPPENED.values()]
        return {
            "episode": record["episode"],
            "step": step,
            "true_stage": self._stage(step, first_epoch),
            "inserted": step in self._inserted,
            "dropped": False,
            **{column: [] for column in (*lists, "other")},
            "reward_waking": 0.0 if record["valid"] else None,
        }

    def _stage(self, step: int, first_epoch: int) -> str | None:
        """The sleeper's stage in the epoch of a step."""
        if step in self._inserted:
            return Stage.AWAKE.value
        epoch = first_epoch + step - sum(one < step for one in self._inserted)
        letter = self._letters[epoch] if 0 <= epoch < len(self._letters) else ""
        return STAGES.get(letter)

    def _place(self, made: Mapping[int, Record], number: int, line: Line) -> None:
        name, t = str(line.get("event")), self._time(number, line, "t")
        step = line.get("step")
        if not isinstance(step, int):
            step = int(t // EPOCH_S) - 1
        if step not in made and name in OF_ONE_STEP:
            return  # of a step that the trace does not have: it was cancelled
        record = made[min(max(step, min(made)), max(made))]
        fields = {key: value for key, value in line.items() if key not in ("kind", "event", "step")}
        if name == "dropout":
            record["dropped"] = True
            fields.pop("t")
        elif name in HAPPENED:
            column, columns = HAPPENED[name]
            record[column].append({key: fields.pop(key) for key in columns if key in fields})
        if name == "waking" and record["reward_waking"] is not None:
            record["reward_waking"] += 1.0
        if fields:
            fields.pop("t", None)
            other = {"t": t, "event": name, "details": self._details(number, fields)}
            record["other"].append(other)

    def _details(self, number: int, fields: Mapping[str, Any]) -> str:
        try:
            return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (ValueError, RecursionError) as error:
            raise ExportError(f"{self.path}: line {number}: not JSON ({error})") from error

    def _time(self, number: int, line: Line, key: str) -> float:
        value: Any = line.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and 0.0 <= value <= MOST_STEPS * EPOCH_S:
            return float(value)
        raise ExportError(f"{self.path}: line {number}: {key} is no time, got {value!r}")
