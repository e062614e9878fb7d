"""What an epoch's EEG looks like: band powers by one Welch estimate."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

from devices.types import EPOCH_S, EegBlock, Sample, microvolts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BANDS_HZ: Final = {
    "delta": (0.5, 4.0),
    "theta": (4.0, 8.0),
    "alpha": (8.0, 12.0),
    "sigma": (11.0, 16.0),
    "beta": (16.0, 30.0),
}
"""Frequency bands, lower edge in, upper edge out. Source: AASM manual; sigma overlaps alpha."""
SEGMENT_S: Final = 4.0


@dataclass(frozen=True, slots=True)
class EegSummary:
    """Power of each band in µV², one number a channel; None for a channel without good data."""

    channels: int
    band_power_uv2: dict[str, tuple[float | None, ...]]


class EpochSpectrum:
    """Collects the EEG blocks of one source and gives one summary an epoch."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._blocks: list[tuple[float, EegBlock]] = []
        self._window: NDArray[np.float32] | None = None

    def add(self, sample: Sample) -> None:
        if isinstance(sample.value, EegBlock) and sample.source == self._source and sample.t >= 0.0:
            self._blocks.append((sample.t, sample.value))

    def close(self, end_t: float) -> EegSummary | None:
        """Summary of the blocks that ended in the 30 s up to `end_t`; None without EEG."""
        blocks = [block for t, block in self._blocks if t < end_t]
        self._blocks = [(t, block) for t, block in self._blocks if t >= end_t]
        if not blocks:
            return None
        newest = blocks[-1]
        alike = [
            b for b in blocks if b.rate_hz == newest.rate_hz and len(b.counts) == len(newest.counts)
        ]
        return self._summary(alike, newest.rate_hz)

    def _summary(self, blocks: list[EegBlock], rate_hz: float) -> EegSummary | None:
        import numpy as np

        segment = int(SEGMENT_S * rate_hz)
        uv = np.concatenate([microvolts(block) for block in blocks], axis=1)
        uv = uv[:, -ceil(EPOCH_S * rate_hz) :]
        if uv.shape[1] < segment:
            return None
        power = welch_uv2_per_hz(uv, rate_hz, self._hann(segment))
        width_hz = rate_hz / segment
        bands = {}
        for name, (low_hz, high_hz) in BANDS_HZ.items():
            inside = (
                power[:, ceil(low_hz / width_hz) : ceil(high_hz / width_hz)].sum(axis=1) * width_hz
            )
            bands[name] = tuple(float(p) if np.isfinite(p) else None for p in inside)
        return EegSummary(channels=len(uv), band_power_uv2=bands)

    def _hann(self, segment: int) -> NDArray[np.float32]:
        import numpy as np

        if self._window is None or len(self._window) != segment:
            self._window = np.hanning(segment + 1)[:-1].astype(np.float32)
        return self._window


def welch_uv2_per_hz(
    uv: NDArray[np.float32], rate_hz: float, window: NDArray[np.float32]
) -> NDArray[np.float32]:
    """One-sided power density in µV²/Hz, shape (n_channels, n_frequencies), float32 throughout.

    Segments as long as `window`, half overlapping, mean removed; segments with a missing sample
    are left out; a channel without a whole segment is NaN.
    """
    import numpy as np

    segment = len(window)
    cut = np.lib.stride_tricks.sliding_window_view(uv, segment, axis=1)[:, :: segment // 2]
    cut = (cut - cut.mean(axis=2, keepdims=True)) * window
    spectrum = np.fft.rfft(cut, axis=2)
    density = spectrum.real**2 + spectrum.imag**2
    density[:, :, 1:-1] *= 2.0
    density /= np.float32(rate_hz * float((window * window).sum()))
    if np.isfinite(uv).all():
        mean: NDArray[np.float32] = density.mean(axis=1)
        return mean
    whole = np.isfinite(density[:, :, 0])
    kept = np.where(whole[:, :, None], density, np.float32(0)).sum(axis=1)
    counts = whole.sum(axis=1)[:, None].astype(np.float32)
    with np.errstate(invalid="ignore"):
        return np.asarray(kept / counts, dtype=np.float32)
