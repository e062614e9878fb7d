"""What goes wrong in a composed task: at most one fault of each exclusive group."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from itertools import chain
from typing import Final

from devices.types import PaprikaError

STEPS: Final = 40
"""Steps of a task, over which its faults strike: 20 minutes. Source: the seed."""


class ConditionError(PaprikaError):
    """No such condition; the message lists the faults."""


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


TASK_ACTS: Final = tuple(act for act in PersonAct if act is not PersonAct.NO_REPORT)
"""Acts that show in a task. `no_report` changes a morning alone, which a replay does not have
yet: as a condition of a task it would be plain under another name."""


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
GROUPS: Final = {"signal": SignalFault, "actuator": ActuatorFault, "person": PersonAct}
"""The exclusive groups of faults."""


def condition_named(name: str) -> Condition:
    """The condition of this `name`: `plain`, or faults joined by `+` in any order.

    Raises:
        ConditionError: an unknown fault, or two of one group.
    """
    chosen: dict[str, str] = {}
    for word in () if name == PLAIN.name else name.split("+"):
        group = next((group for group, faults in GROUPS.items() if word in list(faults)), None)
        if group is None:
            raise ConditionError(_unknown(word))
        if group in chosen:
            raise ConditionError(
                f"condition {name!r}: {chosen[group]} and {word} are both faults of the {group}; "
                "choose one"
            )
        chosen[group] = word
    signal, actuator, person = map(chosen.get, GROUPS)
    return Condition(
        SignalFault(signal) if signal else None,
        ActuatorFault(actuator) if actuator else None,
        PersonAct(person) if person else None,
    )


def task_condition(name: str) -> Condition:
    """The condition of this name, for a task.

    Raises:
        ConditionError: as `condition_named`; also of `no_report`.
    """
    found = condition_named(name)
    if found.person is not None and found.person not in TASK_ACTS:
        raise ConditionError(
            f"condition {name!r}: {found.person} changes nothing in the 20 minutes of a task, only "
            "a morning, which a replay does not have; leave it out"
        )
    return found


def _unknown(word: str) -> str:
    known = [PLAIN.name, *(f.value for f in chain(SignalFault, ActuatorFault, TASK_ACTS))]
    near = get_close_matches(word, known, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"condition {word!r} is unknown{meant}; known, to be joined by +: {', '.join(known)}"
