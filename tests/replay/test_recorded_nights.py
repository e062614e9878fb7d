"""Every recorded night beside the checkout comes out of the loop as it was recorded."""

import json
from pathlib import Path

import pytest

from agents.wait import WaitAgent
from bedside.configuration import default_toml
from bedside.themes import bundled_theme
from bedside.trace import MemorySink, Trace
from replay.attempt import attempt
from replay.importers import import_all
from replay.importers.dod import DEVICE_STAGES
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.summary import summarise
from replay.wake_rule import wake_table


@pytest.fixture(scope="module")
def night_files(recorded_nights: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("nights")
    result = import_all([recorded_nights / "hypnograms"], out)
    assert result.failed == ()
    return sorted(out.glob("*.mcap"))


@pytest.mark.data
@pytest.mark.timeout(600)
def test_wait_replays_every_recorded_night_as_it_was_recorded(
    night_files: list[Path], recorded_nights: Path
) -> None:
    from bedside.recording import NightFile

    assert len(night_files) == 106
    setting = Setting(bundled_theme("forest"), wake_table(default_toml("wake_table")))
    for path in night_files:
        night = RecordedNight(NightFile.open(path))
        trace, hidden = MemorySink(), MemorySink()
        attempt(
            night,
            WaitAgent(),
            setting,
            session_id="test",
            trace=Trace(trace),
            hidden=Trace(hidden),
        )
        lines, dark = (
            [json.loads(row) for row in sink.bytes().splitlines()] for sink in (trace, hidden)
        )
        found = summarise(lines, dark, night.shown)
        excluded = sum(len(one.steps) for one in found.excluded)
        meta = json.loads((recorded_nights / "meta" / f"{path.stem}.json").read_text())
        assert found.mismatched == 0, path.stem
        assert found.compared + excluded == meta["epochs"], path.stem
        assert found.cues == (), path.stem
        if not path.stem.startswith("dod"):
            shown = {name: found.stage_counts[name] for name in ("awake", "light", "deep", "rem")}
            assert shown == {name: meta["counts4"][name] for name in shown}, path.stem
            assert excluded == meta["unscored_epochs"], path.stem


@pytest.mark.data
def test_every_device_stage_of_a_dod_night_is_shown_where_it_was_staged(
    recorded_nights: Path, tmp_path: Path
) -> None:
    from bedside.recording import NightFile

    folder = next(iter(sorted((recorded_nights / "hypnograms/dod/dodh").iterdir())))
    for device in DEVICE_STAGES:
        result = import_all([folder], tmp_path / device, device_stage=device)
        night = RecordedNight(NightFile.open(result.nights[0].file))
        auto = json.loads((folder / f"{device}.json").read_text())
        letters = "".join("WLLDR"[label] if label >= 0 else "?" for label in auto)
        shown = "".join(stage.letter for stage in night.shown)
        assert letters in shown
        assert shown.replace("?", "") == letters.replace("?", "")
