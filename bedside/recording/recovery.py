"""Recovery: every complete chunk of a damaged night file, copied into a whole one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from bedside.recording.channels import TRUTH, Channel, read_channel
from bedside.recording.chunks import (
    UNKNOWN_WALL_BASE_NS,
    Contents,
    OpenChunk,
    contents,
    seal,
)
from bedside.recording.errors import Damage, HeaderLost, NotANightFile, RecordingError
from bedside.recording.head import NightHead, read_head
from bedside.recording.info import RecordingInfo
from bedside.recording.mcap_file import McapFile
from bedside.recording.mcap_records import FOOTER_SIZE, HEAD
from bedside.recording.reader import opened
from bedside.recording.replacement import Replacement
from bedside.recording.scan import Chunk, Scan
from devices.types import StreamInfo


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What was found and copied. out: the new file, None where there was nothing to copy.

    whole: the night was closed and nothing of it is missing. last_t: of the last sample copied.
    """

    path: Path
    out: Path | None
    whole: bool
    chunks: int
    samples: int
    last_t: float | None
    truth_kept: bool
    damages: tuple[Damage, ...]

    @property
    def exit_code(self) -> int:
        """0: whole; 3: something is lost; 1: nothing could be recovered."""
        if self.whole:
            return 0
        return 1 if self.out is None else 3

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            "out": None if self.out is None else str(self.out),
            "whole": self.whole,
            "chunks": self.chunks,
            "samples": self.samples,
            "last_t": self.last_t,
            "truth_kept": self.truth_kept,
            "damages": [{"byte": damage.byte, "what": damage.what} for damage in self.damages],
            "exit_code": self.exit_code,
        }


def recover(path: str | Path, out: str | Path) -> RecoveryReport:
    """Copy what is whole of the night at `path` into a new, closed file at `out`.

    Raises RecordingError where `path` cannot be read at all or `out` cannot be written.
    """
    path, out = Path(path), Path(out)
    if out.exists():
        raise RecordingError(f"{out}: there is a file already; name another one for the output")
    with opened(path) as file:
        survey = _Survey(file, path)
        nothing = not survey.whole and survey.samples == 0 and survey.head.truths == 0
        if not nothing:
            with Replacement(out) as copy:
                survey.copy_to(copy)
                copy.finish()
    return RecoveryReport(
        path=path,
        out=None if nothing else out,
        whole=survey.whole,
        chunks=survey.chunks,
        samples=survey.samples,
        last_t=survey.last_t,
        truth_kept=survey.head.truths > 0,
        damages=tuple(survey.damages),
    )


def copy_for_more(path: Path, copy: McapFile) -> OpenChunk:
    """Copy what is whole into `copy`, left unclosed; gives the gatherer that goes on with it."""
    with opened(path) as file:
        read_head(file, path)
        survey = _Survey(file, path)
        survey.copy_to(copy)
    gathered = OpenChunk(survey.head.info)
    gathered.go_on(survey.channels.values(), survey.last_t)
    return gathered


class _Survey:
    """One walk over a whole file: its head, or one made from its channels, and what is there."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.channels: dict[int, Channel] = {}
        self.chunks = 0
        self.damages: list[Damage] = []
        self._file = file
        self._definitions: dict[tuple[bool, int], bytes] = {}
        self._counts: dict[int, int] = {}
        self._latest: dict[int, int] = {}
        self._truths = 0
        head = self._given_head(path)
        self._start = 0 if head is None else head.end
        scan = Scan(file, self._start, seek_on=True)
        for _, found in _whole(scan):
            self._note(found)
        with suppress(ValueError):
            self._define(contents(scan.summary[:-FOOTER_SIZE]))
        self.whole = head is not None and scan.closed and not scan.damages
        self.damages += scan.damages
        self.head = self._made_head(path) if head is None else self._kept_head(head)

    @property
    def samples(self) -> int:
        return sum(self._counts.get(number, 0) for number in self._of_samples())

    @property
    def last_t(self) -> float | None:
        latest = [self._latest[number] for number in self._of_samples() if number in self._latest]
        return (max(latest) - self.head.base_ns) / 1e9 if latest else None

    def copy_to(self, copy: McapFile) -> None:
        """The head, the definitions where some may be lost, and all whole chunks as they stand."""
        copy.begin(self.head)
        chunks = _whole(Scan(self._file, self._start, seek_on=True))
        for chunk, _ in islice(chunks, 1 if self.head.truths else 0):
            copy.append_sealed(seal(chunk.data, chunk.packed))
        if self.damages and self._definitions:
            in_order = sorted(self._definitions)
            copy.append(b"".join(self._definitions[key] for key in in_order))
        for chunk, _ in chunks:
            copy.append_sealed(seal(chunk.data, chunk.packed))

    def _given_head(self, path: Path) -> NightHead | None:
        try:
            return read_head(self._file, path)
        except (HeaderLost, NotANightFile):
            self.damages.append(Damage(0, "the head of the file cannot be read"))
            return None

    def _note(self, found: Contents) -> None:
        self.chunks += 1
        self._define(found)
        for number, logs in found.logs.items():
            self._counts[number] = self._counts.get(number, 0) + len(logs)
            self._latest[number] = max(logs)
        if self.chunks == 1:
            self._truths = self._count_truths(found)

    def _define(self, found: Contents) -> None:
        for number, raw in found.channels.items():
            with suppress(ValueError):
                channel = read_channel(raw[HEAD.size :])
                if channel is not None:
                    self.channels[number] = channel
            self._definitions[True, number] = raw
        self._definitions |= {(False, number): raw for number, raw in found.schemas.items()}

    def _count_truths(self, found: Contents) -> int:
        kinds = {self.channels[n].kind for n in found.logs if n in self.channels}
        return sum(map(len, found.logs.values())) if kinds == {TRUTH} else 0

    def _of_samples(self) -> list[int]:
        return [n for n, channel in self.channels.items() if channel.stream is not None]

    def _kept_head(self, head: NightHead) -> NightHead:
        if self.whole:
            return head
        info = replace(head.info, stages=None)
        if head.truths == self._truths:
            return replace(head, info=info)
        return replace(head, truths=0, info=replace(info, truth_origin=None))

    def _made_head(self, path: Path) -> NightHead:
        channels = list(self.channels.values())
        base_ns = channels[0].base_ns if channels else UNKNOWN_WALL_BASE_NS
        streams = {
            (channel.stream, channel.source): channel.declared
            or StreamInfo(channel.stream, None, channel.source)
            for channel in channels
            if channel.stream is not None
        }
        origins = [channel.source for channel in channels if channel.kind == TRUTH]
        info = RecordingInfo(
            night_id=path.stem,
            kind="recovered",
            origin=path.name,
            epochs=None,
            streams=tuple(streams.values()),
            start_wall_ns=None if base_ns == UNKNOWN_WALL_BASE_NS else base_ns,
            synthetic=any(stream.simulated for stream in streams.values()),
            truth_origin=origins[0] if self._truths and origins else None,
            notes=("The head of this night was lost; this one was made from its channels.",),
        )
        return NightHead(info, base_ns, self._truths)


def _whole(scan: Scan) -> Iterator[tuple[Chunk, Contents]]:
    for chunk in scan.chunks():
        try:
            found = contents(chunk.data)
        except ValueError as error:
            scan.damages.append(Damage(chunk.byte, f"the chunk that begins here: {error}"))
            continue
        yield chunk, found
