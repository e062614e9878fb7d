"""Which traces an export takes: a trace, a session's folder, or a run's folder of many."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from replay.experiment.folder import MANIFEST, read_manifest
from replay.export.errors import ExportError

LARGEST_MANIFEST: Final = 1 << 26
"""Bytes. Assumed."""
_ENDINGS: Final = (".jsonl", ".jsonl.zst")
_FROM_RUN: Final = 4
"""Folders between a run's folder and its traces: attempts, night, task, agent."""


@dataclass(frozen=True, slots=True)
class EpisodeSource:
    """One attempt: its traces, and the manifest that speaks of it.

    name: path of the trace below the folder it was found in. task: None outside a run.
    """

    name: str
    trace: Path
    hidden: Path | None
    task: str | None
    manifest: Mapping[str, Any] = field(default_factory=dict)


def episode_sources(source: Path) -> list[EpisodeSource]:
    """Every whole attempt below `source`, in the order of their paths.

    Raises:
        ExportError: where there is none, naming what was looked for.
    """
    if source.is_file():
        if not source.name.endswith(_ENDINGS):
            raise ExportError(f"{source}: not a trace; give a .jsonl, a .jsonl.zst or a folder")
        return [_source(source, source.parent, {})]
    if not source.is_dir():
        raise ExportError(f"{source}: no such file or folder; give a trace, a session or a run")
    manifests: dict[Path, Mapping[str, Any]] = {}
    found = [_source(trace, source, manifests) for trace in _traces(source)]
    if not found:
        raise ExportError(f"{source}: no trace in it; looked for trace.jsonl and *.trace.jsonl.zst")
    return found


def is_trace(name: str) -> bool:
    """Whether a file of that name is the decision trace of an attempt."""
    stem = name.removesuffix(".zst").removesuffix(".jsonl")
    return name.endswith(_ENDINGS) and (stem == "trace" or stem.endswith(".trace"))


def hidden_beside(trace: Path) -> Path | None:
    """The hidden trace that stands beside a trace, or None."""
    before, word, after = trace.name.rpartition("trace")
    beside = trace.with_name(f"{before}hidden{after}")
    return beside if word and beside.is_file() else None


def manifest_of(trace: Path) -> Mapping[str, Any]:
    """The manifest that speaks of a trace: of its run, or of its session.

    Raises:
        PaprikaError: where it cannot be read or is none.
    """
    folder, task = home_of(trace)
    if task is not None:
        return read_manifest(folder)
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_MANIFEST + 1)
        found = json.loads(raw) if len(raw) <= LARGEST_MANIFEST else None
    except OSError as error:
        raise ExportError(f"{path}: {error.strerror}; it belongs beside the trace") from error
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{path}: not JSON ({error}); run that session again") from error
    if not isinstance(found, dict):
        raise ExportError(f"{path}: not a manifest; run that session again")
    return found


def home_of(trace: Path) -> tuple[Path, str | None]:
    """The folder whose manifest speaks of a trace, and the trace's task in a run."""
    above = trace.absolute().parents
    if len(above) > _FROM_RUN and above[_FROM_RUN - 1].name == "attempts":
        return above[_FROM_RUN], above[1].name
    return trace.parent, None


def _traces(folder: Path) -> list[Path]:
    found = [
        path
        for path in folder.rglob("*.jsonl*")
        if is_trace(path.name) and path.is_file() and not _unfinished(path.relative_to(folder))
    ]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _unfinished(path: Path) -> bool:
    return any(part.endswith(".part") for part in path.parts)


def _source(trace: Path, below: Path, manifests: dict[Path, Mapping[str, Any]]) -> EpisodeSource:
    folder, task = home_of(trace)
    if folder not in manifests:
        manifests[folder] = manifest_of(trace) if (folder / MANIFEST).is_file() else {}
    return EpisodeSource(
        name=trace.relative_to(below).as_posix(),
        trace=trace,
        hidden=hidden_beside(trace),
        task=task,
        manifest=manifests[folder],
    )
