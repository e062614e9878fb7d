"""The nights of a run: opened from files, or the bundled one, under the run's overlay."""

from __future__ import annotations

import re
from pathlib import Path

from bedside.recording import MemoryRecording, NightFile
from devices.types import PaprikaError, Stage
from replay.recorded_night import RecordedNight

OVERLAY_SEED = 1
"""Of the errors an overlay lays over a night: one device, the same for every agent and seed."""


class NightsError(PaprikaError):
    """No night, or one that cannot be used; the message names it."""


def found_nights(folder: Path) -> tuple[Path, ...]:
    """The night files of a folder, in the order of their names; or the one file given."""
    if folder.is_file():
        return (folder,)
    paths = tuple(sorted(folder.rglob("*.mcap")))
    if not paths:
        raise NightsError(
            f"{folder}: no night file (*.mcap); `paprika import RECORDINGS --out {folder}` makes "
            "them"
        )
    return paths


def opened(path: Path | None, overlay: str, *, in_memory: bool) -> RecordedNight:
    """A night, the bundled one for None. in_memory: its samples too, shared by many attempts."""
    night = _recorded(path, in_memory)
    if not re.fullmatch(r"\w[\w.+-]{0,99}", night.info.night_id):
        raise NightsError(
            f"{night.place}: its id {night.info.night_id[:40]!r} cannot name a folder: letters, "
            "digits, dot, plus and minus only; import the recording again"
        )
    if overlay != "device":
        from replay.overlays import overlaid, overlay_named

        night = overlaid(night, overlay_named(overlay), seed=OVERLAY_SEED)
    if all(stage is Stage.UNKNOWN for stage in night.shown):
        raise NightsError(f"{night.place}: not one epoch has a stage; leave this night out")
    return night


def task_night(path: Path | None, overlay: str, night: RecordedNight) -> RecordedNight:
    """The night by whose stages tasks start: as recorded, so that they are the same under every
    overlay; where a recording shows no stage of its own, the one under the overlay."""
    if overlay == "device":
        return night
    recorded = _recorded(path, in_memory=False)
    shows = any(stage is not Stage.UNKNOWN for stage in recorded.shown)
    return recorded if shows else night


def _recorded(path: Path | None, in_memory: bool) -> RecordedNight:
    if path is None:
        from replay.sample_night import sample_night

        return RecordedNight(sample_night())
    file = NightFile.open(path)
    if not file.closed:
        raise NightsError(f"{path}: torn or still being written; run `paprika recover {path}`")
    if not in_memory:
        return RecordedNight(file)
    recording = MemoryRecording(file.info, tuple(file.samples()), file.truth())
    if file.damage is not None:
        raise NightsError(f"{path}: {file.damage}; run `paprika recover {path}`")
    return RecordedNight(recording)
