"""How well a shown hypnogram fits the true one: counts, shares, kappa, runs of disagreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from devices.types import Stage
from replay.overlays.confusion import TOLD

Counts = Mapping[Stage, Mapping[Stage, float]]
"""Epochs by true, then by shown stage, where both have a label."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """Agreement over the epochs with both labels; None: no such epoch.

    found: share of a true stage that is shown as it. right: share of a shown stage that is it.
    runs: lengths of the unbroken runs of disagreement, in epochs.
    """

    epochs: int
    agreement: float | None
    kappa: float | None
    found: Mapping[Stage, float | None]
    right: Mapping[Stage, float | None]
    counts: Counts
    runs: tuple[int, ...]


def agreed(pairs: Iterable[tuple[Sequence[Stage], Sequence[Stage]]]) -> Agreed:
    """Of nights as pairs of true and shown stages, pooled."""
    nights = [_compared(true, shown) for true, shown in pairs]
    counts = counted(one for night in nights for one in night)
    told = sum(counts[stage][stage] for stage in TOLD)
    epochs = sum(map(_sum, counts.values()))
    return Agreed(
        epochs=round(epochs),
        agreement=_share(told, epochs),
        kappa=kappa(counts),
        found={true: _share(counts[true][true], _sum(counts[true])) for true in TOLD},
        right={
            said: _share(counts[said][said], sum(counts[true][said] for true in TOLD))
            for said in TOLD
        },
        counts=counts,
        runs=tuple(length for night in nights for length in _runs(night)),
    )


def counted(pairs: Iterable[tuple[Stage, Stage]]) -> dict[Stage, dict[Stage, float]]:
    """Pairs of true and shown stage, counted where both have a label."""
    counts = {true: dict.fromkeys(TOLD, 0.0) for true in TOLD}
    for true, shown in pairs:
        if true is not Stage.UNKNOWN and shown is not Stage.UNKNOWN:
            counts[true][shown] += 1
    return counts


def kappa(counts: Counts) -> float | None:
    """Cohen's kappa of four stages; None without epochs or where chance alone agrees fully."""
    epochs = sum(map(_sum, counts.values()))
    if not epochs:
        return None
    observed = sum(counts[stage][stage] for stage in TOLD) / epochs
    shown = {said: sum(counts[true][said] for true in TOLD) for said in TOLD}
    by_chance = sum(_sum(counts[stage]) * shown[stage] for stage in TOLD) / epochs**2
    return None if by_chance == 1.0 else (observed - by_chance) / (1.0 - by_chance)


def quantile(lengths: Sequence[int], share: float) -> int | None:
    """The length that at least this share of the lengths does not exceed."""
    if not lengths:
        return None
    ordered = sorted(lengths)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def _compared(true: Sequence[Stage], shown: Sequence[Stage]) -> list[tuple[Stage, Stage]]:
    return [(one.coarse, said.coarse) for one, said in zip(true, shown, strict=True)]


def _runs(night: Sequence[tuple[Stage, Stage]]) -> list[int]:
    lengths, length = list[int](), 0
    for true, shown in (*night, (Stage.UNKNOWN, Stage.UNKNOWN)):
        if Stage.UNKNOWN not in (true, shown) and true is not shown:
            length += 1
        elif length:
            lengths.append(length)
            length = 0
    return lengths


def _sum(row: Mapping[Stage, float]) -> float:
    return sum(row.values())


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
