"""Ports: what a source and an actuator promise. Live, simulated and recorded kinds are siblings.

Contract tests that anybody can run on a source or an actuator: `devices.testing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, runtime_checkable

from devices.types import Bed, Cue, CueKind, Outcome, Sample, Stream, StreamInfo


class Clock(Protocol):
    """The night's only clock."""

    def t(self) -> float:
        """Seconds since the start of the session."""
        ...


class Push(Protocol):
    """Where a source puts its samples: returns at once, from the loop's own thread."""

    def __call__(self, sample: Sample, /) -> None: ...


@runtime_checkable
class BulkPush(Push, Protocol):
    """A push that also takes many samples at once, for sources that have them: recordings."""

    def keep(self, samples: Sequence[Sample], start: int, end: int) -> int:
        """Take `samples[start:end]` up to the first that somebody acts on; gives its index."""
        ...

    def keep_all(self, by_stream: Mapping[Stream, Sequence[Sample]]) -> bool:
        """Take all of these, or none where somebody may act on one of them."""
        ...


@runtime_checkable
class Source(Protocol):
    """Something that pushes samples: a headband, a strap, a room sensor, a recording.

    It stamps each sample with `clock.t()` on arrival, reconnects by itself, and never raises out
    of the context for a device that comes and goes: liveness is the age of its data.
    """

    @property
    def name(self) -> str:
        """Unique within a night; stands in `Sample.source`."""
        ...

    @property
    def streams(self) -> tuple[StreamInfo, ...]:
        """What it may push, known before it opens."""
        ...

    def pushing(self, push: Push, clock: Clock) -> AbstractAsyncContextManager[None]:
        """Push samples while the context is open; nothing is pushed after it closes."""
        ...


@runtime_checkable
class Actuator(Protocol):
    """Something that performs cues: a speaker, a diffuser, a lamp, a silent stand-in.

    Nothing it starts goes on without an end of its own.
    """

    @property
    def name(self) -> str: ...

    @property
    def kinds(self) -> frozenset[CueKind]:
        """The cues it can perform."""
        ...

    def ready(self, clock: Clock) -> AbstractAsyncContextManager[None]:
        """Hold the device while the context is open; everything is off before and after."""
        ...

    async def perform(self, cue: Cue) -> Outcome:
        """Perform the cue and say, after its end, how it ended; raises nothing of a device's.

        A cue that has not begun after `cue.deadline_s` is FAILED.
        """
        ...

    def fade_out(self) -> None:
        """End the cue that sounds now within 0.25 s; a bed goes on. Safe from any thread."""
        ...

    def silence(self) -> None:
        """Stop everything now, and stay silent until `rearm`: what is asked for meanwhile ends
        `SILENCED` at once. Synchronous, idempotent, safe from any thread or signal handler, before
        `ready`, after it, and while the loop is blocked."""
        ...

    def rearm(self) -> None:
        """Undo `silence`; only a person's word leads here."""
        ...


@runtime_checkable
class Continuous(Protocol):
    """An actuator that can also hold a bed under the night, on a lease."""

    async def start_bed(self, bed: Bed) -> None: ...

    def renew(self) -> None:
        """Extend the lease by `bed.lease_s`; without it the bed fades out by itself."""
        ...

    async def stop_bed(self) -> None: ...
