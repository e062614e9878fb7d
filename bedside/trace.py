"""The decision trace: JSON Lines in canonical key order, every float rounded to declared decimals.

Keys and their order are in `docs/reference/trace.md`. Whether a line is on the disk before
anything plays is a property of the sink.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from devices.types import PaprikaError

SCHEMA: Final = 1
DECIMALS: Final = {
    "t": 3,
    "clock_s": 3,
    "latency_s": 3,
    "coverage": 4,
    "confidence": 4,
    "minutes": 4,
    "bpm": 2,
    "ms": 2,
    "g": 4,
    "s": 3,
    "celsius": 2,
    "dba": 2,
    "lux": 2,
    "pct": 2,
    "ppm": 1,
    "uv2": 2,
    "roll": 17,
}
"""Decimals of each kind of number in a trace."""

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode


class TraceError(PaprikaError):
    """A trace cannot be written or read; the message says which file and what to do."""


class Sink(Protocol):
    """Where lines go."""

    def write(self, line: bytes) -> None: ...

    async def settle(self, limit_s: float) -> bool:
        """True when all that was written is safe; False if that took longer than `limit_s`."""
        ...

    def close(self) -> None: ...


class MemorySink:
    """Keeps the lines; nothing to settle."""

    def __init__(self) -> None:
        self._lines = BytesIO()

    def write(self, line: bytes) -> None:
        self._lines.write(line)

    async def settle(self, limit_s: float) -> bool:
        return True

    def close(self) -> None:
        """Nothing is held."""

    def bytes(self) -> bytes:
        return self._lines.getvalue()


class FileSink:
    """A file of its own, written as lines come and never synced: for replays.

    It grows under a temporary name; only `close` gives it the real one, so a trace that was
    broken off cannot be taken for a whole one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._growing = path.with_name(f"{path.name}.{os.getpid()}.part")
        self._whole = False
        try:
            self._file: BinaryIO = self._growing.open("wb")
        except OSError as error:
            raise TraceError(f"{path}: {error.strerror}; choose another --out") from error

    def write(self, line: bytes) -> None:
        try:
            self._file.write(line)
        except OSError as error:
            raise self._failed(error) from error

    async def settle(self, limit_s: float) -> bool:
        return True

    def close(self) -> None:
        try:
            self._file.close()
            os.replace(self._growing, self._path)
            self._whole = True
        except OSError as error:
            raise self._failed(error) from error

    def discard(self) -> None:
        """Remove what was written, whole or not; for a replay that failed."""
        with suppress(OSError):
            self._file.close()
        self._growing.unlink(missing_ok=True)
        if self._whole:
            self._path.unlink(missing_ok=True)

    def _failed(self, error: OSError) -> TraceError:
        self.discard()
        return TraceError(
            f"{self._path}: {error.strerror}; free some space or choose another --out"
        )


class Trace:
    """Writes lines of named kinds to a sink, one `write` a line."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def line(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Write one line; `fields` are in their declared order and already rounded."""
        line = _encode({"kind": kind, **fields}) + "\n"
        self._sink.write(line.encode(errors="backslashreplace"))

    async def settle(self, limit_s: float) -> bool:
        return await self._sink.settle(limit_s)

    def close(self) -> None:
        self._sink.close()


def rounded(value: float | None, unit: str) -> float | None:
    """The number as a trace shows it; `unit` names its decimals in `DECIMALS`.

    What is no number, or endless, is as good as missing.
    """
    return None if value is None or not isfinite(value) else round(value, DECIMALS[unit])
