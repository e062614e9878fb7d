"""One Sleep-EDF label a second, one digit a line, without header or comments.

Source: the publisher's code table: 0 W, 1 S1, 2 S2, 3 S3, 4 S4, 5 REM, 6 artefact, 7 movement,
9 unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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

FORMAT: Final = "label_per_second"
INTERVAL_S: Final = 1.0
STAGES: Final = {
    "0": Stage.AWAKE,
    "1": Stage.N1,
    "2": Stage.N2,
    "3": Stage.DEEP,
    "4": Stage.DEEP,
    "5": Stage.REM,
    "6": Stage.UNKNOWN,
    "7": Stage.UNKNOWN,
    "9": Stage.UNKNOWN,
}


def recognises(path: Path, head: bytes) -> bool:
    """Integers without comments, and not the negative ones of the other format alone."""
    seen = look(head)
    return seen is not None and not seen.commented and (seen.lowest >= 0 or seen.highest >= 5)


def read(path: Path, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    """One night; its epochs are the whole ones, seconds after them stay in the stream."""
    comments, found = codes(path)
    if comments:
        raise ImportFailed(f"{path.name}: has comment lines, which {FORMAT} files never have")
    check_length(len(found) * INTERVAL_S, path.name)
    words = StageWords(STAGES, lenient=options.lenient)
    stages = words.stages(found, f"{path.name}, line")
    night = label_night(
        stages,
        night_id=night_id(path),
        kind="psg_1hz_csv",
        origin=path.name,
        source=FORMAT,
        interval_s=INTERVAL_S,
        notes=(*_left_over(len(stages)), *words.notes()),
    )
    yield checked(night, path.name)


def night_id(path: Path) -> str:
    """`sleepedf-SC4001` of `SC4001E0-PSG.edf.csv`; else the stem."""
    study = re.match(r"S[CT]\d{4}(?=\w\d-PSG)", path.name)
    return f"sleepedf-{study[0]}" if study else slug(path.stem)


def _left_over(seconds: int) -> tuple[str, ...]:
    rest = seconds % int(EPOCH_S)
    return (f"{rest} s after the last whole epoch",) if rest else ()
