"""The live default: few, soft cues, late in the night, well inside steady REM.

Assumed: every figure here is our proposal. Home cueing studies found low intensity to work and
waking cues to harm; more tones gave fewer visual dream reports; others wait four hours.
"""

from __future__ import annotations

from typing import Final

from agents.types import Action, Observation, PlaySound, Session, Wait
from devices.types import Stage, Volume

NOT_REM: Final = {stage: f"the stage is {stage}, not rem" for stage in Stage}


class GentleRule:
    """Plays only when every one of its conditions holds; the reason of a wait is the first that
    does not.

    What no device tells passes: without a confidence or a movement sensor those two conditions are
    not asked, and the sound's reason says `movement unknown`. It never asks above the volume cap.
    """

    name = "gentle_rule"

    def __init__(
        self,
        *,
        rem_min: float = 5.0,
        rem_epochs: int = 2,
        rem_period: int = 2,
        after_onset_min: float = 180.0,
        confidence: float = 0.6,
        still_s: float = 60.0,
        gap_min: float = 4.0,
        cues_per_period: int = 3,
        cues_per_session: int = 10,
        volume: Volume = Volume.LOW,
    ) -> None:
        self._rem_min = rem_min
        self._rem_epochs = rem_epochs
        self._rem_period = rem_period
        self._after_onset_min = after_onset_min
        self._confidence = confidence
        self._still_s = still_s
        self._gap_min = gap_min
        self._cues_per_period = cues_per_period
        self._cues_per_session = cues_per_session
        self._volume = volume

    def reset(self, session: Session) -> None:
        """Nothing to begin: every number it needs stands in the observation."""

    async def decide(self, observation: Observation) -> Action:
        obstacle = (
            _person(observation)
            or self._stage(observation)
            or self._moment(observation)
            or self._dose(observation)
        )
        if obstacle is not None:
            return Wait(obstacle)
        return PlaySound(self._allowed(observation.volume_cap), _why(observation))

    def _stage(self, seen: Observation) -> str | None:
        """Steady REM, by a device that is sure of it. A NaN counts as unsure."""
        stage = seen.stage
        if stage is None or not seen.has_reading:
            return "no reading, so no cue"
        if stage is not Stage.REM:
            return NOT_REM[stage]
        if seen.rem_epochs_in_row < self._rem_epochs:
            return f"REM epochs in a row: {seen.rem_epochs_in_row}, {self._rem_epochs} needed"
        if not seen.minutes_in_stage >= self._rem_min:
            return f"REM for {seen.minutes_in_stage:.1f} min, {self._rem_min:g} needed"
        if seen.confidence is not None and not seen.confidence >= self._confidence:
            return f"confidence {seen.confidence:.2f}, {self._confidence:g} needed"
        return None

    def _moment(self, seen: Observation) -> str | None:
        """Late enough in the night, and lying still."""
        onset_min = seen.minutes_since_onset
        late = onset_min is not None and onset_min >= self._after_onset_min
        if seen.rem_period < self._rem_period and not late:
            asleep = "not yet asleep" if onset_min is None else f"asleep for {onset_min:.0f} min"
            return f"REM period {seen.rem_period}, {asleep}: too early"
        if seen.still_s is None and seen.movement_g is not None:
            return f"the movement sensor has been silent for {seen.movement_g.age_s:.0f} s"
        if seen.still_s is not None and not seen.still_s >= self._still_s:
            return f"moved {seen.still_s:.0f} s ago, {self._still_s:g} s of stillness needed"
        return None

    def _dose(self, seen: Observation) -> str | None:
        """Few enough, far enough apart."""
        if seen.cue_count >= self._cues_per_session:
            return f"{seen.cue_count} cues this session, {self._cues_per_session} at most"
        if seen.cues_in_rem_period >= self._cues_per_period:
            return f"{seen.cues_in_rem_period} cues in this period, {self._cues_per_period} at most"
        since_min = seen.minutes_since_cue
        if since_min is not None and not since_min >= self._gap_min:
            return f"last cue {since_min:.1f} min ago, {self._gap_min:g} apart"
        return None

    def _allowed(self, cap: Volume) -> Volume:
        return min(self._volume, cap, key=lambda volume: volume.rank)


def _person(seen: Observation) -> str | None:
    """What the person has said goes first."""
    if seen.reported_awake:
        return "the sleeper reported being awake"
    paused_until = seen.paused_until_clock_s
    if paused_until is not None and paused_until > seen.clock_s:
        return f"paused for another {(paused_until - seen.clock_s) / 60.0:.1f} min"
    if seen.budget_left <= 0:
        return "no cue is left in the budget"
    return None


def _why(seen: Observation) -> str:
    still = "movement unknown" if seen.still_s is None else f"still for {seen.still_s:.0f} s"
    return (
        f"REM period {seen.rem_period}, REM for {seen.minutes_in_stage:.1f} min, {still}, "
        f"cue {seen.cues_in_rem_period + 1} of this period"
    )
