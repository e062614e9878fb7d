"""A row from the two traces of an attempt, and from nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from bedside.plan import Ending
from devices.types import Stage
from replay.decisions import Costs, Paid, Prices, costs
from replay.experiment.rows import Row, Status, Unit
from replay.summary import STAGE_NAMES, CueDone, Summary, summarise
from replay.trace_lines import Line, parsed

HEARD: Final = frozenset({"sound", "whisper"})
"""Kinds that count as a cue in REM. Source: `design.md` §5, Action."""
REACHED: Final = ("roll", "awake_already")
"""Hidden events of a cue that reached the sleeper."""
BROKEN_SHARE: Final = 0.1
"""An agent more of whose decisions are no decisions of its own is broken, not bad. Assumed."""
NO_DECISION: Final = ("error", "nonsense", "busy")
"""Statuses of such decisions; a late answer is an answer."""
ENDED_AS_PLANNED: Final = frozenset(
    {Ending.STEP_LIMIT, Ending.AGENT_STOP, Ending.STABLE_DEEP, Ending.NIGHT_END}
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The bytes of both traces."""

    trace: bytes
    hidden: bytes


def row_of(
    unit: Unit,
    evidence: Evidence,
    recorded: Sequence[Stage],
    prices: Prices,
    paid: Sequence[Paid] | None = None,
) -> Row:
    """Count one attempt.

    recorded: what the night's stage stream shows. paid: what the run's ledger has of it.

    Raises:
        TraceError: a trace is broken off or is none.
    """
    trace = parsed(evidence.trace, f"{unit.key} (trace)")
    hidden = parsed(evidence.hidden, f"{unit.key} (hidden trace)")
    found = summarise(trace, hidden, recorded)
    spent = costs(trace, prices, paid)
    rem = _RemSeen(trace, hidden, found.cues)
    status, detail = _status(found, spent)
    return Row(
        unit=unit,
        status=status,
        ending=found.ending,
        detail=detail,
        steps=len(found.stages),
        compared=found.compared,
        mismatched=found.mismatched,
        asked=found.asked,
        delivered=len(found.cues),
        refused=found.refused,
        rewritten=found.rewritten,
        shown=found.cues_by_stage,
        true=_by_true_stage(found.cues),
        rem_cues=rem.cues,
        true_rem_cues=sum(cue.true == "rem" and cue.kind in HEARD for cue in found.cues),
        wakings=len(found.wakings),
        violations=found.violations,
        violations_delivered=found.violations_delivered,
        limit_hits=found.limit_hits,
        rem_epochs=rem.epochs,
        rem_periods=rem.periods,
        rem_periods_cued=rem.periods_cued,
        first_cue_s=rem.first_cue_s,
        decisions=found.decisions,
        suspected_wakings=found.suspected_wakings,
        latency_s=_mean_latency_s(trace),
        calls=spent.calls,
        client_calls=spent.client_calls,
        cached=spent.cached,
        failed_calls=spent.failed_calls,
        limit_waits=spent.limit_waits,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        cost_paid=spent.cost_paid,
        cost_nominal=spent.cost_nominal,
        evidence=True,
        trace_sha256=sha256(evidence.trace).hexdigest(),
        hidden_sha256=sha256(evidence.hidden).hexdigest(),
    )


def row_without_traces(unit: Unit, status: Status, detail: str) -> Row:
    """The row of an attempt that left no evidence: planned, and worth nothing."""
    none = dict.fromkeys(STAGE_NAMES, 0)
    return Row(
        unit=unit,
        status=status,
        ending="",
        detail=detail,
        steps=0,
        compared=0,
        mismatched=0,
        asked=0,
        delivered=0,
        refused=0,
        rewritten=0,
        shown=none,
        true=none,
        rem_cues=0,
        true_rem_cues=0,
        wakings=0,
        violations={},
        violations_delivered={},
        limit_hits={},
        rem_epochs=0,
        rem_periods=0,
        rem_periods_cued=0,
        first_cue_s=None,
        decisions={},
        suspected_wakings=0,
        latency_s=0.0,
        calls=0,
        client_calls=0,
        cached=0,
        failed_calls=0,
        limit_waits=0,
        tokens_in=0,
        tokens_out=0,
        cost_paid=None,
        cost_nominal=None,
        evidence=False,
        trace_sha256="",
        hidden_sha256="",
    )


class _RemSeen:
    """What an attempt made of the REM it was shown."""

    def __init__(
        self, trace: Sequence[Line], hidden: Sequence[Line], cues: Iterable[CueDone]
    ) -> None:
        seen = [line for line in trace if line["kind"] == "step" and _shows_rem(line)]
        period_of = {line["step"]: line["observation"]["rem_period"] for line in seen}
        reached = {line["cue"] for line in hidden if line.get("event") in REACHED}
        heard = [
            cue
            for cue in cues
            if cue.shown == "rem" and cue.kind in HEARD and cue.number in reached
        ]
        self.cues = len(heard)
        self.epochs = len(seen)
        self.periods = len(set(period_of.values()))
        self.periods_cued = len({period_of[c.step] for c in heard if c.step in period_of})
        self.first_cue_s = round(heard[0].t - seen[0]["t"], 3) if heard and seen else None


def _shows_rem(line: Line) -> bool:
    return bool(line["observation"]["stage"] == Stage.REM)


def _by_true_stage(cues: Iterable[CueDone]) -> dict[str, int]:
    counts = Counter(cue.true or "none" for cue in cues)
    return {name: counts[name] for name in STAGE_NAMES}


def _mean_latency_s(trace: Sequence[Line]) -> float:
    latencies = [line["decision"]["latency_s"] for line in trace if line["kind"] == "step"]
    return round(sum(latencies) / len(latencies), 3) if latencies else 0.0


def _status(found: Summary, spent: Costs) -> tuple[Status, str | None]:
    """How the attempt went; a bad decision here and there is the agent's own affair."""
    if found.mismatched:
        return Status.ENV_ERROR, f"{found.mismatched} epochs differ from the recording"
    if found.ending == Ending.CANCELLED:
        return Status.CANCELLED, "cancelled"
    if spent.failed_calls:
        return Status.PROVIDER_ERROR, f"{spent.failed_calls} of {spent.calls} calls failed"
    broken = sum(found.decisions.get(status, 0) for status in NO_DECISION)
    decided = sum(found.decisions.values())
    if broken > BROKEN_SHARE * decided:
        return (
            Status.AGENT_ERROR,
            f"{broken} of {decided} decisions were none of its own",
        )
    if found.ending in ENDED_AS_PLANNED:
        return Status.COMPLETED, None
    return Status.TRUNCATED, f"ended early: {found.ending}"
