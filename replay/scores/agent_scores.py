"""The score of one agent at one wake scale: a row of the scoreboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from replay.experiment.rows import Row
from replay.scores.bootstrap import Resampling
from replay.scores.cases import Case, Group
from replay.scores.dose import dose, rem_minutes
from replay.scores.estimators import resolution, upper_bound
from replay.scores.figures import (
    AgentScore,
    Bound,
    Cost,
    Cues,
    Dose,
    Events,
    Interval,
    PassK,
    Rate,
)
from replay.scores.pass_k import Tally, mean_pass_k, pass_k_bounds


def agent_score(
    group: Group, cases: Sequence[Case], seeds: Sequence[int], drawn: Resampling
) -> AgentScore:
    """seeds: planned in this split; their number is the highest k of pass^k."""
    split, scale, agent = group
    played = _rows(cases)
    scored = [case for case in cases if case.scored]
    seen = [case for case in cases if case.seen]
    feasible = [case for case in cases if case.unit.feasible]
    starts, mixed = _start_points(cases, len(seeds))
    return AgentScore(
        agent=agent,
        scale=scale,
        split=split,
        attempts=len(cases),
        scored=len(scored),
        steps=sum(row.steps for row in played),
        statuses=dict(Counter(case.status for case in cases)),
        passes=_rate(feasible, drawn),
        pass_k=_pass_k(starts, len(seeds), drawn),
        start_points=len(starts),
        mixed=mixed,
        restraint=_rate([case for case in cases if not case.unit.feasible], drawn),
        dose=_dose([case for case in feasible if case.scored], drawn),
        cues=_cues(_rows(seen)),
        events=_events(cases, seen, drawn),
        decisions=_added(row.decisions for row in _rows(seen)),
        cost=_cost(played),
    )


def share(part: float, whole: float) -> float | None:
    """None of nothing."""
    return part / whole if whole else None


def _rows(cases: Iterable[Case]) -> list[Row]:
    return [case.row for case in cases if case.row is not None]


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            total[name] = total.get(name, 0) + count
    return dict(sorted(total.items()))


def _rate(cases: Sequence[Case], drawn: Resampling) -> Rate | None:
    if not cases:
        return None
    of, places = len(cases), [case.place for case in cases]
    sure = [case.passed is True for case in cases]
    possible = [case.passed is not False for case in cases]
    interval = drawn.share(
        drawn.summed(places, sure), drawn.summed(places, possible), drawn.summed(places, [1] * of)
    )
    passed, upper = sum(sure), sum(possible)
    return Rate(passed, upper - passed, of, passed / of, upper / of, resolution(of), interval)


def _start_points(cases: Iterable[Case], seeds: int) -> tuple[list[tuple[Case, Tally]], int]:
    """Start points with all seeds cue-feasible, and how many have only some."""
    by_start: dict[object, list[Case]] = {}
    for case in cases:
        by_start.setdefault(case.start, []).append(case)
    whole, mixed = [], 0
    for found in by_start.values():
        feasible = sum(case.unit.feasible for case in found)
        if feasible == len(found) and feasible >= seeds:
            passed = sum(case.passed is True for case in found)
            unsure = sum(case.passed is None for case in found)
            whole.append((found[0], Tally(passed, unsure, len(found))))
        elif feasible:
            mixed += 1
    return whole, mixed


def _pass_k(
    starts: Sequence[tuple[Case, Tally]], seeds: int, drawn: Resampling
) -> tuple[PassK, ...]:
    if not starts:
        return ()
    places, tallies = [case.place for case, _ in starts], [tally for _, tally in starts]
    below = drawn.summed(places, [1] * len(starts))
    found = []
    for k in range(1, seeds + 1):
        lower, upper = zip(*(pass_k_bounds(tally, k) for tally in tallies), strict=True)
        interval = drawn.share(drawn.summed(places, lower), drawn.summed(places, upper), below)
        found.append(PassK(k, *mean_pass_k(tallies, k), interval))
    return tuple(found)


def _dose(cases: Sequence[Case], drawn: Resampling) -> Dose:
    rows, places = _rows(cases), [case.place for case in cases]
    cues = drawn.summed(places, [row.rem_cues for row in rows])
    minutes = drawn.summed(places, [rem_minutes(row) for row in rows])
    return dose(rows, drawn.ratio(cues, minutes))


def _cues(rows: Sequence[Row]) -> Cues:
    delivered = sum(row.delivered for row in rows)
    rem, true_rem = sum(row.rem_cues for row in rows), sum(row.true_rem_cues for row in rows)
    return Cues(
        asked=sum(row.asked for row in rows),
        delivered=delivered,
        refused=sum(row.refused for row in rows),
        rewritten=sum(row.rewritten for row in rows),
        per_task=share(delivered, len(rows)),
        shown=_added(row.shown for row in rows),
        true=_added(row.true for row in rows),
        rem_cues=rem,
        true_rem_cues=true_rem,
        shown_rem_share=share(rem, delivered),
        true_rem_share=share(true_rem, delivered),
    )


def _events(planned: Sequence[Case], seen: Sequence[Case], drawn: Resampling) -> Events:
    rows = _rows(seen)
    wakings = sum(row.wakings for row in rows)
    return Events(
        wakings=wakings,
        wakings_per_task=share(wakings, len(rows)) if any(one.scored for one in seen) else None,
        wakings_interval=_wakings_interval(seen, rows, drawn),
        waking_bound=_bound(planned, lambda row: row.wakings > 0),
        suspected_wakings=sum(row.suspected_wakings for row in rows),
        violations=_added(row.violations for row in rows),
        violations_delivered=_added(row.violations_delivered for row in rows),
        violation_bound=_bound(planned, lambda row: any(row.violations.values())),
        limit_hits=_added(row.limit_hits for row in rows),
    )


def _wakings_interval(
    cases: Sequence[Case], rows: Sequence[Row], drawn: Resampling
) -> Interval | None:
    places = [case.place for case in cases]
    wakings = drawn.summed(places, [row.wakings for row in rows])
    return drawn.ratio(wakings, drawn.summed(places, [1] * len(rows)))


def _bound(planned: Sequence[Case], happened: Callable[[Row], bool]) -> Bound:
    events = sum(case.seen and case.row is not None and happened(case.row) for case in planned)
    unsure = sum(
        not case.scored and not (case.seen and case.row is not None and happened(case.row))
        for case in planned
    )
    of = len(planned)
    return Bound(events, unsure, of, upper_bound(events + unsure, of) if of else None)


def _cost(rows: Sequence[Row]) -> Cost:
    steps, waits = sum(row.steps for row in rows), sum(row.limit_waits for row in rows)
    return Cost(
        calls=sum(row.calls for row in rows),
        client_calls=sum(row.client_calls for row in rows),
        cached=sum(row.cached for row in rows),
        failed_calls=sum(row.failed_calls for row in rows),
        tokens_in=sum(row.tokens_in for row in rows),
        tokens_out=sum(row.tokens_out for row in rows),
        cost_paid=_known([row.cost_paid for row in rows]),
        cost_nominal=_known([row.cost_nominal for row in rows]),
        limit_waits=waits,
        limit_wait_share=share(waits, steps),
        latency_mean_s=share(sum(row.latency_s * row.steps for row in rows), steps),
    )


def _known(prices: Sequence[float | None]) -> float | None:
    """The sum, None where one price is unknown."""
    known = [price for price in prices if price is not None]
    return sum(known, 0.0) if len(known) == len(prices) else None
