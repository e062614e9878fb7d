"""Zeo headband: the CSV that its owners export, one row a night.

Column `Detailed Sleep Graph`: one digit each 30 s. Source: the export itself and its digits beside
the summary columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from bedside.recording import MemoryRecording
from devices.types import Stage
from replay.importers.intake import (
    ImportFailed,
    ImportOptions,
    StageWords,
    checked,
    label_night,
    local_as_utc_ns,
    read_text,
    shown,
)

FORMAT: Final = "zeo"
GRAPH: Final = "Detailed Sleep Graph"
START: Final = "Start of Night"
STAGES: Final = {
    "0": Stage.UNKNOWN,
    "1": Stage.AWAKE,
    "2": Stage.REM,
    "3": Stage.LIGHT,
    "4": Stage.DEEP,
}


def recognises(path: Path, head: bytes) -> bool:
    """The header row names the detailed graph."""
    return GRAPH.encode() in head.split(b"\n", 1)[0]


def read(path: Path, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    """Nights `zeo-01`, `zeo-02` … in row order; a bad row fails alone."""
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    header = _next_row(rows, path)
    if not header or GRAPH not in header or START not in header:
        raise ImportFailed(f"{path.name}, line 1: no column {GRAPH!r} and {START!r}; export again")
    row_number = 0
    while (row := _next_row(rows, path)) is not None:
        if not row:
            continue
        row_number += 1
        place = f"{path.name}, line {rows.line_num}"
        try:
            yield _night(header, row, row_number, path.name, place, options)
        except ImportFailed as failure:
            yield failure
    if not row_number:
        raise ImportFailed(f"{path.name}: has a header and no night; export again")


def _next_row(rows: Iterator[list[str]], path: Path) -> list[str] | None:
    try:
        return next(rows, None)
    except csv.Error as error:
        line = getattr(rows, "line_num", 0)
        raise ImportFailed(f"{path.name}, line {line}: broken row ({error}); repair it") from None


def _night(
    header: Sequence[str],
    row: Sequence[str],
    number: int,
    origin: str,
    place: str,
    options: ImportOptions,
) -> MemoryRecording:
    if len(row) != len(header):
        raise ImportFailed(
            f"{place}: broken row, {len(row)} columns where the header has {len(header)}; repair it"
        )
    cells = dict(zip(header, row, strict=True))
    digits = cells[GRAPH].split()
    if not digits:
        raise ImportFailed(f"{place}: {GRAPH!r} is empty; remove the row")
    words = StageWords(STAGES, lenient=options.lenient)
    stages = [words.stage(digit, place) for digit in digits]
    night = label_night(
        stages,
        night_id=f"zeo-{number:02d}",
        kind="headband_4stage",
        origin=origin,
        source=FORMAT,
        start_wall_ns=local_as_utc_ns(_start(cells[START], place)),
        notes=("start: local clock, the export names no time zone", *words.notes()),
    )
    return checked(night, place)


def _start(text: str, place: str) -> datetime:
    try:
        return datetime.strptime(text.strip(), "%m/%d/%Y %H:%M")
    except ValueError:
        raise ImportFailed(
            f"{place}: {START!r} is {shown(text)}, not MM/DD/YYYY HH:MM; repair it"
        ) from None
