"""A confusion model: what a device shows of a true stage, with errors that come in runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from devices.types import Stage
from replay.rolls import roll

TOLD: Final = (Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM)
"""Coarse stages that a device tells apart, in the order of every row of chances."""
BEFORE: Final = (Stage.UNKNOWN, *TOLD)
"""What may have been shown an epoch before."""
DEVICE_STREAM: Final = "device"
GRADE_STREAM: Final = "device_grade"

Row = tuple[float, float, float, float]
"""Chances of `TOLD`, in its order; they add up to 1."""
Chain = Mapping[Stage, Mapping[Stage, Row]]
"""By true stage, then by the stage shown an epoch before (UNKNOWN: none was): the chances of what
is shown now. A stage that was shown tends to stay, so errors come in runs."""


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade of nights: some fit a device well and some do not. share: of the nights."""

    share: float
    chain: Chain


@dataclass(frozen=True, slots=True)
class Overlay:
    """A device by its errors.

    grades: one of them holds for a night; none: the recording's own stages are shown.
    delay_epochs: a label shows so many epochs after the epoch it was worked out from.
    """

    name: str
    grades: tuple[Grade, ...] = ()
    delay_epochs: int = 0


class Device:
    """An overlay on one night: the same night and seed show every agent the same stages.

    night: the night's key for rolls. Rolls are indexed by the epoch of the night.
    """

    def __init__(self, overlay: Overlay, night: str, seed: int) -> None:
        self._night, self._seed = night, seed
        self._chain = _cumulated(self._grade(overlay).chain)
        self._late = [Stage.UNKNOWN] * overlay.delay_epochs
        self._before = Stage.UNKNOWN

    def show(self, epoch: int, true: Stage) -> Stage:
        """What is shown in this epoch, asked for in order; no reading where no truth is known."""
        self._before = self._told(epoch, true.coarse)
        self._late.append(self._before)
        return self._late.pop(0)

    def _told(self, epoch: int, true: Stage) -> Stage:
        if true is Stage.UNKNOWN:
            return Stage.UNKNOWN
        value = roll(self._night, self._seed, DEVICE_STREAM, epoch)
        limits = self._chain[true][self._before]
        return next((told for told, limit in zip(TOLD, limits, strict=True) if value < limit), true)

    def _grade(self, overlay: Overlay) -> Grade:
        value = roll(self._night, self._seed, GRADE_STREAM, 0)
        limits = accumulate(grade.share for grade in overlay.grades)
        found = (g for g, limit in zip(overlay.grades, limits, strict=True) if value < limit)
        return next(found, overlay.grades[-1])


def shown_by(
    overlay: Overlay, hidden: Sequence[Stage], *, night: str, seed: int
) -> tuple[Stage, ...]:
    """What the device shows of a whole night."""
    device = Device(overlay, night, seed)
    return tuple(device.show(epoch, true) for epoch, true in enumerate(hidden))


def _cumulated(chain: Chain) -> Mapping[Stage, Mapping[Stage, tuple[float, ...]]]:
    return {
        true: {before: tuple(accumulate(row)) for before, row in rows.items()}
        for true, rows in chain.items()
    }
