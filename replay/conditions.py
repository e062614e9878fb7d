"""What goes wrong in a composed task: at most one fault of each exclusive group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SignalFault(StrEnum):
    """What the stage labels suffer on their way to the night."""

    DROPOUT_BURST = "dropout_burst"
    FROZEN_STAGE = "frozen_stage"
    DELAYED_LABEL = "delayed_label"
    FLICKER = "flicker"


class ActuatorFault(StrEnum):
    """What the room does with a cue instead of playing it at once."""

    CUE_FAILS = "cue_fails"
    CUE_LATE = "cue_late"
    CUE_HANGS = "cue_hangs"


class PersonAct(StrEnum):
    """What the person does, or has not done."""

    STOP_PRESSED = "stop_pressed"
    THEME_CHANGED = "theme_changed"
    NO_MEMORY = "no_memory"
    NO_REPORT = "no_report"


@dataclass(frozen=True, slots=True)
class Condition:
    """One choice of each group; None: all is well there."""

    signal: SignalFault | None = None
    actuator: ActuatorFault | None = None
    person: PersonAct | None = None

    @property
    def name(self) -> str:
        """The faults joined by `+`; `plain` without one."""
        given = [fault.value for fault in (self.signal, self.actuator, self.person) if fault]
        return "+".join(given) or "plain"


PLAIN = Condition()
