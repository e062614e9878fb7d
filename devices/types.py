"""Words of the bedside: stages, samples and the values they carry, cues and outcomes.

Every value is frozen. Units stand in the field names; times called `t` are seconds since the
start of the session on the loop's clock, never wall time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EPOCH_S: Final = 30.0
"""Length of an epoch. Source: AASM manual, scoring in 30-second windows."""


class PaprikaError(Exception):
    """Base of every error that a person can mend: the message is one line that names the file,
    line, key or device and says what to do. The command line shows it without a traceback."""


class DeviceError(PaprikaError):
    """Base of the errors a driver raises on purpose."""


class Stage(StrEnum):
    """A sleep stage, as a device or an expert names it.

    `LIGHT` is N1 or N2 not told apart. Four-stage headbands never give `N1` or `N2`.
    """

    AWAKE = "awake"
    N1 = "n1"
    N2 = "n2"
    LIGHT = "light"
    DEEP = "deep"
    REM = "rem"
    UNKNOWN = "unknown"

    @property
    def coarse(self) -> Stage:
        """The stage with N1 and N2 folded into LIGHT."""
        return COARSE[self]

    @property
    def letter(self) -> str:
        """One letter of the coarse stage: W, L, D, R or ?."""
        return LETTERS[self]

    @property
    def is_sleep(self) -> bool:
        return self is not Stage.AWAKE and self is not Stage.UNKNOWN


COARSE: Final[Mapping[Stage, Stage]] = MappingProxyType(
    {stage: Stage.LIGHT if stage in (Stage.N1, Stage.N2) else stage for stage in Stage}
)
LETTERS: Final[Mapping[Stage, str]] = MappingProxyType(
    {
        Stage.AWAKE: "W",
        Stage.N1: "L",
        Stage.N2: "L",
        Stage.LIGHT: "L",
        Stage.DEEP: "D",
        Stage.REM: "R",
        Stage.UNKNOWN: "?",
    }
)


class Stream(StrEnum):
    """What a sample is a sample of."""

    STAGE = "stage"
    EEG = "eeg"
    HEART_RATE = "heart_rate"
    MOVEMENT = "movement"
    SKIN_TEMPERATURE = "skin_temperature"
    CONTACT = "contact"
    BATTERY = "battery"
    ROOM = "room"
    PERSON = "person"
    CUE = "cue"


@dataclass(frozen=True, slots=True)
class StageReading:
    """A stage and how sure the device is of it (0..1), or None where it does not say."""

    stage: Stage
    confidence: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EegBlock:
    """Consecutive EEG samples that end at the sample's `t`.

    counts: integers, shape (n_channels, n_samples); the lowest value of the dtype marks a
        missing sample.
    scale_uv: µV per count, one a channel. offset_uv: µV at count 0, one a channel.
    rate_hz: samples a second.
    """

    counts: NDArray[np.integer]
    scale_uv: tuple[float, ...]
    rate_hz: float
    offset_uv: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class HeartRate:
    """Beats a minute (None: no reading) and the RR intervals (ms) since the last sample."""

    bpm: float | None
    rr_ms: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Movement:
    """Movement since the last sample: largest deviation of acceleration from rest, in g."""

    g: float


@dataclass(frozen=True, slots=True)
class SkinTemperature:
    celsius: float


@dataclass(frozen=True, slots=True)
class Contact:
    """Whether the electrodes touch skin; None where the device cannot tell."""

    on_skin: bool | None


@dataclass(frozen=True, slots=True)
class Battery:
    percent: float


@dataclass(frozen=True, slots=True)
class Room:
    """One report of the bedroom. What a sensor does not measure is None.

    noise_dba: dB(A); with `noise_calibrated` false it is relative to full scale.
    """

    temperature_c: float | None = None
    noise_dba: float | None = None
    light_lux: float | None = None
    humidity_pct: float | None = None
    co2_ppm: float | None = None
    noise_calibrated: bool = False


class CueKind(StrEnum):
    """What a cue is made of. Sound and whisper are heard; the others are objects."""

    SOUND = "sound"
    WHISPER = "whisper"
    SCENT = "scent"
    LIGHT = "light"
    DIFFUSER = "diffuser"

    @property
    def is_heard(self) -> bool:
        return self is CueKind.SOUND or self is CueKind.WHISPER


class Volume(StrEnum):
    """How loud a heard cue is; ordered low < medium < high by `rank`."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return _VOLUME_RANKS[self]


_VOLUME_RANKS: Final[Mapping[Volume, int]] = MappingProxyType(
    {Volume.LOW: 0, Volume.MEDIUM: 1, Volume.HIGH: 2}
)


class PersonAct(StrEnum):
    """What a person did with the button or the page."""

    TOUCH = "touch"
    STILL_AWAKE = "still_awake"
    PAUSE = "pause"
    RESUME = "resume"
    THEME = "theme"
    VOLUME_CAP = "volume_cap"
    STOP = "stop"
    CLEAR_STOP = "clear_stop"
    GOOD_NIGHT = "good_night"
    GOT_UP = "got_up"
    TELL_DREAM = "tell_dream"


@dataclass(frozen=True, slots=True)
class PersonEvent:
    """Something the person did.

    minutes: how long a pause lasts. text: a new theme. volume: a new cap. held: a long press.
    """

    act: PersonAct
    minutes: float | None = None
    text: str | None = None
    volume: Volume | None = None
    held: bool = False


class CuePurpose(StrEnum):
    """What is played for: a cue into sleep, the alarm, or a planned waking of a `tdi` session."""

    CUE = "cue"
    PLANNED_WAKING = "planned_waking"
    PROMPT = "prompt"
    ALARM = "alarm"


@dataclass(frozen=True, slots=True)
class Cue:
    """What an actuator is asked to perform.

    number: counts the cues of a session from 1. step: the epoch whose decision it is.
    purpose: what it is for; a planned waking and its prompt enter no waking count.
    volume, theme, line: of heard cues; `line` is the whispered text.
    level_db: dB(A) at the pillow where calibrated, else None.
    duration_s: how long it lasts; every actuator ends it by itself after that.
    deadline_s: how long `perform` may take to begin; later it is `FAILED`.
    """

    number: int
    kind: CueKind
    volume: Volume
    theme: str
    duration_s: float
    line: str | None = None
    level_db: float | None = None
    deadline_s: float = 2.0
    step: int = 0
    purpose: CuePurpose = CuePurpose.CUE


@dataclass(frozen=True, slots=True)
class Bed:
    """A continuous quiet sound, started by the person and kept alive by `renew`."""

    theme: str
    level_db: float | None = None
    fade_in_s: float = 5.0
    lease_s: float = 45.0


class OutcomeStatus(StrEnum):
    """How a cue ended. Only `CONFIRMED` counts as played."""

    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    FAILED = "failed"
    SILENCED = "silenced"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a performed cue ended; times are session seconds.

    onset_t: estimated first audible moment (or release), None where nothing began.
    level_dba: measured level, None where nothing measured it.
    detail: what went wrong, for a person to read.
    """

    status: OutcomeStatus
    onset_t: float | None
    ended_t: float
    level_dba: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CueSounded:
    """The `cue` stream: what was played, when and how it ended."""

    cue: Cue
    outcome: Outcome


VALUE_TYPES: Final[Mapping[Stream, type]] = MappingProxyType(
    {
        Stream.STAGE: StageReading,
        Stream.EEG: EegBlock,
        Stream.HEART_RATE: HeartRate,
        Stream.MOVEMENT: Movement,
        Stream.SKIN_TEMPERATURE: SkinTemperature,
        Stream.CONTACT: Contact,
        Stream.BATTERY: Battery,
        Stream.ROOM: Room,
        Stream.PERSON: PersonEvent,
        Stream.CUE: CueSounded,
    }
)
"""The type of value that each stream carries."""

Value = (
    StageReading
    | EegBlock
    | HeartRate
    | Movement
    | SkinTemperature
    | Contact
    | Battery
    | Room
    | PersonEvent
    | CueSounded
)


class Sample(NamedTuple):
    """One value of one stream. A tuple, because a night makes a hundred thousand of them.

    t: arrival, session seconds (negative: before the session, to warm histories).
    source: name of the source. device_t: the device's own clock in seconds, recorded, not obeyed.
    seq: the producer's counter, where it has one.
    """

    stream: Stream
    t: float
    value: Value
    source: str = ""
    device_t: float | None = None
    seq: int | None = None


class Truth(NamedTuple):
    """An expert's stage of the epoch around `t`; recordings only. Never a sample:
    the player hands it to the hidden sleeper alone and the hub refuses it."""

    t: float
    stage: Stage


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """What a source declares of one of its streams.

    interval_s: expected time between samples (0.5 for a 2 Hz stage); None: irregular.
    channels: channel names of EEG. rate_hz: EEG samples a second.
    simulated: made by a program; such nights earn no powers.
    """

    stream: Stream
    interval_s: float | None
    source: str
    channels: tuple[str, ...] = ()
    rate_hz: float | None = None
    simulated: bool = False


def microvolts(block: EegBlock) -> NDArray[np.float32]:
    """The block in µV: float32, shape (n_channels, n_samples); missing samples are NaN.

    The one place where counts become µV, live and in replay.
    """
    import numpy as np

    counts = block.counts
    scale = np.asarray(block.scale_uv, dtype=np.float32)[:, None]
    uv = counts.astype(np.float32) * scale
    if block.offset_uv:
        uv += np.asarray(block.offset_uv, dtype=np.float32)[:, None]
    missing = counts == np.iinfo(counts.dtype).min
    if missing.any():
        uv[missing] = np.nan
    return uv
