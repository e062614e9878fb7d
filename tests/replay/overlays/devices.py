"""Small devices and nights for the tests of overlays."""

from pathlib import Path

import pytest

from devices.types import Stage
from replay.importers.dod import read
from replay.importers.intake import ImportFailed, ImportOptions
from replay.overlays.confusion import BEFORE, TOLD, Chain, Grade, Overlay, Row
from replay.recorded_night import RecordedNight

DATA = Path(__file__).parents[4] / "shared" / "data"
W, L, D, R, NONE = (*TOLD, Stage.UNKNOWN)
OF_LETTER = {"W": W, "L": L, "D": D, "R": R, "?": NONE}


def stages(letters: str) -> tuple[Stage, ...]:
    return tuple(OF_LETTER[letter] for letter in letters)


def text(told: tuple[Stage, ...]) -> str:
    return "".join(stage.letter for stage in told)


def only(stage: Stage) -> Row:
    a, b, c, d = (float(one is stage) for one in TOLD)
    return a, b, c, d


def memoryless(rows: dict[Stage, Row]) -> Chain:
    """A device that does not look at what it showed."""
    return {true: dict.fromkeys(BEFORE, rows[true]) for true in TOLD}


def always(rows: dict[Stage, Stage], delay_epochs: int = 0) -> Overlay:
    """A device that shows each true stage as one stage."""
    chain = memoryless({true: only(rows.get(true, true)) for true in TOLD})
    return Overlay("always", (Grade(1.0, chain),), delay_epochs)


EXACT = always({})
FLICKERING = Overlay("flickering", (Grade(1.0, memoryless(dict.fromkeys(TOLD, (0.25,) * 4))),))


def dod_nights() -> list[RecordedNight]:
    """The 37 DOD nights with the one-channel stager as the device."""
    folder = DATA / "hypnograms" / "dod"
    if not folder.is_dir():
        pytest.skip("needs the recorded nights in ../shared/data")
    nights = []
    for place in sorted(path for group in folder.iterdir() for path in group.iterdir()):
        for night in read(place, ImportOptions(device_stage="auto_f4_o2")):
            assert not isinstance(night, ImportFailed)
            nights.append(RecordedNight(night))
    return nights
