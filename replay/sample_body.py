"""Movement, heart and bedroom of the bundled night, drawn for the whole night at once. Synthetic.

Stages are the codes of `replay.sample_labels`. Assumed: every rate, size and chance below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.types import EPOCH_S, HeartRate, Room
from replay.sample_labels import AWAKE, DEEP, changes, running_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.integer[Any]]

_EPOCH: Final = int(EPOCH_S)
_GRID_HZ: Final = 4
"""The heart's rate is drawn so often, so that breath shows in it."""
_BEATS_AVERAGED: Final = 8


def movement_g(codes: Ints, handled: tuple[int, ...], random: np.random.Generator) -> Floats:
    """Largest deviation from rest in each second, in g: awake restless, deep sleep still.

    handled: seconds at which the headband is taken off or put on.
    """
    import numpy as np

    own = np.repeat(codes, _EPOCH)
    g: Floats = np.abs(random.normal(0.0, 0.002, len(own)))
    chance = np.array([0.010, 0.001, 0.0, 0.003, 0.010])[own]
    size = np.array([0.15, 0.05, 0.0, 0.02, 0.15])[own]
    starts = np.flatnonzero(random.random(len(own)) < chance)
    _add_bursts(g, starts, size[starts], random)
    turns = changes(codes)
    into_awake = codes[turns] == AWAKE
    moving = into_awake | ((codes[turns] != DEEP) & (random.random(len(turns)) < 0.4))
    _add_bursts(g, turns[moving] * _EPOCH, np.where(into_awake, 0.25, 0.05)[moving], random)
    _add_bursts(g, np.array(handled), np.full(len(handled), 0.8), random)
    rounded: Floats = np.round(g, 3)
    return rounded


def heart_rates(beats: Floats, t: Floats) -> list[HeartRate]:
    """What a strap says at each `t`: the intervals since the last time, the rate of the last 8."""
    import numpy as np

    rr = np.rint(np.diff(beats) * 1000.0).astype(int)
    upto = np.searchsorted(beats[1:], t, side="right")
    since = np.concatenate(([0], upto[:-1]))
    sums = np.concatenate(([0], np.cumsum(rr)))
    first = np.maximum(upto - _BEATS_AVERAGED, 0)
    counted = np.maximum(upto - first, 1)
    mean_ms = np.where(upto > 0, (sums[upto] - sums[first]) / counted, rr[0])
    bpm = np.rint(60_000.0 / mean_ms).tolist()  # whole beats, as a strap sends them
    intervals = rr.tolist()
    spans = zip(bpm, since.tolist(), upto.tolist(), strict=True)
    return [HeartRate(rate, tuple(intervals[i:j])) for rate, i, j in spans]


def beat_times(codes: Ints, moved_g: Floats, random: np.random.Generator) -> Floats:
    """Seconds of the heart's beats, from a rate that follows stage, breath and movement.

    Mean rates 66, 57, 54, 61 a minute (awake, light, deep, REM), 3 lower by the end.
    """
    import numpy as np

    seconds = len(moved_g)
    grid = np.arange(0.0, seconds + 2.0, 1.0 / _GRID_HZ)
    second = np.minimum(grid.astype(int), seconds - 1)
    own = np.repeat(codes, _EPOCH)[second]
    rate = running_mean(np.array([66.0, 57.0, 54.0, 61.0, 66.0])[own], 60 * _GRID_HZ)
    wander = np.array([10.5, 7.0, 3.5, 17.5, 10.5])[own]
    rate = rate - 3.0 * grid / seconds
    rate += wander * running_mean(random.normal(0.0, 1.0, len(grid)), 20 * _GRID_HZ)
    ebb = np.exp(-np.arange(60) / 12.0)
    rate += 9.0 * np.convolve(np.minimum(moved_g, 0.5), ebb)[:seconds][second]
    rate += np.array([1.5, 2.3, 2.8, 1.2, 1.5])[own] * _breath(len(grid), random)
    phase = np.cumsum(rate / 60.0) / _GRID_HZ
    beats = np.interp(np.arange(1, int(phase[-1])), phase, grid)
    jittered: Floats = beats + random.normal(0.0, 0.004, len(beats))
    return jittered


def rooms(t: Floats, moved_g: Floats, random: np.random.Generator) -> list[Room]:
    """A bedroom cooling until morning and warming after it, behind blackout curtains.

    t: one an epoch.
    """
    import numpy as np

    day, epochs = t / t[-1], len(t)
    warmth = np.interp(day, (0.0, 0.3, 1.0), (20.3, 19.4, 20.8)) + random.normal(0, 0.03, epochs)
    humidity = np.interp(day, (0.0, 0.3, 1.0), (48.0, 53.0, 46.0)) + random.normal(0, 0.3, epochs)
    light = np.clip((day - 0.2) * 2.2, 0.0, 1.8) + random.normal(0.0, 0.05, epochs)
    noise = 27.0 + 2.5 * np.clip((day - 0.25) * 3.0, 0.0, 1.0) + random.exponential(0.6, epochs)
    noise += 6.0 * np.minimum(moved_g.reshape(epochs, -1).max(axis=1), 0.8)
    rows = zip(
        np.round(np.clip(warmth, 19.0, 21.0), 1).tolist(),
        np.round(np.clip(noise, 25.0, 35.0), 1).tolist(),
        np.round(np.clip(light, 0.0, 2.0), 1).tolist(),
        np.round(humidity, 0).tolist(),
        strict=True,
    )
    return [Room(c, dba, lux, pct, noise_calibrated=True) for c, dba, lux, pct in rows]


def _add_bursts(g: Floats, starts: Ints, sizes: Floats, random: np.random.Generator) -> None:
    """Add movements of 2 to 9 s that begin hard and ebb, each about as large as its size."""
    import numpy as np

    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        length = int(random.integers(2, 10))
        swing = size * random.lognormal(0.0, 0.4, length) * np.linspace(1.0, 0.3, length)
        g[start : start + length] += swing[: len(g) - start]


def _breath(places: int, random: np.random.Generator) -> Floats:
    """A wave of 12 to 17 breaths a minute, from -1 to 1."""
    import numpy as np

    wander = running_mean(random.normal(0.0, 4.0, places), 40 * _GRID_HZ)
    wave: Floats = np.sin(2.0 * np.pi * np.cumsum(0.24 + 0.03 * wander) / _GRID_HZ)
    return wave
