"""The head of a night file: magic, MCAP header, and one metadata record with the info."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from bedside.recording import mcap_records
from bedside.recording.errors import HeaderLost, NewerSchema, NotANightFile
from bedside.recording.info import RecordingInfo, info_as_dict, info_from_dict
from bedside.recording.mcap_records import HEAD, HEADER, MAGIC, METADATA

SCHEMA: Final = 1
PROFILE: Final = "paprika"
LIBRARY: Final = "paprika bedside"
METADATA_NAME: Final = "paprika"
_LONGEST_RECORD: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class NightHead:
    """base_ns: log time of t = 0. end: the byte after the head.

    truths: how many there are; unless 0 they fill the first chunk, and nothing else is in it.
    """

    info: RecordingInfo
    base_ns: int
    truths: int
    end: int = 0


def head_bytes(head: NightHead) -> tuple[bytes, int, int]:
    """The head as bytes, and where in it the metadata record begins and how long it is."""
    about = {
        "schema": SCHEMA,
        "base_ns": head.base_ns,
        "truths": head.truths,
        "info": info_as_dict(head.info),
    }
    text = json.dumps(about, separators=(",", ":"))
    crc = f"{zlib.crc32(text.encode()):08x}"
    start = MAGIC + mcap_records.header(PROFILE, LIBRARY)
    metadata = mcap_records.metadata(METADATA_NAME, {"recording": text, "crc32": crc})
    return start + metadata, len(start), len(metadata)


def read_head(file: BinaryIO, path: object) -> NightHead:
    """The head of the file; raises NotANightFile, HeaderLost or NewerSchema."""
    magic = file.read(len(MAGIC))
    if magic != MAGIC:
        raise _no_magic(magic, path)
    header = _record(file, HEADER, path)
    try:
        profile = header.text()
    except ValueError as error:
        raise _lost(path, len(MAGIC)) from error
    if profile != PROFILE:
        raise NotANightFile(
            f"{path}: an MCAP file of profile {profile!r}, not a night of Paprika's"
        )
    start = file.tell()
    metadata = _record(file, METADATA, path)
    try:
        about = _about(metadata)
    except (ValueError, KeyError, RecursionError) as error:
        raise _lost(path, start) from error
    schema = about.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise NewerSchema(
            f"{path}: night file schema {schema} is newer than this Paprika reads ({SCHEMA}); "
            f"update Paprika"
        )
    try:
        info = info_from_dict(about["info"])
        return NightHead(info, int(about["base_ns"]), int(about["truths"]), file.tell())
    except (ValueError, KeyError, TypeError) as error:
        raise _lost(path, start) from error


def _record(file: BinaryIO, expected: int, path: object) -> mcap_records.Fields:
    start = file.tell()
    raw = file.read(HEAD.size)
    opcode, length = HEAD.unpack(raw) if len(raw) == HEAD.size else (0, 0)
    if opcode != expected or length > _LONGEST_RECORD:
        raise _lost(path, start)
    body = file.read(length)
    if len(body) != length:
        raise _lost(path, start)
    return mcap_records.Fields(body)


def _about(metadata: mcap_records.Fields) -> dict[str, Any]:
    if metadata.text() != METADATA_NAME:
        raise ValueError("another metadata record")
    values = metadata.texts()
    text = values["recording"]
    if f"{zlib.crc32(text.encode()):08x}" != values["crc32"]:
        raise ValueError("checksum")
    about = json.loads(text)
    if not isinstance(about, dict):
        raise ValueError("no object")
    return about


def _no_magic(magic: bytes, path: object) -> NotANightFile | HeaderLost:
    if not magic:
        return NotANightFile(f"{path}: the file is empty")
    if MAGIC.startswith(magic):
        return _lost(path, 0)
    return NotANightFile(
        f"{path}: byte 0: not a night file; `paprika import` makes one from a recording"
    )


def _lost(path: object, byte: int) -> HeaderLost:
    return HeaderLost(f"{path}: byte {byte}: the head cannot be read; run `paprika recover {path}`")
