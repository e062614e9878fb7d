"""Figures of nights side by side: against scipy, by hand, and on the real nights."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from replay.hypnogram import from_letters
from replay.importers.dod import read as read_dod
from replay.importers.intake import ImportFailed, ImportOptions
from replay.importers.zeo import read as read_zeo
from replay.recorded_night import RecordedNight
from replay.simulation.fit import main, simulated_nights
from replay.simulation.fitting import Night
from replay.simulation.profiles import profile_named
from replay.simulation.quality import (
    FIGURES,
    asleep,
    compared,
    ks_distance,
    quartiles,
    transitions,
)
from tests.replay.simulation.asleep import D, L, R, W

DATA = Path(__file__).parents[4] / "shared" / "data"
VALUES = st.lists(st.integers(0, 9).map(float), min_size=3, max_size=40)


@given(VALUES, VALUES)
def test_the_distance_is_scipy_s(a: list[float], b: list[float]) -> None:
    assert ks_distance(a, b) == pytest.approx(ks_2samp(a, b, method="asymp").statistic)


def test_quartiles_are_values_that_occur() -> None:
    assert quartiles([5, 1, 4, 2, 3]) == (2, 3, 4)
    assert quartiles([7]) == (7, 7, 7)


def test_a_night_counts_from_its_first_to_its_last_sleep() -> None:
    assert "".join(s.letter for s in asleep(from_letters("WWLLWR?WW"))) == "LLWR"
    assert asleep(from_letters("WW?")) == ()


def test_figures_of_a_night_by_hand() -> None:
    """10 light, 4 REM, 2 wake, 4 REM, 40 light, 10 REM: 70 epochs, gap of 20 min in the middle."""
    night = from_letters("LLLLLLLLLLRRRRWWRRRR" + "L" * 40 + "R" * 10)
    found = {name: figure([night]) for name, figure in FIGURES.items()}
    assert found["awake after onset, %"] == [pytest.approx(100 * 2 / 70, abs=0.01)]
    assert found["REM, %"] == [pytest.approx(100 * 18 / 70, abs=0.01)]
    assert found["REM latency, min"] == [5.0]
    assert found["REM periods"] == [2.0]
    assert found["REM in a period, min"] == [4.0, 5.0]
    assert found["cycle, min"] == [25.0]
    assert found["stage changes"] == [5.0]
    assert found["run REM, min"] == [2.0, 2.0, 5.0]
    assert found["run deep, min"] == []


def test_transitions_are_shares_of_what_follows() -> None:
    found = transitions([from_letters("LRLRLDLW"), from_letters("LRL")])
    assert found[L] == {W: 0.0, L: 0.0, D: 1 / 4, R: 3 / 4}
    assert found[R][L] == 1.0
    assert sum(found[W].values()) == 0.0


def test_a_figure_that_neither_side_has_is_left_out() -> None:
    names = [one.name for one in compared([from_letters("LLLL")], [from_letters("LLRL")])]
    assert "REM latency, min" not in names
    assert "light, %" in names


@cache
def apnoea() -> list[Night]:
    """The DOD-O nights. Healthy ones take long to read and are left to the command."""
    folder = DATA / "hypnograms" / "dod" / "dodo"
    return [
        Night(RecordedNight(one).hidden)
        for place in sorted(folder.iterdir())
        for one in read_dod(place, ImportOptions())
        if not isinstance(one, ImportFailed)
    ]


@cache
def worn() -> list[Night]:
    return [
        Night(RecordedNight(one).shown)
        for file in sorted((DATA / "hypnograms" / "zeo").glob("*.csv"))
        for one in read_zeo(file, ImportOptions())
        if not isinstance(one, ImportFailed)
    ]


needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="needs the recorded nights in ../shared/data"
)


def metas(pattern: str) -> list[dict[str, object]]:
    return [json.loads(path.read_text()) for path in sorted((DATA / "meta").glob(pattern))]


@needs_data
@pytest.mark.data
def test_the_real_side_is_counted_as_the_data_s_own_figures_are() -> None:
    for nights, pattern in ((apnoea(), "dodo-*"), (worn(), "zeo-*")):
        periods = FIGURES["REM periods"]([asleep(night.stages) for night in nights])
        assert periods == [meta["rem_periods_gap15min"] for meta in metas(f"{pattern}.json")]


@needs_data
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "nights", "limits"),
    [
        ("apnoea", apnoea, {"REM, %": 0.3, "light, %": 0.3, "deep, %": 0.3}),
        ("headband", worn, {"REM, %": 0.35, "light, %": 0.3, "deep, %": 0.32}),
    ],
)
def test_simulated_nights_fit_real_ones_as_far_as_the_docs_say(
    name: str, nights: object, limits: dict[str, float]
) -> None:
    real = nights()  # type: ignore[operator]
    made = simulated_nights(profile_named(name), real, count=120)
    found = {one.name: one for one in compared([night.stages for night in real], made)}
    for figure, limit in limits.items():
        assert found[figure].ks < limit, figure
    for stage in ("light", "deep", "REM"):
        assert found[f"run {stage}, min"].ks < 0.07
    assert found["REM periods"].ks < 0.3
    real_median, made_median = found["cycle, min"].real[1], found["cycle, min"].simulated[1]
    assert made_median == pytest.approx(real_median, rel=0.15)


def test_the_command_refuses_a_folder_without_nights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == main([]) == 2
    said, usage = capsys.readouterr().err.splitlines()
    assert said == f"{tmp_path}: no night files with sleep in it; run `paprika import` first"
    assert usage.startswith("usage: python -m replay.simulation.fit")
