"""Walks over the records of a night file and gives its chunks, whole ones only.

No declared length is believed: each is held against the bytes that are there and a cap.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

import zstandard

from bedside.recording.errors import Damage
from bedside.recording.mcap_records import (
    CHUNK,
    CHUNK_HEAD,
    DATA_END,
    FOOTER,
    FOOTER_SIZE,
    HEAD,
    MAGIC,
    MESSAGE_INDEX,
)

LARGEST_CHUNK: Final = 64 << 20
"""Neither a chunk nor what it unpacks to may be larger."""
_LARGEST_RECORD: Final = LARGEST_CHUNK + 4096
_WINDOW: Final = 1 << 18
_OPCODES: Final = frozenset((CHUNK, MESSAGE_INDEX, DATA_END))
"""What stands between the head and the summary. Strict, so that a flipped bit in an opcode
cannot make a chunk look like a record of somebody else."""
_INDEX_HEAD: Final = struct.Struct("<xQHI")
_ZSTD: Final = b"\x04\x00\x00\x00zstd"
_PACKED_AT: Final = CHUNK_HEAD.size + len(_ZSTD)
_MAX_DAMAGES: Final = 100


class Chunk(NamedTuple):
    """byte: where its record begins. packed: as it stands in the file; data: uncompressed."""

    byte: int
    packed: bytes
    data: bytes


class Scan:
    """One walk over a file from `start`. What was wrong stands in `damages` afterwards.

    skip_first: a chunk right at `start` is passed over unread.
    seek_on: where the chain of records breaks, look for the next chunk instead of stopping.
    closed: the end of the data was reached, and the `summary` after it is whole.
    """

    def __init__(
        self, file: BinaryIO, start: int, *, skip_first: bool = False, seek_on: bool = False
    ) -> None:
        self.closed = False
        self.damages: list[Damage] = []
        self.summary = b""
        self._file = file
        self._skipped = start if skip_first else None
        self._seek_on = seek_on
        self._size = os.fstat(file.fileno()).st_size
        self._byte = start
        self._window = b""
        self._position = 0
        self._unpacker = zstandard.ZstdDecompressor()
        file.seek(start)

    def chunks(self) -> Iterator[Chunk]:
        """Every complete chunk in order; a broken one is noted and passed over."""
        while self._ahead(HEAD.size) or self._cut():
            opcode, length = HEAD.unpack_from(self._window, self._position)
            wrong = self._wrong(opcode, length)
            if wrong:
                if self._broken(wrong):
                    continue
                return
            byte, body = self._take(length)
            if opcode == DATA_END:
                self._read_end(byte)
                return
            if opcode == CHUNK:
                chunk = self._chunk(byte, body)
                if chunk is not None:
                    yield chunk
                self._pass_indexes()

    def _wrong(self, opcode: int, length: int) -> str:
        """Why no record of a night stands here, or nothing; a right one is in the window."""
        if opcode not in _OPCODES or length > _LARGEST_RECORD:
            return "no record of a night stands here"
        if not self._ahead(HEAD.size + length):
            return "the record that begins here is cut"
        if opcode == DATA_END and length != 4:
            return "the end of the night is broken"
        if opcode == MESSAGE_INDEX:
            entries = self._window[self._position + 11 : self._position + 15]
            if length != int.from_bytes(entries, "little") + 6:
                return "the index of a chunk is broken"
        return ""

    def _chunk(self, byte: int, body: bytes) -> Chunk | None:
        if byte == self._skipped:
            return None
        try:
            packed, data = unpack(body, self._unpacker)
        except (ValueError, struct.error, zstandard.ZstdError) as error:
            self._note(byte, f"the chunk that begins here is broken ({error})")
            return None
        return Chunk(byte, packed, data)

    def _read_end(self, byte: int) -> None:
        start = byte + HEAD.size + 4
        left = self._size - start
        if left > _LARGEST_RECORD or not self._ahead(left):
            self._note(byte, "the summary after the night is too long")
            return
        tail = self._window[self._position : self._position + left]
        if is_whole_summary(tail, start):
            self.closed = True
            self.summary = tail
        else:
            self._note(start, "the summary after the night is broken; the night itself is whole")

    def _pass_indexes(self) -> None:
        """Pass over the message indexes in the window; a night has tens of thousands."""
        window, position, size = self._window, self._position, len(self._window)
        while position + HEAD.size <= size and window[position] == MESSAGE_INDEX:
            if position + _INDEX_HEAD.size > size:
                break
            length, _, entries = _INDEX_HEAD.unpack_from(window, position)
            after = position + HEAD.size + length
            if after > size or length != entries + 6:
                break
            position = after
        self._position = position

    def _ahead(self, size: int) -> bool:
        """Have `size` bytes in the window from the position on; False: the file ends before."""
        left = len(self._window) - self._position
        if left >= size:
            return True
        here = self._byte + self._position
        if here + size > self._size:
            return False
        self._window = self._window[self._position :] + self._file.read(max(_WINDOW, size - left))
        self._byte, self._position = here, 0
        return len(self._window) >= size

    def _take(self, length: int) -> tuple[int, bytes]:
        byte, start = self._byte + self._position, self._position + HEAD.size
        self._position = start + length
        return byte, self._window[start : self._position]

    def _cut(self) -> bool:
        self._note(self._byte + self._position, "the file ends here without having been closed")
        return False

    def _broken(self, what: str) -> bool:
        """Note it; True where there is a later chunk to go on with."""
        self._note(self._byte + self._position, what)
        return self._seek_on and self._to_next_chunk()

    def _to_next_chunk(self) -> bool:
        back = HEAD.size + CHUNK_HEAD.size
        self._position += 1
        while self._ahead(back + len(_ZSTD)):
            found = self._window.find(_ZSTD, self._position + back)
            if found < 0:
                self._position = len(self._window) - back - len(_ZSTD) + 1
            elif self._window[found - back] == CHUNK:
                self._position = found - back
                return True
            else:
                self._position = found - back + 1
        return False

    def _note(self, byte: int, what: str) -> None:
        if len(self.damages) < _MAX_DAMAGES:
            self.damages.append(Damage(byte, what))


def unpack(body: bytes, unpacker: zstandard.ZstdDecompressor) -> tuple[bytes, bytes]:
    """A chunk record's body: the packed and the unpacked bytes, their CRC compared."""
    _, _, size, crc = CHUNK_HEAD.unpack_from(body)
    if body[CHUNK_HEAD.size : _PACKED_AT] != _ZSTD:
        raise ValueError("not packed by zstd")
    packed = body[_PACKED_AT + 8 :]
    if int.from_bytes(body[_PACKED_AT : _PACKED_AT + 8], "little") != len(packed):
        raise ValueError("its length is wrong")
    if size > LARGEST_CHUNK or zstandard.frame_content_size(packed) != size:
        raise ValueError("its unpacked size is wrong")
    data = unpacker.decompress(packed)
    if zlib.crc32(data) != crc:
        raise ValueError("its checksum is wrong")
    return packed, data


def is_whole_summary(tail: bytes, start: int) -> bool:
    """Whether the bytes from `start` to the end of the file are summary, footer and magic."""
    footer = len(tail) - FOOTER_SIZE
    if footer < 0 or not tail.endswith(MAGIC):
        return False
    opcode, length = HEAD.unpack_from(tail, footer)
    summary_start, _, crc = struct.unpack_from("<QQI", tail, footer + HEAD.size)
    guarded = memoryview(tail)[: -len(MAGIC) - 4]
    return (opcode, length, summary_start) == (FOOTER, 20, start) and zlib.crc32(guarded) == crc
