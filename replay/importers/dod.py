"""Dreem Open Datasets: a folder a night, with five scorers and the stagings of two networks.

One integer each 30 s: -1 not scored, 0 W, 1 N1, 2 N2, 3 N3, 4 REM. The majority of the five is the
truth; one network stands for the device, placed where its labels begin.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from bedside.recording import MemoryRecording
from devices.types import EPOCH_S, Stage
from replay.importers.intake import (
    ImportFailed,
    ImportOptions,
    StageWords,
    check_length,
    checked,
    label_night,
    read_text,
    shown,
    slug,
)

FORMAT: Final = "dod"
DEVICE_STAGES: Final = ("auto_f4_o2", "auto_simplenet")
SCORERS: Final = tuple(f"scorer_{k}" for k in range(1, 6))
STAGES: Final = {
    "-1": Stage.UNKNOWN,
    "0": Stage.AWAKE,
    "1": Stage.N1,
    "2": Stage.N2,
    "3": Stage.DEEP,
    "4": Stage.REM,
}
SAME_LENGTH: Final = "same length as the scorers"
ALL_SCORING: Final = "starts where every scorer has begun scoring"
BEST_MATCH: Final = "best match to the majority"


class Placement(NamedTuple):
    """Where the first automatic label stands among the scorers' epochs, and how that is known."""

    offset_epochs: int
    rule: str


def recognises(path: Path, head: bytes) -> bool:
    """A folder that holds a scorer's file."""
    return path.is_dir() and any((path / f"{scorer}.json").is_file() for scorer in SCORERS)


def read(path: Path, options: ImportOptions) -> Iterator[MemoryRecording | ImportFailed]:
    path = path.resolve()
    if options.device_stage not in DEVICE_STAGES:
        raise ImportFailed(
            f"--device-stage {options.device_stage}: not known; give {' or '.join(DEVICE_STAGES)}"
        )
    words = StageWords(STAGES, lenient=options.lenient)
    scored = [_labels(path, scorer, words) for scorer in SCORERS]
    if len({len(labels) for labels in scored}) != 1:
        lengths = ", ".join(str(len(labels)) for labels in scored)
        raise ImportFailed(f"{path.name}: the scorers differ in length ({lengths}); copy it again")
    truth = majority(scored)
    automatic = _labels(path, options.device_stage, words)
    if len(automatic) > len(truth):
        raise ImportFailed(
            f"{path.name}/{options.device_stage}.json: {len(automatic)} epochs, more than the "
            f"{len(truth)} of the scorers; copy it again"
        )
    placement = place(automatic, scored, truth)
    night = label_night(
        placed(automatic, placement.offset_epochs, len(truth)),
        night_id=night_id(path),
        kind="psg_5_scorers",
        origin=path.name,
        source=options.device_stage,
        truth=truth,
        truth_origin="majority of five scorers",
        notes=(
            f"{options.device_stage} begins at epoch {placement.offset_epochs}: {placement.rule}",
            *words.notes(),
        ),
    )
    yield checked(night, path.name)


def majority(scored: Sequence[Sequence[Stage]]) -> list[Stage]:
    """The label most scorers gave; a tie goes to the tied label of the scorer who agrees most with
    the others over the whole night. "Not scored" is a label like any other, in both."""
    agreed = [0] * len(scored)
    for a, b in combinations(range(len(scored)), 2):
        same = sum(x is y for x, y in zip(scored[a], scored[b], strict=True))
        agreed[a] += same
        agreed[b] += same
    ranked = sorted(range(len(scored)), key=lambda k: -agreed[k])
    return [_vote([scored[k][epoch] for k in ranked]) for epoch in range(len(scored[0]))]


def place(
    automatic: Sequence[Stage], scored: Sequence[Sequence[Stage]], truth: Sequence[Stage]
) -> Placement:
    """Where an automatic staging begins; a best match is an estimate."""
    if len(automatic) == len(truth):
        return Placement(0, SAME_LENGTH)
    begin = max(map(_first_scored, scored))
    end = min(len(labels) - _first_scored(labels[::-1]) for labels in scored)
    if end - begin == len(automatic):
        return Placement(begin, ALL_SCORING)
    offsets = range(len(truth) - len(automatic) + 1)
    return Placement(max(offsets, key=lambda k: _matches(automatic, truth, k)), BEST_MATCH)


def placed(automatic: Sequence[Stage], offset: int, epochs: int) -> list[Stage]:
    """The automatic stages on the scorers' grid, UNKNOWN before and after them."""
    after = epochs - offset - len(automatic)
    return [Stage.UNKNOWN] * offset + list(automatic) + [Stage.UNKNOWN] * after


def night_id(path: Path) -> str:
    """`dodh-095d6e40` of `dodh/095d6e40-5f19-…`."""
    folder = path.resolve()
    group = folder.parent.name if folder.parent.name in ("dodh", "dodo") else FORMAT
    begin = re.match(r"[0-9a-f]{8}(?![0-9a-zA-Z])", folder.name)
    return f"{group}-{begin[0] if begin else slug(folder.name)}"


def _vote(labels: Sequence[Stage]) -> Stage:
    counts = Counter(labels)
    most = max(counts.values())
    return next(label for label in labels if counts[label] == most)


def _first_scored(labels: Sequence[Stage]) -> int:
    return next((k for k, stage in enumerate(labels) if stage is not Stage.UNKNOWN), len(labels))


def _matches(automatic: Sequence[Stage], truth: Sequence[Stage], offset: int) -> int:
    pairs = zip(automatic, truth[offset : offset + len(automatic)], strict=True)
    return sum(said is true and true is not Stage.UNKNOWN for said, true in pairs)


def _labels(folder: Path, name: str, words: StageWords) -> list[Stage]:
    file = folder / f"{name}.json"
    if not file.is_file():
        raise ImportFailed(f"{folder.name}: {name}.json is missing; copy the whole folder")
    where = f"{folder.name}/{name}.json"
    try:
        labels = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise ImportFailed(f"{where}, byte {error.pos}: is not JSON; copy it again") from None
    except (ValueError, RecursionError):
        raise ImportFailed(f"{where}: is not a list of integers; copy it again") from None
    if not isinstance(labels, list) or not labels:
        raise ImportFailed(f"{where}: is not a list of integers; copy it again")
    check_length(len(labels) * EPOCH_S, where)
    for k, label in enumerate(labels):
        if type(label) is not int:
            what = shown(repr(label))
            raise ImportFailed(f"{where}, epoch {k}: {what} is no integer; copy it again")
    return words.stages(enumerate(map(str, labels)), f"{where}, epoch")
