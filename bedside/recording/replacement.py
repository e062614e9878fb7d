"""A file that takes its place only when it is whole."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from bedside.recording.errors import write_failure
from bedside.recording.mcap_file import McapFile, sync_folder


class Replacement:
    """A night file under a passing name beside `path`; takes its place when all went well.

    keep_open: the file stays open for more after it took its place.
    """

    def __init__(self, path: Path, *, keep_open: bool = False) -> None:
        self._path = path
        self._keep_open = keep_open

    def __enter__(self) -> McapFile:
        try:
            descriptor, name = tempfile.mkstemp(
                prefix=f".{self._path.name[:100]}.", suffix=".part", dir=self._path.parent
            )
        except OSError as error:
            raise write_failure(self._path, error) from error
        self._passing = Path(name)
        self._file = McapFile(descriptor, self._path)
        return self._file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        placed = False
        try:
            if kind is None:
                self._take_place()
                placed = True
        finally:
            if not (placed and self._keep_open):
                self._file.close()
            with suppress(FileNotFoundError):
                self._passing.unlink()

    def _take_place(self) -> None:
        self._file.sync()
        try:
            self._passing.replace(self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            raise write_failure(self._path, error) from error
