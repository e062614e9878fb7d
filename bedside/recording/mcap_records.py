"""The records of an MCAP file that a night file is made of, as bytes.

Source: MCAP specification, https://mcap.dev/spec (version 0, little-endian throughout).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Final

MAGIC: Final = b"\x89MCAP0\r\n"

HEADER: Final = 0x01
FOOTER: Final = 0x02
SCHEMA: Final = 0x03
CHANNEL: Final = 0x04
MESSAGE: Final = 0x05
CHUNK: Final = 0x06
MESSAGE_INDEX: Final = 0x07
CHUNK_INDEX: Final = 0x08
STATISTICS: Final = 0x0B
METADATA: Final = 0x0C
METADATA_INDEX: Final = 0x0D
SUMMARY_OFFSET: Final = 0x0E
DATA_END: Final = 0x0F

HEAD: Final = struct.Struct("<BQ")
"""Opcode and length of what follows."""
MESSAGE_HEAD: Final = struct.Struct("<BQHIqq")
"""Opcode, length, channel, sequence, log time, publish time (both read as signed)."""
FOOTER_SIZE: Final = 9 + 20 + len(MAGIC)
"""Bytes at the end of a closed file: the footer and the magic."""
MESSAGE_FIELDS: Final = struct.Struct("<xI4xHIqq")
"""The same without opcode and the upper half of the length, for the reader's loop."""
CHUNK_HEAD: Final = struct.Struct("<QQQI")
"""First and last log time, uncompressed size and CRC."""
_STATISTICS: Final = struct.Struct("<QHIIIIQQ")


def record(opcode: int, body: bytes) -> bytes:
    return HEAD.pack(opcode, len(body)) + body


def text(value: str) -> bytes:
    raw = value.encode("utf-8")
    return struct.pack("<I", len(raw)) + raw


def _texts(values: Mapping[str, str]) -> bytes:
    raw = b"".join(text(name) + text(value) for name, value in values.items())
    return struct.pack("<I", len(raw)) + raw


def header(profile: str, library: str) -> bytes:
    return record(HEADER, text(profile) + text(library))


def metadata(name: str, values: Mapping[str, str]) -> bytes:
    return record(METADATA, text(name) + _texts(values))


def schema(number: int, name: str, encoding: str, data: bytes) -> bytes:
    body = struct.pack("<H", number) + text(name) + text(encoding)
    return record(SCHEMA, body + struct.pack("<I", len(data)) + data)


def channel(number: int, schema: int, topic: str, encoding: str, about: Mapping[str, str]) -> bytes:
    body = struct.pack("<HH", number, schema) + text(topic) + text(encoding) + _texts(about)
    return record(CHANNEL, body)


def chunk(first: int, last: int, size: int, crc: int, packed: bytes) -> bytes:
    head = CHUNK_HEAD.pack(first, last, size, crc) + text("zstd")
    return record(CHUNK, head + struct.pack("<Q", len(packed)) + packed)


def message_index(channel_number: int, entries: bytes) -> bytes:
    return record(MESSAGE_INDEX, struct.pack("<HI", channel_number, len(entries)) + entries)


def chunk_index(
    first: int,
    last: int,
    start: int,
    length: int,
    index_offsets: Mapping[int, int],
    index_length: int,
    sizes: tuple[int, int],
) -> bytes:
    """`sizes`: packed, unpacked."""
    offsets = b"".join(struct.pack("<HQ", *entry) for entry in index_offsets.items())
    body = struct.pack("<QQQQI", first, last, start, length, len(offsets)) + offsets
    return record(
        CHUNK_INDEX,
        body + struct.pack("<Q", index_length) + text("zstd") + struct.pack("<QQ", *sizes),
    )


def metadata_index(offset: int, length: int, name: str) -> bytes:
    return record(METADATA_INDEX, struct.pack("<QQ", offset, length) + text(name))


def statistics(
    counts: Mapping[int, int], schemas: int, chunks: int, first: int, last: int
) -> bytes:
    """`counts`: messages of each channel. A night file holds one metadata record."""
    raw = b"".join(struct.pack("<HQ", *entry) for entry in counts.items())
    total = sum(counts.values())
    body = _STATISTICS.pack(total, schemas, len(counts), 0, 1, chunks, first, last)
    return record(STATISTICS, body + struct.pack("<I", len(raw)) + raw)


def summary_offset(opcode: int, start: int, length: int) -> bytes:
    return record(SUMMARY_OFFSET, struct.pack("<BQQ", opcode, start, length))


def data_end(crc: int) -> bytes:
    return record(DATA_END, struct.pack("<I", crc))


def with_footer(summary: bytes, offsets: bytes, start: int) -> bytes:
    """The summary section, which stands at `start`, with the footer that guards it."""
    offsets_start = start + len(summary)
    guarded = summary + offsets + HEAD.pack(FOOTER, 20) + struct.pack("<QQ", start, offsets_start)
    return guarded + struct.pack("<I", zlib.crc32(guarded))


class Fields:
    """Reads one record's body field by field; ValueError where a length reaches past its end."""

    __slots__ = ("_body", "_position")

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._position = 0

    def take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._body):
            raise ValueError(f"{size} bytes declared, {len(self._body) - self._position} there")
        raw = self._body[self._position : end]
        self._position = end
        return raw

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def text(self) -> str:
        return self.take(self.number(4)).decode("utf-8")

    def texts(self) -> dict[str, str]:
        inner = Fields(self.take(self.number(4)))
        values = {}
        while inner._position < len(inner._body):
            name = inner.text()
            values[name] = inner.text()
        return values
