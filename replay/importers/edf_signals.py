"""EDF or EDF+ with signals: the EEG and EOG channels, as blocks of one second.

Read through edfio, loaded on first use; the header is checked against the file before.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bedside.recording import MemoryRecording, RecordingInfo
from devices.types import EPOCH_S, EegBlock, Sample, Stream, StreamInfo
from replay.importers.edf_header import ANNOTATIONS, EdfHeader, holds_only_annotations, read_header
from replay.importers.intake import (
    ImportFailed,
    ImportOptions,
    check_length,
    local_as_utc_ns,
    read_head,
    slug,
)

if TYPE_CHECKING:
    import numpy as np
    from edfio import EdfSignal
    from numpy.typing import NDArray

FORMAT: Final = "edf_signals"
UV_PER_UNIT: Final = {"v": 1e6, "mv": 1e3, "uv": 1.0, "µv": 1.0, "μv": 1.0, "nv": 1e-3}
"""µV in each unit a channel may be in, either sign for micro."""
_HEAD_LABELS: Final = re.compile(
    r"(EEG|EOG)\b.*|(Fp|AF|F|FC|FT|C|CP|T|TP|P|PO|O|A|M|Fpz|Cz|Pz|Oz)[z\d]?\d?"
    r"([-:/ ].*)?|(LOC|ROC|E1|E2)([-:/ ].*)?",
    re.IGNORECASE,
)


class _Channel(NamedTuple):
    """A signal that is taken in: its place among the ordinary signals, name, rate and scale."""

    position: int
    name: str
    samples_per_record: int
    uv_per_unit: float


def recognises(path: Path, head: bytes) -> bool:
    """EDF with a signal that is no annotation."""
    return holds_only_annotations(head) is False


def read(path: Path, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    head, size_bytes = _head(path)
    header = read_header(path, head, size_bytes)
    if not header.continuous:
        raise ImportFailed(f"{path.name}, byte 192: EDF+D has gaps; export it as EDF+C")
    if not header.record_s:
        raise ImportFailed(f"{path.name}, byte 244: records of 0 s; export it again")
    check_length(header.records * header.record_s, path.name)
    channels = _channels(path.name, header)
    rate_hz = channels[0].samples_per_record / header.record_s
    yield _recording(path, header, channels, rate_hz)


def _head(path: Path) -> tuple[bytes, int]:
    head = read_head(path)
    if not head:
        raise ImportFailed(f"{path.name}: is empty; copy it again")
    with path.open("rb") as file:
        return file.read(256 + 256 * 1000), path.stat().st_size


def _channels(name: str, header: EdfHeader) -> list[_Channel]:
    ordinary = [signal for signal in header.signals if signal.label != ANNOTATIONS]
    found = [
        _Channel(k, signal.label, signal.samples_per_record, UV_PER_UNIT[unit])
        for k, signal in enumerate(ordinary)
        if (unit := signal.dimension.lower()) in UV_PER_UNIT
        and signal.samples_per_record
        and _HEAD_LABELS.fullmatch(signal.label)
    ]
    if not found:
        raise ImportFailed(f"{name}: has no EEG or EOG channel in volts; give another file")
    rates = Counter(channel.samples_per_record for channel in found)
    rate = max(rates, key=lambda one: (rates[one], one))
    return [channel for channel in found if channel.samples_per_record == rate]


def _recording(
    path: Path, header: EdfHeader, channels: Sequence[_Channel], rate_hz: float
) -> MemoryRecording:
    samples = header.records * channels[0].samples_per_record
    counts, scale_uv, offset_uv = _counts(path, channels, samples)
    names = tuple(channel.name for channel in channels)
    left_out = [one.label for one in header.signals if one.label not in (*names, ANNOTATIONS)]
    epochs = int(counts.shape[1] / rate_hz // EPOCH_S)
    if not epochs:
        raise ImportFailed(f"{path.name}: shorter than one epoch of 30 s; nothing to replay")
    info = RecordingInfo(
        night_id=slug(path.stem),
        kind=FORMAT,
        origin=path.name,
        epochs=epochs,
        streams=(StreamInfo(Stream.EEG, _block(rate_hz) / rate_hz, FORMAT, names, rate_hz),),
        start_wall_ns=None if header.start is None else local_as_utc_ns(header.start),
        notes=(
            *header.notes,
            *((f"signals left out: {', '.join(left_out)}",) if left_out else ()),
        ),
    )
    return MemoryRecording(info, tuple(_samples(counts, scale_uv, offset_uv, rate_hz)))


def _counts(
    path: Path, channels: Sequence[_Channel], samples: int
) -> tuple[NDArray[np.int16], tuple[float, ...], tuple[float, ...]]:
    """Counts, shape (n_channels, n_samples); the lowest is kept free, it marks a missing sample."""
    import numpy as np
    from edfio import read_edf

    try:
        with warnings.catch_warnings(action="ignore"):
            signals = read_edf(path, lazy_load_data=True, header_encoding="latin-1").signals
            read = [_channel(signals[channel.position], channel) for channel in channels]
    except (ValueError, ArithmeticError, LookupError, OSError) as error:
        why = " ".join(str(error).split())
        raise ImportFailed(f"{path.name}: edfio cannot read it ({why}); export it again") from None
    rows, scale_uv, offset_uv = zip(*read, strict=True)
    counts = np.stack(rows)[:, :samples]
    return np.maximum(counts, np.iinfo(np.int16).min + 1), scale_uv, offset_uv


def _channel(signal: EdfSignal, channel: _Channel) -> tuple[NDArray[np.int16], float, float]:
    low, high = signal.digital_range
    lowest, highest = signal.physical_range
    unit = (highest - lowest) / (high - low)
    if not (math.isfinite(unit) and unit and math.isfinite(lowest)):
        raise ValueError(f"{channel.name} has an empty or endless range")
    uv = channel.uv_per_unit
    return signal.digital, unit * uv, (lowest - low * unit) * uv


def _samples(
    counts: NDArray[np.int16],
    scale_uv: tuple[float, ...],
    offset_uv: tuple[float, ...],
    rate_hz: float,
) -> Iterator[Sample]:
    block = _block(rate_hz)
    for end in range(block, counts.shape[1] + 1, block):
        value = EegBlock(counts[:, end - block : end], scale_uv, rate_hz, offset_uv)
        yield Sample(Stream.EEG, end / rate_hz, value, FORMAT)


def _block(rate_hz: float) -> int:
    return max(1, round(rate_hz))
