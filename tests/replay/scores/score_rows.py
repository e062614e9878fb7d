"""Rows and verdicts by hand, for the statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replay.experiment.rows import Row, Status, Unit
from replay.scores.verdicts import Property, Value, Verdict

NO_STAGE = {"awake": 0, "rem": 0, "light": 0, "deep": 0, "none": 0}


def unit(agent: str = "rem_rule", start: int = 0, seed: int = 1, **given: Any) -> Unit:
    """Start points lie 100 epochs apart; each is a cluster of its own."""
    kind = given.pop("kind", "rem_onset")
    values = {
        "night": "night-a",
        "task": f"{kind}-{start:04}-t1-s{seed}",
        "kind": kind,
        "start_epoch": 100 * start,
        "cluster": start,
        "theme": "cat",
        "seed": seed,
        "condition": "plain",
        "held_out": False,
        "feasible": True,
        "agent": agent,
        "scale": 1.0,
        **given,
    }
    return Unit(**values)


def row(of: Unit, **given: Any) -> Row:
    """An attempt of 40 steps with one low cue in REM, unless something else is given."""
    values: dict[str, Any] = {
        "status": Status.COMPLETED,
        "ending": "step_limit",
        "detail": None,
        "steps": 40,
        "compared": 40,
        "mismatched": 0,
        "asked": 1,
        "delivered": 1,
        "refused": 0,
        "rewritten": 0,
        "shown": {**NO_STAGE, "rem": 1},
        "true": {**NO_STAGE, "rem": 1},
        "rem_cues": 1,
        "true_rem_cues": 1,
        "wakings": 0,
        "violations": {},
        "violations_delivered": {},
        "limit_hits": {},
        "rem_epochs": 20,
        "rem_periods": 1,
        "rem_periods_cued": 1,
        "first_cue_s": 60.0,
        "decisions": {"ok": 40},
        "suspected_wakings": 0,
        "latency_s": 0.0,
        "calls": 0,
        "client_calls": 0,
        "cached": 0,
        "failed_calls": 0,
        "limit_waits": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "cost_paid": 0.0,
        "cost_nominal": 0.0,
        "evidence": True,
        "trace_sha256": "",
        "hidden_sha256": "",
        **given,
    }
    return Row(unit=of, **values)


def verdict(of: Unit, passed: bool | None = True) -> Verdict:
    """None: a service failed, so nothing is settled."""
    found = {True: Value.PASS, False: Value.FAIL, None: Value.UNRESOLVED}[passed]
    values = {Property.NO_WAKING: found, Property.EVIDENCE_COMPLETE: Value.PASS}
    return Verdict(of.key, {Property.REM_CUE: found, **values} if of.feasible else values)


Run = tuple[list[Row], dict[str, Verdict]]


def played(agent: str, marks: Mapping[int, str], *, start_seed: int = 1, **given: Any) -> Run:
    """Start points by number, a mark a seed: `+` passed, `-` failed (a waking), `?` open."""
    rows, verdicts = [], {}
    for start, of_start in marks.items():
        for seed, mark in enumerate(of_start, start_seed):
            one = unit(agent, start, seed, **given)
            status = Status.PROVIDER_ERROR if mark == "?" else Status.COMPLETED
            rows.append(row(one, status=status, wakings=int(mark == "-")))
            verdicts[one.key] = verdict(one, {"+": True, "-": False, "?": None}[mark])
    return rows, verdicts


def together(runs: Iterable[Run]) -> Run:
    rows: list[Row] = []
    verdicts: dict[str, Verdict] = {}
    for more, known in runs:
        rows += more
        verdicts |= known
    return rows, verdicts
