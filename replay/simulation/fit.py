"""Refits the profiles: `python -m replay.simulation.fit NIGHTS`, a folder of imported nights.

Prints the tables `[profile.…]` of `config/simulated_sleeper.toml`; with `--quality` instead how
200 simulated nights of each bundled profile compare with the real ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from bedside.recording import NightFile, RecordingInfo
from devices.types import PaprikaError, Stage
from replay.hypnogram import first_sleep_epoch, night_stages, stage4_sha256
from replay.simulation.fitting import Night, NothingToFit, fit_profile
from replay.simulation.profiles import as_toml, profile_named
from replay.simulation.quality import Compared, asleep, compared, transitions
from replay.simulation.sleep import STAGES, Profile, hypnogram

SIMULATED: Final = 200
HEADBAND: Final = "headband_4stage"
_LATE: Final = 400
"""Epochs beyond a real night's length, for the time to sleep onset."""


def main(arguments: Sequence[str]) -> int:
    """Print; 2 and one line where the nights do not serve."""
    quality = "--quality" in arguments
    folders = [argument for argument in arguments if argument != "--quality"]
    if len(folders) != 1:
        print("usage: python -m replay.simulation.fit [--quality] NIGHTS", file=sys.stderr)
        return 2
    try:
        groups = grouped(Path(folders[0]))
        for line in quality_lines(groups) if quality else fit_lines(groups):
            print(line)
    except PaprikaError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def grouped(folder: Path) -> dict[str, list[Night]]:
    """The nights of a folder by profile: healthy and apnoea from the lab, headband.

    A night that lies there twice counts once, in the form that begins with its sleep's own wake.
    """
    groups: dict[str, list[Night]] = {}
    seen = set[str]()
    for path in sorted(folder.glob("*.mcap")):
        recording = NightFile.open(path)
        stages = night_stages(recording)
        once = stage4_sha256(asleep(stages))
        if first_sleep_epoch(stages) is not None and once not in seen:
            seen.add(once)
            night = Night(stages, latency_known=not recording.info.kind.startswith(_CUT))
            groups.setdefault(_group(recording.info), []).append(night)
    if not groups:
        raise NothingToFit(f"{folder}: no night files with sleep in it; run `paprika import` first")
    return groups


def simulated_nights(
    profile: Profile, real: Sequence[Night], *, count: int = SIMULATED, seed: int = 1
) -> list[tuple[Stage, ...]]:
    """So many undisturbed nights, as long from sleep onset on as the real ones in turn."""
    lengths = [len(asleep(night.stages)) for night in real]
    nights = []
    for k in range(count):
        length = lengths[k % len(lengths)]
        night = hypnogram(profile, length + _LATE, night=f"quality-{k}", seed=seed)
        nights.append(night[: (first_sleep_epoch(night) or 0) + length])
    return nights


def fit_lines(groups: Mapping[str, Sequence[Night]]) -> Iterator[str]:
    """The tables of the file."""
    for name, nights in groups.items():
        yield f"# Fitted to {len(nights)} nights: {_SOURCES[name]}."
        yield from as_toml(fit_profile(nights, name=name))
        yield ""


def quality_lines(groups: Mapping[str, Sequence[Night]]) -> Iterator[str]:
    """Markdown tables, a profile each."""
    for name, nights in groups.items():
        real = [night.stages for night in nights]
        made = simulated_nights(profile_named(name), nights)
        yield f"### `{name}`: {len(real)} real nights, {len(made)} simulated"
        yield ""
        yield "| figure | real, quartiles | simulated, quartiles | KS |"
        yield "|---|---|---|---|"
        yield from map(_row, compared(real, made))
        yield ""
        yield "| what follows, % | " + " | ".join(stage.value for stage in STAGES) + " |"
        yield "|---|" + "---|" * len(STAGES)
        there, here = transitions(real), transitions(made)
        for stage in STAGES:
            cells = [_cell(there[stage][to], here[stage][to], to is stage) for to in STAGES]
            yield f"| {stage.value} | {' | '.join(cells)} |"
        yield ""


def _row(one: Compared) -> str:
    real, made = (
        " – ".join(f"{value:.1f}" for value in three) for three in (one.real, one.simulated)
    )
    return f"| {one.name} | {real} | {made} | {one.ks:.2f} |"


def _cell(real: float, made: float, same: bool) -> str:
    return "" if same else f"{100 * real:.0f} / {100 * made:.0f}"


def _group(info: RecordingInfo) -> str:
    if info.kind == HEADBAND:
        return "headband"
    return "apnoea" if info.night_id.startswith("dodo-") else "healthy"


_CUT: Final = ("psg_1hz", "psg_edfplus")
"""Kinds whose wake before sleep is cut, or a day long."""
_SOURCES: Final = {
    "healthy": "Sleep-EDF, DOD-H and YASA, scored by experts",
    "apnoea": "DOD-O, sleep apnoea, scored by experts",
    "headband": "a Zeo headband, one person",
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
