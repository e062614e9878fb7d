"""The figures of a scoreboard: values only, made by `replay.scores.scoreboard`.

Shares lie in 0..1. What cannot be known is None, never 0. `low`, `high` bound an interval of 95 %;
`lower`, `upper` bound what the open attempts may still turn out to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from replay.scores.conclusion import Word

SCHEMA: Final = 1
DECIMALS: Final = 6
"""Of every number in `Scoreboard.as_dict`: more would be noise of the arithmetic."""


class Split(StrEnum):
    """Which dice: seeds to develop on, or seeds held out. Never one figure over both."""

    DEVELOPMENT = "development"
    HELD_OUT = "held_out"


class Method(StrEnum):
    """How an interval was made."""

    BOOTSTRAP = "cluster bootstrap"
    CLOPPER_PEARSON = "Clopper-Pearson over clusters"


@dataclass(frozen=True, slots=True)
class Interval:
    """Two-sided, 95 %. clusters: what was resampled; with one, there is no interval at all."""

    low: float
    high: float
    method: Method
    clusters: int


@dataclass(frozen=True, slots=True)
class Rate:
    """Passed of planned attempts; open ones count as failed in `lower` and as passed in `upper`.

    resolution: what one flipped attempt changes, 1 / planned. interval: around both bounds.
    """

    passed: int
    open: int
    planned: int
    lower: float
    upper: float
    resolution: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class PassK:
    """pass^k: the chance that k seeds of one start point all pass, averaged over start points."""

    k: int
    lower: float
    upper: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Bound:
    """Planned attempts in which at least one event was seen, and what their true share may be.

    open: those in which none was seen, and one might have come: broken ones count as events in
    `upper`. upper: one-sided 95 % Clopper-Pearson; None without an attempt.
    """

    events: int
    open: int
    attempts: int
    upper: float | None


@dataclass(frozen=True, slots=True)
class Dose:
    """How much was cued of the REM there was, over the cue-feasible tasks.

    cues_per_rem_minute: sounds and whispers in shown REM; None without REM.
    first_cue_median_s: from the end of the first REM reading to the first of them, over the
    `first_cues` attempts that gave one at all.
    """

    rem_cues: int
    rem_minutes: float
    cues_per_rem_minute: float | None
    interval: Interval | None
    rem_periods: int
    rem_periods_cued: int
    periods_cued_share: float | None
    first_cues: int
    first_cue_median_s: float | None


@dataclass(frozen=True, slots=True)
class Cues:
    """Delivered cues of all attempts that left evidence, by shown and by true stage (`awake rem
    light deep none`); the shares are of all delivered cues and count only sounds and whispers."""

    asked: int
    delivered: int
    refused: int
    rewritten: int
    per_task: float | None
    shown: Mapping[str, int]
    true: Mapping[str, int]
    rem_cues: int
    true_rem_cues: int
    shown_rem_share: float | None
    true_rem_share: float | None


@dataclass(frozen=True, slots=True)
class Events:
    """Wakings and violations of all attempts that left evidence, broken ones included: what was
    seen counts, whatever came after it.

    violations, violations_delivered, limit_hits: counts by rule or limit.
    """

    wakings: int
    wakings_per_task: float | None
    wakings_interval: Interval | None
    waking_bound: Bound
    suspected_wakings: int
    violations: Mapping[str, int]
    violations_delivered: Mapping[str, int]
    violation_bound: Bound
    limit_hits: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the agent asked of the outside world, broken attempts included.

    cost_paid, cost_nominal: US dollars; None where a price is unknown.
    limit_wait_share: steps that waited because no call was left, of all steps.
    """

    calls: int
    client_calls: int
    cached: int
    failed_calls: int
    tokens_in: int
    tokens_out: int
    cost_paid: float | None
    cost_nominal: float | None
    limit_waits: int
    limit_wait_share: float | None
    latency_mean_s: float | None


@dataclass(frozen=True, slots=True)
class AgentScore:
    """One agent at one wake scale on one kind of seeds: a row of the scoreboard.

    attempts: planned. scored: completed or truncated, what cues, wakings and dose are counted of.
    statuses: attempts by status, `missing` for planned ones without a row. start_points: those that
    pass^k is averaged over, every planned seed of which is cue-feasible; mixed: those left out of
    it because only some are.
    passes: on cue-feasible tasks; None where there is none. restraint: the row of the other tasks
    (pass: no waking, no violation); never part of pass^k. decisions: by status.
    """

    agent: str
    scale: float
    split: Split
    attempts: int
    scored: int
    steps: int
    statuses: Mapping[str, int]
    passes: Rate | None
    pass_k: tuple[PassK, ...]
    start_points: int
    mixed: int
    restraint: Rate | None
    dose: Dose
    cues: Cues
    events: Events
    decisions: Mapping[str, int]
    cost: Cost


@dataclass(frozen=True, slots=True)
class WakingRange:
    """Wakings a task over the wake scales; by_scale: scale as text (`0.5`) to mean.

    low, high: over all of them; None where one of `RANGE_SCALES` is not known.
    """

    agent: str
    split: Split
    by_scale: Mapping[str, float | None]
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Whether the order of the agents by wakings holds over the scales: Kendall's tau-b.

    by_pair: `0.5/1` to tau, None where a scale ranks nobody. lowest: over the pairs.
    """

    split: Split
    agents: int
    by_pair: Mapping[str, float | None]
    lowest: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second agent in one measure, on the same tasks, seeds and scale.

    mean: over pairs; lower, upper: over what open attempts may turn out to be. pairs: compared.
    p_permutation: pairs exchanged one by one; p_clusters: whole clusters at a time, which asks
    whether it would hold on other sleep. p_holm, p_clusters_holm: both adjusted over all pairs of
    agents; the word follows from these two.
    """

    mean: float | None
    lower: float | None
    upper: float | None
    pairs: int
    p_permutation: float | None
    p_clusters: float | None
    p_holm: float | None
    p_clusters_holm: float | None
    word: Word


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two agents on the tasks both were given.

    passes: on cue-feasible tasks. wakings: on all tasks scored for both. dose: cues per REM minute.
    only_first, only_second: pairs that one alone passed. p_mcnemar: of those, exact.
    """

    first: str
    second: str
    scale: float
    split: Split
    pairs: int
    open: int
    only_first: int
    only_second: int
    p_mcnemar: float | None
    p_mcnemar_holm: float | None
    resolution: float | None
    passes: Difference
    wakings: Difference
    dose: Difference


@dataclass(frozen=True, slots=True)
class Saturation:
    """Cells of the wake table that a scale lifts to 1, such as `light high`; of nine."""

    scale: float
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an agent's cue-feasible attempts; name: of a start kind or a condition."""

    agent: str
    scale: float
    split: Split
    name: str
    passed: int
    open: int
    planned: int


@dataclass(frozen=True, slots=True)
class NightScore:
    """One night of one agent: cues in shown REM against cues in true REM."""

    night: str
    agent: str
    scale: float
    split: Split
    attempts: int
    delivered: int
    rem_cues: int
    true_rem_cues: int
    wakings: int
    shown_rem_share: float | None
    true_rem_share: float | None


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Everything that may be concluded from one run.

    seed, resamples: of the statistics, not of the tasks. seeds: planned, by split.
    differ_most: the nights whose shares of cues in shown and in true REM lie furthest apart, at
    the scale nearest to 1, worst first. claims: what is claimed, and what is not. notes: what must
    be said beside the figures.
    """

    seed: int
    resamples: int
    agents: tuple[str, ...]
    scales: tuple[float, ...]
    seeds: Mapping[str, tuple[int, ...]]
    nights: int
    clusters: int
    scores: tuple[AgentScore, ...]
    waking_ranges: tuple[WakingRange, ...]
    rank_agreement: tuple[RankAgreement, ...]
    comparisons: tuple[Comparison, ...]
    saturation: tuple[Saturation, ...]
    kinds: tuple[Part, ...]
    conditions: tuple[Part, ...]
    night_scores: tuple[NightScore, ...]
    differ_most: tuple[NightScore, ...]
    claims: tuple[str, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; numbers are rounded."""
        plain: dict[str, Any] = rounded(asdict(self))
        return {"schema": SCHEMA, **plain}


def rounded(value: Any) -> Any:
    """Plain values for JSON, every number to `DECIMALS`."""
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return value
