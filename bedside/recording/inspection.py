"""Inspection: what a night file holds, without decoding a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bedside.recording.channels import Channel, read_channel
from bedside.recording.chunks import contents
from bedside.recording.errors import Damage
from bedside.recording.head import NightHead, read_head
from bedside.recording.info import RecordingInfo, info_as_dict
from bedside.recording.mcap_records import HEAD
from bedside.recording.reader import opened
from bedside.recording.scan import Scan
from devices.types import EPOCH_S, Stream, StreamInfo

GAP_INTERVALS: Final = 3.0
"""Assumed: a regular stream has a gap where more than this many samples in a row are missing."""
IRREGULAR_GAP_S: Final = 60.0
"""Source: safety design, stale after 60 s."""
MAX_GAPS: Final = 1000
"""Assumed: so many gaps of a stream are listed; all are counted."""
_EVENTS: Final = frozenset({Stream.PERSON, Stream.CUE})


@dataclass(frozen=True, slots=True)
class Gap:
    """No sample between the two times."""

    start_t: float
    end_t: float


@dataclass(frozen=True, slots=True)
class StreamReport:
    """One stream of one source. expected, completeness: None for irregular streams.

    gaps: the first of them; gap_count counts all, also before the first sample and after the last.
    """

    declared: StreamInfo
    count: int
    first_t: float | None
    last_t: float | None
    expected: int | None
    completeness: float | None
    gaps: tuple[Gap, ...]
    gap_count: int
    longest_gap_s: float


@dataclass(frozen=True, slots=True)
class Inspection:
    """closed: the file ends with its summary. truths: labels of an expert that it carries."""

    path: Path
    info: RecordingInfo
    size_bytes: int
    closed: bool
    damages: tuple[Damage, ...]
    chunks: int
    first_t: float | None
    last_t: float | None
    truths: int
    streams: tuple[StreamReport, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            **{key: value for key, value in info_as_dict(self.info).items() if key != "streams"},
            "size_bytes": self.size_bytes,
            "closed": self.closed,
            "damages": [asdict(damage) for damage in self.damages],
            "chunks": self.chunks,
            "first_t": self.first_t,
            "last_t": self.last_t,
            "truths": self.truths,
            "streams": [_report_as_dict(report) for report in self.streams],
        }


def inspect(path: str | Path) -> Inspection:
    """Walk over the whole file; raises RecordingError where its head cannot be read."""
    path = Path(path)
    with opened(path) as file:
        head = read_head(file, path)
        scan = Scan(file, head.end)
        tracks, chunks = _follow(scan, head)
        size_bytes = file.seek(0, 2)
    seen = [track for track in tracks if track.count]
    first_t = min((track.first_t for track in seen), default=None)
    last_t = max((track.last_t for track in seen), default=None)
    start_t, end_t = _span(head.info, first_t, last_t)
    return Inspection(
        path=path,
        info=head.info,
        size_bytes=size_bytes,
        closed=scan.closed,
        damages=tuple(scan.damages),
        chunks=chunks,
        first_t=first_t,
        last_t=last_t,
        truths=head.truths,
        streams=tuple(track.report(start_t, end_t) for track in tracks),
    )


def _span(info: RecordingInfo, first_t: float | None, last_t: float | None) -> tuple[float, float]:
    start_t = min(0.0, first_t or 0.0)
    end_t = last_t or 0.0
    return start_t, end_t if info.epochs is None else max(end_t, info.epochs * EPOCH_S)


def _follow(scan: Scan, head: NightHead) -> tuple[list[_Track], int]:
    tracks = {(info.stream, info.source): _Track(info) for info in head.info.streams}
    channels: dict[int, Channel] = {}
    chunks = 0
    for chunk in scan.chunks():
        chunks += 1
        try:
            found = contents(chunk.data)
            for number, raw in found.channels.items():
                channel = read_channel(raw[HEAD.size :])
                if channel is not None:
                    channels[number] = channel
        except ValueError as error:
            scan.damages.append(Damage(chunk.byte, f"the chunk that begins here: {error}"))
            continue
        for key, logs in _by_stream(channels, found.logs).items():
            track = tracks.setdefault(key, _Track(StreamInfo(key[0], None, key[1])))
            track.follow((log - head.base_ns) / 1e9 for log in logs)
    return list(tracks.values()), chunks


def _by_stream(
    channels: dict[int, Channel], logs: dict[int, list[int]]
) -> dict[tuple[Stream, str], list[int]]:
    """Log times of each stream of a source in order: it may have two channels."""
    merged: dict[tuple[Stream, str], list[int]] = {}
    for number, found in logs.items():
        channel = channels.get(number)
        stream = None if channel is None else channel.stream
        if channel is not None and stream is not None:
            merged.setdefault((stream, channel.source), []).extend(found)
    return {key: sorted(times) for key, times in merged.items()}


class _Track:
    """Follows one stream of one source through the night."""

    def __init__(self, declared: StreamInfo) -> None:
        self.count = 0
        self.first_t = 0.0
        self.last_t = 0.0
        self._declared = declared
        self._gaps: list[Gap] = []
        self._gap_count = 0
        self._longest_s = 0.0
        interval_s = declared.interval_s
        self._allowed_s = GAP_INTERVALS * interval_s if interval_s else IRREGULAR_GAP_S
        if declared.stream in _EVENTS:
            self._allowed_s = float("inf")

    def follow(self, times: Iterable[float]) -> None:
        for t in times:
            if self.count == 0:
                self.first_t = t
            elif t - self.last_t > self._allowed_s:
                self._note_gap(self.last_t, t)
            self.last_t = t
            self.count += 1

    def report(self, start_t: float, end_t: float) -> StreamReport:
        interval_s = self._declared.interval_s
        if interval_s:
            self._note_silence(start_t, end_t)
        expected = round((end_t - min(start_t, self.first_t)) / interval_s) if interval_s else None
        return StreamReport(
            declared=self._declared,
            count=self.count,
            first_t=self.first_t if self.count else None,
            last_t=self.last_t if self.count else None,
            expected=expected,
            completeness=None if not expected else round(min(1.0, self.count / expected), 4),
            gaps=tuple(self._gaps),
            gap_count=self._gap_count,
            longest_gap_s=self._longest_s,
        )

    def _note_silence(self, start_t: float, end_t: float) -> None:
        """Gaps at the two ends of the night, which a stream alone cannot see."""
        if self.count == 0:
            if end_t > start_t:
                self._note_gap(start_t, end_t)
            return
        if self.first_t - start_t > self._allowed_s:
            self._note_gap(start_t, self.first_t, at=0)
        if end_t - self.last_t > self._allowed_s:
            self._note_gap(self.last_t, end_t)

    def _note_gap(self, start_t: float, end_t: float, at: int | None = None) -> None:
        self._gap_count += 1
        self._longest_s = max(self._longest_s, end_t - start_t)
        if len(self._gaps) < MAX_GAPS:
            self._gaps.insert(len(self._gaps) if at is None else at, Gap(start_t, end_t))


def _report_as_dict(report: StreamReport) -> dict[str, Any]:
    declared = report.declared
    return {
        "stream": declared.stream.value,
        "source": declared.source,
        "interval_s": declared.interval_s,
        "channels": list(declared.channels),
        "rate_hz": declared.rate_hz,
        "simulated": declared.simulated,
        "count": report.count,
        "first_t": report.first_t,
        "last_t": report.last_t,
        "expected": report.expected,
        "completeness": report.completeness,
        "gaps": [[gap.start_t, gap.end_t] for gap in report.gaps],
        "gap_count": report.gap_count,
        "longest_gap_s": report.longest_gap_s,
    }
