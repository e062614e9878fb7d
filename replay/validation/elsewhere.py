"""The same attempts in other processes.

Run as a program it reads a night and an environment from its standard input, and prints digests.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from bedside.recording import MemoryRecording, NightFile
from devices.types import PaprikaError
from replay.recorded_night import RecordedNight
from replay.validation.ground import Ground

ROOT: Final = Path(__file__).parents[2]
NAME: Final = "replay.validation.elsewhere"
BACKWARDS: Final = "backwards"
LIMIT_S: Final = 600.0
"""Real time that another process may take. Assumed."""


class ElsewhereError(PaprikaError):
    """Another process did not answer."""


def digests_elsewhere(ground: Ground, hash_seeds: Sequence[int]) -> list[list[str]] | None:
    """Digests of `repetition.digests` from one new process a hash seed, all at once; the last of
    them goes backwards. None where night or environment cannot be handed over."""
    carried = _carried(ground)
    if carried is None:
        return None
    try:
        given = pickle.dumps((carried, ground.environment))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None

    def asked(hash_seed: int) -> list[str]:
        return _digests(hash_seed, given, reverse=hash_seed == hash_seeds[-1])

    with ThreadPoolExecutor(len(hash_seeds)) as side_by_side:
        return list(side_by_side.map(asked, hash_seeds))


def _digests(hash_seed: int, given: bytes, *, reverse: bool) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", NAME, BACKWARDS if reverse else ""],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        input=given,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise ElsewhereError(f"another process ended with {done.returncode}: {last}")
    digests: list[str] = json.loads(done.stdout)
    return digests


def _carried(ground: Ground) -> Any:
    """The recording as another process can open it; None: it cannot."""
    if ground.file is not None:
        return ground.file.resolve()
    recording = ground.night.recording
    return recording if isinstance(recording, MemoryRecording) else None


def _main() -> None:
    from replay.validation.repetition import digests

    carried, environment = pickle.load(sys.stdin.buffer)
    recording = NightFile.open(carried) if isinstance(carried, Path) else carried
    ground = Ground(RecordedNight(recording), environment)
    print(json.dumps(digests(ground, reverse=BACKWARDS in sys.argv)))


if __name__ == "__main__":
    _main()
