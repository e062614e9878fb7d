"""Sleep as a seeded semi-Markov process: how long a stage lasts, and what comes after it.

Both depend on the stage before, on the time since sleep onset and, for what comes next, on the
time since the last REM sleep, which stands for the phase of the cycle.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from statistics import NormalDist
from typing import Final

from devices.types import EPOCH_S, Stage
from replay.rolls import roll

STAGES: Final = (Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM)
"""In the order of every row of chances."""
AGES: Final = (2, 3, 5, 9, 17, 33, 65)
"""Ages (epochs) of a stage at which its chance of ending changes: 1, 2, 3–4, 5–8, … 65 and more."""
PARTS_H: Final = (1.5, 3.0, 5.0)
"""Hours since sleep onset that part a night in four."""
PHASES_MIN: Final = (15.0, 60.0)
"""Minutes since the last REM sleep, or onset, that part a cycle in three; the first is the REM
period, which is young or old by its REM sleep."""
YOUNG_MIN: Final = 12.0
"""REM sleep of a young REM period. Chosen by the distances in `quality`."""
PHASES: Final = 4
LEAVE_STREAM: Final = "sleep_leave"
NEXT_STREAM: Final = "sleep_next"
NIGHT_STREAM: Final = "sleep_night"

Context = tuple[Stage, Stage]
"""A stage and the one before it; UNKNOWN before: the night begins."""

_PARTS: Final = tuple(round(hours * 3600 / EPOCH_S) for hours in PARTS_H)
_PHASES: Final = tuple(round(minutes * 60 / EPOCH_S) for minutes in PHASES_MIN)
_YOUNG: Final = round(YOUNG_MIN * 60 / EPOCH_S)
_LEAST: Final = 2.0**-54


@dataclass(frozen=True, slots=True)
class Profile:
    """Whose sleep it is.

    leave: chance that a stage ends after an epoch, by context, part of the night and age.
    next: chances of `STAGES` when it ends, by context, part and phase of the cycle.
    spread: how much nights differ, as the standard deviation of the logarithm of a factor on going
        to each stage.
    """

    name: str
    leave: Mapping[Context, tuple[tuple[float, ...], ...]]
    next: Mapping[Context, tuple[tuple[tuple[float, ...], ...], ...]]
    spread: Mapping[Stage, float]


@dataclass(frozen=True, slots=True)
class Sleeping:
    """Where in sleep one epoch is.

    age: epochs of this stage up to now. part: of the night, as the stage began.
    since_onset: epochs since the first sleep epoch, None before it. since_rem: epochs since the
    last REM epoch, or else since onset. rem: REM epochs of the REM period that is going on.
    """

    stage: Stage = Stage.AWAKE
    before: Stage = Stage.UNKNOWN
    age: int = 1
    part: int = 0
    since_onset: int | None = None
    since_rem: int = 0
    rem: int = 0

    def after(self, stage: Stage) -> Sleeping:
        """The next epoch, in which this stage is."""
        onset = _counted_on(self.since_onset, stage)
        in_rem = stage is Stage.REM
        since_rem = 0 if in_rem or not onset else self.since_rem + 1
        rem = self.rem + in_rem if since_rem < _PHASES[0] else 0
        if stage is self.stage:
            return Sleeping(stage, self.before, self.age + 1, self.part, onset, since_rem, rem)
        return Sleeping(stage, self.stage, 1, part_of_night(onset), onset, since_rem, rem)

    @property
    def phase(self) -> int:
        """Of the cycle."""
        if self.since_rem < _PHASES[0]:
            return int(self.rem >= _YOUNG)
        return 1 + bisect_right(_PHASES, self.since_rem)


class Sleep:
    """One night's process. Rolls are indexed by epoch: what came to the same stays the same.

    night: the night's key for rolls.
    """

    def __init__(self, profile: Profile, night: str, seed: int) -> None:
        self._profile = profile
        self._night, self._seed = night, seed
        self._factors = [self._factor(k, profile.spread[stage]) for k, stage in enumerate(STAGES)]

    def after(self, now: Sleeping, epoch: int) -> Sleeping:
        """What follows, in epoch `epoch` of the night."""
        if self._roll(LEAVE_STREAM, epoch) >= leave_chance(self._profile, now):
            return now.after(now.stage)
        return now.after(self._next(now, self._roll(NEXT_STREAM, epoch)))

    def _next(self, now: Sleeping, value: float) -> Stage:
        chances = next_chances(self._profile, now)
        weights = [w * f for w, f in zip(chances, self._factors, strict=True)]
        left = value * sum(weights)
        for stage, weight in zip(STAGES, weights, strict=True):
            left -= weight
            if left < 0.0:
                return stage
        return now.stage

    def _factor(self, number: int, spread: float) -> float:
        value = max(self._roll(NIGHT_STREAM, number), _LEAST)
        return exp(spread * NormalDist().inv_cdf(value) - spread**2 / 2)

    def _roll(self, stream: str, step: int) -> float:
        return roll(self._night, self._seed, stream, step)


def hypnogram(profile: Profile, epochs: int, *, night: str, seed: int) -> tuple[Stage, ...]:
    """A whole night that nobody disturbs."""
    sleep, now = Sleep(profile, night, seed), Sleeping()
    stages = [now.stage]
    for epoch in range(1, epochs):
        now = sleep.after(now, epoch)
        stages.append(now.stage)
    return tuple(stages)


def leave_chance(profile: Profile, now: Sleeping) -> float:
    """Chance, on a night like the average one, that the stage ends after this epoch."""
    return profile.leave[now.stage, now.before][now.part][age_band(now.age)]


def next_chances(profile: Profile, now: Sleeping) -> tuple[float, ...]:
    """Chances of `STAGES` if it ends."""
    return profile.next[now.stage, now.before][now.part][now.phase]


def part_of_night(since_onset: int | None) -> int:
    return bisect_right(_PARTS, since_onset or 0)


def age_band(age: int) -> int:
    return bisect_right(AGES, age)


def _counted_on(since_onset: int | None, stage: Stage) -> int | None:
    if since_onset is None:
        return 0 if stage.is_sleep else None
    return since_onset + 1
