"""The file side of writing: appends sealed chunks, and closes with a summary.

After any failure the file ends where its last complete chunk ended.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path

import zstandard

from bedside.recording import mcap_records
from bedside.recording.chunks import SealedChunk, seal
from bedside.recording.errors import write_failure
from bedside.recording.head import METADATA_NAME, NightHead, head_bytes
from bedside.recording.mcap_records import (
    CHANNEL,
    CHUNK_INDEX,
    MAGIC,
    METADATA_INDEX,
    SCHEMA,
    STATISTICS,
)


class McapFile:
    """A night file being written through a descriptor that it owns. Used from one thread."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        self._end = 0
        self._crc = 0
        self._compressor = zstandard.ZstdCompressor(level=3)
        self._summary = _Summary()

    def begin(self, head: NightHead) -> None:
        raw, start, length = head_bytes(head)
        self._write(raw)
        self._summary.metadata_index = mcap_records.metadata_index(start, length, METADATA_NAME)

    def append(self, data: bytes) -> None:
        """Compress and append the bytes of a chunk; after WriteFailed nothing is appended."""
        self.append_sealed(seal(data, self._compressor.compress(data)))

    def append_sealed(self, chunk: SealedChunk) -> None:
        start = self._end
        self._write(chunk.record + chunk.index)
        self._summary.note(chunk, start)

    def finish(self) -> None:
        """Close the night: end of data, summary, footer."""
        end = mcap_records.data_end(self._crc)
        self._write(end + self._summary.to_bytes(self._end + len(end)) + MAGIC)

    def sync(self) -> None:
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise write_failure(self._path, error) from error

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, raw: bytes) -> None:
        try:
            _write_all(self._descriptor, raw, self._end)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise write_failure(self._path, error) from error
        self._crc = zlib.crc32(raw, self._crc)
        self._end += len(raw)


def sync_folder(folder: Path) -> None:
    """Make a new or renamed file's name survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, raw: bytes, offset: int) -> None:
    view = memoryview(raw)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written


class _Summary:
    """What the closed file tells at its end; grows by about 100 bytes a chunk."""

    def __init__(self) -> None:
        self.metadata_index = b""
        self._chunk_indexes = bytearray()
        self._n_chunks = 0
        self._schemas: dict[int, bytes] = {}
        self._channels: dict[int, bytes] = {}
        self._counts: dict[int, int] = {}
        self._first: int | None = None
        self._last = 0

    def note(self, chunk: SealedChunk, start: int) -> None:
        index_start = start + len(chunk.record)
        self._chunk_indexes += mcap_records.chunk_index(
            chunk.first,
            chunk.last,
            start,
            len(chunk.record),
            {number: index_start + offset for number, offset in chunk.index_offsets.items()},
            len(chunk.index),
            chunk.sizes,
        )
        self._n_chunks += 1
        self._schemas |= chunk.schemas
        self._channels |= chunk.channels
        for number, count in chunk.counts.items():
            self._counts[number] = self._counts.get(number, 0) + count
        if chunk.counts:
            self._first = min(chunk.first, chunk.first if self._first is None else self._first)
            self._last = max(chunk.last, self._last)

    def to_bytes(self, start: int) -> bytes:
        """The summary section, which stands at `start`, and the footer."""
        groups = {
            SCHEMA: b"".join(self._schemas.values()),
            CHANNEL: b"".join(self._channels.values()),
            STATISTICS: self._statistics(),
            CHUNK_INDEX: bytes(self._chunk_indexes),
            METADATA_INDEX: self.metadata_index,
        }
        body, offsets = b"", b""
        for opcode, group in groups.items():
            if group:
                offsets += mcap_records.summary_offset(opcode, start + len(body), len(group))
                body += group
        return mcap_records.with_footer(body, offsets, start)

    def _statistics(self) -> bytes:
        numbers = {number: self._counts.get(number, 0) for number in self._channels}
        first = 0 if self._first is None else self._first
        return mcap_records.statistics(
            numbers, len(self._schemas), self._n_chunks, first, self._last
        )
