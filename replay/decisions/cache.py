"""The decision cache: one small file an answer, never written twice, shared by any processes.

    FOLDER/ab/ab12…-1.json      the first answer to the question whose digest is ab12…
    FOLDER/ab/ab12…-2.json      a later one, where the first was a failure and `fill` asked again
    FOLDER/fills/3              the third time that failures were asked again

A file is written whole under a name of its own, synced, then linked: whoever links first is right,
and the others take what it says. So what was given is what is stored, in every process.

OutsideError (bedside.outside)
├── CacheMiss       replay_only, and nothing is stored under the key
└── CacheCorrupt    a file of the cache is damaged, or the cache cannot be read or written
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from threading import get_ident
from typing import Any, Final

from bedside.outside import OutsideError
from replay.decisions.question import Question, canonical
from replay.manifest import digest_of

SCHEMA: Final = 1
LARGEST_ENTRY_BYTES: Final = 8 * 1024 * 1024
FILLS: Final = "fills"


class CacheMode(StrEnum):
    """off: ask. record: ask what was never asked, and keep it. replay_only: ask nobody. fill: as
    record, and what failed in an earlier run is asked again."""

    OFF = "off"
    RECORD = "record"
    REPLAY_ONLY = "replay_only"
    FILL = "fill"

    @property
    def asks(self) -> bool:
        """Whether a service may be asked at all."""
        return self is not CacheMode.REPLAY_ONLY


class CacheMiss(OutsideError):
    """Nothing is stored under a key, and nobody may be asked."""


class CacheCorrupt(OutsideError):
    """A file of the cache cannot be used; the message names it."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer, or a failure, as it is given again. fill: the fill that asked; 0: none."""

    latency_s: float
    body: Mapping[str, Any] | None
    usage: Mapping[str, int]
    attempts: int
    error: str | None
    fill: int = 0


class DecisionCache:
    """The cache in one folder.

    fill: number of the fill this run is, from `begin_fill`. With replay_only it leaves out what
        later fills have stored; without one, all are seen.
    """

    def __init__(self, folder: Path, mode: CacheMode, fill: int | None = None) -> None:
        self._folder = folder
        self._mode = mode
        self._fill = fill

    def known(self, question: Question) -> Stored | None:
        """What is to be given; None: ask."""
        entries = self._entries(question)
        if entries and self._stands(entries[-1]):
            return entries[-1]
        if self._mode is CacheMode.REPLAY_ONLY:
            raise CacheMiss(
                f"nothing is stored under {question.digest[:16]}: {question.service} call "
                f"{question.call} of {question.task}, seed {question.seed}, trial "
                f"{question.trial}; record it first, or use the agent it was recorded with"
            )
        return None

    def keep(self, question: Question, found: Stored) -> Stored:
        """Keep what was found, unless another process was first; what is stored from now on."""
        text = _text(question, found)
        while True:
            entries = self._entries(question)
            if entries and self._stands(entries[-1]):
                return entries[-1]
            self._add(self._path(question, len(entries) + 1), text)

    def _stands(self, entry: Stored) -> bool:
        asks_again = self._mode is CacheMode.FILL and entry.error is not None
        return not asks_again or (self._fill is not None and entry.fill >= self._fill)

    def _entries(self, question: Question) -> list[Stored]:
        """All that was ever stored under the key, oldest first, as far as this run may see."""
        entries: list[Stored] = []
        for number in count(1):
            entry = _read(self._path(question, number), question)
            if entry is None or self._is_later(entry):
                break
            entries.append(entry)
        return entries

    def _is_later(self, entry: Stored) -> bool:
        return not self._mode.asks and self._fill is not None and entry.fill > self._fill

    def _path(self, question: Question, number: int) -> Path:
        name = question.digest
        return self._folder / name[:2] / f"{name}-{number}.json"

    def _add(self, path: Path, text: bytes) -> None:
        growing = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with growing.open("wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(growing, path)
        except OSError as error:
            raise CacheCorrupt(f"{path}: cannot be written: {error.strerror}") from error
        finally:
            with suppress(OSError):
                growing.unlink()


def begin_fill(folder: Path) -> int:
    """The number of a new fill, 1 or more; no other run has it."""
    fills = folder / FILLS
    try:
        fills.mkdir(parents=True, exist_ok=True)
        for number in count(1 + max((int(path.name) for path in fills.iterdir()), default=0)):
            with suppress(FileExistsError):
                (fills / str(number)).mkdir()
                return number
    except (OSError, ValueError) as error:
        raise CacheCorrupt(f"{fills}: cannot be used: {error}") from error
    raise AssertionError("unreachable")


def _text(question: Question, stored: Stored) -> bytes:
    entry = {"schema": SCHEMA, "key": asdict(question), "stored": asdict(stored)}
    return canonical({**entry, "sha256": digest_of(entry)}) + b"\n"


def _read(path: Path, question: Question) -> Stored | None:
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_ENTRY_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CacheCorrupt(f"{path}: cannot be read: {error.strerror}") from error
    try:
        entry = json.loads(text)
        schema = entry["schema"]
        if isinstance(schema, int) and schema > SCHEMA:
            raise CacheCorrupt(f"{path}: schema {schema} is newer than {SCHEMA}; update Paprika")
        said = entry.pop("sha256")
        if schema != SCHEMA or said != digest_of(entry) or entry["key"] != asdict(question):
            raise ValueError
        return Stored(**entry["stored"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise CacheCorrupt(
            f"{path}: damaged; remove it and record again, or restore it from where it came"
        ) from None
