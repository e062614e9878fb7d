"""What an attempt may ask for: client calls, and dollars."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

TASK_CALLS: Final = 12
"""Client calls of a task, retries included. Source: the seed."""
MANY_CALLS: Final = 24
"""The other preset, to see what the limit does. Source: the seed, "Test the call limit"."""


class UsedUp(StrEnum):
    """Why a call was refused."""

    CALL_LIMIT = "call_limit"
    SPEND_CAP = "spend_cap"


class Allowance:
    """What is left of an attempt's calls and dollars. None: no limit.

    Counts what the calls would cost if nothing were cached: a rerun is refused the same calls.
    """

    def __init__(self, calls: int | None, usd: float | None) -> None:
        self._calls = calls
        self._usd = usd
        self._made = 0
        self._spent_usd = 0.0

    @property
    def used_up(self) -> UsedUp | None:
        """What there is no more of."""
        if self._calls is not None and self._made >= self._calls:
            return UsedUp.CALL_LIMIT
        if self._usd is not None and self._spent_usd >= self._usd:
            return UsedUp.SPEND_CAP
        return None

    @property
    def calls_left(self) -> int | None:
        return None if self._calls is None else max(0, self._calls - self._made)

    def count(self, calls: int, cost_usd: float | None) -> None:
        """Take one answered or failed request into account."""
        self._made += calls
        self._spent_usd += cost_usd or 0.0
