"""Files of one run, shown in their folder only when all of them are whole."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from devices.types import PaprikaError


class StagingError(PaprikaError):
    """The folder cannot take the files; the message names it and says what to do."""


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder to write into; what is in it when the context ends well moves to `folder`.

    One run at a time: a second one for the same folder is refused. Where something fails, nothing
    in `folder` has changed.
    """
    staging = folder / f".{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / "attempts").exists():
            raise StagingError(f"{folder}: holds a run of `paprika run`; choose another --out")
        with alone(folder):
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            try:
                yield staging
                _move(staging, folder)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        where = error.filename2 or error.filename or folder
        raise StagingError(
            f"{where}: {error.strerror}; free some space or choose another --out"
        ) from error


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else writes into this folder meanwhile.

    Raises:
        StagingError: somebody does.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StagingError(
                f"{folder}: another run is writing here; wait for it, or choose another --out"
            ) from None
        yield
    finally:
        os.close(descriptor)


def _move(staging: Path, folder: Path) -> None:
    for file in sorted(path for path in staging.rglob("*") if path.is_file()):
        target = folder / file.relative_to(staging)
        target.parent.mkdir(exist_ok=True)
        os.replace(file, target)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, its folder too.

    Raises:
        StagingError: naming the file.
    """
    growing = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            growing.write_bytes(content)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            growing.write_bytes(content)
        os.replace(growing, path)
    except OSError as error:
        with suppress(OSError):
            growing.unlink()
        raise StagingError(
            f"{path}: {error.strerror}; free some space or choose another --out"
        ) from error
