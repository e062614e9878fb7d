"""The EEG of the bundled night: its form, and whether its spectra and waves fit the stage."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from devices.types import EegBlock, Movement, Stage, Stream, microvolts
from replay.sample_night import sample_hypnogram, sample_night

ROOT = Path(__file__).resolve().parents[2]
EEG = frozenset({Stream.EEG})
STAGES = (Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM)
BANDS = {"delta": (0.5, 4), "theta": (4, 8), "alpha": (8, 12), "sigma": (12, 15), "high": (60, 120)}
AF7, AF8 = 1, 2


def blocks_of(seed: int = 1) -> Iterator[tuple[float, EegBlock]]:
    for sample in sample_night(seed=seed, eeg=True).samples(EEG):
        assert isinstance(sample.value, EegBlock)
        yield sample.t, sample.value


@pytest.fixture(scope="module")
def blocks() -> list[tuple[float, EegBlock]]:
    return list(blocks_of())


@pytest.fixture(scope="module")
def epochs(blocks: list[tuple[float, EegBlock]]) -> dict[Stage, list[NDArray[np.float32]]]:
    """Seconds 2 to 30 of every read epoch in µV, by stage; each (4, 7168)."""
    seconds = dict(blocks)
    found: dict[Stage, list[NDArray[np.float32]]] = defaultdict(list)
    for epoch, stage in enumerate(sample_hypnogram()):
        if stage is not Stage.UNKNOWN:
            own = [seconds[30.0 * epoch + second] for second in range(3, 31)]
            found[stage].append(np.concatenate([microvolts(b) for b in own], axis=1))
    return found


@pytest.fixture(scope="module")
def power(epochs: dict[Stage, list[NDArray[np.float32]]]) -> dict[Stage, dict[str, float]]:
    """Median over epochs of the mean power at the forehead in each band, by stage."""
    hz = np.fft.rfftfreq(1024, 1 / 256)
    window = np.hanning(1024)
    found: dict[Stage, dict[str, float]] = {}
    for stage, members in epochs.items():
        front = np.array(members)[:, AF7].reshape(len(members), 7, 1024)
        spectra = (np.abs(np.fft.rfft(front * window)) ** 2).mean(axis=1)
        found[stage] = {
            band: float(np.median(spectra[:, (hz >= low) & (hz < high)].mean(axis=1)))
            for band, (low, high) in BANDS.items()
        }
    return found


class TestForm:
    def test_blocks_of_one_second_end_at_whole_seconds(
        self, blocks: list[tuple[float, EegBlock]]
    ) -> None:
        assert (blocks[0][0], blocks[-1][0]) == (1.0, 28_800.0)
        lost = 28_800 - len(blocks)
        assert 20 <= lost < 30
        assert all(t == int(t) for t, _ in blocks)

    def test_each_block_has_four_channels_of_256_small_integers(
        self, blocks: list[tuple[float, EegBlock]]
    ) -> None:
        for _, block in blocks:
            assert block.counts.shape == (4, 256)
            assert block.counts.dtype == np.int16
            assert block.counts.flags.c_contiguous
            assert block.scale_uv == (0.48828125,) * 4
            assert block.rate_hz == 256.0

    def test_the_stream_is_declared_with_its_channels_and_as_simulated(self) -> None:
        declared = {stream.stream: stream for stream in sample_night(eeg=True).info.streams}
        assert declared[Stream.EEG].channels == ("TP9", "AF7", "AF8", "TP10")
        assert declared[Stream.EEG].rate_hz == 256.0
        assert declared[Stream.EEG].interval_s == 1.0
        assert declared[Stream.EEG].simulated

    def test_a_night_without_eeg_declares_none(self) -> None:
        assert Stream.EEG not in {stream.stream for stream in sample_night().info.streams}

    def test_everything_else_is_the_night_without_eeg(self) -> None:
        others = frozenset(Stream) - EEG
        assert list(sample_night(eeg=True).samples(others)) == list(sample_night().samples())

    def test_eeg_is_merged_in_order_of_time(self) -> None:
        first_minute = list(islice(sample_night(eeg=True).samples(), 300))
        ts = [sample.t for sample in first_minute]
        assert ts == sorted(ts)
        assert sum(sample.stream is Stream.EEG for sample in first_minute) > 30

    def test_reading_a_quarter_of_the_night_never_holds_it(self) -> None:
        stream = sample_night(eeg=True).samples(EEG)
        for _ in islice(stream, 600):
            pass
        tracemalloc.start()
        try:
            for _ in islice(stream, 7200):
                pass
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 6_000_000 < 7200 * 4 * 256 * 2


class TestRepeats:
    def test_the_same_seed_gives_the_same_bytes_in_another_process(self) -> None:
        program = (
            "from hashlib import sha256; from itertools import islice;"
            "from devices.types import Stream; from replay.sample_night import sample_night;"
            "blocks = sample_night(seed=2, eeg=True).samples(frozenset({Stream.EEG}));"
            "raw = b''.join(s.value.counts.tobytes() for s in islice(blocks, 4500));"
            "print(sha256(raw).hexdigest())"
        )
        run = [sys.executable, "-c", program]
        printed = {
            subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout
            for _ in range(2)
        }
        assert len(printed) == 1

    def test_reading_twice_gives_the_same_counts(
        self, blocks: list[tuple[float, EegBlock]]
    ) -> None:
        for (_, first), (_, second) in zip(blocks[:400], blocks_of(), strict=False):
            assert np.array_equal(first.counts, second.counts)

    def test_another_seed_gives_other_counts(self, blocks: list[tuple[float, EegBlock]]) -> None:
        _, other = next(blocks_of(seed=9))
        assert not np.array_equal(other.counts, blocks[0][1].counts)


class TestSpectraFitTheStage:
    def highest(self, power: dict[Stage, dict[str, float]], band: str) -> Stage:
        return max(STAGES, key=lambda stage: power[stage][band])

    def test_delta_is_highest_in_deep_sleep(self, power: dict[Stage, dict[str, float]]) -> None:
        assert self.highest(power, "delta") is Stage.DEEP
        assert power[Stage.DEEP]["delta"] > 5 * power[Stage.LIGHT]["delta"]

    def test_alpha_is_highest_awake(self, power: dict[Stage, dict[str, float]]) -> None:
        assert self.highest(power, "alpha") is Stage.AWAKE
        assert power[Stage.AWAKE]["alpha"] > 3 * power[Stage.REM]["alpha"]

    def test_light_sleep_has_more_sigma_than_rem_and_deep_sleep(
        self, power: dict[Stage, dict[str, float]]
    ) -> None:
        assert power[Stage.LIGHT]["sigma"] > 1.5 * power[Stage.REM]["sigma"]
        assert power[Stage.LIGHT]["sigma"] > power[Stage.DEEP]["sigma"]

    def test_theta_outweighs_alpha_most_in_rem_and_light_sleep(
        self, power: dict[Stage, dict[str, float]]
    ) -> None:
        ratio = {stage: power[stage]["theta"] / power[stage]["alpha"] for stage in STAGES}
        assert min(ratio[Stage.REM], ratio[Stage.LIGHT]) > 3
        assert ratio[Stage.REM] > 5 * ratio[Stage.AWAKE]

    def test_muscle_is_strongest_awake_and_weakest_in_rem(
        self, power: dict[Stage, dict[str, float]]
    ) -> None:
        assert self.highest(power, "high") is Stage.AWAKE
        assert min(STAGES, key=lambda stage: power[stage]["high"]) is Stage.REM

    def test_mains_hum_is_there_and_small(
        self, epochs: dict[Stage, list[NDArray[np.float32]]]
    ) -> None:
        turns = np.exp(-2j * np.pi * 50 * np.arange(7168) / 256)
        hum = [2 * abs((epoch[AF7] * turns).mean()) for epoch in epochs[Stage.DEEP]]
        assert 0.3 < float(np.median(hum)) < 2.0


class TestWavesFitTheStage:
    def test_slow_waves_of_over_75_microvolts_fill_a_fifth_of_deep_epochs(
        self, epochs: dict[Stage, list[NDArray[np.float32]]]
    ) -> None:
        """Each 2-s stretch is counted whose swing between 0.5 and 2 Hz is over 75 µV."""
        share = {}
        for stage in STAGES:
            slow = band_pass(np.array(epochs[stage])[:, AF7], 0.5, 2.0).reshape(-1, 14, 512)
            share[stage] = (np.ptp(slow, axis=2) > 75).mean(axis=1)
        assert (share[Stage.DEEP] > 0.2).mean() > 0.99
        assert np.median(share[Stage.LIGHT]) < 0.2
        assert np.median(share[Stage.REM]) < 0.1

    def test_spindles_of_half_a_second_or_more_come_in_light_sleep_and_not_in_rem(
        self, epochs: dict[Stage, list[NDArray[np.float32]]]
    ) -> None:
        def a_epoch(stage: Stage) -> float:
            sigma = band_pass(np.array(epochs[stage])[:, AF7], 11.0, 16.0)
            swing = np.sqrt((sigma.reshape(-1, 56, 128) ** 2).mean(axis=2))
            return float((swing > 7.0).sum(axis=1).mean())

        assert a_epoch(Stage.LIGHT) > 1.0
        assert a_epoch(Stage.REM) < 0.1 * a_epoch(Stage.LIGHT)

    def test_k_complexes_come_in_light_sleep_only(
        self, epochs: dict[Stage, list[NDArray[np.float32]]]
    ) -> None:
        deepest = {stage: np.array(epochs[stage])[:, AF7].min(axis=1) for stage in STAGES}
        assert 0.3 < (deepest[Stage.LIGHT] < -80).mean() < 0.95

    def test_eyes_move_against_each_other_in_rem_and_together_in_blinks(
        self, epochs: dict[Stage, list[NDArray[np.float32]]]
    ) -> None:
        def together(stage: Stage) -> float:
            pairs = np.array(epochs[stage])[:, [AF7, AF8]]
            left, right = np.moveaxis(band_pass(pairs, 0.5, 5.0), 1, 0)
            return float(np.median((left * right).mean(axis=1) / (left.std(1) * right.std(1))))

        assert together(Stage.REM) < 0.2 < 0.5 < together(Stage.LIGHT)
        against = np.array(epochs[Stage.REM])
        assert np.percentile(np.abs(against[:, AF7] - against[:, AF8]).max(axis=1), 60) > 80

    def test_amplitudes_are_those_of_a_forehead(self, blocks: list[tuple[float, EegBlock]]) -> None:
        peaks = np.array([np.abs(microvolts(block)).max() for _, block in blocks])
        assert peaks.max() <= 1000.0
        assert 20 < np.median(peaks) < 80
        assert np.percentile(peaks, 99) < 300

    def test_the_eeg_is_disturbed_exactly_where_the_head_moves(
        self, blocks: list[tuple[float, EegBlock]]
    ) -> None:
        """From 06:00 on, so that the band taken off before sleep does not count."""
        moves = {
            sample.t: sample.value.g
            for sample in sample_night().samples(frozenset({Stream.MOVEMENT}))
            if isinstance(sample.value, Movement)
        }
        high = {
            t: float(np.std(np.diff(microvolts(block), axis=1)))
            for t, block in blocks
            if 4200 < t < 28_800
        }
        moving = [high[t] for t in high if moves[t - 1] > 0.1]
        still = [high[t] for t in high if max(moves[t - 2], moves[t - 1], moves[t]) < 0.01]
        assert len(moving) > 20
        assert np.median(moving) > 3 * np.percentile(still, 95)

    def test_epochs_join_without_a_step(self, blocks: list[tuple[float, EegBlock]]) -> None:
        counts = np.array([block.counts[AF7] for _, block in blocks[4000:28_000]], dtype=np.float64)
        jumps = np.abs(counts[1:, 0] - counts[:-1, -1])
        edges = np.array([t % 30 == 0 for t, _ in blocks[4000:27_999]])
        assert np.median(jumps[edges]) < 1.5 * np.median(jumps[~edges])
        assert jumps[edges].max() <= jumps[~edges].max()


def band_pass(uv: NDArray[np.float32], low_hz: float, high_hz: float) -> NDArray[np.float64]:
    spectrum = np.fft.rfft(uv)
    hz = np.fft.rfftfreq(uv.shape[-1], 1 / 256)
    spectrum[..., (hz < low_hz) | (hz > high_hz)] = 0
    return np.fft.irfft(spectrum, n=uv.shape[-1])
