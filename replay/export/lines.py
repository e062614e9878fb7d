"""Lines of a trace, one at a time and never more of the file in memory than one of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from bedside.trace import SCHEMA
from replay.export.errors import ExportError

LONGEST_LINE: Final = 1 << 22
"""Bytes of a line; a longer one is no line of a trace. Assumed."""
LARGEST_WINDOW: Final = 1 << 27
"""Bytes a compressed trace may make us keep. Source: the limit of the zstd program."""
COMPRESSED: Final = ".zst"

Line = dict[str, Any]


def raw_lines(path: Path) -> Iterator[bytes]:
    """The lines as bytes, each with its end; a name on `.zst` is decompressed as it is read."""
    with _opened(path) as file:
        while row := file.readline(LONGEST_LINE + 1):
            if len(row) > LONGEST_LINE:
                raise ExportError(f"{path}: a line of over {LONGEST_LINE} bytes; not a trace")
            yield row


def trace_lines(path: Path) -> Iterator[tuple[int, Line]]:
    """Each line with its number from 1, the header first and the footer last.

    Raises:
        ExportError: naming file and line, where it is no trace, of a newer schema or broken off.
    """
    number, kind = 0, ""
    for number, row in enumerate(raw_lines(path), 1):
        if kind == "footer":
            raise ExportError(f"{path}: line {number}: a line after the footer; not a whole trace")
        line = _parsed(path, number, row)
        kind = str(line.get("kind"))
        if number == 1:
            _check_header(path, line)
        yield number, line
    if kind != "footer":
        raise ExportError(f"{path}: broken off after line {number}; run that session again")


def _check_header(path: Path, line: Line) -> None:
    schema = line.get("schema")
    if line.get("kind") != "header" or not isinstance(schema, int):
        raise ExportError(f"{path}: line 1: not a trace (no header); give a trace.jsonl")
    if schema > SCHEMA:
        raise ExportError(
            f"{path}: schema {schema} is newer than {SCHEMA}, the newest known; update Paprika"
        )
    if schema != SCHEMA:
        raise ExportError(f"{path}: line 1: not a trace (no schema {SCHEMA})")


def _parsed(path: Path, number: int, row: bytes) -> Line:
    try:
        line = json.loads(row, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{path}: line {number}: not JSON ({error})") from error
    if not isinstance(line, dict):
        raise ExportError(f"{path}: line {number}: not a JSON object")
    return line


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            if path.suffix != COMPRESSED:
                yield file
                return
            import zstandard

            unpacked = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
            try:
                with unpacked.stream_reader(file, read_across_frames=True) as stream:
                    yield io.BufferedReader(stream, 1 << 16)
            except zstandard.ZstdError as error:
                raise ExportError(f"{path}: cannot be decompressed ({error})") from error
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror}; give a trace.jsonl or a folder") from error
