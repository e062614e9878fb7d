"""All recorded nights against the figures that were counted from them by others (`meta`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bedside.recording import MemoryRecording, NightFile
from replay import hypnogram
from replay.importers import ImportOptions, import_all, recognised
from replay.importers.dod import DEVICE_STAGES, read

pytestmark = pytest.mark.data

FIGURES = (
    "epochs",
    "scored_epochs",
    "unscored_epochs",
    "counts_raw",
    "counts4",
    "share_of_scored_pct",
    "share_of_sleep_pct",
    "first_sleep_epoch",
    "first_sustained_sleep_epoch_10",
    "last_sleep_epoch",
    "wake_epochs_between_first_and_last_sleep",
    "rem_runs",
    "rem_runs_ge_6_epochs",
    "rem_run_starts",
    "rem_periods_gap15min",
    "rem_periods_gap15min_ge5min",
    "longest_run",
    "stage4_sha256",
)


def metas(recorded_nights: Path) -> Iterator[dict[str, Any]]:
    for file in sorted((recorded_nights / "meta").glob("*.json")):
        yield json.loads(file.read_text())


def source(recorded_nights: Path, meta: dict[str, Any]) -> Path:
    path = recorded_nights / meta["files"][0]
    return path.parent if path.name.startswith("scorer") else path


def nights_of(path: Path, options: ImportOptions | None = None) -> dict[str, MemoryRecording]:
    found = recognised(path).read(path, options or ImportOptions())
    return {night.info.night_id: night for night in found if isinstance(night, MemoryRecording)}


@pytest.mark.timeout(300)
def test_every_night_has_the_id_kind_and_figures_that_meta_counted(recorded_nights: Path):
    read_before: dict[Path, dict[str, MemoryRecording]] = {}
    wrong = []
    for meta in metas(recorded_nights):
        path = source(recorded_nights, meta)
        nights = read_before.setdefault(path, {}) or nights_of(path)
        read_before[path] = nights
        night = nights[meta["id"]]
        found = hypnogram.figures(hypnogram.night_stages(night)) | {"kind": night.info.kind}
        wrong += [(meta["id"], key) for key in (*FIGURES, "kind") if found[key] != meta[key]]
        assert night.info.epochs == meta["epochs"]
    assert wrong == []


@pytest.mark.timeout(300)
def test_a_batch_imports_all_106_and_writes_what_it_reports(recorded_nights: Path, tmp_path: Path):
    result = import_all([recorded_nights / "hypnograms"], tmp_path)
    expected = {meta["id"]: meta for meta in metas(recorded_nights)}
    assert result.failed == ()
    assert {night.id for night in result.nights} == set(expected)
    for night in result.nights:
        meta = expected[night.id]
        assert night.epochs == meta["epochs"]
        assert night.counts4 == meta["counts4"]
        assert list(night.rem_run_starts) == meta["rem_run_starts"]
        assert night.stage4_sha256 == meta["stage4_sha256"]
        if night.id.endswith("1"):
            written = hypnogram.night_stages(NightFile.open(Path(night.file)))
            assert hypnogram.stage4_sha256(written) == meta["stage4_sha256"]


@pytest.mark.parametrize("device_stage", DEVICE_STAGES)
def test_an_automatic_staging_stands_where_meta_says_and_agrees_as_much(
    recorded_nights: Path, device_stage: str
):
    seen = 0
    for meta in metas(recorded_nights):
        if "automatic" not in meta:
            continue
        expected = meta["automatic"][device_stage]
        (night,) = read(source(recorded_nights, meta), ImportOptions(device_stage=device_stage))
        assert isinstance(night, MemoryRecording)
        found = hypnogram.agreement(hypnogram.true_stages(night), hypnogram.shown_stages(night))
        assert found.compared_epochs == expected["compared_epochs"]
        assert found.agree_5class_pct == expected["agree_with_majority_5class_pct"]
        assert found.agree_4class_pct == expected["agree_with_majority_4class_pct"]
        assert found.true_rem_called_rem_pct == expected["true_rem_called_rem_pct"]
        assert found.called_rem_truly_rem_pct == expected["called_rem_truly_rem_pct"]
        assert night.info.notes[0] == (
            f"{device_stage} begins at epoch {expected['offset_epochs']}: {expected['offset_rule']}"
        )
        seen += 1
    assert seen == 37


def test_both_forms_of_the_same_expert_night_fit(recorded_nights: Path):
    """The label-a-second form of SC4001 is the EDF+ form from its epoch 911 on."""
    folder = recorded_nights / "hypnograms" / "sleep_edf"
    long = nights_of(folder / "SC4001EC-Hypnogram.edf")["sleepedf-SC4001-edf"]
    short = nights_of(folder / "SC4001E0-PSG.edf.csv")["sleepedf-SC4001"]
    stages = hypnogram.shown_stages(short)
    assert hypnogram.shown_stages(long)[911 : 911 + len(stages)] == stages


def test_the_start_of_a_zeo_night_is_its_local_clock(recorded_nights: Path):
    path = recorded_nights / "hypnograms" / "zeo" / "zeo_export_nights_01-41.csv"
    night = nights_of(path)["zeo-01"]
    # 2012-05-04T23:00:00 as meta has it, read as UTC.
    assert night.info.start_wall_ns == 1_336_172_400 * 1_000_000_000
    assert night.info.utc_offset_s is None


def test_the_sleep_lab_excerpt_gives_its_channels_in_microvolts(recorded_nights: Path):
    import numpy as np

    from devices.types import EegBlock, microvolts

    path = recorded_nights / "eeg" / "psg_edf" / "psg_excerpt_a.edf"
    night = nights_of(path)["psg-excerpt-a"]
    assert night.info.epochs == 8
    assert night.info.streams[0].channels == ("EEG F3", "EEG F4", "EEG C3", "EOG EOG1")
    blocks = [sample.value for sample in night.samples()]
    assert len(blocks) == 240
    uv = np.concatenate([microvolts(one) for one in blocks if isinstance(one, EegBlock)], axis=1)
    # From the README of the data: F4 is bad, 619 µV; C3 falls from about 24 to about 7 µV.
    assert np.std(uv[1]) == pytest.approx(619, abs=1)
    assert np.std(uv[2, 20 * 256 : 40 * 256]) == pytest.approx(24, abs=1)
    assert np.std(uv[2, 160 * 256 : 180 * 256]) == pytest.approx(7, abs=1)
    assert night.info.start_wall_ns is None


def test_edfio_reads_the_same_values(recorded_nights: Path):
    import numpy as np
    from edfio import read_edf

    from devices.types import EegBlock, microvolts

    path = recorded_nights / "eeg" / "psg_edf" / "psg_excerpt_a.edf"
    night = nights_of(path)["psg-excerpt-a"]
    blocks = [sample.value for sample in night.samples()]
    uv = np.concatenate([microvolts(one) for one in blocks if isinstance(one, EegBlock)], axis=1)
    for row, signal in zip(uv, read_edf(path).signals, strict=True):
        step = float(np.ptp(signal.physical_range)) / 65535
        assert np.allclose(row, signal.data, atol=2 * step)
