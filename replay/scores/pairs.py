"""Paired comparisons: two agents on the same tasks with the same dice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from replay.scores.cases import Case, Group
from replay.scores.conclusion import Word
from replay.scores.dose import rem_minutes
from replay.scores.estimators import ALPHA, holm, mcnemar, resolution
from replay.scores.figures import Comparison, Difference, Split
from replay.scores.permutation import permutation_p

Pair = tuple[Case, Case]


@dataclass(frozen=True, slots=True)
class Paired:
    """What two agents were both given, in the order of the first."""

    first: str
    second: str
    scale: float
    split: Split
    pairs: tuple[Pair, ...]


def comparisons(groups: Mapping[Group, Sequence[Case]], *, seed: int) -> list[Comparison]:
    """Every pair of agents at every scale and split; Holm is taken over the pairs of agents."""
    found: list[Comparison] = []
    for split, scale in dict.fromkeys((split, scale) for split, scale, _ in groups):
        agents = [agent for s, x, agent in groups if (s, x) == (split, scale)]
        family = [
            compared(paired(groups[split, scale, first], groups[split, scale, second]), seed=seed)
            for first, second in combinations(agents, 2)
        ]
        found += adjusted(family)
    return found


def paired(first: Sequence[Case], second: Sequence[Case]) -> Paired:
    """The cases of two agents at one scale and split that share night, task and seed."""
    of_second = {case.unit.paired_key: case for case in second}
    pairs = tuple(
        (case, of_second[case.unit.paired_key])
        for case in first
        if case.unit.paired_key in of_second
    )
    a, b = first[0], second[0]
    return Paired(a.unit.agent, b.unit.agent, a.unit.scale, a.split, pairs)


def compared(found: Paired, *, seed: int) -> Comparison:
    """One comparison, not yet adjusted for how many there are."""
    asked = [pair for pair in found.pairs if pair[0].unit.feasible]
    both = [(a, b) for a, b in asked if a.passed is not None and b.passed is not None]
    scored = [pair for pair in found.pairs if pair[0].scored and pair[1].scored]
    only_first = sum(bool(a.passed) and not b.passed for a, b in both)
    only_second = sum(bool(b.passed) and not a.passed for a, b in both)
    return Comparison(
        first=found.first,
        second=found.second,
        scale=found.scale,
        split=found.split,
        pairs=len(asked),
        open=len(asked) - len(both),
        only_first=only_first,
        only_second=only_second,
        p_mcnemar=mcnemar(only_first, only_second) if both else None,
        p_mcnemar_holm=None,
        resolution=resolution(len(asked)) if asked else None,
        passes=_passes(asked, seed),
        wakings=_difference(scored, [_wakings(a) - _wakings(b) for a, b in scored], seed),
        dose=_dose(scored, seed),
    )


def adjusted(family: Sequence[Comparison]) -> list[Comparison]:
    """The same comparisons with p adjusted by Holm within each measure, and the word for each."""
    passes = _adjusted([one.passes for one in family])
    wakings = _adjusted([one.wakings for one in family])
    doses = _adjusted([one.dose for one in family])
    exact = holm([one.p_mcnemar for one in family])
    return [
        replace(one, passes=p, wakings=w, dose=d, p_mcnemar_holm=m)
        for one, p, w, d, m in zip(family, passes, wakings, doses, exact, strict=True)
    ]


def _adjusted(differences: Sequence[Difference]) -> list[Difference]:
    ps = holm([one.p_permutation for one in differences])
    by_cluster = holm([one.p_clusters for one in differences])
    return [
        replace(one, p_holm=p, p_clusters_holm=q, word=_word(one.mean, p, q))
        for one, p, q in zip(differences, ps, by_cluster, strict=True)
    ]


def _word(mean: float | None, p: float | None, p_clusters: float | None) -> Word:
    if not mean or p is None or p > ALPHA:
        return Word.NOT_DISTINGUISHABLE
    if p_clusters is None or p_clusters > ALPHA:
        return Word.FIRST_ON_THESE_DICE if mean > 0 else Word.SECOND_ON_THESE_DICE
    return Word.FIRST_HIGHER if mean > 0 else Word.SECOND_HIGHER


def _passes(pairs: Sequence[Pair], seed: int) -> Difference:
    """Open attempts count half in the mean, and at their worst in p, the larger of both ends."""
    least = [(a.passed is True) - (b.passed is not False) for a, b in pairs]
    most = [(a.passed is not False) - (b.passed is True) for a, b in pairs]
    low, high = _difference(pairs, least, seed), _difference(pairs, most, seed)
    known = any(a.passed is not None and b.passed is not None for a, b in pairs)
    between = None
    if known and low.mean is not None and high.mean is not None:
        between = (low.mean + high.mean) / 2
    either = least != most and sum(least) <= 0 <= sum(most)
    return replace(
        low,
        mean=between,
        upper=high.upper,
        p_permutation=1.0 if either else _larger(low.p_permutation, high.p_permutation),
        p_clusters=1.0 if either else _larger(low.p_clusters, high.p_clusters),
    )


def _difference(pairs: Sequence[Pair], differences: Sequence[float], seed: int) -> Difference:
    word = Word.NOT_DISTINGUISHABLE
    if not pairs:
        return Difference(None, None, None, 0, None, None, None, None, word)
    mean = sum(differences) / len(pairs)
    p = permutation_p(differences, seed=seed)
    clusters = _by_cluster(pairs, differences)
    by_cluster = permutation_p(clusters, seed=seed) if len(clusters) > 1 else None
    return Difference(mean, mean, mean, len(pairs), p, by_cluster, None, None, word)


def _by_cluster(pairs: Iterable[Pair], differences: Iterable[float]) -> list[float]:
    sums: dict[tuple[str, int], float] = {}
    for (case, _), difference in zip(pairs, differences, strict=True):
        sums[case.place] = sums.get(case.place, 0) + difference
    return list(sums.values())


def _dose(pairs: Sequence[Pair], seed: int) -> Difference:
    """Over pairs in which both were shown REM."""
    seen = [(a, b, _dosed(a), _dosed(b)) for a, b in pairs]
    asked = [(a, b, x - y) for a, b, x, y in seen if x is not None and y is not None]
    return _difference([(a, b) for a, b, _ in asked], [one for *_, one in asked], seed)


def _dosed(case: Case) -> float | None:
    """Cues per REM minute of one attempt."""
    row = case.row
    if row is None or not row.rem_epochs or not case.unit.feasible:
        return None
    return row.rem_cues / rem_minutes(row)


def _wakings(case: Case) -> int:
    return case.row.wakings if case.row else 0


def _larger(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else max(first, second)
