"""Records as a Parquet file, where the extra `parquet` is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from replay.export.columns import Column, Columns, Kind
from replay.export.errors import ExportError
from replay.export.records import Record

if TYPE_CHECKING:
    from types import ModuleType

GROUP: Final = 8192
"""Records of a row group: so many are in memory at once."""


class ParquetWriter:
    """A Parquet file that grows by row groups; the same records give the same bytes."""

    def __init__(self, path: Path, columns: Columns) -> None:
        arrow = self._arrow = _arrow()
        parquet = import_module("pyarrow.parquet")
        self._schema = arrow.schema(
            [arrow.field(name, _type(arrow, column)) for name, column in columns.items()]
        )
        self._held: list[Record] = []
        self._file = parquet.ParquetWriter(path, self._schema, compression="zstd")

    def write(self, records: Sequence[Record]) -> None:
        self._held += records
        while len(self._held) >= GROUP:
            self._group(self._held[:GROUP])
            del self._held[:GROUP]

    def close(self) -> None:
        if self._held:
            self._group(self._held)
            self._held = []
        self._file.close()

    def _group(self, records: list[Record]) -> None:
        self._file.write_table(self._arrow.Table.from_pylist(records, schema=self._schema))


def check_parquet() -> None:
    """Raise ExportError where Parquet cannot be written here."""
    _arrow()


def _arrow() -> ModuleType:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise ExportError(
            'Parquet needs pyarrow; run pip install "paprika-bedside[parquet]", or use --rlds'
        ) from error


def _type(arrow: ModuleType, column: Column) -> Any:
    if isinstance(column, Kind):
        return getattr(arrow, "bool_" if column is Kind.FLAG else column.value)()
    if isinstance(column, list):
        return arrow.list_(_type(arrow, column[0]))
    return arrow.struct([arrow.field(name, _type(arrow, inner)) for name, inner in column.items()])
