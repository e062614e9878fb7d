"""The lines of a trace file: read whole, checked, packed or not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bedside.trace import SCHEMA, TraceError
from devices.types import EPOCH_S

Line = Mapping[str, Any]
"""A line of a trace: its keys stand in `docs/reference/trace.md`."""

LONGEST_TRACE_BYTES: Final = 1 << 30
"""More than a night of any agent; a file that unpacks to more is refused. Assumed."""
INSERTS: Final = ("waking", "onset_delay")
"""Hidden events that insert epochs of wake into a recording."""


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


def inserted_steps(hidden: Iterable[Line]) -> list[int]:
    """The steps that are inserted wake rather than recording, in order."""
    spans = (line for line in hidden if line.get("event") in INSERTS)
    return sorted(
        {
            step
            for span in spans
            for step in range(round(span["from_t"] / EPOCH_S), round(span["until_t"] / EPOCH_S))
        }
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
