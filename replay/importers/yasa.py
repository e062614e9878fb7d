"""YASA hypnogram: one integer each 30 s, comment lines on top.

Source: YASA's own convention: -2 unscored, -1 artefact, 0 W, 1 N1, 2 N2, 3 N3, 4 REM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bedside.recording import MemoryRecording
from devices.types import EPOCH_S, Stage
from replay.importers.intake import (
    ImportFailed,
    ImportOptions,
    StageWords,
    check_length,
    checked,
    label_night,
    slug,
)
from replay.importers.integers import codes, look

FORMAT: Final = "yasa"
STAGES: Final = {
    "-2": Stage.UNKNOWN,
    "-1": Stage.UNKNOWN,
    "0": Stage.AWAKE,
    "1": Stage.N1,
    "2": Stage.N2,
    "3": Stage.DEEP,
    "4": Stage.REM,
}


def recognises(path: Path, head: bytes) -> bool:
    """Integers under comments; or without comments, and none over 4."""
    seen = look(head)
    return seen is not None and (seen.commented or seen.highest <= 4)


def read(path: Path, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    comments, found = codes(path)
    _check_rate(comments, path)
    check_length(len(found) * EPOCH_S, path.name)
    words = StageWords(STAGES, lenient=options.lenient)
    stages = words.stages(found, f"{path.name}, line")
    night = label_night(
        stages,
        night_id=night_id(path),
        kind="psg_int_txt",
        origin=path.name,
        source=FORMAT,
        notes=words.notes(),
    )
    yield checked(night, path.name)


def night_id(path: Path) -> str:
    """`yasa-…` of a file named as YASA names its own (`…_hypno_30s`); else the stem."""
    stem = path.stem.removesuffix("_hypno_30s")
    return f"yasa-{slug(stem)}" if stem != path.stem else slug(stem)


def _check_rate(comments: Sequence[str], path: Path) -> None:
    for comment in comments:
        rate = re.search(r"1 value per (\d{1,6}) second", comment)
        if rate and int(rate[1]) != EPOCH_S:
            raise ImportFailed(
                f"{path.name}: says one value per {rate[1]} seconds; resample it to one per 30"
            )
