"""The night file, and recordings in memory: written live or at once, read as a stream.

A night file is an MCAP file that survives being cut at any byte: what stands in complete chunks
can be read. `docs/reference/night-file.md` describes its bytes. Each part is loaded on first use:
a night that is only read needs no writer.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bedside.recording.errors import (
        BadSample,
        Damage,
        DamagedNight,
        HeaderLost,
        NewerSchema,
        NoSpace,
        NotANightFile,
        RecordingError,
        WriteFailed,
    )
    from bedside.recording.info import MemoryRecording, Recording, RecordingInfo
    from bedside.recording.inspection import Gap, Inspection, StreamReport, inspect
    from bedside.recording.reader import NightFile
    from bedside.recording.recovery import RecoveryReport, recover
    from bedside.recording.writer import NightWriter, write_night

__all__ = [
    "BadSample",
    "Damage",
    "DamagedNight",
    "Gap",
    "HeaderLost",
    "Inspection",
    "MemoryRecording",
    "NewerSchema",
    "NightFile",
    "NightWriter",
    "NoSpace",
    "NotANightFile",
    "Recording",
    "RecordingError",
    "RecordingInfo",
    "RecoveryReport",
    "StreamReport",
    "WriteFailed",
    "inspect",
    "recover",
    "write_night",
]

_ROOMS: Final = {
    "errors": (
        "BadSample",
        "Damage",
        "DamagedNight",
        "HeaderLost",
        "NewerSchema",
        "NoSpace",
        "NotANightFile",
        "RecordingError",
        "WriteFailed",
    ),
    "info": ("MemoryRecording", "Recording", "RecordingInfo"),
    "inspection": ("Gap", "Inspection", "StreamReport", "inspect"),
    "reader": ("NightFile",),
    "recovery": ("RecoveryReport", "recover"),
    "writer": ("NightWriter", "write_night"),
}
_ROOM_OF: Final = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{room}"), name)
