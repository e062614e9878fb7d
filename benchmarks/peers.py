"""Peers on the same night, in the same run, where their extra is installed (`make bench-peers`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory

PEERS = ("timeflux", "brainflow", "mne_lsl", "pyxdf")
LIMIT_S = 20.0
"""Real seconds a peer has, reading the night and bringing it into the peer's form included."""


def show(path: Path, ours_x: float) -> None:
    """Print what each installed peer makes of the EEG of this night, beside ours.

    ours_x: how many times faster than real time we replay this whole night.
    """
    print(
        "\npeers on the first hour of the same night, only its EEG (4 × 256 Hz), as × real time;"
        "\npyxdf loads the hour, the players are watched for 2 s\n"
    )
    _line("Paprika, the whole night: file, loop, spectra, agent, trace", f"{ours_x:10,.0f} ×")
    for peer in PEERS:
        if find_spec(peer) is None:
            _line(peer, "not installed (make bench-peers)")
            continue
        for how, told in _played(peer, path, ours_x):
            _line(f"{peer} {version(peer)}, {how}", told)


def _played(peer: str, path: Path, ours_x: float) -> Iterator[tuple[str, str]]:
    printed, failure = _run(peer, path)
    for line in printed.splitlines():
        if line.startswith('{"how"'):
            played = json.loads(line)
            x = played["night_s"] / played["took_s"]
            beside = f"we are {ours_x / x:,.1f} times as fast" if x else "nothing came out"
            yield played["how"], f"{x:10,.1f} ×  {beside}"
    if failure:
        yield "failed", failure


def _run(peer: str, path: Path) -> tuple[str, str]:
    """What the peer's process printed, and in one line why it did not come to its end."""
    with TemporaryDirectory(prefix=f"paprika-{peer}-") as folder:
        try:
            run = subprocess.run(
                [sys.executable, "-m", "benchmarks.peer_work", peer, str(path), folder],
                capture_output=True,
                cwd=Path(__file__).parent.parent,
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired as late:
            return (late.stdout or b"").decode(), f"not done after {LIMIT_S:.0f} s, stopped"
    last = (run.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
    if run.returncode < 0:
        return run.stdout.decode(), f"{Signals(-run.returncode).name}; {last}"
    return run.stdout.decode(), last if run.returncode else ""


def _line(who: str, told: str) -> None:
    print(f"{who:60}  {told}", flush=True)
