"""Progress of long work, on standard error, where a person watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from bedside.clock import real_s

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S: Final = 0.7
"""Work that is done sooner shows no bar. Assumed."""

Report = Callable[[int, int, str], None]
"""Told how much is done, of how much, and what is being done."""


@contextmanager
def shown_progress(title: str, *, quiet: bool = False) -> Iterator[Report | None]:
    """A bar that appears when work takes longer than a moment; None where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(title)
    try:
        yield bar.report
    finally:
        bar.close()


class _Bar:
    def __init__(self, title: str) -> None:
        self._title = title
        self._started_s = real_s()
        self._progress: Progress | None = None

    def report(self, done: int, of: int, what: str) -> None:
        if self._progress is None:
            if real_s() - self._started_s < PATIENCE_S:
                return
            self._progress = self._begun(of)
        self._progress.update(self._progress.task_ids[0], completed=done, total=of, what=what)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _begun(self, of: int) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        progress = Progress(
            TextColumn(self._title),
            BarColumn(bar_width=None),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[what]}"),
            console=Console(stderr=True),
            transient=True,
        )
        progress.add_task(self._title, total=of, what="")
        progress.start()
        return progress


@contextmanager
def output_to_errors() -> Iterator[None]:
    """What anybody else's code prints meanwhile goes to standard error: output is for results."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
