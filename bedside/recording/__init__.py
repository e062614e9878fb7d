"""The night file, and recordings in memory: written live or at once, read as a stream.

A night file is an MCAP file that survives being cut at any byte: what stands in complete chunks
can be read. `docs/reference/night-file.md` describes its bytes.
"""

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
from bedside.recording.recover import RecoveryReport, recover
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
