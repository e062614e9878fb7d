"""What can be wrong with a night file, one leaf for each thing a caller would do about it.

RecordingError
    NotANightFile    give another file, or import this one
    HeaderLost       run `paprika recover`
    NewerSchema      update Paprika
    DamagedNight     the bytes are whole but say something impossible: run `paprika recover`
    BadSample        a sample that no file can hold; drop it and go on
    WriteFailed      the storage refused; what was complete stays readable
        NoSpace      free some space; recording goes on by itself when there is room
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from devices.types import PaprikaError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class RecordingError(PaprikaError):
    """Base of every error about a recording; the message is one line and says what to do."""


class NotANightFile(RecordingError):
    pass


class HeaderLost(RecordingError):
    pass


class NewerSchema(RecordingError):
    pass


class DamagedNight(RecordingError):
    pass


class BadSample(RecordingError):
    pass


class WriteFailed(RecordingError):
    pass


class NoSpace(WriteFailed):
    pass


@dataclass(frozen=True, slots=True)
class Damage:
    """Where a file stops being whole, and how; `byte` counts from 0."""

    byte: int
    what: str

    def __str__(self) -> str:
        return f"byte {self.byte}: {self.what}"


def write_failure(path: object, error: OSError) -> WriteFailed:
    """The error of ours that says what the operating system refused."""
    if error.errno in _NO_ROOM:
        return NoSpace(f"{path}: no space left to write the night; free some and it goes on")
    reason = error.strerror or str(error)
    return WriteFailed(f"{path}: cannot be written ({reason}); check the folder and the disk")
