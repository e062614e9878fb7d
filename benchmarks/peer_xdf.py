"""An XDF file of one EEG stream, for the peer that reads nothing else.

Source: the XDF 1.0 specification (github.com/sccn/xdf).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FILE_HEADER, _STREAM_HEADER, _SAMPLES, _STREAM_FOOTER = 1, 2, 3, 6
_STREAM = struct.pack("<I", 1)


def write_xdf(path: Path, eeg_uv: NDArray[np.floating], rate_hz: int) -> None:
    """Blocks of 1 s as float32; the first sample of each carries its time, the rest follow it."""
    channels, count = eeg_uv.shape
    seconds = [
        _chunk(_SAMPLES, _STREAM + _samples(eeg_uv[:, first : first + rate_hz], first / rate_hz))
        for first in range(0, count, rate_hz)
    ]
    about = (
        f"<name>night</name><type>EEG</type><channel_count>{channels}</channel_count>"
        f"<nominal_srate>{rate_hz}</nominal_srate><channel_format>float32</channel_format>"
    )
    ended = (
        f"<first_timestamp>0</first_timestamp><last_timestamp>{(count - 1) / rate_hz}"
        f"</last_timestamp><sample_count>{count}</sample_count>"
    )
    file = [
        b"XDF:",
        _chunk(_FILE_HEADER, _xml("<version>1.0</version>")),
        _chunk(_STREAM_HEADER, _STREAM + _xml(about)),
        *seconds,
        _chunk(_STREAM_FOOTER, _STREAM + _xml(ended)),
    ]
    path.write_bytes(b"".join(file))


def _samples(block: NDArray[np.floating], t: float) -> bytes:
    values = block.T.astype("<f4")
    timed = b"\x08" + struct.pack("<d", t) + values[0].tobytes()
    rest = b"".join(b"\x00" + row.tobytes() for row in values[1:])
    return b"\x04" + struct.pack("<I", len(values)) + timed + rest


def _chunk(tag: int, content: bytes) -> bytes:
    return b"\x04" + struct.pack("<IH", len(content) + 2, tag) + content


def _xml(inside: str) -> bytes:
    return f'<?xml version="1.0"?><info>{inside}</info>'.encode()
