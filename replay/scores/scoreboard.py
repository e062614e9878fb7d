"""The scoreboard of a run: what may be concluded from its rows and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from replay.experiment.rows import Row
from replay.scores.agent_scores import agent_score, share
from replay.scores.bootstrap import RESAMPLES, Resampling
from replay.scores.cases import Case, Group, grouped_cases, split_of
from replay.scores.estimators import ScoreError
from replay.scores.figures import NightScore, Part, Scoreboard, Split
from replay.scores.notes import (
    cluster_notes,
    control_notes,
    manifest_notes,
    open_note,
    scale_notes,
    split_note,
)
from replay.scores.pairs import comparisons
from replay.scores.verdicts import Verdict
from replay.scores.wakings import rank_agreement, saturation, waking_ranges

__all__ = ["CLAIMS", "Scoreboard", "scoreboard"]

CLAIMS: Final = (
    "That the environment meets its specification is checked by `paprika validate`, not here.",
    "That an agent does well in it is what this table shows: on these tasks, dice and wake scales.",
    "That the specification stands for real dreams is not shown.",
)
MOST_DIFFERENT: Final = 5
"""Nights listed whose shown and true REM differ most. Source: issue 3."""


def scoreboard(
    rows: Sequence[Row],
    verdicts: Mapping[str, Verdict],
    *,
    seed: int = 1,
    chances: Mapping[str, Mapping[str, float]] | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> Scoreboard:
    """Score the rows; the same rows and seed give the same figures.

    seed: of resampling and of permutations. manifest: of the run; its nights, overlay and training
    exposure may ask for notes. chances: the wake table, by stage and volume; by default the one of
    the manifest, else the bundled one.

    Raises:
        ScoreError: there is no row.
    """
    if not rows:
        raise ScoreError("no attempt to score: the run has no rows")
    groups = grouped_cases(rows, verdicts)
    seeds = _seeds(rows)
    drawn = Resampling([(row.unit.night, row.unit.cluster) for row in rows], seed=seed)
    scores = [agent_score(group, cases, seeds[group[0]], drawn) for group, cases in groups.items()]
    scales = tuple(sorted({row.unit.scale for row in rows}))
    ranges = waking_ranges(scores)
    made = manifest or {}
    saturated = saturation(scales, chances or made.get("wake_table") or _bundled())
    pairs, base = tuple(comparisons(groups, seed=seed)), nearest_to_one(scales)
    notes = (
        open_note(scores),
        cluster_notes(len(drawn.places), scores),
        scale_notes(scales, saturated),
        split_note(seeds),
        control_notes(scores, pairs, base),
        manifest_notes(made),
    )
    nights = [one for group, cases in groups.items() for one in _night_scores(group, cases)]
    return Scoreboard(
        seed=seed,
        resamples=RESAMPLES,
        agents=tuple(dict.fromkeys(row.unit.agent for row in rows)),
        scales=scales,
        seeds={split.value: found for split, found in seeds.items()},
        nights=len({row.unit.night for row in rows}),
        clusters=len(drawn.places),
        scores=tuple(scores),
        waking_ranges=tuple(ranges),
        rank_agreement=tuple(rank_agreement(ranges)),
        comparisons=pairs,
        saturation=tuple(saturated),
        kinds=tuple(_parts(groups, lambda case: case.unit.kind)),
        conditions=tuple(_parts(groups, lambda case: case.unit.condition)),
        night_scores=tuple(nights),
        differ_most=tuple(_differ_most(nights, base)),
        claims=CLAIMS,
        notes=tuple(chain.from_iterable(notes)),
    )


def nearest_to_one(scales: Sequence[float]) -> float:
    """The scale at which a run is told first."""
    return min(scales, key=lambda scale: abs(scale - 1.0))


def _seeds(rows: Iterable[Row]) -> dict[Split, tuple[int, ...]]:
    found: dict[Split, set[int]] = {}
    for row in rows:
        found.setdefault(split_of(row.unit), set()).add(row.unit.seed)
    return {split: tuple(sorted(found[split])) for split in Split if split in found}


def _bundled() -> Mapping[str, Mapping[str, float]]:
    from bedside.configuration import default_toml

    chances: Mapping[str, Mapping[str, float]] = default_toml("wake_table")["chances"]
    return chances


def _parts(
    groups: Mapping[Group, Sequence[Case]], name_of: Callable[[Case], str]
) -> Iterator[Part]:
    """Cue-feasible attempts by what `name_of` calls them."""
    for (split, scale, agent), cases in groups.items():
        by_name: dict[str, list[Case]] = {}
        for case in cases:
            if case.unit.feasible:
                by_name.setdefault(name_of(case), []).append(case)
        for name, found in by_name.items():
            passed = sum(case.passed is True for case in found)
            unsure = sum(case.passed is None for case in found)
            yield Part(agent, scale, split, name, passed, unsure, len(found))


def _night_scores(group: Group, cases: Iterable[Case]) -> Iterator[NightScore]:
    split, scale, agent = group
    by_night: dict[str, list[Row]] = {}
    for case in cases:
        if case.row is not None and case.scored:
            by_night.setdefault(case.unit.night, []).append(case.row)
    for night, rows in by_night.items():
        delivered, rem = sum(row.delivered for row in rows), sum(row.rem_cues for row in rows)
        true_rem = sum(row.true_rem_cues for row in rows)
        yield NightScore(
            night=night,
            agent=agent,
            scale=scale,
            split=split,
            attempts=len(rows),
            delivered=delivered,
            rem_cues=rem,
            true_rem_cues=true_rem,
            wakings=sum(row.wakings for row in rows),
            shown_rem_share=share(rem, delivered),
            true_rem_share=share(true_rem, delivered),
        )


def _differ_most(nights: Iterable[NightScore], scale: float) -> list[NightScore]:
    """Per agent and split the nights with the widest gap; a night without a gap is not listed."""
    by_agent: dict[tuple[Split, str], list[NightScore]] = {}
    for night in nights:
        if night.scale == scale and _gap(night):
            by_agent.setdefault((night.split, night.agent), []).append(night)
    return [
        night
        for found in by_agent.values()
        for night in sorted(found, key=lambda one: (-_gap(one), one.night))[:MOST_DIFFERENT]
    ]


def _gap(night: NightScore) -> float:
    return abs((night.shown_rem_share or 0.0) - (night.true_rem_share or 0.0))
