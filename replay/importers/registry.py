"""The formats we can take in, and which one a file is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from replay.importers import (
    dod,
    edf_signals,
    label_per_second,
    sleep_edf,
    stage_bridge,
    yasa,
    zeo,
)
from replay.importers.intake import Importer, ImportFailed, read_head

_IMPORTERS: Final[tuple[Importer, ...]] = (
    zeo,
    sleep_edf,
    label_per_second,
    dod,
    yasa,
    stage_bridge,
    edf_signals,
)
FORMATS: Final[Mapping[str, Importer]] = MappingProxyType(
    {importer.FORMAT: importer for importer in _IMPORTERS}
)
"""Every importer by the name that `--format` takes."""


def named(name: str) -> Importer:
    """The importer of a format; refuses a name that is none."""
    if name not in FORMATS:
        raise ImportFailed(f"--format {name}: not known; known are {', '.join(FORMATS)}")
    return FORMATS[name]


def candidates(path: Path) -> tuple[Importer, ...]:
    """Every importer that recognises the file or folder by its content."""
    head = read_head(path)
    return tuple(importer for importer in FORMATS.values() if importer.recognises(path, head))


def recognised(path: Path) -> Importer:
    """The one importer for a file or folder; refuses none and more than one."""
    return only(path, candidates(path))


def only(path: Path, found: tuple[Importer, ...]) -> Importer:
    """The one importer among those that recognised the file."""
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(importer.FORMAT for importer in found)
        raise ImportFailed(f"{path.name}: could be {names}; say which with --format")
    if path.is_file() and not read_head(path).strip():
        raise ImportFailed(f"{path.name}: is empty; export or copy it again")
    raise ImportFailed(f"{path.name}: not a recording; known formats are {', '.join(FORMATS)}")
