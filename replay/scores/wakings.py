"""Wakings rest on an assumed table, so they are told as a range over its scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

from devices.types import Stage, Volume
from replay.scores.estimators import kendall
from replay.scores.figures import AgentScore, RankAgreement, Saturation, Split, WakingRange

CELLS = tuple(
    (stage.value, volume.value)
    for stage in (Stage.LIGHT, Stage.REM, Stage.DEEP)
    for volume in Volume
)
"""Of the wake table, what is heard; objects have cells of their own."""
RANGE_SCALES: Final = (0.5, 1.0, 2.0, 4.0)
"""A range of wakings is over these at least. Source: replay-environment.md, E10."""


def waking_ranges(scores: Sequence[AgentScore]) -> list[WakingRange]:
    """Wakings a task of each agent from its lowest to its highest scale."""
    found = []
    for split, agent in dict.fromkeys((score.split, score.agent) for score in scores):
        by_scale = _by_scale(scores, split, agent)
        known = [mean for mean in by_scale.values() if mean is not None]
        whole = len(known) == len(by_scale) and not lacking(map(float, by_scale))
        low, high = (min(known), max(known)) if whole else (None, None)
        found.append(WakingRange(agent, split, by_scale, low, high))
    return found


def lacking(scales: Iterable[float]) -> tuple[float, ...]:
    """The wake scales without which wakings have no range."""
    played = set(scales)
    return tuple(scale for scale in RANGE_SCALES if scale not in played)


def rank_agreement(ranges: Iterable[WakingRange]) -> list[RankAgreement]:
    """Kendall's tau of the agents' order, for each two scales that all agents were played at."""
    by_split: dict[Split, list[WakingRange]] = {}
    for one in ranges:
        by_split.setdefault(one.split, []).append(one)
    return [_agreement(split, found) for split, found in by_split.items()]


def saturation(
    scales: Iterable[float], chances: Mapping[str, Mapping[str, float]]
) -> list[Saturation]:
    """Scales that make a cue in some cell certain to wake: p = min(1, scale x p)."""
    found = []
    for scale in scales:
        cells = tuple(f"{s} {v}" for s, v in CELLS if scale * chances[s][v] >= 1.0)
        if cells:
            found.append(Saturation(scale, cells))
    return found


def _by_scale(scores: Iterable[AgentScore], split: Split, agent: str) -> dict[str, float | None]:
    return {
        f"{score.scale:g}": score.events.wakings_per_task
        for score in scores
        if (score.split, score.agent) == (split, agent)
    }


def _agreement(split: Split, ranges: Sequence[WakingRange]) -> RankAgreement:
    known = [one for one in ranges if None not in one.by_scale.values()]
    scales = [
        scale
        for scale in (known[0].by_scale if known else ())
        if all(scale in one.by_scale for one in known)
    ]
    by_pair = {
        f"{a}/{b}": kendall(
            [one.by_scale[a] or 0.0 for one in known], [one.by_scale[b] or 0.0 for one in known]
        )
        for a, b in combinations(scales, 2)
    }
    taus = [tau for tau in by_pair.values() if tau is not None]
    return RankAgreement(split, len(known), by_pair, min(taus) if taus else None)
