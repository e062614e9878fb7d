"""The nights that everything is measured on, written once a run."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from bedside.recording import MemoryRecording, write_night
from devices.types import EPOCH_S
from replay.sample_night import sample_night


def stage_only(folder: Path) -> Path:
    """Stage 2 Hz, heart rate, movement, room; chunks of 5 s as at a bedside."""
    path = folder / "stage-only.mcap"
    write_night(path, sample_night())
    return path


def full_rate(folder: Path) -> Path:
    """The same with EEG, 4 × 256 Hz."""
    path = folder / "full-rate.mcap"
    write_night(path, sample_night(eeg=True))
    return path


def first_hours(folder: Path, hours: int) -> Path:
    """The beginning of the full-rate night."""
    path = folder / f"full-rate-{hours}h.mcap"
    night = sample_night(eeg=True)
    samples = tuple(takewhile(lambda sample: sample.t < hours * 3600, night.samples()))
    epochs = round(hours * 3600 / EPOCH_S)
    stages = night.info.stages
    info = replace(night.info, epochs=epochs, stages=stages and stages[:epochs])
    write_night(path, MemoryRecording(info, samples))
    return path
