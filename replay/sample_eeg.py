"""EEG of the bundled night: four channels whose spectra and waves fit the stage, made as read.

Each epoch is drawn by itself from the seed, the epoch's number and its stage, 32 s long, and
cross-faded over 2 s with the one before; nothing else is carried along. Synthetic throughout.

Source: AASM manual, for what a stage looks like (alpha awake; spindles of 11-16 Hz and 0.5-1.5 s
and K-complexes in N2; waves of 0.5-2 Hz over 75 µV in N3; mixed theta, sawtooth waves and rapid
eye movements in REM). Assumed: every amplitude and rate below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from devices.types import EPOCH_S, EegBlock, Sample, Stage, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

CHANNELS: Final = ("TP9", "AF7", "AF8", "TP10")
RATE_HZ: Final = 256.0
SCALE_UV: Final = 2000.0 / 4096
"""µV per count of a 12-bit converter over 2 mV."""
FULL_SCALE_COUNTS: Final = 2047

_RATE: Final = int(RATE_HZ)
_EPOCH: Final = int(EPOCH_S) * _RATE
_FADE: Final = 2 * _RATE
_DRAWN: Final = _EPOCH + _FADE
_MAINS_HZ: Final = 50.0


@dataclass(frozen=True, slots=True)
class Look:
    """How the EEG of a stage looks; voltages in µV are root mean square at the forehead.

    rhythm: the stage's own band, a bell of `rhythm_width_hz` round `rhythm_hz`; `temporal` is its
        size at the ears against the forehead.
    spindles, k_complexes, saccades, sawtooths, blinks: mean number an epoch.
    """

    background_uv: float
    slope: float
    muscle_uv: float
    rhythm_hz: float
    rhythm_width_hz: float
    rhythm_uv: float
    temporal: float
    spindles: float = 0.0
    k_complexes: float = 0.0
    saccades: float = 0.0
    sawtooths: float = 0.0
    blinks: float = 0.0


LOOKS: Final = {
    Stage.AWAKE: Look(8.0, 1.0, 4.0, 10.0, 0.7, 9.0, 1.3, blinks=1.5),
    Stage.LIGHT: Look(13.0, 1.6, 1.6, 5.5, 1.2, 6.0, 0.8, spindles=2.2, k_complexes=0.9),
    Stage.DEEP: Look(14.0, 1.8, 1.4, 0.9, 0.35, 36.0, 0.6, spindles=0.5),
    Stage.REM: Look(8.0, 1.5, 0.4, 5.8, 1.2, 5.0, 0.9, saccades=5.0, sawtooths=0.7),
    Stage.UNKNOWN: Look(60.0, 1.0, 25.0, 10.0, 0.7, 1.0, 1.0),
}


def generator(seed: int, *key: int) -> np.random.Generator:
    """Random numbers of one part of the night; parts do not share a sequence."""
    import numpy as np

    return np.random.Generator(np.random.PCG64([seed, *key]))


def eeg_samples(
    stages: tuple[Stage, ...], movement_g: NDArray[np.floating[Any]], seed: int, source: str
) -> Iterator[Sample]:
    """Blocks of one second, each at its end: t = 1.0, 2.0, …; counts are int16, (4, 256).

    movement_g: one value a second; the EEG is disturbed where it is large.
    """
    import numpy as np

    tail = np.zeros((len(CHANNELS), _FADE), dtype=np.float32)
    scale = (SCALE_UV,) * len(CHANNELS)
    seconds = int(EPOCH_S)
    moving = np.pad(movement_g, 1)
    for epoch, stage in enumerate(stages):
        random = generator(seed, 5, epoch)
        uv = _draw(LOOKS[stage], random)
        uv[:, :_FADE] += tail
        tail = uv[:, _EPOCH:]
        uv = uv[:, :_EPOCH]
        _disturb(uv, moving[epoch * seconds : (epoch + 1) * seconds + 2], random)
        for second, counts in enumerate(_blocks(uv), start=1 + epoch * seconds):
            yield Sample(Stream.EEG, float(second), EegBlock(counts, scale, RATE_HZ), source)


def _blocks(uv: Floats) -> NDArray[np.int16]:
    """Counts of each second, shape (30, 4, 256)."""
    import numpy as np

    counts = np.clip(np.rint(uv / SCALE_UV), -FULL_SCALE_COUNTS, FULL_SCALE_COUNTS)
    seconds = counts.astype(np.int16).reshape(len(CHANNELS), -1, _RATE)
    return np.ascontiguousarray(seconds.transpose(1, 0, 2))


def _draw(look: Look, random: np.random.Generator) -> Floats:
    """32 s in µV, shape (4, 8192), faded in and out over 2 s."""
    import numpy as np

    shapes = _spectra(look)
    bins = shapes.shape[-1]
    noise = random.standard_normal((len(CHANNELS) + 2, 2 * bins), dtype=np.float32)
    noise = noise.view(np.complex64)
    own, shared, rhythm = noise[:4], noise[4], noise[5]
    spectrum = shapes[:4] * (0.6 * own + 0.8 * shared) + shapes[4:8] * (0.9 * rhythm + 0.436 * own)
    uv = np.fft.irfft(spectrum, n=_DRAWN, axis=1).astype(np.float32)
    uv += _mains(float(random.uniform(0.0, 6.28)))
    _add_waves(uv, look, random)
    uv[:, :_FADE] *= _fade_in()
    uv[:, -_FADE:] *= _fade_in()[::-1]
    return uv


@cache
def _fade_in() -> Floats:
    """Rises so that the powers of two crossing epochs add up to one."""
    import numpy as np

    return np.sin(np.linspace(0.0, np.pi / 2, _FADE, dtype=np.float32))


@cache
def _spectra(look: Look) -> Floats:
    """Size of each frequency bin, shape (8, 4097): background of 4 channels, then rhythm of 4."""
    import numpy as np

    hz = np.fft.rfftfreq(_DRAWN, 1.0 / RATE_HZ)
    high = hz**2 / (hz**2 + 0.3**2)
    fall = high / np.maximum(hz, 0.3) ** (look.slope / 2)
    bell = high * np.exp(-0.5 * ((hz - look.rhythm_hz) / look.rhythm_width_hz) ** 2)
    muscle = hz**2 / (hz**2 + 25.0**2)
    rows = [
        np.hypot(_sized(fall, look.background_uv * ear), _sized(muscle, look.muscle_uv * jaw))
        for ear, jaw in ((0.85, 1.4), (1.0, 1.0), (1.0, 1.0), (0.85, 1.4))
    ]
    rhythm = _sized(bell, look.rhythm_uv)
    rows += [rhythm * gain for gain in (look.temporal, 1.0, 1.0, look.temporal)]
    return np.array(rows, dtype=np.float32)


def _sized(shape: NDArray[np.float64], uv: float) -> NDArray[np.float64]:
    """The shape scaled so that unit complex noise through it has `uv` root mean square."""
    import numpy as np

    sized: NDArray[np.float64] = shape * (uv * _DRAWN / np.sqrt(4.0 * np.sum(shape**2)))
    return sized


def _mains(phase: float) -> Floats:
    import numpy as np

    cycle = 2.0 * np.pi * _MAINS_HZ / RATE_HZ
    hum: Floats = 0.6 * np.sin(np.arange(_DRAWN, dtype=np.float32) * cycle + phase)
    return hum


def _add_waves(uv: Floats, look: Look, random: np.random.Generator) -> None:
    """The single waves of the stage, each whole within the 28 s that no fade touches."""
    front, all_over, eyes = (0.5, 1.0, 1.0, 0.5), (0.8, 1.0, 1.0, 0.8), (0.25, 1.0, -1.0, -0.25)
    for _ in range(random.poisson(look.k_complexes)):
        _add(uv, _k_complex(random), front, random)
    for _ in range(random.poisson(look.spindles)):
        _add(uv, _spindle(random), front, random)
    for _ in range(random.poisson(look.sawtooths)):
        _add(uv, _sawtooth(random), all_over, random)
    if random.random() < 0.6:
        for _ in range(random.poisson(look.saccades / 0.6)):
            _add(uv, _saccade(random), eyes, random)
    for _ in range(random.poisson(look.blinks)):
        _add(uv, _blink(random), (0.1, 1.0, 1.0, 0.1), random)


def _add(uv: Floats, wave: Floats, gains: tuple[float, ...], random: np.random.Generator) -> None:
    start = int(random.integers(_FADE, _EPOCH - len(wave)))
    for channel, gain in enumerate(gains):
        uv[channel, start : start + len(wave)] += wave * gain


def _seconds(duration_s: float) -> Floats:
    import numpy as np

    return np.arange(int(duration_s * _RATE), dtype=np.float32) / np.float32(RATE_HZ)


def _spindle(random: np.random.Generator) -> Floats:
    import numpy as np

    duration_s = random.uniform(0.6, 1.5)
    s = _seconds(duration_s)
    envelope = np.sin(np.pi * s / duration_s) ** 2
    hz, phase = random.normal(13.2, 0.6), random.uniform(0.0, 6.28)
    wave: Floats = random.uniform(18.0, 32.0) * envelope * np.sin(2.0 * np.pi * hz * s + phase)
    return wave


def _k_complex(random: np.random.Generator) -> Floats:
    import numpy as np

    s = _seconds(1.6)
    fall = np.exp(-(((s - 0.40) / 0.13) ** 2))
    rise = np.exp(-(((s - 0.80) / 0.24) ** 2))
    wave: Floats = random.uniform(90.0, 140.0) * (0.55 * rise - fall)
    return wave


def _sawtooth(random: np.random.Generator) -> Floats:
    """2 to 5 triangular waves a second, each climbing slowly and falling fast."""
    import numpy as np

    duration_s = random.uniform(2.0, 4.0)
    s = _seconds(duration_s)
    turn = (s * random.uniform(2.2, 3.4)) % 1.0
    tooth = np.where(turn < 0.75, turn / 0.75, (1.0 - turn) / 0.25) - 0.5
    wave: Floats = random.uniform(25.0, 38.0) * tooth * np.sin(np.pi * s / duration_s)
    return wave


def _saccade(random: np.random.Generator) -> Floats:
    """A fast turn of the eyes; the amplifier lets it ebb."""
    import numpy as np

    s = _seconds(1.2)
    size = random.uniform(45.0, 110.0) * (1.0 if random.random() < 0.5 else -1.0)
    wave: Floats = size * (1.0 - np.exp(-s / 0.03)) * np.exp(-s / 0.22) * (1.0 - s / 1.2)
    return wave


def _blink(random: np.random.Generator) -> Floats:
    import numpy as np

    s = _seconds(0.5)
    wave: Floats = random.uniform(90.0, 160.0) * np.exp(-(((s - 0.22) / 0.07) ** 2))
    return wave


def _disturb(
    uv: Floats, movement_g: NDArray[np.floating[Any]], random: np.random.Generator
) -> None:
    """Add sway and muscle where the head moves, in place; 0.1 g sways by about 60 µV.

    movement_g: 32 values, from the second before the epoch to the second after it.
    """
    import numpy as np

    if movement_g.max() < 0.015:
        return
    s = np.arange(_EPOCH, dtype=np.float32) / _RATE
    effort = np.interp(s, np.arange(len(movement_g)) - 0.5, np.maximum(movement_g - 0.01, 0.0))
    knots = random.normal(0.0, 1.0, (len(CHANNELS), int(EPOCH_S) * 4 + 1))
    knots[:, 0] = knots[:, -1] = 0.0
    muscle = random.standard_normal(uv.shape, dtype=np.float32)
    for channel in range(len(CHANNELS)):
        sway = np.interp(s * 4, np.arange(knots.shape[1]), knots[channel])
        uv[channel] += effort * 600.0 * sway + np.minimum(effort, 0.3) * 200.0 * muscle[channel]
