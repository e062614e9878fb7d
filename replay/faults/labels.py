"""What stage labels suffer on their way from the headband to the night."""

from __future__ import annotations

from typing import Final

from bedside.trace import Trace, rounded
from devices.types import EPOCH_S, Sample, Stage, StageReading
from replay.conditions import SignalFault
from replay.faults.strikes import Faults
from replay.player import LabelPath

WRONG: Final = (Stage.AWAKE, Stage.REM, Stage.LIGHT, Stage.DEEP)
"""The stages that flicker, in the field's order."""


def label_path(faults: Faults, hidden: Trace) -> LabelPath | None:
    """The path of the condition's signal fault; None where labels arrive as they were sent."""
    match faults.condition.signal:
        case SignalFault.FROZEN_STAGE:
            return _Frozen(faults, hidden)
        case SignalFault.DELAYED_LABEL:
            return _Delayed(hidden)
        case SignalFault.FLICKER:
            return _Flicker(faults, hidden)
        case _:
            return None


class _Frozen:
    """The last label before the stretch is sent again and again, the same to the bit.

    A headband that tells no confidence repeats its device clock as well, else nobody could ever
    tell it from a long stage.
    """

    def __init__(self, faults: Faults, hidden: Trace) -> None:
        self._stretch = faults.frozen
        self._hidden = hidden
        self._last: dict[str, Sample] = {}

    def before(self, labels: list[Sample]) -> None:
        self._last |= {label.source: label for label in labels}

    def through(self, step: int, labels: list[Sample]) -> list[Sample]:
        if step not in self._stretch:
            self.before(labels)
            return labels
        _disturbed(self._hidden, step, SignalFault.FROZEN_STAGE)
        return [self._repeated(label) for label in labels]

    def _repeated(self, label: Sample) -> Sample:
        last = self._last.setdefault(label.source, label)
        assert isinstance(last.value, StageReading)
        if last.value.confidence is not None:
            return label._replace(value=last.value)
        held_t = last.t if last.device_t is None else last.device_t
        return label._replace(value=last.value, device_t=held_t)


class _Delayed:
    """Every label arrives one epoch late."""

    def __init__(self, hidden: Trace) -> None:
        self._hidden = hidden
        self._held: list[Sample] = []

    def before(self, labels: list[Sample]) -> None:
        self._held = labels

    def through(self, step: int, labels: list[Sample]) -> list[Sample]:
        _disturbed(self._hidden, step, SignalFault.DELAYED_LABEL)
        held, self._held = self._held, labels
        return [label._replace(t=label.t + EPOCH_S) for label in held]


class _Flicker:
    """Now and then one epoch shows a wrong stage, with the confidence of the right one."""

    def __init__(self, faults: Faults, hidden: Trace) -> None:
        self._faults = faults
        self._hidden = hidden

    def before(self, labels: list[Sample]) -> None:
        pass

    def through(self, step: int, labels: list[Sample]) -> list[Sample]:
        wrong = self._faults.flicker(step)
        if wrong is None:
            return labels
        _disturbed(self._hidden, step, SignalFault.FLICKER)
        return [_mistaken(label, wrong) for label in labels]


def _mistaken(label: Sample, wrong: int) -> Sample:
    reading = label.value
    assert isinstance(reading, StageReading)
    if reading.stage is Stage.UNKNOWN:
        return label
    others = [stage for stage in WRONG if stage is not reading.stage.coarse]
    return label._replace(value=StageReading(others[wrong], reading.confidence))


def _disturbed(hidden: Trace, step: int, fault: SignalFault) -> None:
    t = rounded(step * EPOCH_S, "t")
    hidden.line("event", {"t": t, "event": "disturbed", "fault": fault, "step": step})
