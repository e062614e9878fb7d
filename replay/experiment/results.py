"""The results database: rows and verdicts in SQLite, derived from traces and verdict files.

Tables `attempts` (a column for each number or word of a row, JSON for its counts by name) and
`verdicts` (one line an attempt and verdict set). Written whole, in plan order, so that the same
run gives the same bytes; delete it and it is built again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from devices.types import PaprikaError
from replay.experiment.rows import Row, Status, Unit
from replay.scores.verdicts import Property, Verdict

SCHEMA: Final = 1
_COUNTS: Final = frozenset(
    {"shown", "true", "violations", "violations_delivered", "limit_hits", "decisions"}
)
_MAY_LACK: Final = frozenset({"detail", "first_cue_s", "cost_paid", "cost_nominal"})
_FLAGS: Final = frozenset({"held_out", "feasible", "evidence"})
_UNIT: Final = tuple(field.name for field in fields(Unit))
_ROW: Final = tuple(field.name for field in fields(Row) if field.name != "unit")


class ResultsError(PaprikaError):
    """The database cannot be written or read; the message names it."""


def write_results(path: Path, rows: Sequence[Row], sets: Mapping[str, Iterable[Verdict]]) -> None:
    """Write the database beside itself and move it into place. sets: verdicts by set id."""
    growing = path.with_name(f"{path.name}.{os.getpid()}.part")
    growing.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(growing)) as base, base:
            base.execute(f"PRAGMA user_version={SCHEMA}")
            _write_attempts(base, rows)
            _write_verdicts(base, sets)
        os.replace(growing, path)
    except (sqlite3.Error, OSError) as error:
        growing.unlink(missing_ok=True)
        raise ResultsError(f"{path}: {error}; free some space and run again") from error


def read_results(path: Path) -> list[Row]:
    """The rows, in plan order.

    Raises:
        ResultsError: no database of ours, or a newer one.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
            (schema,) = base.execute("PRAGMA user_version").fetchone()
            if schema > SCHEMA:
                raise ResultsError(
                    f"{path}: schema {schema} is newer than {SCHEMA}; update Paprika"
                )
            names = ",".join(f'"{name}"' for name in (*_UNIT, *_ROW))
            found = base.execute(f"SELECT {names} FROM attempts ORDER BY number")
            return [_row(values) for values in found]
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        raise ResultsError(
            f"{path}: not a results database ({error}); delete it and it is built again"
        ) from error


def _write_attempts(base: sqlite3.Connection, rows: Sequence[Row]) -> None:
    columns = ", ".join(f'"{name}"' for name in (*_UNIT, *_ROW))
    base.execute(f"CREATE TABLE attempts (number INTEGER PRIMARY KEY, key TEXT UNIQUE, {columns})")
    marks = ",".join("?" * (2 + len(_UNIT) + len(_ROW)))
    base.executemany(
        f"INSERT INTO attempts VALUES ({marks})",
        ((number, row.unit.key, *_values(row)) for number, row in enumerate(rows)),
    )
    base.execute("CREATE INDEX by_agent ON attempts (agent, scale)")


def _write_verdicts(base: sqlite3.Connection, sets: Mapping[str, Iterable[Verdict]]) -> None:
    columns = ", ".join(f'"{one}" TEXT' for one in Property)
    base.execute(
        f'CREATE TABLE verdicts ("set" TEXT, key TEXT, overall TEXT, {columns}, reason TEXT, '
        'PRIMARY KEY ("set", key)) WITHOUT ROWID'
    )
    marks = ",".join("?" * (4 + len(Property)))
    base.executemany(
        f"INSERT INTO verdicts VALUES ({marks})",
        (
            (name, v.key, v.overall, *(v.values.get(one) for one in Property), v.reason)
            for name, verdicts in sets.items()
            for v in verdicts
        ),
    )


def _values(row: Row) -> Iterator[Any]:
    for name in _UNIT:
        yield getattr(row.unit, name)
    for name in _ROW:
        value = getattr(row, name)
        yield json.dumps(dict(value), separators=(",", ":")) if name in _COUNTS else value


def _row(values: Sequence[Any]) -> Row:
    found = {name: _read(name, value) for name, value in zip((*_UNIT, *_ROW), values, strict=True)}
    missing = [name for name, value in found.items() if value is None and name not in _MAY_LACK]
    if missing:
        raise ValueError(f"no {missing[0]}")
    unit = Unit(**{name: found.pop(name) for name in _UNIT})
    return Row(unit=unit, **{**found, "status": Status(found["status"])})


def _read(name: str, value: Any) -> Any:
    if name in _COUNTS:
        return json.loads(value)
    return bool(value) if name in _FLAGS else value
