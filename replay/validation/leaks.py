"""Nothing hidden reaches an agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from agents.rem_rule import RemRule
from replay.conditions import PLAIN, Condition, PersonAct, SignalFault
from replay.overlays import overlaid, overlay_named
from replay.recorded_night import RecordedNight
from replay.tasks.task import STEPS
from replay.validation.findings import Finding, found
from replay.validation.ground import Ground
from replay.validation.nights import rewritten_from, with_other_truth
from replay.validation.trials import Trial

OBSERVED: Final = frozenset(
    {
        *("clock_s", "session_kind", "has_reading", "stage", "fine_stage", "confidence"),
        *("minutes_in_stage", "rem_epochs_in_row", "rem_period", "cues_in_rem_period"),
        *("minutes_since_onset", "theme", "memory", "lines", "cues", "cue_count"),
        *("minutes_since_cue", "last_outcome", "budget_left", "volume_cap", "reported_awake"),
        *("paused_until_clock_s", "minutes_to_wake", "heart_rate_bpm", "hrv_rmssd_ms"),
        *("movement_g", "still_s", "skin_temperature_c", "temperature_c", "noise_dba"),
        *("light_lux", "humidity_pct", "co2_ppm", "digest"),
    }
)
"""All that an agent may see at a step. Source: `design.md` §5, Observation."""
TOLD: Final = frozenset(
    {
        *("kind", "start_clock_s", "theme", "memory", "lines", "volume_cap", "cue_budget"),
        *("planned_wake_clock_s", "digest"),
    }
)
"""All that it is told once."""
CUTS: Final = (0.25, 0.5, 0.75)
"""Where the future is rewritten, as parts of the night. Assumed."""
BEFORE: Final = STEPS // 2
"""Steps before the cut; as many come after it."""
ERRING: Final = "confusion"
"""A device whose stages are not the truth."""
SETTLED: Final = Condition(signal=SignalFault.DELAYED_LABEL, person=PersonAct.NO_MEMORY)
"""Faults that strike whatever the dice say, so that other dice must change nothing."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A night around a cut, under a condition."""

    night: RecordedNight
    cut: int
    condition: Condition = PLAIN


def nothing_hidden_leaks(ground: Ground) -> Finding:
    """The names an agent sees are those allowed; another future, another truth and other dice
    leave what it saw as it was, bit by bit. Also where the device errs, and under faults."""
    extra: set[str] = set()
    futures = truths = dice = steps = 0
    for place in _places(ground.night):
        base, cut = _watched(ground, place), place.cut
        extra |= _extra(base)
        steps += len(base.probe.seen)
        futures += _differ(base, _told(ground, place, rewritten_from(place.night, cut)), _past(cut))
        truths += _differ(base, _told(ground, place, with_other_truth(place.night)))
        dice += _differ(base, _watched(ground, place, seed=2))
    line = (
        f"{len(extra)} names beside {len(OBSERVED)} allowed"
        + (f" ({', '.join(sorted(extra))})" if extra else "")
        + f"; of {steps} observations {futures} knew the future, {truths} the truth, "
        + f"{dice} the dice"
    )
    return found(
        not extra and not futures and not truths and not dice,
        line,
        extra=sorted(extra),
        observations=steps,
        knew_future=futures,
        knew_truth=truths,
        knew_dice=dice,
    )


def _places(night: RecordedNight) -> Iterator[_Place]:
    cuts = _cuts(night)
    middle = cuts[len(cuts) // 2]
    yield from (_Place(night, cut) for cut in cuts)
    yield _Place(overlaid(night, overlay_named(ERRING), seed=1), middle)
    yield _Place(night, middle, SETTLED)


def _cuts(night: RecordedNight) -> list[int]:
    return sorted({max(1, round(night.epochs * part)) for part in CUTS})


def _first(cut: int) -> int:
    return max(0, cut - BEFORE)


def _past(cut: int) -> int:
    """Steps before the cut."""
    return cut - _first(cut)


def _watched(ground: Ground, place: _Place, *, seed: int = 1) -> Trial:
    """The REM rule around a cut, in a world where no cue wakes: rolls then change nothing."""
    made = replace(
        ground.setting(0.0),
        first_epoch=_first(place.cut),
        steps=2 * BEFORE,
        seed=seed,
        condition=place.condition,
    )
    return ground.trial(RemRule(), made, place.night)


def _told(ground: Ground, place: _Place, night: RecordedNight) -> Trial:
    """The same on a night that is told otherwise."""
    return _watched(ground, replace(place, night=night))


def _extra(done: Trial) -> set[str]:
    """Public names of what the agent was handed that are not on the lists."""
    seen = {name for one in done.probe.seen for name in _public(one)}
    told = {name for one in done.probe.sessions for name in _public(one)}
    return (seen - OBSERVED) | (told - TOLD)


def _public(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


def _differ(base: Trial, other: Trial, among: int | None = None) -> int:
    """Observations, of the first `among`, that are not the same to the bit."""
    pairs = zip(base.probe.seen[:among], other.probe.seen[:among], strict=True)
    return sum(repr(one) != repr(two) for one, two in pairs)
