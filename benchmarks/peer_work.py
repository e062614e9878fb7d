"""A peer at its work: `python -m benchmarks.peer_work NAME NIGHT FOLDER`, a process for each.

The first hour of the night's EEG is put into the form that the peer reads, untimed; then each way
of playing it prints one JSON line: how, seconds of night that came out, real seconds it took.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bedside.clock import real_s
from bedside.recording import NightFile
from benchmarks.peer_xdf import write_xdf
from devices.types import Stream, microvolts

if TYPE_CHECKING:
    from numpy.typing import NDArray

NIGHT_S = 3600
RATE_HZ = 256
CHANNELS = ("eeg1", "eeg2", "eeg3", "eeg4")
WATCHED_S = 2.0
"""Real seconds for which a player is watched."""
FALSE_RATE = 4_000
"""How many times too fast the file says it was sampled, to see what mne-lsl can do at most."""


class Played(NamedTuple):
    how: str
    night_s: float
    took_s: float


def timeflux(eeg_uv: NDArray[np.floating], folder: Path) -> Iterator[Played]:
    """The Replay node in timeflux's own scheduler, as fast as it goes, into a node that counts."""
    import pandas as pd
    from timeflux.core.exceptions import WorkerInterrupt
    from timeflux.core.node import Node
    from timeflux.core.scheduler import Scheduler
    from timeflux.nodes.hdf5 import Replay, Save

    class Count(Node):
        def __init__(self) -> None:
            self.rows, self.started_s = 0, real_s()

        def update(self) -> None:
            self.rows += len(self.i.data)
            if real_s() - self.started_s > WATCHED_S:
                raise WorkerInterrupt("watched long enough")

    since_ns = np.arange(eeg_uv.shape[1]) * (1_000_000_000 // RATE_HZ)
    times = pd.DatetimeIndex(np.datetime64("2026-01-01", "ns") + since_ns)
    save = Save("night.hdf5", str(folder))
    save.i_eeg.data = pd.DataFrame(eeg_uv.T, times, CHANNELS)
    save.update()
    save.terminate()
    came = {"node": "replay", "src_port": "o_eeg", "dst_port": "i", "copy": False}
    path = [{"node": "replay", "predecessors": []}, {"node": "count", "predecessors": [came]}]
    for chunk_s in (1, 30):
        replay = Replay(str(folder / "night.hdf5"), ["/eeg"], timespan=chunk_s)
        count = Count()
        scheduler = Scheduler(path, {"replay": replay, "count": count}, rate=0)
        with suppress(WorkerInterrupt):
            scheduler.run()
        yield Played(f"Replay node, {chunk_s}-s chunks", *_since(count.started_s, count.rows))
        scheduler.terminate()


def brainflow(eeg_uv: NDArray[np.floating], folder: Path) -> Iterator[Played]:
    """The playback board, with the times of the night and with all times the same."""
    from brainflow.board_shim import BoardIds, BoardShim, BrainFlowInputParams
    from brainflow.data_filter import DataFilter

    BoardShim.disable_board_logger()
    like = BoardIds.MUSE_2_BOARD.value

    def watched(how: str, eeg_uv: NDArray[np.floating], pace: float) -> Played:
        count, file = eeg_uv.shape[1], folder / "night.csv"
        table = np.zeros((BoardShim.get_num_rows(like), count))
        table[BoardShim.get_eeg_channels(like)] = eeg_uv
        table[BoardShim.get_timestamp_channel(like)] = 1.8e9 + np.arange(count) / RATE_HZ * pace
        DataFilter.write_file(table, str(file), "w")
        parameters = BrainFlowInputParams()
        parameters.file, parameters.master_board = str(file), like
        board = BoardShim(BoardIds.PLAYBACK_FILE_BOARD.value, parameters)
        board.prepare_session()
        board.start_stream(count)
        started_s = real_s()
        while real_s() - started_s < WATCHED_S and board.get_board_data_count() < count:
            sleep(0.01)
        played = Played(f"playback board, {how}", *_since(started_s, board.get_board_data_count()))
        board.stop_stream()
        board.release_session()
        return played

    yield watched("as shipped", eeg_uv[:, : 60 * RATE_HZ], 1.0)
    yield watched("false timestamps", eeg_uv, 0.0)


def mne_lsl(eeg_uv: NDArray[np.floating], folder: Path) -> Iterator[Played]:
    """PlayerLSL into an inlet of the same process, and the same file with a false sampling rate."""
    settings = folder / "lsl_api.cfg"
    settings.write_text(LOOPBACK_ONLY)
    os.environ["LSLAPICFG"] = str(settings)
    from mne import create_info
    from mne.io import RawArray
    from mne_lsl.lsl import StreamInlet, resolve_streams
    from mne_lsl.player import PlayerLSL

    def watched(
        how: str, eeg_uv: NDArray[np.floating], times_too_fast: int, **shape: int
    ) -> Played:
        info = create_info(list(CHANNELS), RATE_HZ * times_too_fast, "eeg")
        file, name = folder / f"night-{times_too_fast}_eeg.fif", f"night-{times_too_fast}"
        RawArray(eeg_uv * 1e-6, info, verbose="error").save(file, verbose="error")
        with PlayerLSL(file, name=name, source_id=name, **shape):
            inlet = StreamInlet(resolve_streams(5.0, name=name, minimum=1)[0], max_buffered=1)
            inlet.open_stream(timeout=5.0)
            inlet.flush()
            started_s, samples = real_s(), 0
            while real_s() - started_s < WATCHED_S:
                samples += len(inlet.pull_chunk(timeout=0.0, max_samples=65_536)[1])
                sleep(0.01)
            played = Played(f"PlayerLSL, {how}", *_since(started_s, samples))
            inlet.close_stream()
        return played

    yield watched("as shipped", eeg_uv[:, : 60 * RATE_HZ], 1)
    yield watched("false sampling rate", eeg_uv, FALSE_RATE, chunk_size=RATE_HZ)


LOOPBACK_ONLY = """[ports]
IPv6 = disable
[multicast]
ResolveScope = machine
ListenAddress = 127.0.0.1
[lab]
KnownPeers = {127.0.0.1}
"""
"""A measurement must not announce a stream to the network it happens to run in."""


def pyxdf(eeg_uv: NDArray[np.floating], folder: Path) -> Iterator[Played]:
    """The whole file into memory, with the options it has by default."""
    from pyxdf import load_xdf

    file = folder / "night.xdf"
    write_xdf(file, eeg_uv, RATE_HZ)
    started_s = real_s()
    streams, _ = load_xdf(file)
    yield Played("bulk load", *_since(started_s, len(streams[0]["time_series"])))


def first_hour_uv(path: Path) -> NDArray[np.floating]:
    """EEG of the first hour in µV, shape (4, n_samples); gaps closed, missing samples 0."""
    samples = NightFile.open(path).samples(frozenset({Stream.EEG}))
    blocks: list[Any] = [one.value for one in takewhile(lambda one: one.t <= NIGHT_S, samples)]
    if {(len(block.counts), block.rate_hz) for block in blocks} != {(len(CHANNELS), RATE_HZ)}:
        sys.exit(f"{path.name}: peers are measured on EEG of {len(CHANNELS)} × {RATE_HZ} Hz")
    return np.nan_to_num(np.concatenate([microvolts(block) for block in blocks], axis=1))


def _since(started_s: float, samples: int) -> tuple[float, float]:
    return samples / RATE_HZ, real_s() - started_s


if __name__ == "__main__":
    peer, night, folder = sys.argv[1:]
    for played in globals()[peer](first_hour_uv(Path(night)), Path(folder)):
        print(json.dumps(played._asdict()), flush=True)
