"""Hard limits of a night, as code constants in no settings file.

A window of `w` seconds at `t` is half-open, (t - w, t]: what happened exactly `w` ago is outside.
Every comparison is written so that a time that is not a number falls inside and refuses.
Source: safety.md 1, 7, 9, 12; all figures marked there as proposals of the design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from agents.types import Action, BedsideObject, PlaySound, UseObject, Whisper
from bedside.safety.rules import CUE_ACTIONS, HEARD_ACTIONS, CueAction
from devices.types import CueKind, Volume

GAP_S: Final = 60.0
TEN_MINUTES_S: Final = 600.0
CUES_IN_TEN_MINUTES: Final = 5
CUES_IN_REM_PERIOD: Final = 12
CUES_A_NIGHT: Final = 40
WAKING_SILENCE_S: Final = 600.0
WAKINGS_A_NIGHT: Final = 3
PUFF_GAP_S: Final = 3600.0
PUFFS_DEFAULT: Final = 2
PUFFS_AT_MOST: Final = 6
LOUDEST_LIVE: Final = Volume.MEDIUM

PUFF_KINDS: Final = frozenset({CueKind.SCENT, CueKind.DIFFUSER})


class Powers(StrEnum):
    """What a person's nights have earned so far (safety.md 7)."""

    RECORD_ONLY = "record_only"
    LOW = "low"
    MEDIUM = "medium"


class Limit(StrEnum):
    """The limits, in the order in which they are always listed."""

    MALFORMED = "malformed"
    PERSON_STOPPED = "person_stopped"
    RECORD_ONLY = "record_only"
    PAUSED = "paused"
    REPORTED_AWAKE = "reported_awake"
    BEFORE_ONSET = "before_onset"
    NO_POWERS = "no_powers"
    GAP = "gap"
    FAILED_REPEAT = "failed_repeat"
    TEN_MINUTES = "ten_minutes"
    REM_PERIOD = "rem_period"
    NIGHT = "night"
    BUDGET = "budget"
    WAKING_SILENCE = "waking_silence"
    WAKINGS = "wakings"
    PUFF_GAP = "puff_gap"
    PUFFS = "puffs"
    LINE_NOT_APPROVED = "line_not_approved"
    LOUDEST_LIVE = "loudest_live"
    COMFORT_CAP = "comfort_cap"
    POWERS_CAP = "powers_cap"


IN_EVERY_MODE: Final = frozenset({Limit.MALFORMED, Limit.PERSON_STOPPED, Limit.RECORD_ONLY})
"""Limits that refuse in `observe` too: no experiment overrides a person or a failed device."""
LOWERING: Final = frozenset({Limit.LOUDEST_LIVE, Limit.COMFORT_CAP, Limit.POWERS_CAP})
"""Limits that lower the volume and refuse nothing."""
REWRITING: Final = frozenset({Limit.LINE_NOT_APPROVED})
"""Limits that replace the line, and refuse only where nothing may replace it."""

LIMIT_REASONS: Final[Mapping[Limit, str]] = MappingProxyType(
    {
        Limit.MALFORMED: "the agent's answer is not a complete action",
        Limit.PERSON_STOPPED: "the person pressed stop",
        Limit.RECORD_ONLY: "the night only records",
        Limit.PAUSED: "the person paused cueing",
        Limit.REPORTED_AWAKE: "the person said they were awake",
        Limit.BEFORE_ONSET: "sleep has not set in yet",
        Limit.NO_POWERS: "this person's first night only records",
        Limit.GAP: f"the last cue was less than {GAP_S:.0f} s ago",
        Limit.FAILED_REPEAT: f"a cue failed less than {GAP_S:.0f} s ago",
        Limit.TEN_MINUTES: f"{CUES_IN_TEN_MINUTES} cues in the last 10 minutes",
        Limit.REM_PERIOD: f"{CUES_IN_REM_PERIOD} cues in this REM period",
        Limit.NIGHT: f"{CUES_A_NIGHT} cues this night",
        Limit.BUDGET: "the person's cue budget is used up",
        Limit.WAKING_SILENCE: "a waking was suspected in the last 10 minutes",
        Limit.WAKINGS: f"{WAKINGS_A_NIGHT} suspected wakings: silent for the rest of the night",
        Limit.PUFF_GAP: "scent or mist was released less than 60 minutes ago",
        Limit.PUFFS: "no releases of scent or mist left this night",
        Limit.LINE_NOT_APPROVED: "the line is not one of the approved lines",
        Limit.LOUDEST_LIVE: f"nothing louder than {LOUDEST_LIVE} is played live",
        Limit.COMFORT_CAP: "louder than the person's comfort cap",
        Limit.POWERS_CAP: "louder than this person's nights have earned",
    }
)


@dataclass(frozen=True, slots=True)
class PersonalLimits:
    """One person's limits; what is unset is the lowest. Code limits hold beside them.

    volume_cap: comfort cap. cue_budget: cues of this session. puffs: releases of scent or mist.
    """

    volume_cap: Volume | None = None
    cue_budget: int = CUES_A_NIGHT
    powers: Powers | None = None
    puffs: int = PUFFS_DEFAULT


@dataclass(frozen=True, slots=True)
class PastCue:
    """A cue that went to an actuator at `t`.

    volume: None of an object. rem_period: the REM period it fell in or after (0: before any).
    """

    t: float
    kind: CueKind
    volume: Volume | None
    rem_period: int
    failed: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """What has happened up to now, as far as limits care; times are session seconds.

    suspected_wakings: when each was suspected. rem_period: the current or last (0: none yet).
    agent_stopped, person_stopped: the two latches. record_only: crashes or a failed self-check.
    before_onset: sleep has not set in as this kind of session needs it: sustained onset, or of
    a `sleep_onset` session the first sleep epoch.
    """

    cues: tuple[PastCue, ...] = ()
    suspected_wakings: tuple[float, ...] = ()
    rem_period: int = 0
    agent_stopped: bool = False
    person_stopped: bool = False
    record_only: bool = False
    paused_until: float | None = None
    reported_awake: bool = False
    before_onset: bool = False


def cue_kind(action: CueAction) -> CueKind:
    """What a cue is made of."""
    if isinstance(action, UseObject):
        return CueKind(action.object.value)
    return CueKind.SOUND if isinstance(action, PlaySound) else CueKind.WHISPER


def is_whole(action: Action) -> bool:
    """Whether every field of a cue has the type it declares; an agent may return anything."""
    if isinstance(action, UseObject):
        return isinstance(action.object, BedsideObject)
    line = not isinstance(action, Whisper) or isinstance(action.line, str)
    volume = not isinstance(action, HEARD_ACTIONS) or isinstance(action.volume, Volume)
    return line and volume


def allowed_volume(asked: Volume, personal: PersonalLimits) -> Volume:
    """The lowest of what was asked and every cap."""
    return min((asked, *_volume_caps(personal).values()), key=lambda volume: volume.rank)


def limit_hits(
    action: Action, volume: Volume | None, t: float, history: History, personal: PersonalLimits
) -> tuple[Limit, ...]:
    """Every limit the action meets at `t`, in declared order; only cues can meet one.

    volume: the asked volume of a heard cue, None of an object.
    """
    if not isinstance(action, CUE_ACTIONS):
        return ()
    kind = cue_kind(action)
    hit = _latched(t, history, personal) | _spaced(t, history)
    hit |= _puffs(t, history, personal) if kind in PUFF_KINDS else _counted(t, history, personal)
    if kind.is_heard:
        hit[Limit.REM_PERIOD] = _rem_period_full(history)
    if volume is not None:
        caps = _volume_caps(personal).items()
        hit |= {limit: volume.rank > cap.rank for limit, cap in caps}
    return tuple(limit for limit in Limit if hit.get(limit))


def _latched(t: float, history: History, personal: PersonalLimits) -> dict[Limit, bool]:
    until = history.paused_until
    return {
        Limit.PERSON_STOPPED: history.person_stopped,
        Limit.RECORD_ONLY: history.record_only,
        Limit.PAUSED: until is not None and not t >= until,
        Limit.REPORTED_AWAKE: history.reported_awake,
        Limit.BEFORE_ONSET: history.before_onset,
        Limit.NO_POWERS: personal.powers in (None, Powers.RECORD_ONLY),
    }


def _spaced(t: float, history: History) -> dict[Limit, bool]:
    near = [cue.failed for cue in history.cues if _within(t, cue.t, GAP_S)]
    return {
        Limit.GAP: False in near,
        Limit.FAILED_REPEAT: True in near,
        Limit.WAKING_SILENCE: any(
            _within(t, waking, WAKING_SILENCE_S) for waking in history.suspected_wakings
        ),
        Limit.WAKINGS: len(history.suspected_wakings) >= WAKINGS_A_NIGHT,
    }


def _counted(t: float, history: History, personal: PersonalLimits) -> dict[Limit, bool]:
    """Rates count every attempt; doses count what may have been perceived. Puffs count apart."""
    tried = [cue for cue in history.cues if cue.kind not in PUFF_KINDS]
    given = sum(not cue.failed for cue in tried)
    recent = sum(_within(t, cue.t, TEN_MINUTES_S) for cue in tried)
    return {
        Limit.TEN_MINUTES: recent >= CUES_IN_TEN_MINUTES,
        Limit.NIGHT: given >= CUES_A_NIGHT,
        Limit.BUDGET: given >= personal.cue_budget,
    }


def _rem_period_full(history: History) -> bool:
    period = history.rem_period
    heard = [
        cue
        for cue in history.cues
        if cue.rem_period == period and cue.kind.is_heard and not cue.failed
    ]
    return period > 0 and len(heard) >= CUES_IN_REM_PERIOD


def _puffs(t: float, history: History, personal: PersonalLimits) -> dict[Limit, bool]:
    """A failed release may have happened all the same, so it counts."""
    puffs = [cue.t for cue in history.cues if cue.kind in PUFF_KINDS]
    return {
        Limit.PUFF_GAP: any(_within(t, puff, PUFF_GAP_S) for puff in puffs),
        Limit.PUFFS: len(puffs) >= min(personal.puffs, PUFFS_AT_MOST),
    }


def _volume_caps(personal: PersonalLimits) -> dict[Limit, Volume]:
    earned = Volume.MEDIUM if personal.powers is Powers.MEDIUM else Volume.LOW
    return {
        Limit.LOUDEST_LIVE: LOUDEST_LIVE,
        Limit.COMFORT_CAP: personal.volume_cap or Volume.LOW,
        Limit.POWERS_CAP: earned,
    }


def _within(t: float, past_t: float, window_s: float) -> bool:
    """Whether the past moment is in (t - window, t], or cannot be told."""
    return not (t - past_t >= window_s or past_t > t)
