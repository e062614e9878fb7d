"""Sleep-EDF and others: an expert hypnogram as EDF+ annotations, in a file without signals.

Source: EDF+ time-stamped annotation lists, edfplus.info §2.2; stage texts of Sleep-EDF and AASM.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bedside.recording import MemoryRecording
from devices.types import EPOCH_S, Stage
from replay.importers.edf_header import ANNOTATIONS, EdfHeader, holds_only_annotations, read_header
from replay.importers.intake import (
    ImportFailed,
    ImportOptions,
    StageWords,
    check_length,
    checked,
    label_night,
    local_as_utc_ns,
    read_bytes,
    shown,
    slug,
)

FORMAT: Final = "sleep_edf"
STAGES: Final = {
    "Sleep stage W": Stage.AWAKE,
    "Sleep stage 1": Stage.N1,
    "Sleep stage 2": Stage.N2,
    "Sleep stage 3": Stage.DEEP,
    "Sleep stage 4": Stage.DEEP,
    "Sleep stage N1": Stage.N1,
    "Sleep stage N2": Stage.N2,
    "Sleep stage N3": Stage.DEEP,
    "Sleep stage R": Stage.REM,
    "Sleep stage ?": Stage.UNKNOWN,
    "Movement time": Stage.UNKNOWN,
}
_TAL: Final = re.compile(
    rb"([+-]\d{1,12}(?:\.\d{0,12})?)(?:\x15(\d{1,12}(?:\.\d{0,12})?))?\x14(.*)", re.DOTALL
)
_SLACK_S: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Annotation:
    """A text of an EDF+ file with its time; duration None where none is given."""

    onset_s: float
    duration_s: float | None
    text: str
    at_byte: int


def recognises(path: Path, head: bytes) -> bool:
    """EDF+ with annotations and no other signal."""
    return holds_only_annotations(head) is True


def read(path: Path, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    content = read_bytes(path)
    header = read_header(path, content, len(content))
    words = StageWords(STAGES, lenient=options.lenient)
    found = read_annotations(path.name, header, content)
    scored = [one for one in found if one.text.startswith("Sleep stage") or one.text in STAGES]
    if not scored:
        raise ImportFailed(f"{path.name}: has no sleep stage among its annotations; give another")
    spans = _spans(path.name, scored)
    end_s = spans[-1][1]
    check_length(end_s, path.name)
    stages = [words.stage(one.text, f"{path.name}, byte {one.at_byte}") for one in scored]
    other = len(found) - len(scored)
    night = label_night(
        _by_epoch(spans, stages, int((end_s + _SLACK_S) // EPOCH_S)),
        night_id=night_id(path),
        kind="psg_edfplus",
        origin=path.name,
        source=FORMAT,
        start_wall_ns=None if header.start is None else local_as_utc_ns(header.start),
        notes=(
            "start: local clock, EDF names no time zone",
            *header.notes,
            *((f"{other} annotations that are no stage left out",) if other else ()),
            *words.notes(),
        ),
    )
    yield checked(night, path.name)


def read_annotations(name: str, header: EdfHeader, content: bytes) -> list[Annotation]:
    """Every annotation of the file, in the order of the file."""
    found: list[Annotation] = []
    for signal in header.signals:
        if signal.label == ANNOTATIONS:
            for begin, part in header.parts(content, signal):
                found += _in_record(name, begin, part)
    return found


def night_id(path: Path) -> str:
    """`sleepedf-SC4001-edf` of `SC4001EC-Hypnogram.edf`; else the stem."""
    study = re.match(r"S[CT]\d{4}(?=\w\w-Hypnogram)", path.name)
    return f"sleepedf-{study[0]}-edf" if study else slug(path.stem)


def _in_record(name: str, begin: int, part: bytes) -> Iterator[Annotation]:
    at = 0
    for piece in part.split(b"\0"):
        if piece:
            yield from _annotations(f"{name}, byte {begin + at}", begin + at, piece)
        at += len(piece) + 1


def _annotations(place: str, at_byte: int, piece: bytes) -> Iterator[Annotation]:
    match = _TAL.fullmatch(piece)
    if match is None or (match[3] and not match[3].endswith(b"\x14")):
        raise ImportFailed(f"{place}: broken annotation; copy or export the file again")
    try:
        texts = match[3].decode("utf-8").split("\x14")
    except UnicodeDecodeError:
        raise ImportFailed(f"{place}: annotation is not UTF-8; export the file again") from None
    onset_s = float(match[1])
    duration_s = float(match[2]) if match[2] else None
    for text in texts:
        if text:
            yield Annotation(onset_s, duration_s, text, at_byte)


def _spans(name: str, scored: Sequence[Annotation]) -> list[tuple[float, float]]:
    """Begin and end of each stage; one without a duration lasts to the next, the last an epoch."""
    spans, before_s = [], 0.0
    following = [one.onset_s for one in scored[1:]] + [math.inf]
    for one, next_s in zip(scored, following, strict=True):
        if one.onset_s < before_s - _SLACK_S or one.duration_s == 0.0 or next_s == one.onset_s:
            raise ImportFailed(
                f"{name}, byte {one.at_byte}: {shown(one.text)} at {one.onset_s:g} s is duplicate "
                "or runs backwards; repair the annotations"
            )
        open_s = EPOCH_S if next_s == math.inf else max(0.0, next_s - one.onset_s)
        before_s = one.onset_s + (open_s if one.duration_s is None else one.duration_s)
        spans.append((one.onset_s, before_s))
    return spans


def _by_epoch(
    spans: Sequence[tuple[float, float]], stages: Sequence[Stage], epochs: int
) -> list[Stage]:
    """The stage that covers the middle of each epoch; UNKNOWN where none does."""
    labels = [Stage.UNKNOWN] * epochs
    for (begin_s, end_s), stage in zip(spans, stages, strict=True):
        first = math.ceil((begin_s - EPOCH_S / 2 - _SLACK_S) / EPOCH_S)
        after = math.ceil((end_s - EPOCH_S / 2 - _SLACK_S) / EPOCH_S)
        for k in range(max(0, first), min(after, epochs)):
            labels[k] = stage
    return labels
