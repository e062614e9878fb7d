"""Small files of every format, written out here by hand from the formats' own rule-books."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest


class EdfSignalSpec(NamedTuple):
    """A signal to write: label, unit, physical and digital range, samples of each record."""

    label: str
    unit: str
    physical: tuple[str, str]
    digital: tuple[int, int]
    records: Sequence[Sequence[int]]


def edf_bytes(
    signals: Sequence[EdfSignalSpec],
    *,
    reserved: str = "",
    recording: str = "Startdate 24-APR-1989 X X X",
    start: tuple[str, str] = ("24.04.89", "16.13.00"),
    record_s: str = "1",
    records: int | None = None,
) -> bytes:
    """An EDF file, field by field as the specification of 1992 lists them."""
    count = len(signals[0].records)
    header = [
        f"{'0':<8}{'X X X X':<80}{recording:<80}{start[0]:<8}{start[1]:<8}",
        f"{256 * (1 + len(signals)):<8}{reserved:<44}",
        f"{count if records is None else records:<8}{record_s:<8}{len(signals):<4}",
    ]
    columns: list[tuple[int, Callable[[EdfSignalSpec], object]]] = [
        (16, lambda one: one.label),
        (80, lambda one: ""),
        (8, lambda one: one.unit),
        (8, lambda one: one.physical[0]),
        (8, lambda one: one.physical[1]),
        (8, lambda one: one.digital[0]),
        (8, lambda one: one.digital[1]),
        (80, lambda one: ""),
        (8, lambda one: len(one.records[0])),
        (32, lambda one: ""),
    ]
    for width, field in columns:
        header += [f"{field(one)!s:<{width}}" for one in signals]
    data = b"".join(
        struct.pack(f"<{len(one.records[k])}h", *one.records[k])
        for k in range(count)
        for one in signals
    )
    return "".join(header).encode("ascii") + data


def annotation_bytes(*lists: str, size: int = 400, **header: str) -> bytes:
    """An EDF+C file of one record that holds only annotations, each list as EDF+ writes it."""
    content = ("\0".join(("+0\x14\x14", *lists)) + "\0").encode("utf-8").ljust(size, b"\0")
    samples = struct.unpack(f"<{size // 2}h", content)
    signal = EdfSignalSpec("EDF Annotations", "", ("-1", "1"), (-32768, 32767), [samples])
    return edf_bytes([signal], reserved="EDF+C", record_s="0", **header)


def stage_at(onset_s: float, duration_s: float, text: str) -> str:
    return f"+{onset_s:g}\x15{duration_s:g}\x14{text}\x14"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file under a name and get its path."""

    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@pytest.fixture
def edf() -> Callable[..., bytes]:
    return edf_bytes


@pytest.fixture
def signal() -> type[EdfSignalSpec]:
    return EdfSignalSpec


@pytest.fixture
def annotated() -> Callable[..., bytes]:
    return annotation_bytes


@pytest.fixture
def stage_text() -> Callable[[float, float, str], str]:
    return stage_at
