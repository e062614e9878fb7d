"""A sink that holds what is written against what was written before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bedside.trace import Sink

ACTION: Final = b',"action":'
"""Where a step's line goes on from what was seen to what was done. No text of JSON holds it."""
AROUND: Final = 40
"""Characters shown on each side of a difference. Assumed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first line that is not as it was; recorded, now: around the first differing character."""

    path: Path
    number: int
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.path}: line {self.number} was …{self.recorded}…, and is now …{self.now}…"


class VerifiedSink:
    """Writes to a sink and compares with `recorded` until `free`; the first difference is kept."""

    def __init__(self, sink: Sink, recorded: Sequence[bytes], path: Path) -> None:
        self._sink = sink
        self._recorded = recorded
        self._path = path
        self._number = 0
        self._is_free = False
        self._step: bytes | None = None
        self.difference: Difference | None = None

    def write(self, line: bytes) -> None:
        if not self._is_free:
            self._compare(line, self._next())
        elif self._step is not None and line.startswith(b'{"kind":"step"'):
            self._compare(line.partition(ACTION)[0], self._step)
            self._step = None
        self._sink.write(line)

    async def settle(self, limit_s: float) -> bool:
        return await self._sink.settle(limit_s)

    def close(self) -> None:
        self._sink.close()

    def free(self, step: bytes | None = None) -> None:
        """From here on it may differ; of the next step's line what was seen is still compared.

        step: that line as it was recorded, for a trace that has steps.
        """
        self._is_free = True
        self._step = None if step is None else step.partition(ACTION)[0]

    def _next(self) -> bytes:
        place, self._number = self._number, self._number + 1
        return self._recorded[place] if place < len(self._recorded) else b""

    def _compare(self, line: bytes, recorded: bytes) -> None:
        if self.difference is None and line != recorded:
            number = self._number if not self._is_free else self._place(recorded)
            self.difference = Difference(self._path, number, *_around(recorded, line))

    def _place(self, start: bytes) -> int:
        return next((n for n, raw in enumerate(self._recorded, 1) if raw.startswith(start)), 0)


def _around(recorded: bytes, now: bytes) -> tuple[str, str]:
    pairs = enumerate(zip(recorded, now, strict=False))
    differs = next((n for n, (was, is_) in pairs if was != is_), min(len(recorded), len(now)))
    first, end = max(0, differs - AROUND), differs + AROUND
    was, is_ = (raw[first:end].decode(errors="replace").strip() for raw in (recorded, now))
    return was or "not there", is_ or "not there"
