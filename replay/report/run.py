"""What the pages need of a run; `replay.experiment.folder.RunFolder` has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from replay.experiment.rows import Row
from replay.scores.verdicts import Verdict
from replay.summary import Line


class VerdictSet(Protocol):
    """One grading of the whole run; later ones leave it as it is."""

    @property
    def id(self) -> str: ...


class Run(Protocol):
    """Rows in plan order, verdicts by key, and the traces they were counted from."""

    @property
    def path(self) -> Path: ...

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    def rows(self) -> list[Row]: ...

    def verdicts(self, set_id: str | None = None) -> Mapping[str, Verdict]: ...

    def verdict_sets(self) -> Sequence[VerdictSet]:
        """Oldest first."""
        ...

    def trace(self, key: str) -> Sequence[Line]: ...

    def hidden(self, key: str) -> Sequence[Line]: ...
