"""The header of an EDF or EDF+ file, checked against the bytes that are really there.

Source: the EDF specification of 1992 and EDF+ of 2003 (edfplus.info).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from replay.importers.intake import ImportFailed, shown

MAGIC: Final = b"0       "
ANNOTATIONS: Final = "EDF Annotations"
_FIXED_BYTES: Final = 256
_SIGNAL_BYTES: Final = 256
_WIDTHS: Final = (16, 80, 8, 8, 8, 8, 8, 80, 8, 32)
_LABEL, _DIMENSION, _SAMPLES = 0, 2, 8
_SAMPLE_BYTES: Final = 2
_HIDDEN_DATE: Final = (1, 1, 1985)
"""The first date EDF knows stands in files whose date was removed."""


@dataclass(frozen=True, slots=True)
class EdfSignalHeader:
    """One signal. offset_bytes: where its samples stand in a data record."""

    label: str
    dimension: str
    samples_per_record: int
    offset_bytes: int

    @property
    def size_bytes(self) -> int:
        return self.samples_per_record * _SAMPLE_BYTES


@dataclass(frozen=True, slots=True)
class EdfHeader:
    """What the file says of itself, with the records that are there.

    start: local time, None where the file hides or garbles it.
    """

    signals: tuple[EdfSignalHeader, ...]
    records: int
    record_s: float
    data_start: int
    continuous: bool
    start: datetime | None
    notes: tuple[str, ...]

    @property
    def record_bytes(self) -> int:
        return sum(signal.size_bytes for signal in self.signals)

    def parts(self, content: bytes, signal: EdfSignalHeader) -> Iterator[tuple[int, bytes]]:
        """The signal's bytes of each record, with their place in the file."""
        for record in range(self.records):
            begin = self.data_start + record * self.record_bytes + signal.offset_bytes
            yield begin, content[begin : begin + signal.size_bytes]


def holds_only_annotations(head: bytes) -> bool | None:
    """Whether an EDF file has nothing but annotations; None where it is no EDF file."""
    if not head.startswith(MAGIC):
        return None
    count = head[252:256].strip()
    if not count.isdigit() or int(count) < 1:
        return False
    labels = {head[256 + 16 * k : 272 + 16 * k].rstrip() for k in range(int(count))}
    return labels == {ANNOTATIONS.encode()}


def read_header(path: Path, head: bytes, size_bytes: int) -> EdfHeader:
    """Parse `head`, the first bytes of a file of `size_bytes`; refuses a file that was cut."""
    name = path.name
    if len(head) < _FIXED_BYTES or not head.startswith(MAGIC):
        at = min(len(head), _FIXED_BYTES)
        raise ImportFailed(f"{name}, byte {at}: no EDF header; copy it again")
    count = _whole(head, 252, 4, name, "number of signals")
    data_start = _FIXED_BYTES + count * _SIGNAL_BYTES
    if count < 1 or len(head) < data_start:
        raise ImportFailed(
            f"{name}, byte {len(head)}: cut in the header of {count} signals; copy it again"
        )
    signals = _signals(head, count, name)
    record_bytes = sum(signal.size_bytes for signal in signals)
    if not record_bytes:
        raise ImportFailed(
            f"{name}, byte {_FIXED_BYTES}: its records hold no samples; export it again"
        )
    declared = _whole(head, 236, 8, name, "number of records")
    records, notes = _records(name, declared, size_bytes - data_start, data_start, record_bytes)
    reserved = head[192:236]
    return EdfHeader(
        signals=signals,
        records=records,
        record_s=_seconds(head, name),
        data_start=data_start,
        continuous=not reserved.startswith(b"EDF+D"),
        start=_start(head, is_plus=reserved.startswith(b"EDF+")),
        notes=notes,
    )


def _records(
    name: str, declared: int, held_bytes: int, data_start: int, record_bytes: int
) -> tuple[int, tuple[str, ...]]:
    held, rest = divmod(held_bytes, record_bytes)
    if declared == -1 and held:
        return held, (f"number of records left open; {rest} bytes of an unfinished one left out",)
    if held < declared:
        raise ImportFailed(
            f"{name}, byte {data_start + held_bytes}: cut in the middle, the header declares "
            f"{declared} records to byte {data_start + declared * record_bytes}; copy it again"
        )
    if declared < 1:
        raise ImportFailed(f"{name}, byte {data_start}: holds no data record; copy it again")
    extra = held_bytes - declared * record_bytes
    return declared, (f"{extra} bytes after the last record left out",) if extra else ()


def _signals(head: bytes, count: int, name: str) -> tuple[EdfSignalHeader, ...]:
    fields, position = [], _FIXED_BYTES
    for width in _WIDTHS:
        fields.append([position + k * width for k in range(count)])
        position += width * count
    signals, offset = [], 0
    for k in range(count):
        samples = _whole(head, fields[_SAMPLES][k], 8, name, "samples in a record")
        if samples < 0:
            at = fields[_SAMPLES][k]
            raise ImportFailed(f"{name}, byte {at}: {samples} samples in a record; export again")
        label = _text(head, fields[_LABEL][k], 16)
        dimension = _text(head, fields[_DIMENSION][k], 8)
        signals.append(EdfSignalHeader(label, dimension, samples, offset))
        offset += samples * _SAMPLE_BYTES
    return tuple(signals)


def _seconds(head: bytes, name: str) -> float:
    text = _text(head, 244, 8)
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 <= seconds < math.inf:
        raise ImportFailed(f"{name}, byte 244: record of {shown(text)} s; export it again")
    return seconds


def _start(head: bytes, *, is_plus: bool) -> datetime | None:
    if is_plus and _text(head, 88, 80).split()[:2] == ["Startdate", "X"]:
        return None
    try:
        moment = datetime.strptime(_text(head, 168, 16), "%d.%m.%y%H.%M.%S")
    except ValueError:
        return None
    if (moment.day, moment.month, moment.year) == _HIDDEN_DATE:
        return None
    # EDF years run from 1985 to 2084; Python's two-digit years from 1969 to 2068.
    return moment.replace(year=moment.year + 100) if moment.year < 1985 else moment


def _whole(head: bytes, at: int, width: int, name: str, what: str) -> int:
    text = _text(head, at, width)
    try:
        return int(text)
    except ValueError:
        raise ImportFailed(
            f"{name}, byte {at}: {what} is {shown(text)}; copy or export it again"
        ) from None


def _text(head: bytes, at: int, width: int) -> str:
    return head[at : at + width].decode("latin-1").strip(" \0")
