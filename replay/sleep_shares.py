"""Shares of the stages in a replayed night, and how they lie to a typical adult's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from replay.summary import Summary

SLEEP: Final = ("rem", "light", "deep")
TYPICAL_PCT: Final = {"rem": (20.0, 25.0), "light": (45.0, 60.0), "deep": (13.0, 23.0)}
"""Source: Carskadon and Dement, "Normal human sleep: an overview": REM 20-25 % of the night, N1 2-5
and N2 45-55, N3 13-23. Light is N1 and N2; Assumed: 45-60 for "about half"."""
WAKE_AFTER_ONSET_PCT: Final = (0.0, 5.0)
"""Source: the same: wakefulness within sleep is under 5 % of the night."""
WHOLE_NIGHT_EPOCHS: Final = 480
"""Scored epochs of a night that is compared with whole nights: 4 h. Assumed."""


@dataclass(frozen=True, slots=True)
class Share:
    """Recorded epochs of one kind.

    pct: of the scored epochs. of_sleep_pct: of sleep alone, None of wake and without sleep.
    typical_pct: an adult's range of `pct`; word: typical, high or low. Both None where there is
        no range, or only part of a night.
    """

    name: str
    epochs: int
    pct: float
    of_sleep_pct: float | None = None
    typical_pct: tuple[float, float] | None = None
    word: str | None = None


def recorded_stages(summary: Summary) -> tuple[str, ...]:
    """The stages as shown, without wake that was inserted after a cue."""
    inserted = frozenset(summary.inserted)
    return tuple(name for step, name in enumerate(summary.stages) if step not in inserted)


def is_whole_night(summary: Summary) -> bool:
    """Whether the shares may be held against those of whole nights."""
    scored = sum(name != "none" for name in recorded_stages(summary))
    whole = summary.night["first_epoch"] == 0 and summary.ending == "night_end"
    return whole and scored >= WHOLE_NIGHT_EPOCHS


def shares(summary: Summary) -> tuple[Share, ...]:
    """Awake, REM, light and deep, in percent of the scored recorded epochs."""
    stages, compared = recorded_stages(summary), is_whole_night(summary)
    scored = sum(name != "none" for name in stages)
    asleep = sum(name in SLEEP for name in stages)
    found = []
    for name in ("awake", *SLEEP):
        epochs, typical = stages.count(name), TYPICAL_PCT.get(name) if compared else None
        pct = _pct(epochs, scored)
        of_sleep = _pct(epochs, asleep) if name in SLEEP and asleep else None
        word = _word(pct, typical) if typical else None
        found.append(Share(name, epochs, pct, of_sleep, typical, word))
    return tuple(found)


def wake_after_onset(summary: Summary) -> Share | None:
    """Recorded wake between the first and the last sleep epoch, in percent of the scored epochs
    between them; None without sleep."""
    stages = recorded_stages(summary)
    asleep = [k for k, name in enumerate(stages) if name in SLEEP]
    if not asleep:
        return None
    between = stages[asleep[0] : asleep[-1] + 1]
    epochs = between.count("awake")
    pct = _pct(epochs, len(between) - between.count("none"))
    typical = WAKE_AFTER_ONSET_PCT if is_whole_night(summary) else None
    word = _word(pct, typical) if typical else None
    return Share("wake after onset", epochs, pct, None, typical, word)


def _pct(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def _word(pct: float, typical_pct: tuple[float, float]) -> str:
    low, high = typical_pct
    if pct < low:
        return "low"
    return "high" if pct > high else "typical"
