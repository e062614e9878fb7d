"""The floor program: the least that anybody must do with a full-rate night.

Read the bytes from the page cache, decompress every chunk, turn every EEG block into float32 µV,
one float32 `scipy.fft` Welch (4-s windows, half overlap) of 4 channels an epoch; nothing else.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import scipy.fft
import zstandard

from bedside.recording.eeg_blocks import decoder
from devices.types import microvolts

_CHUNK = 0x06
_MESSAGE = 0x05
_EEG_HEAD = 28
_BLOCKS_AN_EPOCH = 30


def floor(path: Path) -> int:
    """Epochs of the night whose spectrum was taken."""
    data = path.read_bytes()
    decode, decompress = decoder(), zstandard.ZstdDecompressor().decompress
    epochs, blocks = 0, []
    position = 8
    while position < len(data) - 8:
        opcode, length = data[position], int.from_bytes(data[position + 1 : position + 9], "little")
        if opcode == _CHUNK:
            for payload in _eeg(_records(data, position + 9, decompress)):
                blocks.append(microvolts(decode(payload)))
                if len(blocks) == _BLOCKS_AN_EPOCH:
                    _welch(np.concatenate(blocks, axis=1))
                    blocks.clear()
                    epochs += 1
        position += 9 + length
    return epochs


def _records(data: bytes, body: int, decompress: object) -> bytes:
    _, _, size, _, name = struct.unpack_from("<QQQII", data, body)
    start = body + 32 + name + 8
    stored = int.from_bytes(data[start - 8 : start], "little")
    return decompress(data[start : start + stored], max_output_size=size)  # type: ignore[operator]


def _eeg(records: bytes) -> list[bytes]:
    """Payloads of 4 × 256 counts; no other message of the night is as long."""
    found, position, end = [], 0, len(records)
    while position < end:
        length = int.from_bytes(records[position + 1 : position + 9], "little")
        if records[position] == _MESSAGE and length > 1024:
            found.append(records[position + 31 : position + 9 + length])
        position += 9 + length
    return found


_WINDOW = np.hanning(1025)[:-1].astype(np.float32)


def _welch(uv: np.ndarray) -> np.ndarray:
    cut = np.lib.stride_tricks.sliding_window_view(uv, 1024, axis=1)[:, ::512]
    spectrum = scipy.fft.rfft((cut - cut.mean(axis=2, keepdims=True)) * _WINDOW, axis=2)
    return (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
