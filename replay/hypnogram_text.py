"""A hypnogram in characters: a row a stage in the field's order, a column one or more epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from devices.types import EPOCH_S
from replay.summary import CueDone
from replay.wording import clock_ticks

ROWS: Final = ("awake", "rem", "light", "deep")
BLOCK: Final = "█"
CUE: Final = "▲"
WOKE: Final = "!"
TICK: Final = "╵"
_LABEL_COLUMNS: Final = 7
"""Least distance of two clock times."""


@dataclass(frozen=True, slots=True)
class TextHypnogram:
    """columns: the stage of each column, by majority of its epochs; ties go to the last seen."""

    columns: tuple[str, ...]
    epochs_a_column: int
    steps: int

    @property
    def rows(self) -> tuple[str, ...]:
        """The stages that have a row; epochs without a reading only where a column shows them."""
        return (*ROWS, "none") if "none" in self.columns else ROWS

    def row(self, name: str) -> str:
        return "".join(BLOCK if column == name else " " for column in self.columns)

    def clock(self, start_clock_s: float) -> str:
        """Local times, each at its column."""
        line = [" "] * len(self.columns)
        most = max(1, len(line) // _LABEL_COLUMNS)
        for t, label in clock_ticks(start_clock_s, self.steps * EPOCH_S, most):
            at = int(t / EPOCH_S) // self.epochs_a_column
            if at + len(label) < len(line):
                line[at : at + len(label) + 1] = TICK + label
        return "".join(line)

    def marks(self, cues: Sequence[CueDone]) -> str:
        """A mark in each column in which a cue was delivered, another where one woke."""
        line = [" "] * len(self.columns)
        for cue in sorted(cues, key=lambda cue: cue.woke):
            at = min(int(cue.t / EPOCH_S) // self.epochs_a_column, len(line) - 1)
            line[at] = WOKE if cue.woke else CUE
        return "".join(line)


def text_hypnogram(stages: Sequence[str], width: int) -> TextHypnogram:
    """stages: one name of `STAGE_NAMES` an epoch, at least one. width: most columns."""
    each = -(-len(stages) // max(1, width))
    columns = (_majority(stages[at : at + each]) for at in range(0, len(stages), each))
    return TextHypnogram(tuple(columns), each, len(stages))


def _majority(stages: Sequence[str]) -> str:
    last_seen = {name: at for at, name in enumerate(stages)}
    return max(last_seen, key=lambda name: (stages.count(name), last_seen[name]))
