"""Chunks: samples gathered into bytes, bytes sealed with an index, and taken apart again."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from bedside.recording import codec, eeg_blocks, mcap_records
from bedside.recording.channels import EEG_SUMMARY, TRUTH, Channel
from bedside.recording.errors import BadSample
from bedside.recording.info import RecordingInfo
from bedside.recording.mcap_records import CHANNEL, HEAD, MESSAGE, MESSAGE_HEAD, SCHEMA
from devices.types import VALUE_TYPES, EegBlock, Sample, Stream, Truth

UNKNOWN_WALL_BASE_NS: Final = 86_400_000_000_000
"""Log time of t = 0 where the wall time is unknown: one day, which leaves room for t < 0."""
CHUNK_BYTES: Final = 8 << 20
"""A chunk that has grown to this is closed before its time."""
DEFINE_EVERY: Final = 60
"""Definitions of channels are repeated every so many chunks: a lost one costs 5 minutes."""
SEQUENCES: Final = 2**32 - 1
"""Producers' counters are kept modulo this."""

_UNFIT: Final = (ValueError, TypeError, AttributeError, OverflowError, struct.error)


def base_ns(info: RecordingInfo) -> int:
    """Log time of t = 0."""
    return UNKNOWN_WALL_BASE_NS if info.start_wall_ns is None else info.start_wall_ns


def nanoseconds(seconds: float) -> int:
    """To the nearest; exact also where a float product would be off by hundreds (Unix times)."""
    if -4e6 < seconds < 4e6:
        return round(seconds * 1e9)
    numerator, denominator = seconds.as_integer_ratio()
    return (2 * numerator * 1_000_000_000 + denominator) // (2 * denominator)


class OpenChunk:
    """Gathers samples, in order of t, and gives them as the uncompressed bytes of a chunk."""

    def __init__(self, info: RecordingInfo) -> None:
        self.size = 0
        self._base_ns = base_ns(info)
        self._declared = {(str(each.stream), each.source): each for each in info.streams}
        self._channels: dict[tuple[str, str, bool], _Line] = {}
        self._summaries: dict[str, eeg_blocks.SecondSummary] = {}
        self._parts: list[bytes] = []
        self._new: list[Channel] = []
        self._taken = 0
        self._last_t = float("-inf")

    def go_on(self, channels: Iterable[Channel], last_t: float | None) -> None:
        """Take up a night where it was cut off: its channels and the t of its last sample."""
        for channel in channels:
            line = _Line(channel.number, channel, *_encoding(channel))
            self._channels[channel.kind, channel.source, channel.clocked] = line
        self._last_t = self._last_t if last_t is None else last_t

    def add(self, sample: Sample) -> None:
        """Raises BadSample, and keeps nothing of it, where the sample fits no file."""
        stream, t, value, source, device_t, seq = sample
        try:
            if not t >= self._last_t:
                raise ValueError(f"t goes back from {self._last_t} s")
            line = self._channels.get((stream, source, device_t is not None))
            if line is None:
                line = self._open_line(Stream(stream), source, device_t is not None)
            if type(value) is not line.value_type:
                raise ValueError(f"a {line.value_type.__name__} is expected")
            log = self._base_ns + nanoseconds(t)
            publish = log if device_t is None else nanoseconds(device_t)
            sequence = 0 if seq is None else seq % SEQUENCES + 1
            self._put(line.number, sequence, log, publish, line.encode(value))
        except _UNFIT as error:
            raise BadSample(
                f"{stream} of {source!r} at t = {t}: cannot be recorded ({error})"
            ) from error
        self._last_t = t
        if type(value) is EegBlock:
            self._summarise(source, t, value)

    def add_truth(self, truth: Truth, origin: str) -> None:
        line = self._line(TRUTH, origin, False)
        log = self._base_ns + nanoseconds(truth.t)
        self._put(line.number, 0, log, log, codec.truth_payload(truth.stage))

    def define_again(self) -> None:
        """Let the next chunk define every channel: an earlier one may not have reached the disk."""
        self._new = [line.channel for line in self._channels.values()]

    def take(self) -> bytes:
        """What was gathered since the last time; empty where that is nothing."""
        for source, summary in self._summaries.items():
            self._put_summary(source, self._last_t, summary.take())
        if not self._parts:
            return b""
        if self._taken % DEFINE_EVERY == 0:
            self.define_again()
        self._taken += 1
        data = b"".join([channel.definition() for channel in self._new] + self._parts)
        self._new, self._parts, self.size = [], [], 0
        return data

    def _put(self, number: int, sequence: int, log: int, publish: int, payload: bytes) -> None:
        if log < 0:
            raise ValueError("it is before 1970")
        head = MESSAGE_HEAD.pack(MESSAGE, 22 + len(payload), number, sequence, log, publish)
        self._parts.append(head + payload)
        self.size += len(head) + len(payload)

    def _line(self, kind: str, source: str, clocked: bool) -> _Line:
        line = self._channels.get((kind, source, clocked))
        return line or self._open_line(kind, source, clocked)

    def _open_line(self, kind: str, source: str, clocked: bool) -> _Line:
        source.encode("utf-8")
        declared = self._declared.get((kind, source))
        number = max((line.number for line in self._channels.values()), default=0) + 1
        channel = Channel(number, str(kind), source, self._base_ns, clocked, declared)
        line = _Line(number, channel, *_encoding(channel))
        self._channels[kind, source, clocked] = line
        self._new.append(channel)
        return line

    def _summarise(self, source: str, t: float, block: EegBlock) -> None:
        summary = self._summaries.setdefault(source, eeg_blocks.SecondSummary())
        self._put_summary(source, t, summary.add(t, block))

    def _put_summary(self, source: str, t: float, summary: eeg_blocks.Summary | None) -> None:
        if summary is not None:
            line = self._line(EEG_SUMMARY, source, False)
            log = self._base_ns + nanoseconds(t)
            self._put(line.number, 0, log, log, codec.dumps({"channels": summary}))


@dataclass(frozen=True, slots=True)
class _Line:
    """A channel that is being written, and how its values become bytes."""

    number: int
    channel: Channel
    value_type: type
    encode: Callable[[Any], bytes]


def _encoding(channel: Channel) -> tuple[type, Callable[[Any], bytes]]:
    stream = channel.stream
    if stream is None:
        return dict, codec.dumps
    encode = eeg_blocks.encode if stream is Stream.EEG else codec.encoder(stream)
    return VALUE_TYPES[stream], encode


@dataclass(slots=True)
class Contents:
    """What a chunk's bytes hold: definitions as they stand, and where its messages are.

    logs: log times of each channel's messages. offsets: where they begin.
    """

    schemas: dict[int, bytes]
    channels: dict[int, bytes]
    logs: dict[int, list[int]]
    offsets: dict[int, list[int]]


def contents(data: bytes) -> Contents:
    """Takes a chunk apart; ValueError where a record reaches past its end."""
    found = Contents({}, {}, {}, {})
    position, end = 0, len(data)
    while position < end:
        if end - position < HEAD.size:
            raise ValueError(f"a record is cut {position} bytes into the chunk")
        opcode, length = HEAD.unpack_from(data, position)
        after = position + HEAD.size + length
        if after > end or (opcode == MESSAGE and length < 22):
            raise ValueError(f"a record of {length} bytes does not fit the chunk")
        if opcode == MESSAGE:
            _, _, number, _, log, _ = MESSAGE_HEAD.unpack_from(data, position)
            found.logs.setdefault(number, []).append(log)
            found.offsets.setdefault(number, []).append(position)
        elif opcode in (SCHEMA, CHANNEL) and length >= 2:
            known = found.schemas if opcode == SCHEMA else found.channels
            number = int.from_bytes(data[position + 9 : position + 11], "little")
            known[number] = data[position:after]
        position = after
    return found


@dataclass(frozen=True, slots=True)
class SealedChunk:
    """A chunk record with its index records, ready to be appended.

    index_offsets: where each channel's index begins, counted from the first index.
    sizes: packed, unpacked.
    """

    record: bytes
    index: bytes
    index_offsets: dict[int, int]
    first: int
    last: int
    sizes: tuple[int, int]
    counts: dict[int, int]
    schemas: dict[int, bytes]
    channels: dict[int, bytes]


def seal(data: bytes, packed: bytes) -> SealedChunk:
    """Index the bytes of a chunk; `packed` are the same bytes, compressed."""
    found = contents(data)
    index, index_offsets = bytearray(), {}
    for number, logs in found.logs.items():
        index_offsets[number] = len(index)
        pairs = [value for pair in zip(logs, found.offsets[number], strict=True) for value in pair]
        index += mcap_records.message_index(number, struct.pack(f"<{len(pairs)}Q", *pairs))
    every = [log for logs in found.logs.values() for log in logs]
    first, last = min(every, default=0), max(every, default=0)
    return SealedChunk(
        record=mcap_records.chunk(first, last, len(data), zlib.crc32(data), packed),
        index=bytes(index),
        index_offsets=index_offsets,
        first=first,
        last=last,
        sizes=(len(packed), len(data)),
        counts={number: len(logs) for number, logs in found.logs.items()},
        schemas=found.schemas,
        channels=found.channels,
    )
