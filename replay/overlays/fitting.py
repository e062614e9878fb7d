"""Fits a confusion model to nights that have both a device's stages and the truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from devices.types import PaprikaError, Stage
from replay.overlays.agreement import Counts, agreed
from replay.overlays.calibration import Wanted, lowered, matched
from replay.overlays.confusion import BEFORE, TOLD, Chain, Grade, Overlay, Row
from replay.recorded_night import RecordedNight

GRADES: Final = 3
"""Thirds of the nights, by kappa. Assumed: enough to tell a bad fit from a good one."""
PRIOR_EPOCHS: Final = 4.0
"""Weight of the pooled chances in a row that few epochs fill. Assumed."""

Pair = tuple[Sequence[Stage], Sequence[Stage]]
"""The true and the shown stages of a night."""
CONSUMER_WAKE_FOUND: Final = 0.408
CONSUMER_KAPPA: Final = 0.56
"""Source: Griessenberger et al. 2013, Sleep Breath 17:747, a Zeo headband in 21 nights."""
CONSUMER_DELAY_EPOCHS: Final = 1
"""Assumed: an epoch is staged while the next one passes."""


class NothingToFit(PaprikaError):
    """No night has both a device's stages and a truth."""


def fit_confusion(
    nights: Iterable[RecordedNight], *, name: str = "confusion", grades: int = GRADES
) -> Overlay:
    """The overlay whose errors are those of these nights, in grades of equal size by kappa."""
    return fit_pairs(told_apart(nights), name=name, grades=grades)


def told_apart(nights: Iterable[RecordedNight]) -> list[Pair]:
    """True and shown stages of the nights that have both."""
    return [(night.hidden, night.shown) for night in nights if night.info.truth_origin is not None]


def fit_pairs(pairs: Sequence[Pair], *, name: str, grades: int) -> Overlay:
    """As `fit_confusion`, of stages alone."""
    fits = [(found, pair) for pair in pairs if (found := agreed([pair]).kappa) is not None]
    if len(fits) < grades:
        raise NothingToFit(
            f"{len(fits)} nights have both a device's stages and a truth, {grades} are needed; "
            "import the Dreem Open Datasets"
        )
    ordered = [pair for _, pair in sorted(fits, key=lambda fit: -fit[0])]
    pooled = fitted_chain(ordered)
    limits = [round(k * len(ordered) / grades) for k in range(grades + 1)]
    parts = [ordered[start:end] for start, end in pairwise(limits)]
    return Overlay(
        name, tuple(Grade(len(part) / len(ordered), _calibrated(part, pooled)) for part in parts)
    )


def consumer(
    pairs: Sequence[Pair], headband: Iterable[Sequence[Stage]], *, name: str = "consumer"
) -> Overlay:
    """A device that misses most wake: the published figures are reached on the nights of `pairs`,
    and what it shows changes as often as in the nights of a real headband."""
    wanted = Wanted(
        wake_found=CONSUMER_WAKE_FOUND,
        kappa=CONSUMER_KAPPA,
        changes=changes(headband),
        delay_epochs=CONSUMER_DELAY_EPOCHS,
    )
    chain = lowered(fitted_chain(pairs), [true for true, _ in pairs], wanted)
    return Overlay(name, (Grade(1.0, chain),), CONSUMER_DELAY_EPOCHS)


def changes(nights: Iterable[Sequence[Stage]]) -> float:
    """How often a stage changes, an epoch that follows one."""
    followed = [
        now.coarse is not before.coarse
        for stages in nights
        for before, now in pairwise(stages)
        if Stage.UNKNOWN not in (before, now)
    ]
    return sum(followed) / len(followed) if followed else 0.0


def fitted_chain(pairs: Sequence[Pair], prior: Chain | None = None) -> Chain:
    """Chances by counts; rows that few epochs fill lean on `prior`, else on P(shown | true)."""
    steps = {true: {before: dict.fromkeys(TOLD, 0.0) for before in BEFORE} for true in TOLD}
    for true, shown in pairs:
        coarse = [(one.coarse, said.coarse) for one, said in zip(true, shown, strict=True)]
        for (_, before), (now, said) in pairwise(coarse):
            if Stage.UNKNOWN not in (before, now, said):
                steps[now][before][said] += 1
    confused = agreed(pairs).counts
    return {
        true: {
            before: _leaning(
                confused[true] if before is Stage.UNKNOWN else rows[before],
                _prior(prior, confused, true, before),
            )
            for before in BEFORE
        }
        for true, rows in steps.items()
    }


def _calibrated(pairs: Sequence[Pair], pooled: Chain) -> Chain:
    return matched(fitted_chain(pairs, pooled), [true for true, _ in pairs], agreed(pairs).found)


def _prior(
    prior: Chain | None, confused: Counts, true: Stage, before: Stage
) -> Mapping[Stage, float]:
    if prior is not None:
        return dict(zip(TOLD, prior[true][before], strict=True))
    return _shares(confused[true], dict.fromkeys(TOLD, 0.25))


def _leaning(row: Mapping[Stage, float], prior: Mapping[Stage, float]) -> Row:
    total = sum(row.values()) + PRIOR_EPOCHS
    a, b, c, d = ((row[said] + PRIOR_EPOCHS * prior[said]) / total for said in TOLD)
    return a, b, c, d


def _shares(row: Mapping[Stage, float], empty: Mapping[Stage, float]) -> Mapping[Stage, float]:
    total = sum(row.values())
    return {said: row[said] / total for said in TOLD} if total else empty
