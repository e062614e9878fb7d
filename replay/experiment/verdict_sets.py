"""Verdict sets: files that are only ever added to a run, each naming its checker and its parent.

verdicts/0001-1f3a90bc.jsonl     a header line, then one verdict a line in plan order
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from devices.types import PaprikaError
from replay.manifest import source_sha256
from replay.scores.verdicts import Property, Value, Verdict
from replay.staging import write_whole

SCHEMA: Final = 1
CHECKED_BY: Final = (
    "replay/decisions/costs.py",
    "replay/experiment/counting.py",
    "replay/experiment/rows.py",
    "replay/scores/checker.py",
    "replay/scores/verdicts.py",
    "replay/summary.py",
    "replay/trace_lines.py",
)
"""The source that leads from traces to verdicts."""


class VerdictSetError(PaprikaError):
    """A verdict file is broken; the message names it and the line."""


@dataclass(frozen=True, slots=True)
class VerdictSet:
    """id: its file's name without ending. parent: the set it regrades, None for the first."""

    id: str
    parent: str | None
    checker_sha256: str
    path: Path


def checker_sha256() -> str:
    """Of the checker as it is now."""
    return source_sha256(*CHECKED_BY)


def verdict_sets(folder: Path) -> list[VerdictSet]:
    """The sets of a run, oldest first."""
    return [_head(path) for path in sorted(folder.glob("verdicts/*.jsonl"))]


def add_verdicts(folder: Path, verdicts: Sequence[Verdict]) -> VerdictSet:
    """Write a new set of the present checker; its parent is the newest before it."""
    before = verdict_sets(folder)
    checker = checker_sha256()
    name = f"{len(before) + 1:04}-{checker[:8]}"
    made = VerdictSet(
        name, before[-1].id if before else None, checker, folder / "verdicts" / f"{name}.jsonl"
    )
    head = {
        "kind": "verdicts",
        "schema": SCHEMA,
        "id": made.id,
        "parent": made.parent,
        "checker_sha256": checker,
        "count": len(verdicts),
    }
    lines = [head, *map(_as_line, verdicts)]
    text = "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    )
    write_whole(made.path, text.encode())
    return made


def read_verdicts(one: VerdictSet) -> dict[str, Verdict]:
    """The verdicts of a set by key of the unit, in plan order."""
    head, *lines = _lines(one.path)
    if head.get("count") != len(lines):
        raise VerdictSetError(
            f"{one.path}: {len(lines)} verdicts where its first line says {head.get('count')}; "
            "delete it, and `paprika regrade` judges anew"
        )
    found = {}
    for number, line in enumerate(lines, 2):
        try:
            values = {Property(name): Value(value) for name, value in line["values"].items()}
            found[line["key"]] = Verdict(line["key"], values, line["reason"])
        except (KeyError, ValueError, AttributeError) as error:
            raise VerdictSetError(f"{one.path}: line {number}: no verdict ({error})") from error
    return found


def _as_line(verdict: Verdict) -> Mapping[str, Any]:
    return {"key": verdict.key, "values": dict(verdict.values), "reason": verdict.reason}


def _head(path: Path) -> VerdictSet:
    head = _lines(path)[0]
    try:
        if head["schema"] > SCHEMA:
            raise VerdictSetError(
                f"{path}: schema {head['schema']} is newer than {SCHEMA}; update Paprika"
            )
        return VerdictSet(head["id"], head["parent"], head["checker_sha256"], path)
    except (KeyError, TypeError) as error:
        raise VerdictSetError(f"{path}: line 1: not a verdict set ({error})") from error


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        rows = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise VerdictSetError(f"{path}: cannot be read ({error})") from error
    lines = []
    for number, row in enumerate(rows, 1):
        try:
            line = json.loads(row)
        except ValueError as error:
            raise VerdictSetError(f"{path}: line {number}: not JSON ({error})") from error
        if not isinstance(line, dict):
            raise VerdictSetError(f"{path}: line {number}: not a JSON object")
        lines.append(line)
    return lines
