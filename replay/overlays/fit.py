"""Refits `config/overlays.toml`: `python -m replay.overlays.fit NIGHTS > config/overlays.toml`.

NIGHTS: a folder of night files, the Dreem Open Datasets and the Zeo nights among them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bedside.recording import NightFile
from devices.types import PaprikaError
from replay.overlays.agreement import agreed
from replay.overlays.confusion import TOLD, Overlay, shown_by
from replay.overlays.fitting import Pair, changes, consumer, fit_pairs, told_apart
from replay.overlays.named import as_toml
from replay.recorded_night import RecordedNight

HEADBAND: Final = "headband_4stage"
EPOCHS_AN_HOUR: Final = 120
SEEDS: Final = (1, 2, 3, 4, 5)
_HEAD: Final = """\
# Models of devices for `--overlay`; `device` needs none: it shows what was recorded.
# Written by `python -m replay.overlays.fit NIGHTS`; docs/explanation/device-and-truth.md says how.
#
# A row: chances that awake, light, deep, REM is shown, by true stage and by what was shown an epoch
# before (`first`: nothing was). A night has one grade, chosen by a roll.

schema = 1
"""
_CONSUMER: Final = """\
# Source of 40.8 % of wake found and kappa 0.56: Griessenberger et al. 2013, Sleep Breath 17:747
# (Zeo, 21 nights). Assumed: errors of the kinds that the recorded device makes, a delay of one
# epoch, and a shown stage that changes as often as in {nights} Zeo nights: {often}."""


def main(arguments: Sequence[str]) -> int:
    """Print the file; 2 and one line where the nights do not serve."""
    if len(arguments) != 1:
        print("usage: python -m replay.overlays.fit NIGHTS", file=sys.stderr)
        return 2
    try:
        for line in fitted(night_files(Path(arguments[0]))):
            print(line)
    except PaprikaError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def night_files(folder: Path) -> list[RecordedNight]:
    """Every night file of a folder, by name."""
    return [RecordedNight(NightFile.open(path)) for path in sorted(folder.glob("*.mcap"))]


def fitted(nights: Sequence[RecordedNight]) -> Iterator[str]:
    """The lines of the file, each model with what it was fitted to and what it reaches."""
    pairs = told_apart(nights)
    headband = [night.shown for night in nights if night.info.kind == HEADBAND]
    yield _HEAD
    model = fit_pairs(pairs, name="confusion", grades=3)
    yield f"# Source: {_of(pairs)}, thirds by kappa."
    yield f"# Recorded: {in_words(pairs)}"
    yield from _with_figures(model, pairs)
    yield ""
    often = f"{EPOCHS_AN_HOUR * changes(headband):.1f} times an hour"
    yield _CONSUMER.format(nights=len(headband), often=often)
    yield from _with_figures(consumer(pairs, headband), pairs)


def in_words(pairs: Iterable[Pair]) -> str:
    """Agreement of some nights in one line."""
    pairs = list(pairs)
    found = agreed(pairs)
    shares = " ".join(f"{stage.value} {100 * (found.found[stage] or 0):.1f}" for stage in TOLD)
    often = EPOCHS_AN_HOUR * changes(shown for _, shown in pairs)
    return f"kappa {found.kappa or 0:.3f}, found % {shares}, {often:.1f} changes an hour"


def shown_pairs(overlay: Overlay, pairs: Sequence[Pair], seed: int) -> list[Pair]:
    """True stages and what the overlay shows of them; nights told apart by number."""
    return [
        (true, shown_by(overlay, true, night=f"night-{k}", seed=seed))
        for k, (true, _) in enumerate(pairs)
    ]


def _with_figures(overlay: Overlay, pairs: Sequence[Pair]) -> Iterator[str]:
    made = [one for seed in SEEDS for one in shown_pairs(overlay, pairs, seed)]
    yield f"# Reached: {in_words(made)}"
    yield from as_toml(overlay)


def _of(pairs: Sequence[Pair]) -> str:
    return f"{len(pairs)} DOD nights, one automatic channel (F4-O2) against five scorers"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
