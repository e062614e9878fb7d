"""Many nights put to the test, one process a night."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from devices.types import EPOCH_S, PaprikaError

if TYPE_CHECKING:
    from bedside.recording import RecordingInfo
    from replay.progress import Report as Progress
    from replay.validation.findings import Report

MOST_EEG_VALUES: Final = 50_000_000
"""A night with more is read from its file again and again rather than held in memory. Assumed:
200 MB at most; eight hours of four channels at 256 Hz are 29 million."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A night that could not be opened, and why."""

    night: str
    error: str


def validate_all(
    nights: Sequence[Path | None], *, jobs: int = 1, progress: Progress | None = None
) -> list[Report | Unreadable]:
    """A report a night, in the order given; None is the bundled night.

    progress: told of checks for one night, else of nights.
    """
    if len(nights) == 1:
        return [_validated(nights[0], progress)]
    reports: dict[int, Report | Unreadable] = {}
    for number, report in _in_turn(nights) if jobs == 1 else _in_processes(nights, jobs):
        reports[number] = report
        if progress is not None:
            progress(len(reports), len(nights), _name(nights[number]))
    return [reports[number] for number in range(len(nights))]


def _in_turn(nights: Sequence[Path | None]) -> Iterator[tuple[int, Report | Unreadable]]:
    for number, night in enumerate(nights):
        yield number, _validated(night, None)


def _in_processes(
    nights: Sequence[Path | None], jobs: int
) -> Iterator[tuple[int, Report | Unreadable]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(nights)), mp_context=context) as pool:
        coming = {pool.submit(_validated, night, None): n for n, night in enumerate(nights)}
        for done in as_completed(coming):
            number = coming[done]
            try:
                yield number, done.result()
            except BrokenProcessPool:
                yield number, Unreadable(_name(nights[number]), "its process died; try --jobs 1")


def _validated(night: Path | None, progress: Progress | None) -> Report | Unreadable:
    from replay.experiment.nights import opened
    from replay.validation.checks import validate

    try:
        played = opened(night, "device", in_memory=False)
        if _eeg_values(played.info, played.epochs) <= MOST_EEG_VALUES:
            played = opened(night, "device", in_memory=True)
        return validate(played, file=night, progress=progress)
    except PaprikaError as error:
        return Unreadable(_name(night), str(error))


def _eeg_values(info: RecordingInfo, epochs: int) -> float:
    """How many EEG values the night has."""
    rates = (len(one.channels) * (one.rate_hz or 0.0) for one in info.streams)
    return sum(rates) * epochs * EPOCH_S


def _name(night: Path | None) -> str:
    return "the bundled night" if night is None else night.name
