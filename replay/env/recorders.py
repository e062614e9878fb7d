"""Where an environment writes its evidence, hidden values included: never to the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from bedside.trace import FileSink, MemorySink, Sink, Trace, TraceError


@dataclass(frozen=True, slots=True)
class Sinks:
    """Of one episode: trace, hidden trace, and the components of every step."""

    trace: Sink
    hidden: Sink
    components: Sink

    def close(self) -> None:
        for sink in (self.trace, self.hidden, self.components):
            sink.close()


class Recorder(Protocol):
    """Gets the evidence of every episode; its sinks are written from the night's own thread."""

    def episode(self) -> Sinks:
        """Sinks for the episode that begins; they are closed when it is over."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryEpisode:
    """The evidence of one episode, as bytes of JSON Lines."""

    sinks: tuple[MemorySink, MemorySink, MemorySink] = field(
        default_factory=lambda: (MemorySink(), MemorySink(), MemorySink())
    )

    @property
    def trace(self) -> bytes:
        return self.sinks[0].bytes()

    @property
    def hidden(self) -> bytes:
        return self.sinks[1].bytes()

    @property
    def components(self) -> bytes:
        return self.sinks[2].bytes()


class MemoryRecorder:
    """Keeps every episode in memory, in order."""

    def __init__(self) -> None:
        self.episodes: list[MemoryEpisode] = []

    def episode(self) -> Sinks:
        begun = MemoryEpisode()
        self.episodes.append(begun)
        return Sinks(*begun.sinks)


class FolderRecorder:
    """Writes `0001.trace.jsonl`, `0001.hidden.jsonl` and `0001.components.jsonl` and so on.

    A file has its name only when its episode is over. Numbers go on after those that are there.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TraceError(f"{folder}: {error.strerror}; choose another folder") from error

    def episode(self) -> Sinks:
        number = next(n for n in count(1) if not self._path(n, "trace").exists())
        return Sinks(
            *(FileSink(self._path(number, name)) for name in ("trace", "hidden", "components"))
        )

    def _path(self, number: int, name: str) -> Path:
        return self._folder / f"{number:04}.{name}.jsonl"


class NotedTrace(Trace):
    """A trace whose lines are told to `note` first; without a sink they are only told."""

    def __init__(self, sink: Sink | None, note: Callable[[str, Mapping[str, Any]], None]) -> None:
        super().__init__(MemorySink() if sink is None else sink)
        self._note = note
        self._written = sink is not None

    def line(self, kind: str, fields: Mapping[str, Any]) -> None:
        self._note(kind, fields)
        if self._written:
            super().line(kind, fields)
