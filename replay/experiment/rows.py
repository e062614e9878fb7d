"""One row an attempt: what its traces come to, as the results database, tables and pages use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How an attempt went as a run of a program; what it is worth is a verdict."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"
    CANCELLED = "cancelled"
    AGENT_ERROR = "agent_error"
    PROVIDER_ERROR = "provider_error"
    ENV_ERROR = "env_error"


@dataclass(frozen=True, slots=True)
class Unit:
    """One planned attempt.

    night, task: names. start_epoch, kind, cluster, theme, seed, condition: of the task.
    held_out: a held-out seed. scale: of the wake table. feasible: some step can be cued in REM
    without a waking by a low sound; else the task asks for restraint.
    """

    night: str
    task: str
    kind: str
    start_epoch: int
    cluster: int
    theme: str
    seed: int
    condition: str
    held_out: bool
    feasible: bool
    agent: str
    scale: float

    @property
    def key(self) -> str:
        """`night/task/agent/x1`; unique in a run."""
        return f"{self.night}/{self.task}/{self.agent}/x{self.scale:g}"

    @property
    def paired_key(self) -> tuple[str, str, int, float]:
        """What attempts of two agents share that are compared as a pair."""
        return self.night, self.task, self.seed, self.scale


@dataclass(frozen=True, slots=True)
class Row:
    """A unit and what became of it. Counts are of one attempt.

    asked, delivered, refused, rewritten: cues by the gate's book (`delivered` reached an actuator).
    shown, true: delivered cues by shown and by hidden stage (`awake rem light deep none`);
    rem_cues, true_rem_cues: of those only sounds and whispers that reached the sleeper, which alone
    count as cues in REM.
    violations: rules asked against, by id; violations_delivered: by what reached an actuator.
    rem_epochs: shown REM readings; rem_periods: REM periods that had one; rem_periods_cued: of
    those with a rem cue; first_cue_s: from the first REM reading's end to the first rem cue.
    decisions: by status. calls: outside calls of the agent; client_calls: requests made for them,
    retries included; cached: answered from the cache; failed_calls: without an answer;
    limit_waits: steps that waited because no call was left.
    tokens_in, tokens_out: as the service counted. cost_paid, cost_nominal: US dollars; None where
    the price is unknown (nominal: as if nothing had been cached).
    evidence: both traces are there and whole. detail: what went wrong, in one line.
    """

    unit: Unit
    status: Status
    ending: str
    detail: str | None
    steps: int
    compared: int
    mismatched: int
    asked: int
    delivered: int
    refused: int
    rewritten: int
    shown: Mapping[str, int]
    true: Mapping[str, int]
    rem_cues: int
    true_rem_cues: int
    wakings: int
    violations: Mapping[str, int]
    violations_delivered: Mapping[str, int]
    limit_hits: Mapping[str, int]
    rem_epochs: int
    rem_periods: int
    rem_periods_cued: int
    first_cue_s: float | None
    decisions: Mapping[str, int]
    suspected_wakings: int
    latency_s: float
    calls: int
    client_calls: int
    cached: int
    failed_calls: int
    limit_waits: int
    tokens_in: int
    tokens_out: int
    cost_paid: float | None
    cost_nominal: float | None
    evidence: bool
    trace_sha256: str
    hidden_sha256: str
