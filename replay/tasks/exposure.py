"""The exposure ledger: who has already been tried on held-out dice. One look a build, no more.

JSON Lines, appended to and never rewritten: `schema, night, seed, agent, source_sha256, run`.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import BufferedRandom
from pathlib import Path
from typing import Any, Final

from bedside.home import home
from devices.types import PaprikaError
from replay.tasks.task import DEVELOPMENT_SEEDS, HELD_OUT_SEEDS

SCHEMA: Final = 1
FILE: Final = "exposure.jsonl"
BUILD_DIGITS: Final = 8


class ExposureError(PaprikaError):
    """A held-out seed would be looked at twice, or the ledger cannot be used."""


@dataclass(frozen=True, slots=True)
class Exposed:
    """One agent build that was tried on one held-out seed of one night, in one run."""

    night: str
    seed: int
    agent: str
    source_sha256: str | None
    run: str

    @property
    def look(self) -> tuple[str, int, str, str | None]:
        """What may happen once."""
        return self.night, self.seed, self.agent, self.source_sha256


def exposures(
    agents: Iterable[Mapping[str, Any]],
    nights: Collection[str],
    seeds: Collection[int],
    run: str,
) -> tuple[Exposed, ...]:
    """The looks that a run takes; development seeds are none.

    agents: as `bedside.agent_loading.identity` says. run: its id.
    """
    return tuple(
        Exposed(night, seed, str(agent["name"]), agent["source_sha256"], run)
        for agent in agents
        for night in nights
        for seed in seeds
        if seed in HELD_OUT_SEEDS
    )


class Exposure:
    """The ledger in a file, by default `$PAPRIKA_HOME/exposure.jsonl`; it need not exist yet.

    messages: what could not be read in it, a line each.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else home() / FILE
        self.messages: tuple[str, ...] = ()

    def seen(self) -> tuple[Exposed, ...]:
        """Everything in the ledger, oldest first; a line that is broken off is left out."""
        try:
            return self._parsed(self.path.read_bytes())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise ExposureError(f"{self.path}: {error.strerror}") from error

    def check(self, looks: Iterable[Exposed]) -> None:
        """Raise an ExposureError where another run has already taken one of these looks."""
        self._refuse(looks, self.seen())

    def record(self, looks: Iterable[Exposed]) -> None:
        """Check and append, in one go under a lock; what the same run has noted stays as it is."""
        wanted = tuple(looks)
        if not wanted:
            return
        with self._locked() as file:
            known = self._parsed(file.read())
            self._refuse(wanted, known)
            new = [one for one in dict.fromkeys(wanted) if one not in known]
            if new:
                _append(file, new)

    def _refuse(self, looks: Iterable[Exposed], known: Iterable[Exposed]) -> None:
        runs = {one.look: one.run for one in known}
        for one in looks:
            run = runs.get(one.look, one.run)
            if run != one.run:
                build = (one.source_sha256 or "unknown")[:BUILD_DIGITS]
                raise ExposureError(
                    f"{one.agent} (build {build}) was already tried on seed {one.seed} of "
                    f"{one.night}, in run {run}: a held-out seed is for one look. Resume that run, "
                    f"or use seeds {DEVELOPMENT_SEEDS[0]}-{DEVELOPMENT_SEEDS[-1]} ({self.path})"
                )

    @contextmanager
    def _locked(self) -> Iterator[BufferedRandom]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+b")
        except OSError as error:
            raise ExposureError(f"{self.path}: {error.strerror}") from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            yield file

    def _parsed(self, text: bytes) -> tuple[Exposed, ...]:
        found, messages = [], []
        for number, row in enumerate(text.splitlines(), 1):
            one = _entry(row, f"{self.path}: line {number}")
            if one is not None:
                found.append(one)
            elif row.strip():
                messages.append(
                    f"{self.path}: line {number} is broken off and left out: a look may be missing"
                )
        self.messages = tuple(messages)
        return tuple(found)


def _entry(row: bytes, place: str) -> Exposed | None:
    """The look of a line, None where it is not whole."""
    try:
        line = json.loads(row)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict):
        return None
    schema = line.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise ExposureError(f"{place}: schema {schema} is newer than {SCHEMA}; update Paprika")
    texts = [line.get(name) for name in ("night", "agent", "run")]
    seed, source = line.get("seed"), line.get("source_sha256")
    if not all(isinstance(text, str) for text in texts) or type(seed) is not int:
        return None
    if not isinstance(source, str | None):
        return None
    night, agent, run = map(str, texts)
    return Exposed(night, seed, agent, source, run)


def _append(file: BufferedRandom, looks: Iterable[Exposed]) -> None:
    """Write whole lines and see them to the disk; a torn last line is closed first."""
    end = file.seek(0, os.SEEK_END)
    if end:
        file.seek(end - 1)
        if file.read(1) != b"\n":
            file.write(b"\n")
    for one in looks:
        row = json.dumps({"schema": SCHEMA, **asdict(one)}, ensure_ascii=False)
        file.write(row.encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
