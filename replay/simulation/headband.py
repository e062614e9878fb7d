"""A headband on a simulated sleeper: the next epoch is slept only when the night has come to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from bedside.trace import Trace
from devices.ports import Clock, Push
from devices.types import EPOCH_S, Sample, Stage, StageReading, Stream, StreamInfo
from replay.clock import VirtualTimeLoop
from replay.overlays.confusion import Device
from replay.player import PlayerError
from replay.rolls import Dice, RollStream
from replay.simulation.sleeper import SimulatedSleeper

KIND: Final = "simulation"
STREAMS: Final = (StreamInfo(Stream.STAGE, EPOCH_S, KIND, simulated=True),)


class SimulatedHeadband:
    """A source whose next epoch is slept only when the night has come to it.

    shown: what it has shown of each epoch, before any dropout.
    """

    name = KIND

    def __init__(
        self,
        sleeper: SimulatedSleeper,
        epochs: int,
        *,
        device: Device | None,
        dropout: Dropout,
    ) -> None:
        self._sleeper = sleeper
        self._epochs = epochs
        self._device = device
        self._dropout = dropout
        self._label: Sample | None = None
        self.shown: list[Stage] = []
        self.streams = STREAMS

    def pushing(self, push: Push, clock: Clock) -> AbstractAsyncContextManager[None]:
        return self._pushing(push)

    @asynccontextmanager
    async def _pushing(self, push: Push) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            raise PlayerError("a simulated night is played on replay.clock.VirtualTimeLoop only")
        self._loop, self._push = loop, push
        loop.feed = self
        try:
            yield
        finally:
            loop.feed = None

    def next_t(self) -> float | None:
        if self._label is not None:
            return self._label.t
        return None if len(self.shown) >= self._epochs else len(self.shown) * EPOCH_S

    def deliver(self, limit: float) -> None:
        while (t := self.next_t()) is not None and t < limit:
            label, self._label = self._label, None
            if label is None:
                self._label = self._next_label()
                continue
            self._loop.advance(label.t)
            self._push(label)
            if self._loop.interrupted:
                return

    def _next_label(self) -> Sample | None:
        """Sleep on for an epoch. Called after all that happened up to its start."""
        epoch = len(self.shown)
        true = self._sleeper.sleep_on()
        shown = true if self._device is None else self._device.show(epoch, true)
        self.shown.append(shown)
        if self._dropout.drops(epoch) or shown is Stage.UNKNOWN:
            return None
        return Sample(Stream.STAGE, epoch * EPOCH_S + 15.0, StageReading(shown), KIND)


class Dropout:
    """Whether a step loses its reading, by a seeded roll; noted in the hidden trace."""

    def __init__(self, dice: Dice, chance: float, hidden: Trace) -> None:
        self._dice, self._chance, self._hidden = dice, chance, hidden

    def drops(self, step: int) -> bool:
        if not self._chance or self._dice.roll(RollStream.DROPOUT, step) >= self._chance:
            return False
        self._hidden.line("event", {"t": step * EPOCH_S, "event": "dropout", "step": step})
        return True
