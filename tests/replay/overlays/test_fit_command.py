"""`python -m replay.overlays.fit`: from a folder of night files to the file of overlays."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.recording import write_night
from replay.overlays import calibration
from replay.overlays.agreement import agreed
from replay.overlays.fit import fitted, in_words, main, night_files, shown_pairs
from replay.overlays.named import overlay
from tests.replay.nights import recording
from tests.replay.overlays.devices import EXACT, always, stages

TRUE = "W" * 12 + ("L" * 40 + "D" * 25 + "L" * 15 + "R" * 25 + "W" * 4) * 2
SHOWN = TRUE.replace("WWWW", "WLLW").replace("RRRRR", "RRRLL").replace("LLLLLLLD", "LLLLLDDD")
WORN = ("L" * 40 + "D" * 40 + "R" * 40) * 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k in range(3):
        scored = recording(SHOWN[k:], truth=TRUE[k:], night_id=f"dodh-{k}")
        write_night(
            tmp_path / f"dodh-{k}.mcap", scored.told(replace(scored.info, kind="psg_5_scorers"))
        )
    write_night(tmp_path / "zeo-1.mcap", recording(WORN, night_id="zeo-1"))
    return tmp_path


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rounds than the committed numbers take: these nights are short."""
    monkeypatch.setattr(calibration, "ROUNDS", 1)
    monkeypatch.setattr(calibration, "_HALVINGS", 8)


def test_the_file_it_writes_is_one_that_can_be_read(folder: Path) -> None:
    text = "\n".join(fitted(night_files(folder)))
    tables = tomllib.loads(text)
    assert set(tables) == {"schema", "confusion", "consumer"}
    confusion, consumer = (overlay(name, tables[name]) for name in ("confusion", "consumer"))
    assert [round(grade.share, 3) for grade in confusion.grades] == [0.333] * 3
    assert (len(consumer.grades), consumer.delay_epochs) == (1, 1)


def test_it_says_what_it_was_fitted_to_and_what_it_reaches(folder: Path) -> None:
    lines = [line for line in fitted(night_files(folder)) if line.startswith("#")]
    text = "\n".join(lines)
    assert "# Source: 3 DOD nights" in text
    assert "Griessenberger et al. 2013" in text
    assert "in 1 Zeo nights: 2.5 times an hour" in text  # 5 changes in 239 followed epochs
    assert text.count("# Reached: kappa ") == 2


def test_the_command_prints_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder)]) == 0
    assert set(tomllib.loads(capsys.readouterr().out)) == {"schema", "confusion", "consumer"}


def test_figures_in_one_line() -> None:
    """REM called light in one of four: 9 of 10 agree, by chance (4 + 6 + 4 + 12) of 100."""
    pair = stages("WWLLDDRRRR"), stages("WWLLDDRRRL")
    assert in_words([pair]) == (
        "kappa 0.865, found % awake 100.0 light 100.0 deep 100.0 rem 75.0, 53.3 changes an hour"
    )


def test_an_overlay_s_pairs_are_told_apart_by_number() -> None:
    pairs = [(stages("WLDR"), stages("????")), (stages("RR"), stages("??"))]
    assert shown_pairs(EXACT, pairs, seed=1) == [(true, true) for true, _ in pairs]
    late = shown_pairs(always({}, 1), pairs, seed=1)
    assert agreed(late).epochs == 4
