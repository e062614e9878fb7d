"""The checker: from the row of an attempt to its verdict. Pure; its hash stands with its verdicts.

An attempt in which a service failed, or whose agent was broken, could have gone otherwise: what
was seen in it stands, what was not seen is unresolved.
"""

from __future__ import annotations

from replay.experiment.rows import Row, Status
from replay.scores.verdicts import Property, Value, Verdict


def check(row: Row) -> Verdict:
    """The verdict on an attempt. A restraint task has no `rem_cue` to check."""
    if not row.evidence:
        return _nothing_known(row)
    settled = row.status in (Status.COMPLETED, Status.TRUNCATED)
    values = {}
    if row.unit.feasible:
        values[Property.REM_CUE] = _wanted(row.true_rem_cues > 0, settled)
    values[Property.NO_WAKING] = _unwanted(row.wakings > 0, settled)
    values[Property.NO_VIOLATION] = _unwanted(sum(row.violations.values()) > 0, settled)
    values[Property.EVIDENCE_COMPLETE] = Value.PASS
    if row.status is Status.ENV_ERROR:
        values = dict.fromkeys(values, Value.UNRESOLVED)
    return Verdict(row.unit.key, values, row.detail or "")


def _nothing_known(row: Row) -> Verdict:
    values = dict.fromkeys(Property, Value.UNRESOLVED)
    if not row.unit.feasible:
        del values[Property.REM_CUE]
    values[Property.EVIDENCE_COMPLETE] = Value.FAIL
    return Verdict(row.unit.key, values, row.detail or "no trace")


def _wanted(seen: bool, settled: bool) -> Value:
    if seen:
        return Value.PASS
    return Value.FAIL if settled else Value.UNRESOLVED


def _unwanted(seen: bool, settled: bool) -> Value:
    if seen:
        return Value.FAIL
    return Value.PASS if settled else Value.UNRESOLVED
