"""Turns a closed epoch and what came before it into what the agent may know."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from agents.types import GivenCue, Observation, Session
from bedside.epocher import Epoch
from bedside.person import PersonState
from bedside.safety.limits import PUFF_KINDS, PastCue
from bedside.sleep_history import SleepHistory
from devices.types import EPOCH_S, Cue, Outcome, OutcomeStatus, Stage


@dataclass(slots=True)
class CueLedger:
    """The cues of the session so far, as the gate and as the agent know them."""

    past: tuple[PastCue, ...] = ()
    given: tuple[GivenCue, ...] = ()
    last_outcome: OutcomeStatus | None = None
    suspected_wakings: tuple[float, ...] = field(default=())

    def add(self, cue: Cue, t: float, clock_s: float, rem_period: int) -> None:
        volume = cue.volume if cue.kind.is_heard else None
        self.past += (PastCue(t, cue.kind, volume, rem_period),)
        self.given += (GivenCue(clock_s, cue.kind, cue.volume),)

    def end(self, cue: Cue, outcome: Outcome) -> None:
        """Note how a cue ended; a failed one is kept as failed."""
        self.last_outcome = outcome.status
        if outcome.status is OutcomeStatus.FAILED:
            index = cue.number - 1
            was = self.past[index]
            failed = replace(was, failed=True)
            self.past = (*self.past[:index], failed, *self.past[index + 1 :])
            told = replace(self.given[index], failed=True)
            self.given = (*self.given[:index], told, *self.given[index + 1 :])

    def in_rem_period(self, rem_period: int) -> int:
        """Heard cues of this REM period; objects and failed cues do not count."""
        heard = (cue for cue in self.past if cue.kind.is_heard and not cue.failed)
        return sum(cue.rem_period == rem_period for cue in heard)

    @property
    def of_budget(self) -> int:
        """Cues that used up budget; puffs have their own, a failed cue used up nothing."""
        return sum(cue.kind not in PUFF_KINDS and not cue.failed for cue in self.past)


class Observer:
    """Keeps the sleep history and words observations. Nothing hidden passes through here."""

    def __init__(self, session: Session, history: SleepHistory | None = None) -> None:
        self._session = session
        self.history = history or SleepHistory()

    def observe(self, epoch: Epoch, cues: CueLedger, person: PersonState) -> Observation:
        """What the agent may know when `epoch` has closed."""
        session, t = self._session, epoch.end_t
        clock_s = session.start_clock_s + t
        history = self.history = self.history.after(epoch.index, epoch.stage)
        has_reading = epoch.stage is not Stage.UNKNOWN
        paused_until = person.pause_at(t)
        return Observation(
            clock_s=clock_s,
            session_kind=session.kind,
            has_reading=has_reading,
            stage=epoch.stage if has_reading else None,
            fine_stage=epoch.fine if has_reading else None,
            confidence=epoch.confidence,
            minutes_in_stage=history.epochs_in_stage * EPOCH_S / 60,
            rem_epochs_in_row=history.rem_in_row,
            rem_period=history.rem_period,
            cues_in_rem_period=cues.in_rem_period(history.rem_period) if history.rem_period else 0,
            minutes_since_onset=history.minutes_since_onset(epoch.index),
            theme=session.theme,
            memory=session.memory,
            lines=session.lines,
            cues=cues.given,
            minutes_since_cue=(clock_s - cues.given[-1].clock_s) / 60 if cues.given else None,
            last_outcome=cues.last_outcome,
            budget_left=max(0, session.cue_budget - cues.of_budget),
            volume_cap=session.volume_cap,
            reported_awake=person.reported_awake,
            paused_until_clock_s=None
            if paused_until is None
            else session.start_clock_s + paused_until,
            minutes_to_wake=None
            if session.planned_wake_clock_s is None
            else (session.planned_wake_clock_s - clock_s) / 60,
            heart_rate_bpm=epoch.heart_rate_bpm,
            hrv_rmssd_ms=epoch.hrv_rmssd_ms,
            movement_g=epoch.movement_g,
            still_s=epoch.still_s,
            skin_temperature_c=epoch.skin_temperature_c,
            temperature_c=epoch.temperature_c,
            noise_dba=epoch.noise_dba,
            light_lux=epoch.light_lux,
            humidity_pct=epoch.humidity_pct,
            co2_ppm=epoch.co2_ppm,
            digest=session.digest,
        )
