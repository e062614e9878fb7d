"""EEG blocks as bytes: `x-paprika-eeg`, little-endian.

    u8  codec version (1)        u8  bytes a count: 2 (int16) or 4 (int32)
    u8  flags, bit 0: offsets    u8  zero
    u16 n_channels               u16 zero
    u32 n_samples                f64 rate_hz
    f64 scale_uv, one a channel  f64 offset_uv, one a channel (only with bit 0)
    body: each channel's differences (its first count against 0, modulo the dtype), channel after
    channel; first the low bytes of all of them, then the next bytes, and so on.

Smooth signals so become runs of like bytes, which the chunk's zstd then packs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from devices.types import EegBlock, microvolts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENCODING: Final = "x-paprika-eeg"
VERSION: Final = 1
_HEAD: Final = struct.Struct("<BBBBHHId")
_HAS_OFFSETS: Final = 1

Summary = list[dict[str, float]]
"""One second of EEG, a dict a channel; empty where the channel had no sample."""


def encode(block: EegBlock) -> bytes:
    """The block as bytes; ValueError where its shape, dtype or scales do not fit the format."""
    import numpy as np

    counts = np.asarray(block.counts)
    if counts.ndim != 2 or counts.dtype.kind != "i" or counts.dtype.itemsize not in (2, 4):
        raise ValueError(
            f"EEG counts must be int16 or int32 of shape (channels, samples), "
            f"not {counts.dtype} of shape {counts.shape}"
        )
    n_channels, n_samples = counts.shape
    if len(block.scale_uv) != n_channels or len(block.offset_uv) not in (0, n_channels):
        raise ValueError(
            f"EEG of {n_channels} channels needs as many scales (and offsets, or none)"
        )
    size = counts.dtype.itemsize
    flags = _HAS_OFFSETS if block.offset_uv else 0
    head = _HEAD.pack(VERSION, size, flags, 0, n_channels, 0, n_samples, block.rate_hz)
    scaling = block.scale_uv + block.offset_uv
    steps = np.array(counts, dtype=f"<i{size}", order="C")
    steps[:, 1:] -= counts[:, :-1]
    raw = steps.tobytes()
    planes = [raw[place::size] for place in range(size)]
    return b"".join((head, struct.pack(f"<{len(scaling)}d", *scaling), *planes))


def decoder() -> Callable[[bytes], EegBlock]:
    """A decoder that remembers the last header; it raises ValueError on anything but a block."""
    import numpy as np

    dtypes: dict[int, np.dtype[Any]] = {2: np.dtype("<i2"), 4: np.dtype("<i4")}
    known = b""
    plan: _Plan | None = None

    def decode(payload: bytes) -> EegBlock:
        nonlocal known, plan
        if plan is None or not payload.startswith(known):
            known, plan = _read_head(payload)
        size, n_channels, n_samples, rate_hz, scale_uv, offset_uv = plan
        n_counts = n_channels * n_samples
        if len(payload) != len(known) + n_counts * size:
            raise ValueError(
                f"EEG block of {len(payload)} bytes, not {len(known) + n_counts * size}"
            )
        raw = bytearray(n_counts * size)
        for place in range(size):
            start = len(known) + place * n_counts
            raw[place::size] = payload[start : start + n_counts]
        counts = np.frombuffer(raw, dtypes[size]).reshape(n_channels, n_samples)
        np.add.accumulate(counts, axis=1, out=counts)
        counts.flags.writeable = False
        return EegBlock(counts, scale_uv, rate_hz, offset_uv)

    return decode


_Plan = tuple[int, int, int, float, tuple[float, ...], tuple[float, ...]]


def _read_head(payload: bytes) -> tuple[bytes, _Plan]:
    if len(payload) < _HEAD.size:
        raise ValueError("EEG block cut in its head")
    version, size, flags, _, n_channels, _, n_samples, rate_hz = _HEAD.unpack_from(payload)
    if version != VERSION:
        raise ValueError(f"EEG block of codec version {version}; this Paprika reads {VERSION}")
    if size not in (2, 4):
        raise ValueError(f"EEG block of {size} bytes a count")
    n_numbers = n_channels * (2 if flags & _HAS_OFFSETS else 1)
    end = _HEAD.size + 8 * n_numbers
    if len(payload) < end:
        raise ValueError("EEG block cut in its scales")
    scaling = struct.unpack_from(f"<{n_numbers}d", payload, _HEAD.size)
    plan = (size, n_channels, n_samples, rate_hz, scaling[:n_channels], scaling[n_channels:])
    return payload[:end], plan


class SecondSummary:
    """RMS about the mean, lowest and highest µV of each channel, a second at a time."""

    def __init__(self) -> None:
        self._second: float | None = None
        self._blocks: list[EegBlock] = []

    def add(self, t: float, block: EegBlock) -> Summary | None:
        """Take a block in; gives the summary of the second before when a new one begins."""
        second = t // 1.0
        done = self.take() if second != self._second else None
        self._second = second
        self._blocks.append(block)
        return done

    def take(self) -> Summary | None:
        """The summary of what was added since the last one, None where that is nothing."""
        blocks, self._blocks = self._blocks, []
        if len({len(block.scale_uv) for block in blocks}) != 1:
            return None
        return _summary(blocks)


def _summary(blocks: list[EegBlock]) -> Summary | None:
    import numpy as np

    uv = np.concatenate([microvolts(block) for block in blocks], axis=1)
    if uv.size == 0:
        return None
    lowest, highest = np.minimum.reduce(uv, axis=1), np.maximum.reduce(uv, axis=1)
    if np.isnan(lowest).any():
        return [_channel_summary(row[~np.isnan(row)]) for row in uv]
    n_samples = uv.shape[1]
    uv -= (np.add.reduce(uv, axis=1) / n_samples)[:, None]
    rms = np.sqrt(np.einsum("ij,ij->i", uv, uv) / n_samples)
    columns = zip(rms.tolist(), lowest.tolist(), highest.tolist(), strict=True)
    return [_named(*column) for column in columns]


def _channel_summary(uv: NDArray[np.float32]) -> dict[str, float]:
    return _named(float(uv.std()), float(uv.min()), float(uv.max())) if uv.size else {}


def _named(rms_uv: float, min_uv: float, max_uv: float) -> dict[str, float]:
    return {"rms_uv": round(rms_uv, 2), "min_uv": round(min_uv, 2), "max_uv": round(max_uv, 2)}
