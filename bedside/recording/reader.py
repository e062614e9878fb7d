"""Reading a night file: as a stream, chunk by chunk, so memory does not grow with the night."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from bedside.recording import codec, eeg_blocks
from bedside.recording.channels import TRUTH, Channel, read_channel
from bedside.recording.chunks import contents
from bedside.recording.errors import Damage, DamagedNight, NotANightFile
from bedside.recording.head import NightHead, read_head
from bedside.recording.info import RecordingInfo
from bedside.recording.mcap_records import (
    CHANNEL,
    HEAD,
    MAGIC,
    MESSAGE,
    MESSAGE_FIELDS,
    MESSAGE_HEAD,
)
from bedside.recording.scan import Chunk, Scan
from devices.types import Sample, Stream, Truth, Value

_REMEMBERED = 16384
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError)


class NightFile:
    """A night on disk. `damage` is known once `samples` has run to the end: where the file stops
    being whole, None for a closed file. Reading goes past a broken chunk, and ends where the
    chain of records does."""

    __slots__ = ("_head", "damage", "path")

    def __init__(self, path: Path, head: NightHead) -> None:
        self.path = path
        self.damage: Damage | None = None
        self._head = head

    @classmethod
    def open(cls, path: str | Path) -> NightFile:
        """Reads the head only; raises NotANightFile, HeaderLost or NewerSchema."""
        path = Path(path)
        with opened(path) as file:
            try:
                return cls(path, read_head(file, path))
            except OSError as error:
                raise NotANightFile(f"{path}: cannot be read ({error.strerror})") from error

    @property
    def closed(self) -> bool:
        """Whether the file ends as a closed one does; only reading it all tells if it is whole."""
        with opened(self.path) as file:
            file.seek(-min(len(MAGIC), self.path.stat().st_size), SEEK_END)
            return file.read() == MAGIC

    @property
    def info(self) -> RecordingInfo:
        return self._head.info

    def samples(self, streams: frozenset[Stream] | None = None) -> Iterator[Sample]:
        """Samples in order of t; raises DamagedNight where whole bytes say something impossible."""
        for batch in self._batches(streams):
            yield from batch

    def batches(self, from_t: float = 0.0) -> Iterator[Sequence[Sample]]:
        """As `samples`, a chunk at a time, from the chunk on that reaches `from_t`."""
        batches = self._batches(None)
        return dropwhile(lambda batch: not batch or batch[-1].t < from_t, batches)

    def _batches(self, streams: frozenset[Stream] | None) -> Iterator[Sequence[Sample]]:
        """One loop without calls: a night has a hundred thousand messages."""
        unpack, new, as_sample = MESSAGE_FIELDS.unpack_from, tuple.__new__, Sample
        base_ns, latest = self._head.base_ns, -(2**63)
        routes = _Routes(self.path, streams)
        route_of = routes.by_number.get
        for chunk in self._chunks(skip_first=self._head.truths > 0):
            data = chunk.data
            batch: list[Sample] = []
            append = batch.append
            position, end = 0, len(data)
            while position < end:
                if data[position] != MESSAGE:
                    position = routes.define(chunk, position)
                    continue
                try:
                    length, number, sequence, log, publish = unpack(data, position)
                except struct.error:
                    routes.impossible(chunk, "a message is cut")
                after = position + 9 + length
                if after > end or length < 22:
                    routes.impossible(chunk, "a message does not fit its chunk")
                route = route_of(number)
                if route is None:
                    position = after
                    continue
                stream, source, clocked, known, decode = route
                payload = data[position + 31 : after]
                value = None if known is None else known.get(payload)
                if value is None:
                    try:
                        value = decode(payload)
                    except _UNREADABLE as error:
                        routes.impossible(chunk, f"{stream} of {source!r}: {error}")
                    if known is not None:
                        if len(known) >= _REMEMBERED:
                            known.clear()
                        known[payload] = value
                if log < latest:
                    routes.impossible(chunk, f"{stream} of {source!r}: time goes back")
                latest, position = log, after
                append(
                    new(
                        as_sample,
                        (
                            stream,
                            (log - base_ns) / 1e9,
                            value,
                            source,
                            publish / 1_000_000_000 if clocked else None,
                            sequence - 1 if sequence else None,
                        ),
                    )
                )
            yield batch

    def truth(self) -> tuple[Truth, ...]:
        """Reads the first chunk alone; raises DamagedNight where the truth is lost."""
        if self._head.truths == 0:
            return ()
        for chunk in self._chunks(skip_first=False):
            found = tuple(self._truths(chunk))
            if len(found) == self._head.truths:
                return found
            break
        raise DamagedNight(
            f"{self.path}: byte {self._head.end}: the truth of this night is lost; "
            f"import the recording again"
        )

    def _truths(self, chunk: Chunk) -> Iterator[Truth]:
        try:
            for log, payload in truth_messages(chunk.data):
                yield Truth((log - self._head.base_ns) / 1e9, codec.truth_stage(payload))
        except _UNREADABLE as error:
            _Routes(self.path, None).impossible(chunk, f"truth: {error}")

    def _chunks(self, skip_first: bool) -> Iterator[Chunk]:
        with opened(self.path) as file:
            scan = Scan(file, self._head.end, skip_first=skip_first)
            yield from scan.chunks()
            self.damage = scan.damages[0] if scan.damages else None


def opened(path: Path) -> BinaryIO:
    """The file, open for reading; NotANightFile where there is none to read."""
    try:
        if path.exists() and not path.is_file():
            what = "a directory" if path.is_dir() else "a device"
            raise NotANightFile(f"{path}: {what}, not a file; give a night file (.mcap)")
        return path.open("rb")
    except OSError as error:
        raise NotANightFile(f"{path}: cannot be read ({error.strerror or error})") from error


def truth_messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Log time and payload of the truth in a chunk; ValueError on anything broken."""
    found = contents(data)
    for number, raw in found.channels.items():
        channel = read_channel(raw[HEAD.size :])
        if channel is None or channel.kind != TRUTH:
            continue
        offsets = found.offsets.get(number, [])
        for log, start in zip(found.logs.get(number, []), offsets, strict=True):
            _, length = HEAD.unpack_from(data, start)
            yield log, data[start + MESSAGE_HEAD.size : start + HEAD.size + length]


class _Route(NamedTuple):
    """Where a channel's messages go. known: values by their bytes; None: never remembered."""

    stream: Stream
    source: str
    clocked: bool
    known: dict[bytes, Value] | None
    decode: Callable[[bytes], Value]


class _Routes:
    """The channels of a file as its chunks define them; those not asked for lead nowhere."""

    def __init__(self, path: Path, streams: frozenset[Stream] | None) -> None:
        self.by_number: dict[int, _Route] = {}
        self._path = path
        self._streams = streams
        self._seen: dict[int, bytes] = {}

    def define(self, chunk: Chunk, position: int) -> int:
        """Take in the definition that stands there; gives the position after it."""
        data = chunk.data
        if len(data) - position < HEAD.size:
            self.impossible(chunk, "a record is cut")
        opcode, length = HEAD.unpack_from(data, position)
        body = position + HEAD.size
        after: int = body + length
        if after > len(data):
            self.impossible(chunk, "a record does not fit its chunk")
        if opcode == CHANNEL:
            self._define(chunk, data[body:after])
        return after

    def impossible(self, chunk: Chunk, what: str) -> NoReturn:
        raise DamagedNight(
            f"{self._path}: in the chunk at byte {chunk.byte}: {what}; "
            f"this night was written by something faulty, import or record it again"
        )

    def _define(self, chunk: Chunk, body: bytes) -> None:
        try:
            channel = read_channel(body)
        except ValueError as error:
            self.impossible(chunk, str(error))
        if channel is None:
            return
        if self._seen.setdefault(channel.number, body) != body:
            self.impossible(chunk, f"channel {channel.number} is defined anew as something else")
        stream = channel.stream
        if channel.number in self.by_number or stream is None:
            return
        if self._streams is None or stream in self._streams:
            self.by_number[channel.number] = _route(stream, channel)


def _route(stream: Stream, channel: Channel) -> _Route:
    if stream is Stream.EEG:
        return _Route(stream, channel.source, channel.clocked, None, eeg_blocks.decoder())
    return _Route(stream, channel.source, channel.clocked, {}, codec.decoder(stream))
