"""Writes an export: one attempt in memory at a time, all files shown together when whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from bedside.trace import TraceError
from replay.export.columns import EPISODE, HIDDEN, STEP, Columns, shaped
from replay.export.errors import ExportError
from replay.export.hidden import HiddenLines
from replay.export.parquet import ParquetWriter, check_parquet
from replay.export.records import Record, TraceRecords, trace_records
from replay.export.sources import EpisodeSource, episode_sources
from replay.manifest import file_sha256
from replay.progress import Report
from replay.staging import staged

SCHEMA: Final = 1
INDEX: Final = "export.json"
TABLES: Final[Mapping[str, Columns]] = {"steps": STEP, "episodes": EPISODE, "hidden": HIDDEN}
_HEADER_APART: Final = ("kind", "schema", "agent", "session")
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A trace of a folder that is not whole, and why."""

    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written. files: by name, `export.json` among them."""

    folder: Path
    files: Mapping[str, Path]
    episodes: int
    transitions: int
    records: int
    truncated: int
    left_out: tuple[LeftOut, ...]
    sha256: Mapping[str, str]


class _Writer(Protocol):
    def write(self, records: Sequence[Record]) -> None: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class _Count:
    episodes: int = 0
    transitions: int = 0
    truncated: int = 0


def export(
    source: Path,
    out: Path,
    *,
    json_lines: bool = True,
    parquet: bool = False,
    hidden: bool = False,
    progress: Report | None = None,
) -> Exported:
    """Write every attempt of `source` into `out`; on failure nothing there has changed.

    A trace of a folder that is not whole is left out and named; one given alone is refused.
    """
    if parquet:
        check_parquet()
    sources = episode_sources(source)
    if hidden:
        _check_hidden(sources)
    endings = [end for end, wanted in ((".jsonl", json_lines), (".parquet", parquet)) if wanted]
    names = [table + end for table in TABLES if hidden or table != "hidden" for end in endings]
    _check_out(out, {*names, INDEX})
    left_out: list[LeftOut] = []
    count = _Count()
    with staged(out) as staging:
        with ExitStack() as closing:
            tables = _opened(staging, names, closing)
            for number, one in enumerate(sources):
                if progress is not None:
                    progress(number, len(sources), one.name)
                try:
                    _write(one, count, tables)
                except (ExportError, TraceError) as error:
                    if len(sources) == 1:
                        raise
                    left_out.append(LeftOut(one.name, _below(error, one)))
        if not count.episodes:
            raise ExportError(f"{source}: not one whole trace: {left_out[0].why}")
        digests = {name: file_sha256(staging / name) for name in names}
        _write_index(staging / INDEX, count, left_out, digests)
    return Exported(
        folder=out,
        files={name: out / name for name in (*names, INDEX)},
        episodes=count.episodes,
        transitions=count.transitions,
        records=count.transitions + count.episodes,
        truncated=count.truncated,
        left_out=tuple(left_out),
        sha256=digests,
    )


def _write(source: EpisodeSource, count: _Count, tables: Mapping[str, list[_Writer]]) -> None:
    """Read one attempt whole, then write it: a trace that is broken off leaves nothing behind."""
    found = trace_records(source.trace, count.episodes)
    dark = None if source.hidden is None else HiddenLines(source.hidden)
    rows = {"steps": found.records, "episodes": [_episode(source, found, dark, count.episodes)]}
    if "hidden" in tables and dark is not None:
        rows["hidden"] = dark.records(found.records, _first_epoch(source, found))
    for table, writers in tables.items():
        for writer in writers:
            writer.write(rows[table])
    count.episodes += 1
    count.transitions += len(found.records) - 1
    count.truncated += found.ending.is_truncation


def _episode(
    source: EpisodeSource, found: TraceRecords, dark: HiddenLines | None, number: int
) -> Record:
    header, manifest = found.header, source.manifest
    secret: Mapping[str, Any] = manifest if dark is None else dark.header
    told = {key: value for key, value in header.items() if key not in _HEADER_APART}
    row = {
        "episode": number,
        "source": source.name,
        "run": None if source.task is None else manifest.get("id"),
        "session": header.get("session"),
        "task": source.task,
        "agent": header.get("agent"),
        "seed": secret.get("seed"),
        "wake_scale": secret.get("wake_scale"),
        "dropout": secret.get("dropout"),
        "comparability_key": manifest.get("comparability_key"),
        "training_exposure": manifest.get("training_exposure"),
        "transitions": len(found.records) - 1,
        "records": len(found.records),
        "ending": found.ending.value,
        "truncated": found.ending.is_truncation,
        "ended_t": found.footer.get("t"),
        "trace_sha256": file_sha256(source.trace),
        "hidden_sha256": None if source.hidden is None else file_sha256(source.hidden),
        **told,
    }
    return dict(shaped(row, EPISODE, f"{source.trace}: line 1"))


def _first_epoch(source: EpisodeSource, found: TraceRecords) -> int:
    night = found.header.get("night")
    first = night.get("first_epoch") if isinstance(night, Mapping) else None
    if not isinstance(first, int):
        raise ExportError(f"{source.trace}: line 1: no first_epoch; --hidden needs a recording")
    return first


def _opened(folder: Path, names: Iterable[str], closing: ExitStack) -> Mapping[str, list[_Writer]]:
    tables: dict[str, list[_Writer]] = {}
    for name in names:
        table, _, ending = name.partition(".")
        make: Callable[[Path, Columns], _Writer]
        make = ParquetWriter if ending == "parquet" else _JsonLines
        writer = make(folder / name, TABLES[table])
        closing.callback(writer.close)
        tables.setdefault(table, []).append(writer)
    return tables


class _JsonLines:
    def __init__(self, path: Path, columns: Columns) -> None:
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, records: Sequence[Record]) -> None:
        self._file.writelines(_encode(record) + "\n" for record in records)

    def close(self) -> None:
        self._file.close()


def _write_index(
    path: Path, count: _Count, left_out: Sequence[LeftOut], digests: Mapping[str, str]
) -> None:
    index = {
        "schema": SCHEMA,
        "episodes": count.episodes,
        "transitions": count.transitions,
        "truncated": count.truncated,
        "left_out": [asdict(one) for one in left_out],
        "files": digests,
    }
    path.write_text(json.dumps(index, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _below(error: Exception, source: EpisodeSource) -> str:
    """The error with the name below the folder, so that the index tells nothing of the host."""
    folder = str(source.trace).removesuffix(source.name)
    return str(error).replace(folder, "")


def _check_hidden(sources: Iterable[EpisodeSource]) -> None:
    for one in sources:
        if one.hidden is None:
            raise ExportError(f"{one.trace}: no hidden trace beside it; leave --hidden out")


def _check_out(out: Path, names: set[str]) -> None:
    """Files of an earlier export that this one would not replace must not seem to belong to it."""
    known = {f"{table}{end}" for table in TABLES for end in (".jsonl", ".parquet")}
    for name in sorted(known - names):
        if (out / name).exists():
            raise ExportError(f"{out}: holds {name} of another export; choose another --out")
