from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bedside.recording import MemoryRecording
from devices.types import EegBlock, Stream, microvolts
from replay.importers import ImportFailed, ImportOptions, recognised
from replay.importers.edf_signals import read

Write = Callable[[str, str | bytes], Path]
Make = Callable[..., bytes]

RAMP = [[k, -k] for k in range(30)]
FULL = (-32768, 32767)


def night(path: Path) -> MemoryRecording:
    (found,) = read(path, ImportOptions())
    assert isinstance(found, MemoryRecording)
    return found


def blocks(recording: MemoryRecording) -> list[EegBlock]:
    values = [sample.value for sample in recording.samples()]
    assert all(isinstance(value, EegBlock) for value in values)
    return [value for value in values if isinstance(value, EegBlock)]


def test_a_second_of_samples_is_a_block_that_ends_at_its_time(
    write: Write, edf: Make, signal: Make
):
    path = write("lab.edf", edf([signal("EEG Fpz-Cz", "uV", ("-100", "100"), (-100, 100), RAMP)]))
    assert recognised(path).FORMAT == "edf_signals"
    found = night(path)
    samples = list(found.samples())
    assert [sample.t for sample in samples] == [float(k + 1) for k in range(30)]
    assert [block.counts.tolist() for block in blocks(found)] == [[pair] for pair in RAMP]
    assert found.info.epochs == 1
    (stream,) = found.info.streams
    assert (stream.stream, stream.channels, stream.rate_hz) == (Stream.EEG, ("EEG Fpz-Cz",), 2.0)
    assert (found.info.night_id, found.info.kind) == ("lab", "edf_signals")


@pytest.mark.parametrize(
    ("unit", "physical", "uv"),
    [("uV", ("0", "200"), 150.0), ("mV", ("0", "0.2"), 150.0), ("V", ("0", "0.0002"), 150.0)],
)
def test_any_unit_of_volts_becomes_microvolts(
    write: Write, edf: Make, signal: Make, unit: str, physical: tuple[str, str], uv: float
):
    records = [[50, 50]] * 30
    path = write("a.edf", edf([signal("EEG C3", unit, physical, (-100, 100), records)]))
    assert microvolts(blocks(night(path))[0])[0, 0] == pytest.approx(uv)


def test_the_lowest_count_is_kept_free_for_missing_samples(write: Write, edf: Make, signal: Make):
    records = [[-32768, 32767]] * 30
    path = write("a.edf", edf([signal("EOG", "uV", ("-3276.8", "3276.7"), FULL, records)]))
    block = blocks(night(path))[0]
    assert block.counts.dtype == np.int16
    assert block.counts.tolist() == [[-32767, 32767]]
    assert microvolts(block)[0].tolist() == pytest.approx([-3276.7, 3276.7])


def test_signals_that_are_not_of_the_head_or_not_in_volts_are_left_out(
    write: Write, edf: Make, signal: Make
):
    path = write(
        "a.edf",
        edf(
            [
                signal("SpO2", "%", ("0", "100"), FULL, RAMP),
                signal("F4-M1", "uV", ("-100", "100"), (-100, 100), RAMP),
                signal("EMG chin", "uV", ("-100", "100"), FULL, RAMP),
                signal("LOC", "uV", ("-100", "100"), FULL, RAMP),
                signal("EEG slow", "uV", ("-100", "100"), FULL, [[1]] * 30),
                signal("EEG temp", "degC", ("0", "40"), FULL, RAMP),
            ]
        ),
    )
    found = night(path)
    assert found.info.streams[0].channels == ("F4-M1", "LOC")
    assert found.info.notes == ("signals left out: SpO2, EMG chin, EEG slow, EEG temp",)
    assert blocks(found)[3].counts[0].tolist() == [3, -3]


def test_annotations_beside_signals_do_not_move_the_channels(write: Write, edf: Make, signal: Make):
    text = [int.from_bytes(b"+0", "little"), 0x1414]
    path = write(
        "a.edf",
        edf(
            [
                signal("EDF Annotations", "", ("-1", "1"), FULL, [text] * 30),
                signal("EEG C3", "uV", ("-100", "100"), (-100, 100), RAMP),
            ],
            reserved="EDF+C",
        ),
    )
    assert recognised(path).FORMAT == "edf_signals"
    assert blocks(night(path))[5].counts.tolist() == [[5, -5]]


def test_more_records_than_declared_are_noted_and_left_out(write: Write, edf: Make, signal: Make):
    path = write("a.edf", edf([signal("EEG C3", "uV", ("-1", "1"), FULL, RAMP * 2)], records=30))
    found = night(path)
    assert found.info.epochs == 1
    assert len(blocks(found)) == 30
    assert found.info.notes == ("120 bytes after the last record left out",)


def test_a_rate_that_is_no_whole_number_still_tells_true_times(
    write: Write, edf: Make, signal: Make
):
    records = [[1] * 5] * 30
    found = night(
        write("a.edf", edf([signal("EEG", "uV", ("-1", "1"), FULL, records)], record_s="2"))
    )
    assert found.info.streams[0].rate_hz == 2.5
    assert [sample.t for sample in found.samples()][:2] == [0.8, 1.6]
    assert blocks(found)[0].counts.shape == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reserved": "EDF+D"}, "a.edf, byte 192: EDF+D has gaps"),
        ({"record_s": "0"}, "a.edf, byte 244: records of 0 s"),
        ({"record_s": "9000"}, "a.edf: spans 75.0 h"),
        ({"record_s": "0.5"}, "a.edf: shorter than one epoch"),
        ({"records": 31}, "a.edf, byte 632: cut in the middle"),
    ],
)
def test_a_file_that_is_no_continuous_night_is_refused(
    write: Write, edf: Make, signal: Make, change: dict[str, object], message: str
):
    path = write("a.edf", edf([signal("EEG C3", "uV", ("-1", "1"), FULL, RAMP)], **change))
    with pytest.raises(ImportFailed) as failure:
        night(path)
    assert str(failure.value).startswith(message)


@pytest.mark.parametrize(
    ("label", "unit", "physical", "digital", "message"),
    [
        ("ECG", "uV", ("-1", "1"), FULL, "has no EEG or EOG channel"),
        ("EEG C3", "uV", ("1", "1"), FULL, "EEG C3 has an empty or endless range"),
        ("EEG C3", "uV", ("-1", "1"), (5, 5), "cannot read it"),
        ("EEG C3", "uV", ("-1", "nan"), FULL, "cannot read it"),
        ("EEG C3", "uV", ("x", "1"), FULL, "cannot read it"),
    ],
)
def test_a_channel_without_a_range_is_refused(
    write: Write,
    edf: Make,
    signal: Make,
    label: str,
    unit: str,
    physical: tuple[str, str],
    digital: tuple[int, int],
    message: str,
):
    path = write("a.edf", edf([signal(label, unit, physical, digital, RAMP)]))
    with pytest.raises(ImportFailed, match=message):
        night(path)


def test_a_file_that_edfio_wrote_comes_back_as_it_was(write: Write):
    from edfio import Edf, EdfSignal

    rng = np.random.default_rng(7)
    data = rng.normal(0, 20, (2, 256 * 60))
    signals = [EdfSignal(row, 256, label=f"EEG C{k}", physical_dimension="uV",
                         physical_range=(-200, 200)) for k, row in enumerate(data, 3)]  # fmt: skip
    file = io.BytesIO()
    Edf(signals).write(file)
    found = night(write("a.edf", file.getvalue()))
    uv = np.concatenate([microvolts(block) for block in blocks(found)], axis=1)
    assert found.info.epochs == 2
    assert np.abs(uv - data).max() <= 400 / 65535


def test_edfio_is_not_loaded_before_a_file_of_signals_is_read():
    import subprocess
    import sys

    code = "import sys, replay.importers; print({'edfio', 'scipy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "set()"
