"""Where tasks start in a night: what the device shows there, and what a night lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bedside.clock import SessionStart, clock_s
from devices.types import EPOCH_S, Stage
from replay.hypnogram import LONG_REM_EPOCHS, Run, first_sleep_epoch, longest_runs, rem_runs
from replay.recorded_night import RecordedNight
from replay.tasks.task import STEPS, StartKind, StartPoint
from replay.wording import time_of_day

WINDOW: Final = STEPS + 1
"""Epochs of a task: the one that is observed first, and one after each action."""
REM_STARTS: Final = 12
"""Most REM starts of a night. Source: `replay-environment.md`, "What the seed fixes"."""
DEFAULT_KINDS: Final = (
    StartKind.SLEEP_ONSET,
    StartKind.REM_ONSET,
    StartKind.LONGEST_LIGHT,
    StartKind.LONGEST_DEEP,
)
"""The seed's kinds; `n1_onset` is for nights that tell N1, when asked for."""


@dataclass(frozen=True, slots=True)
class StartPoints:
    """points: kind after kind in the order of `StartKind`, each in time order.

    lacking: why the night has no start of a kind that was asked for.
    """

    points: tuple[StartPoint, ...]
    lacking: Mapping[StartKind, str]


def start_points(night: RecordedNight, kinds: Collection[StartKind] = DEFAULT_KINDS) -> StartPoints:
    """The start points of these kinds, counted on the stages the device shows.

    `n1_onset` alone looks at the truth first, where the night has one that tells N1.
    """
    found: dict[StartKind, list[int]] = {}
    lacking: dict[StartKind, str] = {}
    for kind in StartKind:
        if kind not in kinds:
            continue
        starts = _STARTS[kind](night)
        valid = [start for start in starts if start <= night.epochs - WINDOW]
        found[kind] = _longest(night, valid) if kind is StartKind.REM_ONSET else valid
        if not valid:
            lacking[kind] = _reason(kind, starts, night.epochs)
    clusters = _clusters([start for starts in found.values() for start in starts])
    points = tuple(
        StartPoint(kind, start, _hhmm(night, start), clusters[start])
        for kind, starts in found.items()
        for start in starts
    )
    return StartPoints(points, lacking)


def _onset(night: RecordedNight) -> list[int]:
    first = first_sleep_epoch(night.shown)
    return [] if first is None else [first]


def _long_rem(night: RecordedNight) -> Iterator[Run]:
    return (run for run in rem_runs(night.shown) if run.epochs >= LONG_REM_EPOCHS)


def _rem(night: RecordedNight) -> list[int]:
    return [run.start for run in _long_rem(night)]


def _longest(night: RecordedNight, starts: Sequence[int]) -> list[int]:
    """The starts of the longest REM runs among these, in time order; of equals the earlier."""
    runs = sorted((run for run in _long_rem(night) if run.start in starts), key=lambda r: -r.epochs)
    return sorted(run.start for run in runs[:REM_STARTS])


def _light(night: RecordedNight) -> list[int]:
    return [run.start for name, run in longest_runs(night.shown).items() if name == "light"]


def _deep(night: RecordedNight) -> list[int]:
    return [run.start for name, run in longest_runs(night.shown).items() if name == "deep"]


def _n1(night: RecordedNight) -> list[int]:
    for stages in (night.hidden, night.shown):
        if Stage.N1 in stages:
            return [stages.index(Stage.N1)]
    return []


_STARTS: Final = {
    StartKind.SLEEP_ONSET: _onset,
    StartKind.REM_ONSET: _rem,
    StartKind.LONGEST_LIGHT: _light,
    StartKind.LONGEST_DEEP: _deep,
    StartKind.N1_ONSET: _n1,
}
_ABSENT: Final = {
    StartKind.SLEEP_ONSET: "no epoch shows sleep",
    StartKind.REM_ONSET: f"no REM run of {LONG_REM_EPOCHS} epochs or more",
    StartKind.LONGEST_LIGHT: "no epoch shows light sleep",
    StartKind.LONGEST_DEEP: "no epoch shows deep sleep",
    StartKind.N1_ONSET: "no label tells N1 from N2",
}


def _reason(kind: StartKind, starts: Sequence[int], epochs: int) -> str:
    if not starts:
        return _ABSENT[kind]
    left = epochs - starts[0]
    return f"it begins at epoch {starts[0]}, {left} before the end: a task takes {WINDOW}"


def _clusters(starts: Sequence[int]) -> dict[int, int]:
    """The cluster of each start, from 1 in time order; windows that overlap share one."""
    clusters: dict[int, int] = {}
    cluster, end = 0, -1
    for start in sorted(set(starts)):
        cluster += start >= end
        end = start + WINDOW
        clusters[start] = cluster
    return clusters


def _hhmm(night: RecordedNight, epoch: int) -> str:
    start = SessionStart(night.info.start_wall_ns, night.info.utc_offset_s or 0)
    return time_of_day(clock_s(start) + epoch * EPOCH_S).replace(":", "")
