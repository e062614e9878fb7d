"""`python -m replay.simulation.fit`: from a folder of night files to tables a person can paste."""

import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.recording import write_night
from devices.types import Stage
from replay.hypnogram import first_sleep_epoch, letters
from replay.simulation.fit import fit_lines, grouped, main, quality_lines, simulated_nights
from replay.simulation.fitting import fit_profile
from replay.simulation.profiles import profile
from replay.simulation.quality import asleep
from replay.simulation.sleep import STAGES
from tests.replay.nights import recording
from tests.replay.simulation.asleep import HEALTHY

ROOT = Path(__file__).parents[3]
NIGHT = "W" * 20 + ("L" * 30 + "D" * 20 + "L" * 20 + "R" * 20 + "W" * 2) * 3 + "L" * 10 + "W" * 5


def written(
    folder: Path, name: str, night: str, *, kind: str = "headband_4stage", truth: str = ""
) -> None:
    made = recording(night, truth=truth, night_id=name)
    write_night(folder / f"{name}.mcap", made.told(replace(made.info, kind=kind)))


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    written(tmp_path, "zeo-1", NIGHT)
    written(tmp_path, "zeo-2", NIGHT.replace("R" * 20, "R" * 12))
    written(tmp_path, "dodh-1", "?" * len(NIGHT), kind="psg_5_scorers", truth=NIGHT + "W")
    written(tmp_path, "dodo-1", NIGHT, kind="psg_5_scorers", truth=NIGHT.replace("DD", "LL"))
    written(tmp_path, "sleepedf-1", NIGHT[3:-9], kind="psg_1hz_csv")
    return tmp_path


def test_nights_go_to_the_profile_of_those_who_slept_them(nights: Path) -> None:
    groups = grouped(nights)
    assert {name: len(found) for name, found in groups.items()} == {
        "healthy": 2,
        "apnoea": 1,
        "headband": 1,
    }


def test_the_truth_counts_where_there_is_one(nights: Path) -> None:
    (apnoea,) = grouped(nights)["apnoea"]
    assert Stage.DEEP not in apnoea.stages


def test_a_night_that_lies_there_twice_counts_once(nights: Path) -> None:
    """zeo-1 slept as dodh-1 did; the file that comes first counts."""
    (headband,) = grouped(nights)["headband"]
    assert letters(headband.stages).count("R") == 36


def test_wake_before_sleep_is_not_believed_where_it_was_cut(nights: Path) -> None:
    known = {night.latency_known for night in grouped(nights)["healthy"]}
    assert known == {True, False}


def test_a_night_without_sleep_is_left_out(tmp_path: Path) -> None:
    written(tmp_path, "zeo-1", "WW??")
    assert main([str(tmp_path)]) == 2


def test_the_tables_read_back_to_what_was_fitted(nights: Path) -> None:
    groups = grouped(nights)
    tables = tomllib.loads("\n".join(fit_lines(groups)))["profile"]
    assert list(tables) == list(groups)
    for name, table in tables.items():
        read, fitted = profile(name, table), fit_profile(groups[name], name=name)
        for context, rows in fitted.leave.items():
            for a, b in zip(read.leave[context], rows, strict=True):
                assert a == pytest.approx(b, abs=6e-4)
        assert read.spread == pytest.approx(fitted.spread, abs=6e-4)


def test_simulated_nights_are_as_long_from_onset_on_as_the_real_ones_in_turn(nights: Path) -> None:
    real = [*grouped(nights)["healthy"], *grouped(nights)["headband"]]
    made = simulated_nights(HEALTHY, real, count=7)
    lengths = [len(asleep(night.stages)) for night in real]
    for k, night in enumerate(made):
        assert len(night) - (first_sleep_epoch(night) or 0) == lengths[k % len(lengths)]
    assert len(set(made)) == 7


def test_the_quality_tables_have_a_row_a_figure_and_a_stage(nights: Path) -> None:
    found = list(quality_lines({"headband": grouped(nights)["headband"]}))
    assert found[0] == "### `headband`: 1 real nights, 200 simulated"
    (rem,) = [line for line in found if line.startswith("| REM, %")]
    assert rem.startswith("| REM, % | 13.7 – 13.7 – 13.7 |")  # 36 of 262 epochs
    rows = [line for line in found if line.split(" ")[1:2] and line.startswith("| ")]
    assert [row.split(" ")[1] for row in rows[-4:]] == [stage.value for stage in STAGES]
    (deep,) = [line for line in rows if line.startswith("| deep |")]
    assert "100 /" in deep.split("|")[3]  # after deep sleep always light, in the real night


def test_the_command_prints_the_file_s_tables(nights: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "replay.simulation.fit", str(nights)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout.startswith("# Fitted to 2 nights: Sleep-EDF, DOD-H and YASA")
    assert set(tomllib.loads(done.stdout)["profile"]) == {"healthy", "apnoea", "headband"}
