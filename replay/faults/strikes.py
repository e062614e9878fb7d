"""When the faults of a composed task strike, from its dice alone: for every agent the same.

Signal faults take rolls 0 … 39 of the stream `disturbance`, one a step; actuator faults those
from 100 on; the person those of the stream `person`. No fault changes what the sleeper sleeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from devices.types import EPOCH_S
from replay.conditions import STEPS, ActuatorFault, Condition, PersonAct, SignalFault
from replay.rolls import Dice, RollStream

BURST_STEPS: Final = 8
"""A burst of dropout: 4 minutes without a reading. Assumed."""
FROZEN_STEPS: Final = 20
"""A stage stands still for 10 minutes, twice as long as the night takes to see it. Assumed."""
FLICKER_CHANCE: Final = 0.15
"""That a step shows a wrong stage, if the one before it does not. Assumed."""
MOST_MISSED: Final = 2
"""The first one or two cues fail or hang, as with a speaker that has to wake up. Assumed."""
LATE_S: Final = (3.0, 6.0)
"""A late cue begins so long after it was asked for; 2 s are allowed. Assumed."""
STOP_STEPS: Final = (8, 32)
"""The person presses stop in the middle of one of these steps, the second excluded. Assumed."""

_ACTUATOR: Final = 100


@dataclass(frozen=True, slots=True)
class Faults:
    """What strikes when, under one condition and one set of dice."""

    condition: Condition
    dice: Dice

    @property
    def burst(self) -> range:
        """Steps without readings."""
        if self.condition.signal is not SignalFault.DROPOUT_BURST:
            return range(0)
        first = int(self._disturbed(0) * (STEPS - BURST_STEPS + 1))
        return range(first, first + BURST_STEPS)

    @property
    def frozen(self) -> range:
        """Steps whose labels repeat the last one before them."""
        if self.condition.signal is not SignalFault.FROZEN_STAGE:
            return range(0)
        first = 1 + int(self._disturbed(0) * (STEPS - FROZEN_STEPS))
        return range(first, first + FROZEN_STEPS)

    def flicker(self, step: int) -> int | None:
        """Which of the three wrong stages (0, 1, 2) a step shows; None: its own one."""
        if self.condition.signal is not SignalFault.FLICKER:
            return None
        value = self._disturbed(step)
        if value >= FLICKER_CHANCE or (step and self._disturbed(step - 1) < FLICKER_CHANCE):
            return None
        return int(value / FLICKER_CHANCE * 3)

    @property
    def missed(self) -> int:
        """How many cues, from the first on, fail or hang."""
        if self.condition.actuator in (ActuatorFault.CUE_FAILS, ActuatorFault.CUE_HANGS):
            return 1 + int(self._disturbed(_ACTUATOR) * MOST_MISSED)
        return 0

    def late_s(self, step: int) -> float:
        """How late the cue of this step begins, in whole milliseconds."""
        if self.condition.actuator is not ActuatorFault.CUE_LATE:
            return 0.0
        least, most = LATE_S
        return round(least + (most - least) * self._disturbed(_ACTUATOR + step), 3)

    @property
    def stop_t(self) -> float | None:
        """When the person presses stop, in session seconds; None: they do not."""
        if self.condition.person is not PersonAct.STOP_PRESSED:
            return None
        first, end = STOP_STEPS
        step = first + int(self.dice.roll(RollStream.PERSON, 0) * (end - first))
        return (step + 0.5) * EPOCH_S

    def _disturbed(self, number: int) -> float:
        return self.dice.roll(RollStream.DISTURBANCE, number)
