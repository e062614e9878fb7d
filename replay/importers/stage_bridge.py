"""Stage bridge: what a closed headband's companion wrote, as CSV or as JSON lines.

Source: our own contract, `docs/reference/importers.md`: stage words awake, light, deep, rem,
unknown; times in Unix seconds or ISO 8601 with an offset; a last line without newline is not whole.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bedside.recording import MemoryRecording, RecordingInfo
from bedside.stage_rule import LEAST_COVERAGE
from devices.types import (
    EPOCH_S,
    Battery,
    Contact,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Value,
)
from replay.importers.intake import (
    ImportFailed,
    ImportOptions,
    StageWords,
    check_length,
    checked,
    read_text,
    shown,
    slug,
)

FORMAT: Final = "stage_bridge"
STAGES: Final = {
    str(stage): stage for stage in (Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM, Stage.UNKNOWN)
}
VERSION: Final = 1
USUAL_INTERVAL_S: Final = 0.5
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_NS: Final = 1_000_000_000
_LATEST_S: Final = 2**63 // _NS
"""Unix seconds of the year 2262, where nanoseconds end; above it a number counts something else."""


class Row(NamedTuple):
    """One line of the file, checked."""

    wall_ns: int
    utc_offset_s: int | None
    reading: StageReading
    contact: bool | None
    battery: float | None
    seq: int | None


def recognises(path: Path, head: bytes) -> bool:
    """A header with `timestamp` and `stage`, or a JSON object with `t` and `stage`."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0].strip()
    if first.startswith(b"{"):
        return b'"stage"' in first and b'"t"' in first
    return {b"timestamp", b"stage"} <= {name.strip(b' "').lower() for name in first.split(b",")}


def read(path: Path, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    """One night that begins with the first sample."""
    text = read_text(path)
    whole, _, rest = text.rpartition("\n")
    words = StageWords(STAGES, lenient=options.lenient)
    records = _json_lines if text.lstrip().startswith("{") else _csv_lines
    rows = [_row(fields, words, place) for place, fields in records(path.name, whole)]
    if not rows:
        raise ImportFailed(f"{path.name}: has no whole line of data; copy it again")
    notes = ("last line without newline left out",) if rest.strip() else ()
    yield checked(_night(path, _in_order(rows), (*notes, *words.notes())), path.name)


def _in_order(rows: Sequence[tuple[str, Row]]) -> list[Row]:
    for (_, before), (place, row) in pairwise(rows):
        if row.wall_ns <= before.wall_ns:
            what = "repeats" if row.wall_ns == before.wall_ns else "runs backwards from"
            raise ImportFailed(f"{place}: its time {what} that of the line before; repair the file")
    place, last = rows[-1]
    check_length((last.wall_ns - rows[0][1].wall_ns) / _NS, place)
    return [row for _, row in rows]


def _night(path: Path, rows: Sequence[Row], notes: tuple[str, ...]) -> MemoryRecording:
    start_ns = rows[0].wall_ns
    samples = tuple(
        sample for row in rows for sample in _samples(row, (row.wall_ns - start_ns) / _NS)
    )
    interval_s = _interval_s(rows)
    used = {sample.stream for sample in samples}
    declared = {Stream.STAGE: interval_s, Stream.CONTACT: interval_s, Stream.BATTERY: interval_s}
    info = RecordingInfo(
        night_id=slug(path.stem),
        kind=FORMAT,
        origin=path.name,
        epochs=_epochs(rows, interval_s),
        streams=tuple(
            StreamInfo(stream, every, FORMAT)
            for stream, every in declared.items()
            if stream in used
        ),
        start_wall_ns=start_ns,
        utc_offset_s=rows[0].utc_offset_s,
        notes=notes,
    )
    return MemoryRecording(info, samples)


def _samples(row: Row, t: float) -> Iterator[Sample]:
    values: tuple[tuple[Stream, Value | None], ...] = (
        (Stream.STAGE, row.reading),
        (Stream.CONTACT, None if row.contact is None else Contact(row.contact)),
        (Stream.BATTERY, None if row.battery is None else Battery(row.battery)),
    )
    for stream, value in values:
        if value is not None:
            yield Sample(stream, t, value, FORMAT, seq=row.seq)


def _interval_s(rows: Sequence[Row]) -> float:
    """The usual time between two lines: twice a second unless the file shows another."""
    if len(rows) < 2:
        return USUAL_INTERVAL_S
    gaps = [(b.wall_ns - a.wall_ns) / _NS for a, b in pairwise(rows)]
    return min(EPOCH_S, max(0.01, round(median(gaps), 2)))


def _epochs(rows: Sequence[Row], interval_s: float) -> int:
    """Windows of 30 s from the first line on; the last one counts from a third of its lines on."""
    times_s = [(row.wall_ns - rows[0].wall_ns) / _NS for row in rows]
    last = int(times_s[-1] // EPOCH_S)
    in_last = sum(t >= last * EPOCH_S for t in times_s)
    return last + (in_last * interval_s / EPOCH_S >= LEAST_COVERAGE)


def _csv_lines(name: str, text: str) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [column.strip().lower() for column in next(reader, [])]
        if not {"timestamp", "stage"} <= set(header):
            raise ImportFailed(f"{name}, line 1: no column timestamp and stage; add the header")
        for cells in reader:
            if not cells:
                continue
            place = f"{name}, line {reader.line_num}"
            if len(cells) != len(header):
                raise ImportFailed(
                    f"{place}: broken row, {len(cells)} columns where the header has "
                    f"{len(header)}; repair it"
                )
            row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
            yield place, {key: value or None for key, value in row.items()}
    except csv.Error as error:
        raise ImportFailed(
            f"{name}, line {reader.line_num}: broken row ({error}); repair it"
        ) from None


def _json_lines(name: str, text: str) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{name}, line {number}"
        if not line.strip():
            continue
        try:
            message = json.loads(line, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            raise ImportFailed(f"{place}: is not JSON; repair or remove the line") from None
        if not isinstance(message, dict):
            raise ImportFailed(f"{place}: is no JSON object; repair or remove the line")
        yield place, _as_row(message, place)


def _as_row(message: Mapping[str, object], place: str) -> Mapping[str, str | None]:
    if message.get("v") != str(VERSION):
        raise ImportFailed(
            f"{place}: format version is {shown(str(message.get('v')))}, not {VERSION}; "
            "convert the file"
        )
    names = {"t": "timestamp", "conf": "confidence", "batt": "battery"}
    row: dict[str, str | None] = {}
    for key, value in message.items():
        if value is None or isinstance(value, str):
            row[names.get(key, key)] = value
        elif isinstance(value, bool):
            row[names.get(key, key)] = str(value).lower()
    return row


def _row(fields: Mapping[str, str | None], words: StageWords, place: str) -> tuple[str, Row]:
    wall_ns, utc_offset_s = _moment(fields.get("timestamp") or "", place)
    stage = words.stage(fields.get("stage") or "", place)
    confidence = _number(fields.get("confidence"), 1, f"{place}: confidence")
    contact = _truth(fields.get("contact"), f"{place}: contact")
    battery = _number(fields.get("battery"), 100, f"{place}: battery")
    seq = _counter(fields.get("seq"), f"{place}: seq")
    return place, Row(wall_ns, utc_offset_s, StageReading(stage, confidence), contact, battery, seq)


def _moment(text: str, place: str) -> tuple[int, int | None]:
    """UTC ns, and the offset from UTC where the text names one."""
    try:
        seconds = Decimal(text)
    except InvalidOperation:
        return _iso_moment(text, place)
    if not seconds.is_finite() or not 0 <= seconds < _LATEST_S:
        raise ImportFailed(f"{place}: time {shown(text)} is no Unix time in seconds; convert it")
    return int(seconds * _NS), None


def _iso_moment(text: str, place: str) -> tuple[int, int | None]:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ImportFailed(
            f"{place}: time {shown(text)} is neither Unix seconds nor ISO 8601; repair it"
        ) from None
    offset = moment.utcoffset()
    if offset is None:
        raise ImportFailed(f"{place}: time {shown(text)} has no offset from UTC; add one")
    since = moment.replace(tzinfo=None) - datetime(1970, 1, 1) - offset
    if not timedelta(0) <= since < timedelta(seconds=_LATEST_S):
        raise ImportFailed(f"{place}: time {shown(text)} is out of range; repair it")
    return since // timedelta(microseconds=1) * 1000, int(offset.total_seconds())


def _number(text: str | None, most: float, what: str) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise ImportFailed(f"{what} {shown(text)} is not within 0 and {most}; repair it")
    return number


def _counter(text: str | None, what: str) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ImportFailed(f"{what} {shown(text)} is no counter; repair it")
    return int(text)


def _truth(text: str | None, what: str) -> bool | None:
    if text is None:
        return None
    if text.lower() not in _TRUE + _FALSE:
        raise ImportFailed(f"{what} {shown(text)} is neither true nor false; repair it")
    return text.lower() in _TRUE
