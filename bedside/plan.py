"""What a session is planned to be, before it starts, and how it may end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agents.types import GivenCue, Session
from bedside.safety.gate import Mode
from bedside.safety.limits import PastCue, PersonalLimits
from bedside.safety.words import OwnWords
from bedside.sleep_history import SleepHistory
from devices.types import EPOCH_S


class Ending(StrEnum):
    """Why a session ended."""

    NIGHT_END = "night_end"
    AGENT_STOP = "agent_stop"
    STABLE_DEEP = "stable_deep"
    STEP_LIMIT = "step_limit"
    RECORDING_EXHAUSTED = "recording_exhausted"
    TIME_LIMIT = "time_limit"
    CANCELLED = "cancelled"

    @property
    def has_more_to_see(self) -> bool:
        """True where the last action has an epoch after it, though nobody acts on it."""
        return self in (Ending.STEP_LIMIT, Ending.AGENT_STOP, Ending.STABLE_DEEP)

    @property
    def is_truncation(self) -> bool:
        """True where the session was cut short rather than came to its end."""
        return self not in (Ending.NIGHT_END, Ending.AGENT_STOP, Ending.STABLE_DEEP)


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a night that goes on after a crash knows of itself, rebuilt from its trace.

    first_step: the first epoch after the gap. past, given: the cues so far.
    """

    first_step: int
    past: tuple[PastCue, ...] = ()
    given: tuple[GivenCue, ...] = ()
    suspected_wakings: tuple[float, ...] = ()
    agent_stopped: bool = False
    person_stopped: bool = False


@dataclass(frozen=True, slots=True)
class NightPlan:
    """Everything about a session that is settled before its first epoch.

    words: which lines may be whispered. sound_s, whisper_s, object_s: how long cues last.
    decision_limit_s: an answer that takes so long is dropped.
    history: what was slept before the session starts (a task in the middle of a night).
    record_only: nothing plays. resumed: where and how a night goes on after a crash.
    start_assumed: the time of day is not known and 23:00 is assumed.
    night: what a replay says of its recording in the trace's header; None live.
    """

    session_id: str
    session: Session
    mode: Mode
    personal: PersonalLimits
    words: OwnWords
    sound_s: float = 8.0
    whisper_s: float = 4.0
    object_s: float = 20.0
    decision_limit_s: float = EPOCH_S
    history: SleepHistory = field(default_factory=SleepHistory)
    record_only: bool = False
    resumed: Resumed | None = None
    start_assumed: bool = False
    night: Mapping[str, Any] | None = None
