"""Fits a profile of sleep to real hypnograms, by counts of epochs and of what followed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import log1p, sqrt
from typing import Final

from devices.types import PaprikaError, Stage
from replay.hypnogram import first_sleep_epoch, last_sleep_epoch, runs
from replay.simulation.sleep import (
    AGES,
    PARTS_H,
    PHASES,
    STAGES,
    Context,
    Profile,
    Sleeping,
    age_band,
    next_chances,
)

HELD_EPOCHS: Final = 4
"""Gaps of up to two minutes count as the stage before them. Assumed."""
PRIOR_EPOCHS: Final = 20.0
PRIOR_ENDS: Final = 5.0
"""Weights of the wider context where few epochs, or few ends of a stage, were seen. Assumed."""
MOST_SPREAD: Final = 1.0
CONTEXTS: Final = (
    (Stage.AWAKE, Stage.UNKNOWN),
    *((stage, before) for stage in STAGES for before in STAGES if before is not stage),
)
_PARTS: Final = range(len(PARTS_H) + 1)
_PHASES: Final = range(PHASES)
_AGES: Final = range(len(AGES) + 1)


class NothingToFit(PaprikaError):
    """No night has sleep in it."""


@dataclass(frozen=True, slots=True)
class Night:
    """A real night, told in epochs.

    latency_known: whether its wake before sleep onset is all that there was.
    """

    stages: tuple[Stage, ...]
    latency_known: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """An epoch and what followed it."""

    now: Sleeping
    then: Stage


def fit_profile(nights: Sequence[Night], *, name: str) -> Profile:
    """The profile of these nights: an average night, and how much nights differ from it."""
    seen = [list(steps(night)) for night in nights]
    pooled = [one for night in seen for one in night]
    if not pooled:
        raise NothingToFit("no night has sleep in it; give a folder of imported nights")
    none = dict.fromkeys(STAGES, 0.0)
    average = Profile(name, _leave(pooled), _next(pooled), none)
    return replace(average, spread={s: _spread(seen, partial(_went, average, s)) for s in STAGES})


def steps(night: Night) -> Iterator[Seen]:
    """Every epoch that is followed by one, up to the last sleep, where no gap hides how long the
    stage has lasted."""
    stages = held(night.stages)
    first, last = first_sleep_epoch(stages), last_sleep_epoch(stages)
    if first is None or last is None:
        return
    start = first
    while night.latency_known and start and stages[start - 1] is Stage.AWAKE:
        start -= 1
    now = Sleeping() if start < first else Sleeping().after(stages[first])
    for then in stages[start + 1 : last + 1]:
        if Stage.UNKNOWN not in (now.stage, then) and (now.stage, now.before) in CONTEXTS:
            yield Seen(now, then)
        now = now.after(then)


def held(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Coarse stages, in which a short gap is the stage before it."""
    coarse = [stage.coarse for stage in stages]
    for before, gap in pairwise(runs(coarse)):
        if gap.stage is Stage.UNKNOWN and gap.epochs <= HELD_EPOCHS:
            coarse[gap.start : gap.end] = [before.stage] * gap.epochs
    return tuple(coarse)


def _leave(seen: Iterable[Seen]) -> dict[Context, tuple[tuple[float, ...], ...]]:
    """Shares of epochs after which the stage ended; thin contexts lean on wider ones."""
    epochs, ends = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
    for one in seen:
        for key in _leave_keys(
            (one.now.stage, one.now.before), one.now.part, age_band(one.now.age)
        ):
            epochs[key] += 1
            ends[key] += one.then is not one.now.stage

    def chance(context: Context, part: int, age: int) -> float:
        *narrow, widest = _leave_keys(context, part, age)
        value = (ends[widest] + 0.5) / (epochs[widest] + 1.0)
        for key in reversed(narrow):
            value = (ends[key] + PRIOR_EPOCHS * value) / (epochs[key] + PRIOR_EPOCHS)
        return value

    return {
        context: tuple(tuple(chance(context, part, age) for age in _AGES) for part in _PARTS)
        for context in CONTEXTS
    }


def _leave_keys(context: Context, part: int, age: int) -> tuple[tuple[object, ...], ...]:
    """The context of an epoch, then wider ones; wake as the night begins is like no other wake."""
    if context[1] is Stage.UNKNOWN:
        return ((*context, age),)
    return (*context, part, age), (*context, age), (context[0], age)


def _next(seen: Iterable[Seen]) -> dict[Context, tuple[tuple[tuple[float, ...], ...], ...]]:
    """Shares of what came next; thin contexts lean on wider ones."""
    counts = Counter[tuple[object, ...]]()
    for one in seen:
        if one.then is not one.now.stage:
            context, phase = (one.now.stage, one.now.before), one.now.phase
            for key in _next_keys(context, one.now.part, phase):
                counts[(*key, one.then)] += 1
                counts[key] += 1

    def chances(context: Context, part: int, phase: int) -> tuple[float, ...]:
        values = [0.0 if stage is context[0] else 1 / 3 for stage in STAGES]
        for key in reversed(_next_keys(context, part, phase)):
            values = [
                (counts[(*key, stage)] + PRIOR_ENDS * value) / (counts[key] + PRIOR_ENDS)
                for stage, value in zip(STAGES, values, strict=True)
            ]
        return tuple(values)

    return {
        context: tuple(tuple(chances(context, part, phase) for phase in _PHASES) for part in _PARTS)
        for context in CONTEXTS
    }


def _next_keys(context: Context, part: int, phase: int) -> tuple[tuple[object, ...], ...]:
    stage, before = context
    return (
        ("next", stage, before, part, phase),
        ("next", stage, before, phase),
        ("next", stage, phase),
    )


def _spread(
    nights: Iterable[Iterable[Seen]], counted: Callable[[Iterable[Seen]], tuple[float, float]]
) -> float:
    """Standard deviation of the logarithm of a night's factor, beyond what chance alone makes."""
    pairs = [counted(night) for night in nights]
    excess = sum((found - expected) ** 2 - expected for found, expected in pairs)
    squares = sum(expected**2 for _, expected in pairs)
    return min(MOST_SPREAD, sqrt(log1p(max(0.0, excess / squares)))) if squares else 0.0


def _went(average: Profile, stage: Stage, night: Iterable[Seen]) -> tuple[float, float]:
    """How often a night went to the stage, and how often the average night would have."""
    place = STAGES.index(stage)
    going = [one for one in night if one.then is not one.now.stage]
    found = sum(one.then is stage for one in going)
    return found, sum(next_chances(average, one.now)[place] for one in going)
