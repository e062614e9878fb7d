"""What a run really asked and paid for, one line a call; many processes may add to one file.

A trace cannot tell, because a run repeated from its cache has the same bytes.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bedside.outside import OutsideError
from replay.decisions.prices import Prices

SCHEMA: Final = 1


class LedgerError(OutsideError):
    """The ledger cannot be read or written; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Paid:
    """A call that really went out. call: its number among the attempt's paid services."""

    unit: str
    call: int
    model: str | None
    usage: Mapping[str, int]
    attempts: int
    failed: bool

    def cost(self, prices: Prices) -> float | None:
        """In US dollars; None: unknown. Assumed: a service bills nothing that it did not answer."""
        return 0.0 if self.failed and not self.usage else prices.cost(self.model, self.usage)


class Ledger:
    """The ledger at `path`; absent: empty. Reading takes in only what is new."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_to = 0
        self._line = 0
        self._by_unit: dict[str, list[Paid]] = defaultdict(list)

    def add(self, paid: Paid) -> None:
        """Append one line, safe on the disk when this returns."""
        row = {
            "schema": SCHEMA,
            "unit": paid.unit,
            "call": paid.call,
            "model": paid.model,
            "usage": dict(paid.usage),
            "attempts": paid.attempts,
            "failed": paid.failed,
        }
        text = json.dumps(row, separators=(",", ":")) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                file.write((self._after_a_torn_line() + text).encode())
                os.fsync(file.fileno())
        except OSError as error:
            raise LedgerError(f"{self._path}: {error.strerror}") from error

    def of(self, unit: str) -> tuple[Paid, ...]:
        """What this attempt really asked, tries that were broken off included."""
        self._take_in()
        return tuple(self._by_unit.get(unit, ()))

    def spent_usd(self, prices: Prices) -> float:
        """What the run has cost so far, as far as prices are known."""
        self._take_in()
        return sum(one.cost(prices) or 0.0 for rows in self._by_unit.values() for one in rows)

    def _after_a_torn_line(self) -> str:
        try:
            with self._path.open("rb") as file:
                file.seek(-1, os.SEEK_END)
                return "" if file.read() == b"\n" else "\n"
        except OSError:
            return ""

    def _take_in(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_to)
                new = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise LedgerError(f"{self._path}: {error.strerror}") from error
        whole = new[: new.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for text in whole.splitlines():
            self._line += 1
            paid = self._paid(text)
            if paid is not None:
                self._by_unit[paid.unit].append(paid)

    def _paid(self, text: bytes) -> Paid | None:
        """None: a line that was broken off, which began and never ended."""
        try:
            row = json.loads(text)
        except ValueError:
            return None
        try:
            if row["schema"] > SCHEMA:
                raise LedgerError(
                    f"{self._path}: line {self._line}: schema {row['schema']} is newer than "
                    f"{SCHEMA}; update Paprika"
                )
            return _paid_from(row)
        except (TypeError, KeyError, ValueError) as error:
            told = f"{self._path}: line {self._line}: no line of a ledger"
            raise LedgerError(told) from error


def _paid_from(row: Mapping[str, Any]) -> Paid:
    model, usage = row["model"], row["usage"]
    if not (model is None or isinstance(model, str)) or not isinstance(usage, Mapping):
        raise ValueError
    counts = {str(name): int(count) for name, count in usage.items()}
    unit, call, attempts = str(row["unit"]), int(row["call"]), int(row["attempts"])
    return Paid(unit, call, model, counts, attempts, bool(row["failed"]))
