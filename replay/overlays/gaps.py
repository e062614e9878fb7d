"""What agents were scored on: cues in shown REM against cues in true REM, night by night."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from replay.experiment.rows import Row

STANDS_FOR: Final = (
    "The device here is an automatic stager on lab leads that reads the night as a whole, offline. "
    "A headband that stages while it records sees less. The confusion overlay errs as that stager "
    "does; the consumer overlay is a pessimistic end. A result stands when it stands under both."
)
"""To be printed wherever a shown stage is compared with the truth."""


@dataclass(frozen=True, slots=True)
class CueGap:
    """Cues of some attempts on one night. A share without cues is None, not 0.

    cues: delivered sounds and whispers, and objects where agents used them.
    """

    night: str
    attempts: int
    cues: int
    shown_rem: int
    true_rem: int

    @property
    def shown_share(self) -> float | None:
        """Share of the cues in shown REM: what a device would report."""
        return self.shown_rem / self.cues if self.cues else None

    @property
    def true_share(self) -> float | None:
        """Share of the cues in true REM: what reached a dream's sleep."""
        return self.true_rem / self.cues if self.cues else None

    @property
    def gap(self) -> float | None:
        """How much better it looks than it is; negative: worse."""
        return (self.shown_rem - self.true_rem) / self.cues if self.cues else None


def cue_gaps(rows: Iterable[Row]) -> tuple[CueGap, ...]:
    """One a night, in the order of the rows; choose an agent and a scale before."""
    by_night: dict[str, list[Row]] = {}
    for row in rows:
        by_night.setdefault(row.unit.night, []).append(row)
    return tuple(
        CueGap(
            night,
            attempts=len(of_night),
            cues=sum(sum(row.shown.values()) for row in of_night),
            shown_rem=sum(row.rem_cues for row in of_night),
            true_rem=sum(row.true_rem_cues for row in of_night),
        )
        for night, of_night in by_night.items()
    )


def largest_gaps(rows: Iterable[Row], most: int = 5) -> tuple[CueGap, ...]:
    """The nights where shown and true differ most, largest first; of equals by name.

    Nights without a cue have no gap and are not among them.
    """
    cued = [(abs(one.gap), one) for one in cue_gaps(rows) if one.gap is not None]
    return tuple(one for _, one in sorted(cued, key=lambda pair: (-pair[0], pair[1].night))[:most])


def pooled(rows: Iterable[Row]) -> CueGap:
    """All nights together."""
    nights = cue_gaps(rows)
    return CueGap(
        "all nights",
        attempts=sum(one.attempts for one in nights),
        cues=sum(one.cues for one in nights),
        shown_rem=sum(one.shown_rem for one in nights),
        true_rem=sum(one.true_rem for one in nights),
    )
