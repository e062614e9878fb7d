"""The bundled night: synthetic, made from a seed, so that Paprika runs without anybody's sleep.

Its hypnogram has the shape of a published one (the figures are listed in
`docs/reference/sample-night.md`); the recording behind those figures was never seen. Everything
that a headband, a heart-rate strap and a room sensor would send around it comes from a seeded
generator. It stands for nobody and measures nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial
from heapq import merge
from itertools import dropwhile, islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from bedside.recording import MemoryRecording, RecordingError, RecordingInfo
from devices.types import (
    EPOCH_S,
    Battery,
    Contact,
    Movement,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Truth,
    Value,
)
from replay.sample_body import beat_times, heart_rates, movement_g, rooms
from replay.sample_eeg import CHANNELS, RATE_HZ, eeg_samples, generator
from replay.sample_labels import STAGES, confidences, shown_stages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.integer[Any]]
    Column = tuple[Floats, list[Sample]]

HYPNOGRAM: Final = (
    "W37 ?1 W33 ?1 W44 "
    "L17 D24 L4 D29 L2 D9 W3 L24 R5 L1 R13 L4 R5 W2 R5 L3 R11 W1 "
    "L20 D26 L2 D18 W2 L25 R14 L1 R3 W1 R2 L4 R16 L2 R4 W2 "
    "L28 D46 L5 D10 W1 L42 D20 L2 R3 L5 R30 L2 R4 W2 R3 L4 R25 W2 "
    "L18 D11 L2 D12 W3 L10 R4 L2 R9 L2 R5 W1 R5 L3 R21 L3 R5 W3 "
    "L24 D10 L9 R8 L1 R4 L3 R5 W2 R23 L3 R5 W1 L6 R18 L2 R2 W1 L5 R5 L2 R28 W1 R4 L3 R5 L2 R4 W1"
)
"""Runs of epochs by letter. Assumed: arranged here until the published counts came out."""

START_WALL_NS: Final = 1_791_665_400_000_000_000
"""04:50 on 11 October 2026, eight hours east of Greenwich."""
UTC_OFFSET_S: Final = 8 * 3600
LINK_LOST_S: Final = (37 * 30 + 6, 37 * 30 + 28)
"""The headband's radio is away; too few readings are left in epoch 37."""
BAND_OFF_S: Final = (71 * 30, 72 * 30)
"""The headband is taken off and put back; epoch 71 has no stage."""
HEADBAND: Final = "sample-headband"
STRAP: Final = "sample-strap"
ROOM: Final = "sample-room"

_BATCH: Final = 512
_LETTERS: Final = "".join(stage.letter for stage in STAGES)
_MOVEMENT, _STAGE, _HEART, _ROOM = range(1, 5)
"""Keys of the random sequences; the EEG has the next."""


@cache
def sample_hypnogram() -> tuple[Stage, ...]:
    """The 960 coarse stages of the bundled night; the same for every seed."""
    return tuple(STAGES[code] for code in _codes().tolist())


def sample_night(*, seed: int = 1, eeg: bool = False) -> MemoryRecording | SampleNight:
    """The bundled night as a recording; with `eeg` four EEG channels stream beside it."""
    if seed < 0:
        raise RecordingError(f"sample night: the seed is {seed}; give a whole number from 0 up")
    moved_g = movement_g(_codes(), (BAND_OFF_S[0], BAND_OFF_S[1] - 6), generator(seed, _MOVEMENT))
    body = MemoryRecording(_info(seed, eeg), _body(moved_g, seed))
    return SampleNight(body, moved_g, seed) if eeg else body


class SampleNight:
    """The bundled night with EEG, which is made while it is read and never held whole."""

    def __init__(self, body: MemoryRecording, moved_g: Floats, seed: int) -> None:
        self.info: RecordingInfo = body.info
        self._body = body
        self._moved_g = moved_g
        self._seed = seed

    def samples(self, streams: frozenset[Stream] | None = None) -> Iterator[Sample]:
        """Samples in order of `t`; at one instant the EEG comes last."""
        body = self._body.samples(streams)
        if streams is not None and Stream.EEG not in streams:
            return body
        return merge(body, self._eeg(), key=itemgetter(1))

    def batches(self, from_t: float = 0.0) -> Iterator[list[Sample]]:
        samples = dropwhile(lambda sample: sample.t < from_t, self.samples())
        while batch := list(islice(samples, _BATCH)):
            yield batch

    def truth(self) -> tuple[Truth, ...]:
        """Nobody scored this night: always empty."""
        return ()

    def _eeg(self) -> Iterator[Sample]:
        blocks = eeg_samples(sample_hypnogram(), self._moved_g, self._seed, HEADBAND)
        lost_from, lost_until = LINK_LOST_S
        return (block for block in blocks if not lost_from <= block.t < lost_until)


@cache
def _codes() -> Ints:
    import numpy as np

    runs = [(_LETTERS.index(run[0]), int(run[1:])) for run in HYPNOGRAM.split()]
    return np.repeat([code for code, _ in runs], [length for _, length in runs])


def _info(seed: int, eeg: bool) -> RecordingInfo:
    def stream(kind: Stream, interval_s: float, source: str = HEADBAND) -> StreamInfo:
        return StreamInfo(kind, interval_s, source, simulated=True)

    streams = [
        stream(Stream.STAGE, 0.5),
        stream(Stream.HEART_RATE, 1.0, STRAP),
        stream(Stream.MOVEMENT, 1.0),
        stream(Stream.CONTACT, 10.0),
        stream(Stream.BATTERY, 300.0),
        stream(Stream.ROOM, EPOCH_S, ROOM),
    ]
    if eeg:
        streams.append(StreamInfo(Stream.EEG, 1.0, HEADBAND, CHANNELS, RATE_HZ, simulated=True))
    return RecordingInfo(
        night_id="sample",
        kind="synthetic",
        origin=f"synthetic night made by replay.sample_night, seed {seed}",
        epochs=len(sample_hypnogram()),
        streams=tuple(streams),
        start_wall_ns=START_WALL_NS,
        utc_offset_s=UTC_OFFSET_S,
        synthetic=True,
        stages="".join(stage.letter for stage in sample_hypnogram()),
        notes=("Synthetic: made by a program from a seed. Nobody slept this night.",),
    )


def _body(moved_g: Floats, seed: int) -> tuple[Sample, ...]:
    """Everything but EEG, in order of `t`; at one instant in the order of the columns here."""
    import numpy as np

    seconds = len(moved_g)
    strap_t = np.arange(seconds) + 0.25
    room_t = np.arange(0.0, seconds, EPOCH_S) + 12.75
    beats = beat_times(_codes(), moved_g, generator(seed, _HEART))
    columns = [
        _contact(seconds),
        _battery(seconds),
        _stage(seed),
        _movement(moved_g),
        _column(Stream.HEART_RATE, STRAP, strap_t, heart_rates(beats, strap_t)),
        _column(Stream.ROOM, ROOM, room_t, rooms(room_t, moved_g, generator(seed, _ROOM))),
    ]
    ts = np.concatenate([t for t, _ in columns])
    samples = [sample for _, column in columns for sample in column]
    return tuple([samples[i] for i in np.argsort(ts, kind="stable").tolist()])


def _column(stream: Stream, source: str, t: Floats, values: Iterable[Value]) -> Column:
    none = repeat(None)
    rows = zip(repeat(stream), t.tolist(), values, repeat(source), none, none, strict=False)
    return t, list(map(partial(tuple.__new__, Sample), rows))


def _linked(t: Floats) -> NDArray[np.bool_]:
    """Where the headband's radio gets through."""
    return (t < LINK_LOST_S[0]) | (t >= LINK_LOST_S[1])


def _stage(seed: int) -> Column:
    import numpy as np

    random = generator(seed, _STAGE)
    shown = shown_stages(_codes(), random)
    percents = np.rint(confidences(_codes(), shown, random) * 100).astype(int)
    t = np.arange(len(shown)) * 0.5
    keep = _linked(t)
    keys = (shown * 100 + percents)[keep]
    readings = {key: _reading(*divmod(key, 100)) for key in np.unique(keys).tolist()}
    return _column(Stream.STAGE, HEADBAND, t[keep], map(readings.__getitem__, keys.tolist()))


def _reading(code: int, percent: int) -> StageReading:
    stage = STAGES[code]
    return StageReading(stage, None if stage is Stage.UNKNOWN else percent / 100)


def _movement(moved_g: Floats) -> Column:
    import numpy as np

    t = np.arange(float(len(moved_g)))
    keep = _linked(t)
    g = moved_g[keep].tolist()
    values = {size: Movement(size) for size in set(g)}
    return _column(Stream.MOVEMENT, HEADBAND, t[keep], map(values.__getitem__, g))


def _contact(seconds: int) -> Column:
    import numpy as np

    t = np.arange(0.0, seconds, 10.0)
    t = t[_linked(t)]
    on_skin = (t < BAND_OFF_S[0]) | (t >= BAND_OFF_S[1])
    return _column(Stream.CONTACT, HEADBAND, t, map(Contact, on_skin.tolist()))


def _battery(seconds: int) -> Column:
    import numpy as np

    t = np.arange(0.0, seconds, 300.0)
    return _column(Stream.BATTERY, HEADBAND, t, map(Battery, np.round(97 - t / 1000).tolist()))
