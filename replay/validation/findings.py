"""What a check comes to, and a report of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from replay.validation.ground import Ground


class Result(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """line: the result in one line with its numbers. numbers: all of them, for programs."""

    result: Result
    line: str
    numbers: Mapping[str, Any] = field(default_factory=dict)


def found(passed: bool, line: str, **numbers: Any) -> Finding:
    """A finding that passed or failed."""
    return Finding(Result.PASSED if passed else Result.FAILED, line, numbers)


def not_applicable(why: str) -> Finding:
    return Finding(Result.NOT_APPLICABLE, why)


@dataclass(frozen=True, slots=True)
class Check:
    """A promise of the environment.

    needs: checks without which this one says nothing; where one of them did not pass, it is not
        asked.
    """

    name: str
    run: Callable[[Ground], Finding]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A check on a night: its finding, and the seconds it took."""

    name: str
    finding: Finding
    seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """All checks on one night."""

    night: str
    epochs: int
    checks: tuple[Checked, ...]

    def named(self, result: Result) -> tuple[str, ...]:
        """Names of the checks with this result."""
        return tuple(one.name for one in self.checks if one.finding.result is result)

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.named(Result.FAILED)

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """The report in JSON's types."""
        return {
            "night": self.night,
            "epochs": self.epochs,
            "passed": self.passed,
            "failed": list(self.named(Result.FAILED)),
            "seconds": round(self.seconds, 3),
            "checks": [
                {
                    "name": one.name,
                    "result": one.finding.result.value,
                    "line": one.finding.line,
                    "numbers": dict(one.finding.numbers),
                    "seconds": round(one.seconds, 3),
                }
                for one in self.checks
            ],
        }
