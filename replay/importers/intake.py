"""What every importer shares: options, one error, reading text, making a night of labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

from bedside.recording import MemoryRecording, RecordingInfo
from devices.types import (
    EPOCH_S,
    PaprikaError,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Truth,
)
from replay.hypnogram import night_stages

HEAD_BYTES: Final = 65_536
"""So much of a file is read to recognise it."""
LONGEST_NIGHT_S: Final = 48 * 3600.0
"""A recording over this is not one night. Assumed; the longest we know lasts 24 h."""
LARGEST_TEXT_BYTES: Final = 64 * 1024 * 1024
"""A file of labels over this is something else. Assumed; a day of two labels a second is 9 MB."""
_SHOWN_CHARACTERS: Final = 24


class ImportFailed(PaprikaError):
    """A file is no recording we can take in. One line: the file, the place in it, what to do."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to read.

    lenient: unknown stages become UNKNOWN and are counted, instead of refused.
    device_stage: which automatic staging of a DOD night stands for the device.
    """

    lenient: bool = False
    device_stage: str = "auto_f4_o2"


class Importer(Protocol):
    """A module that reads one format, and knows it by content.

    `read` yields the failure of one night and goes on to the next; it raises `ImportFailed` when
    the whole file is of no use.
    """

    @property
    def FORMAT(self) -> str: ...

    def recognises(self, path: Path, head: bytes) -> bool: ...

    def read(
        self, path: Path, options: ImportOptions
    ) -> Iterator[MemoryRecording | ImportFailed]: ...


class StageWords:
    """Stages by the words or codes of one file. What it does not know, it refuses or counts."""

    def __init__(self, words: Mapping[str, Stage], *, lenient: bool) -> None:
        self._words = words
        self._lenient = lenient
        self._unknown: Counter[str] = Counter()

    def stage(self, word: str, place: str) -> Stage:
        stage = self._words.get(word)
        if stage is not None:
            return stage
        if not self._lenient:
            raise ImportFailed(
                f"{place}: unknown stage {shown(word)}; known are {', '.join(self._words)}; "
                "--lenient counts others as unknown"
            )
        self._unknown[shown(word)] += 1
        return Stage.UNKNOWN

    def stages(self, numbered: Iterable[tuple[int, str]], place: str) -> list[Stage]:
        """A stage for each numbered word; the number stands after the place."""
        known = self._words
        return [known.get(word) or self.stage(word, f"{place} {k}") for k, word in numbered]

    def notes(self) -> tuple[str, ...]:
        """What was counted as UNKNOWN, for people."""
        if not self._unknown:
            return ()
        listed = ", ".join(f"{word} {n}" for word, n in self._unknown.most_common(5))
        return (f"{self._unknown.total()} labels of unknown stages taken as unknown: {listed}",)


def read_head(path: Path) -> bytes:
    """The first bytes of a file; none of a folder."""
    if path.is_dir():
        return b""
    if path.exists() and not path.is_file():
        raise ImportFailed(f"{path.name}: neither a file nor a folder; give another path")
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise ImportFailed(f"{path.name}: cannot be read: {error.strerror}") from None


def read_bytes(path: Path) -> bytes:
    """A file of labels as it stands; refuses an empty one and one that is far too large."""
    try:
        if path.stat().st_size > LARGEST_TEXT_BYTES:
            raise ImportFailed(
                f"{path.name}: larger than {LARGEST_TEXT_BYTES >> 20} MiB, no file of stages; "
                "split it"
            )
        content = path.read_bytes()
    except OSError as error:
        raise ImportFailed(f"{path.name}: cannot be read: {error.strerror}") from None
    if not content.strip():
        raise ImportFailed(f"{path.name}: is empty; export or copy it again")
    return content


def read_text(path: Path) -> str:
    """A text file, UTF-8 with or without its mark."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportFailed(
            f"{path.name}, byte {error.start}: is not UTF-8 text; save it as UTF-8"
        ) from None


def shown(word: str) -> str:
    """A word of a file as an error may quote it: short, on one line."""
    if len(word) > _SHOWN_CHARACTERS:
        word = word[:_SHOWN_CHARACTERS] + "…"
    return repr(word)


def slug(text: str) -> str:
    """A night id of a file's stem: letters and digits, joined by dashes."""
    return re.sub(r"[\W_]+", "-", text).strip("-")[:80].strip("-") or "night"


def local_as_utc_ns(moment: datetime) -> int:
    """The wall clock of a file that names no time zone, as if it were UTC."""
    return int(moment.replace(tzinfo=UTC).timestamp()) * 1_000_000_000


def label_night(
    stages: Sequence[Stage],
    *,
    night_id: str,
    kind: str,
    origin: str,
    source: str,
    interval_s: float = EPOCH_S,
    start_wall_ns: int | None = None,
    truth: Sequence[Stage] = (),
    truth_origin: str | None = None,
    notes: tuple[str, ...] = (),
) -> MemoryRecording:
    """A night of one label each `interval_s`, each in the middle of its time."""
    info = RecordingInfo(
        night_id=night_id,
        kind=kind,
        origin=origin,
        epochs=int(len(stages) * interval_s // EPOCH_S),
        streams=(StreamInfo(Stream.STAGE, interval_s, source),),
        start_wall_ns=start_wall_ns,
        truth_origin=truth_origin,
        notes=notes,
    )
    readings = {stage: StageReading(stage) for stage in Stage}
    samples = tuple(
        Sample(Stream.STAGE, (k + 0.5) * interval_s, readings[stage], source)
        for k, stage in enumerate(stages)
    )
    truths = tuple(Truth((k + 0.5) * EPOCH_S, stage) for k, stage in enumerate(truth))
    return MemoryRecording(info, samples, truths)


def checked(night: MemoryRecording, place: str) -> MemoryRecording:
    """The night itself; refuses one that is too long to be a night, or has no valid epoch."""
    epochs = night.info.epochs or 0
    check_length(epochs * EPOCH_S, place)
    if all(stage is Stage.UNKNOWN for stage in night_stages(night)):
        raise ImportFailed(f"{place}: not one valid epoch in {epochs}; nothing to replay")
    return night


def check_length(seconds: float, place: str) -> None:
    if not seconds <= LONGEST_NIGHT_S:
        raise ImportFailed(
            f"{place}: spans {seconds / 3600:.1f} h, which is not one night; split it"
        )
