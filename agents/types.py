"""What an agent sees, what it may do, and how it asks the outside world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from devices.types import CueKind, OutcomeStatus, PaprikaError, Stage, Volume


class AgentError(PaprikaError):
    """Base of the errors an agent, or the way to one, raises on purpose."""


class SessionKind(StrEnum):
    """What a session is for; `tdi` is targeted dream incubation in a nap."""

    NIGHT = "night"
    NAP = "nap"
    SLEEP_ONSET = "sleep_onset"
    TDI = "tdi"


@dataclass(frozen=True, slots=True)
class Session:
    """What an agent is told once, before the first epoch.

    start_clock_s: seconds after local noon of the start day at t = 0.
    memory: the sleeper's own words, or None. lines: approved short phrases of it.
    volume_cap: the loudest the person allows. cue_budget: most cues of this session.
    digest: what earlier sessions taught, in a few plain lines.
    """

    kind: SessionKind
    start_clock_s: float
    theme: str
    memory: str | None
    lines: tuple[str, ...]
    volume_cap: Volume = Volume.LOW
    cue_budget: int = 40
    planned_wake_clock_s: float | None = None
    digest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """A number with its age and where it came from."""

    value: float
    age_s: float
    source: str


@dataclass(frozen=True, slots=True)
class GivenCue:
    """A cue the agent has given, as the agent may know it; a failed one used up no budget."""

    clock_s: float
    kind: CueKind
    volume: Volume
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything an agent may know when an epoch has closed. Nothing hidden is in it.

    clock_s: seconds after local noon of the start day, at the end of the epoch.
    stage: coarse stage of the epoch, None without a reading; fine_stage: N1 or N2 where told.
    minutes_in_stage: in the current coarse stage, held over steps without a reading.
    rem_epochs_in_row, rem_period: consecutive REM readings up to now; number of the current or
        last REM period (0: none yet).
    minutes_since_onset: since sustained sleep onset (first of ten sleep epochs in a row).
    still_s: seconds since movement was last over threshold, None where no sensor tells by now.
    """

    clock_s: float
    session_kind: SessionKind
    has_reading: bool
    stage: Stage | None
    fine_stage: Stage | None
    confidence: float | None
    minutes_in_stage: float
    rem_epochs_in_row: int
    rem_period: int
    cues_in_rem_period: int
    minutes_since_onset: float | None
    theme: str
    memory: str | None
    lines: tuple[str, ...]
    cues: tuple[GivenCue, ...]
    minutes_since_cue: float | None
    last_outcome: OutcomeStatus | None
    budget_left: int
    volume_cap: Volume
    reported_awake: bool
    paused_until_clock_s: float | None
    minutes_to_wake: float | None
    heart_rate_bpm: Reading | None = None
    hrv_rmssd_ms: Reading | None = None
    movement_g: Reading | None = None
    still_s: float | None = None
    skin_temperature_c: Reading | None = None
    temperature_c: Reading | None = None
    noise_dba: Reading | None = None
    light_lux: Reading | None = None
    humidity_pct: Reading | None = None
    co2_ppm: Reading | None = None
    digest: tuple[str, ...] = ()

    @property
    def cue_count(self) -> int:
        return len(self.cues)


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing until the next epoch."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlaySound:
    """Play the theme's sound."""

    volume: Volume = Volume.LOW
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Whisper:
    """Whisper a line; live it must be one of the session's `lines`."""

    line: str
    volume: Volume = Volume.LOW
    reason: str = ""


class BedsideObject(StrEnum):
    SCENT = "scent"
    LIGHT = "light"
    DIFFUSER = "diffuser"


@dataclass(frozen=True, slots=True)
class UseObject:
    """Release scent, change the light, or run the diffuser."""

    object: BedsideObject
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """No more cues in this session; the night goes on."""

    reason: str = ""


Action = Wait | PlaySound | Whisper | UseObject | Stop


@dataclass(frozen=True, slots=True)
class Request:
    """A question to the outside world, as a value.

    service: who answers ("process", "anthropic", …). body: JSON values only.
    timeout_s: the whole call, retries included.
    """

    service: str
    body: Mapping[str, Any]
    timeout_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `error` is None where the service answered.

    latency_s: how long the night waited for it. usage: counts such as tokens in and out.
    attempts: client calls made, retries included. cached: answered without a call.
    """

    body: Mapping[str, Any] | None
    latency_s: float
    error: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    attempts: int = 1
    cached: bool = False


class Outside(Protocol):
    """An agent's only way out: live on a second loop; in replay with the clock held and charged."""

    async def call(self, request: Request) -> Reply:
        """Ask; a service that fails gives a Reply with `error`, never an exception."""
        ...


@runtime_checkable
class Agent(Protocol):
    """A policy. It gets values, returns a value, and holds no reference to the world."""

    @property
    def name(self) -> str: ...

    def reset(self, session: Session) -> None:
        """Begin a session; nothing of an earlier one may remain."""
        ...

    async def decide(self, observation: Observation) -> Action:
        """What to do now. An exception, a late answer or nonsense becomes Wait."""
        ...


@runtime_checkable
class AsksOutside(Protocol):
    """An agent that needs the outside world is handed it before `reset`."""

    def connect(self, outside: Outside) -> None: ...
