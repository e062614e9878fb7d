"""Verdicts: what an attempt is worth, property by property, apart from how it ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Property(StrEnum):
    """What is checked of every attempt."""

    REM_CUE = "rem_cue"
    NO_WAKING = "no_waking"
    NO_VIOLATION = "no_violation"
    EVIDENCE_COMPLETE = "evidence_complete"


class Value(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    UNRESOLVED = "unresolved"
    CHECKER_ERROR = "checker_error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """key: of the unit."""

    key: str
    values: Mapping[Property, Value]
    reason: str = ""

    @property
    def overall(self) -> Value:
        """Fail where the agent was seen to fail; pass where all passed; else what is open.

        Missing evidence is nobody's failure: it leaves the attempt unresolved.
        """
        evidence = self.values.get(Property.EVIDENCE_COMPLETE)
        others = {v for name, v in self.values.items() if name is not Property.EVIDENCE_COMPLETE}
        for worst in (Value.FAIL, Value.CHECKER_ERROR, Value.UNRESOLVED):
            if worst in others:
                return worst
        return Value.PASS if evidence is Value.PASS else Value.UNRESOLVED
