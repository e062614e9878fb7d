"""The bundled night against the figures of the seed document, counted here from its letters."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import TypeVar

import pytest

from bedside.recording import RecordingError
from devices.types import (
    Battery,
    Contact,
    HeartRate,
    Movement,
    Room,
    Sample,
    Stage,
    StageReading,
    Stream,
)
from replay.sample_night import sample_hypnogram, sample_night

ROOT = Path(__file__).resolve().parents[2]
LETTERS = "".join(
    {"awake": "W", "light": "L", "deep": "D", "rem": "R", "unknown": "?"}[stage.value]
    for stage in sample_hypnogram()
)
STEPS = 40
V = TypeVar("V")


def runs(letter: str) -> list[tuple[int, int]]:
    """(first epoch, length) of each run of the letter."""
    found, epoch = [], 0
    for run_letter, members in groupby(LETTERS):
        length = len(list(members))
        if run_letter == letter:
            found.append((epoch, length))
        epoch += length
    return found


def clock(epoch: int) -> str:
    return f"{datetime(2026, 10, 11, 4, 50) + timedelta(seconds=30 * epoch):%H:%M}"


def rem_starts() -> list[int]:
    return [start for start, length in runs("R") if length >= 6]


def task_starts() -> list[int]:
    """The seed's 15: first sleep onset, starts of REM, longest light, longest deep."""
    longest = [max(runs(letter), key=lambda run: run[1])[0] for letter in "LD"]
    return [LETTERS.index("L"), *rem_starts(), *longest]


def timer_cues(start: int, minutes: tuple[int, ...] = (5, 10, 15, 20)) -> list[int]:
    """Epochs that have just closed at these minutes; the task's first epoch is minute 0 to 0:30."""
    return [start + 2 * minute - 1 for minute in minutes]


def rem_rule_cues(start: int) -> list[int]:
    """The seed: once REM has lasted 3 minutes, then every 2 minutes, while REM is shown."""
    cues: list[int] = []
    for epoch in range(start, start + STEPS):
        lasted = LETTERS[epoch - 5 : epoch + 1] == "R" * 6
        if lasted and (not cues or epoch - cues[-1] >= 4):
            cues.append(epoch)
    return cues


def of(kind: type[V], seed: int = 1) -> list[tuple[float, V]]:
    """(t, value) of every sample whose value is of the kind."""
    samples = night(seed)
    return [(sample.t, sample.value) for sample in samples if isinstance(sample.value, kind)]


@cache
def night(seed: int) -> tuple[Sample, ...]:
    return tuple(sample_night(seed=seed).samples())


def majority_letters(seed: int) -> str:
    """The epoch rule in the seed's words: the most common of the labels that name a stage."""
    seen = [Counter[str]() for _ in range(960)]
    for t, reading in of(StageReading, seed):
        if reading.stage is not Stage.UNKNOWN:
            seen[int(t // 30)][reading.stage.letter] += 1
    return "".join(c.most_common(1)[0][0] if 3 * c.total() >= 60 else "?" for c in seen)


class TestPublishedFigures:
    def test_the_night_is_960_epochs_from_04_50_to_12_50(self) -> None:
        assert len(LETTERS) == 960
        assert (clock(0), clock(960)) == ("04:50", "12:50")

    def test_two_epochs_have_no_reading_and_both_lie_before_sleep(self) -> None:
        assert LETTERS.count("?") == 2
        assert LETTERS.rindex("?") < LETTERS.index("L")

    def test_sleep_begins_at_05_48_with_light_sleep_that_lasts(self) -> None:
        onset = next(i for i, letter in enumerate(LETTERS) if letter in "LDR")
        assert (onset, clock(onset)) == (116, "05:48")
        assert set(LETTERS[onset : onset + 10]) <= set("LDR")

    def test_143_epochs_are_awake_and_114_of_them_come_before_sleep(self) -> None:
        assert LETTERS.count("W") == 143
        assert LETTERS[:116].count("W") == 114

    def test_wake_after_onset_is_3_4_percent(self) -> None:
        assert round(100 * LETTERS[116:].count("W") / (960 - 116), 1) == 3.4

    @pytest.mark.parametrize("epochs", [958, 960], ids=["read epochs", "all epochs"])
    def test_stage_shares_are_the_published_ones(self, epochs: int) -> None:
        share = {letter: 100 * LETTERS.count(letter) / epochs for letter in "WLDR"}
        assert round(share["R"], 1) == 31.6
        assert round(share["L"]) == 31
        assert round(share["W"]) == 15
        assert round(share["D"]) == 22

    def test_twelve_rem_runs_last_three_minutes_and_one_begins_at_09_41(self) -> None:
        assert len(rem_starts()) == 12
        assert "09:41" in [clock(start) for start in rem_starts()]

    @pytest.mark.parametrize(("letter", "begins"), [("L", "09:05"), ("D", "08:34")])
    def test_the_longest_stretch_is_the_only_one_so_long(self, letter: str, begins: str) -> None:
        by_length = sorted(runs(letter), key=lambda run: run[1])
        assert clock(by_length[-1][0]) == begins
        assert by_length[-2][1] < by_length[-1][1]

    def test_every_task_of_40_steps_fits_into_the_night(self) -> None:
        starts = task_starts()
        assert len(set(starts)) == 15
        assert max(starts) <= 960 - 41


class TestShape:
    def test_deep_sleep_is_entered_from_light_sleep_only(self) -> None:
        assert {LETTERS[start - 1] for start, _ in runs("D")} == {"L"}

    def test_rem_never_follows_deep_sleep_at_once(self) -> None:
        assert "DR" not in LETTERS

    def test_deep_sleep_thins_out_and_rem_grows(self) -> None:
        first, second = LETTERS[116:538], LETTERS[538:]
        assert first.count("D") > 2 * second.count("D")
        assert second.count("R") > 1.5 * first.count("R")

    def test_the_first_rem_comes_an_hour_after_onset(self) -> None:
        assert 50 <= (LETTERS.index("R") - 116) / 2 <= 120

    def test_deep_and_rem_take_turns_through_five_cycles(self) -> None:
        turns = [letter for letter, _ in groupby(c for c in LETTERS if c in "DR")]
        assert turns.count("D") >= 5

    def test_no_waking_of_the_night_lasts_two_minutes(self) -> None:
        assert max(length for start, length in runs("W") if start > 116) < 4


class TestRuleAgentsOnTheFifteenTasks:
    def test_the_timer_lands_where_the_published_one_did(self) -> None:
        cues = Counter(LETTERS[epoch] for start in task_starts() for epoch in timer_cues(start))
        assert cues == {"R": 36, "D": 8, "W": 1, "L": 15}

    def test_the_timer_lands_alike_when_minutes_count_from_the_first_observation(self) -> None:
        cues = Counter(LETTERS[epoch + 1] for start in task_starts() for epoch in timer_cues(start))
        assert (cues["R"], cues["D"], cues["W"]) == (36, 8, 1)

    def test_the_rem_rule_cues_three_and_a_half_times_a_task_and_in_rem_only(self) -> None:
        cues = [epoch for start in task_starts() for epoch in rem_rule_cues(start)]
        assert len(cues) == 53
        assert round(len(cues) / 15, 1) == 3.5
        assert {LETTERS[epoch] for epoch in cues} == {"R"}

    def test_the_rem_rule_cues_seven_times_from_09_41(self) -> None:
        start = next(start for start in rem_starts() if clock(start) == "09:41")
        assert len(rem_rule_cues(start)) == 7


class TestStageLabels:
    @pytest.mark.parametrize("seed", [1, 2, 77])
    def test_the_majority_of_an_epochs_labels_gives_the_hypnogram(self, seed: int) -> None:
        assert majority_letters(seed) == LETTERS

    def test_no_epoch_with_a_reading_is_near_a_tie(self) -> None:
        labels: dict[int, list[Stage]] = defaultdict(list)
        for t, reading in of(StageReading):
            labels[int(t // 30)].append(reading.stage)
        for epoch in (epoch for epoch in range(960) if LETTERS[epoch] != "?"):
            assert len(labels[epoch]) == 60
            assert max(Counter(labels[epoch]).values()) >= 40

    def test_a_few_labels_in_a_hundred_flicker(self) -> None:
        other = [r.stage.letter != LETTERS[int(t // 30)] for t, r in of(StageReading)]
        assert 0.02 < sum(other) / len(other) < 0.05

    def test_labels_come_twice_a_second_but_for_the_lost_link(self) -> None:
        ts = [t for t, _ in of(StageReading)]
        assert (ts[0], ts[-1]) == (0.0, 28_799.5)
        gaps = [a for a, b in pairwise(ts) if b - a != 0.5]
        assert [int(a // 30) for a in gaps] == [LETTERS.index("?")]

    def test_the_second_epoch_without_reading_has_the_band_off(self) -> None:
        off = [t for t, contact in of(Contact) if contact.on_skin is False]
        assert {int(t // 30) for t in off} == {LETTERS.rindex("?")}

    def test_confidence_has_two_decimals_and_is_lower_in_flicker(self) -> None:
        steady: list[float] = []
        flicker: list[float] = []
        for t, reading in of(StageReading):
            letter = LETTERS[int(t // 30)]
            if letter != "?":
                assert reading.confidence is not None
                assert reading.confidence == round(reading.confidence, 2)
                assert 0.3 <= reading.confidence <= 0.99
                own = reading.stage.letter == letter
                (steady if own else flicker).append(reading.confidence)
        assert sum(steady) / len(steady) > sum(flicker) / len(flicker) + 0.2

    def test_confidence_is_lower_where_the_stage_changes(self) -> None:
        said = {t: r.confidence for t, r in of(StageReading) if r.confidence is not None}
        changes = [30.0 * i for i in range(117, 960) if LETTERS[i] != LETTERS[i - 1]]
        middles = [30.0 * start + 15.0 * length for start, length in runs("D") if length >= 10]
        at_change = sum(said[t] for t in changes) / len(changes)
        assert sum(said[t] for t in middles) / len(middles) > at_change + 0.15

    def test_confidence_is_never_frozen(self) -> None:
        said = [reading.confidence for _, reading in of(StageReading)]
        assert max(len(list(run)) for value, run in groupby(said) if value is not None) < 60


class TestBodyAndRoom:
    def test_the_heart_is_slowest_in_deep_sleep_and_fastest_awake(self) -> None:
        heard: dict[str, list[float]] = defaultdict(list)
        for t, heart in of(HeartRate):
            assert heart.bpm is not None
            heard[LETTERS[int(t // 30)]].append(heart.bpm)
        deep, light, rem, awake = (sum(heard[x]) / len(heard[x]) for x in "DLRW")
        assert 45 < deep < light < rem < awake < 75

    def test_rr_intervals_are_whole_milliseconds_and_fill_the_night(self) -> None:
        rr = [ms for _, heart in of(HeartRate) for ms in heart.rr_ms]
        assert all(isinstance(ms, int) and 500 < ms < 1500 for ms in rr)
        assert sum(rr) / 1000 == pytest.approx(28_800, abs=5)

    def test_the_stated_rate_is_that_of_the_last_eight_intervals(self) -> None:
        heard: list[float] = []
        for _, heart in of(HeartRate):
            heard.extend(heart.rr_ms)
            if len(heard) >= 8:
                assert heart.bpm == round(60_000 / (sum(heard[-8:]) / 8))

    def test_beats_vary_more_with_the_breath_in_deep_sleep_than_awake(self) -> None:
        steps: dict[str, list[float]] = defaultdict(list)
        for (_, a), (t, b) in pairwise(of(HeartRate)):
            if len(a.rr_ms) == len(b.rr_ms) == 1:
                steps[LETTERS[int(t // 30)]].append((b.rr_ms[0] - a.rr_ms[0]) ** 2)
        rmssd = {letter: (sum(x) / len(x)) ** 0.5 for letter, x in steps.items()}
        assert 10 < rmssd["W"] < rmssd["L"] < rmssd["D"] < 90

    def test_the_heart_speeds_up_when_the_sleeper_wakes(self) -> None:
        bpm = [heart.bpm or 0.0 for _, heart in of(HeartRate)]
        wakes = [30 * start for start, _ in runs("W") if start > 116]
        rises = [max(bpm[s : s + 30]) - bpm[s - 60] for s in wakes]
        assert sum(rises) / len(rises) > 5

    def test_deep_sleep_is_still(self) -> None:
        g = {t: move.g for t, move in of(Movement)}
        assert max(g.values()) < 4.0
        assert min(g.values()) >= 0.0
        inner = [
            g[float(second)]
            for start, length in runs("D")
            for second in range(30 * (start + 1), 30 * (start + length - 1))
        ]
        assert max(inner) < 0.02

    def test_every_awakening_after_onset_begins_with_a_movement(self) -> None:
        g = {t: move.g for t, move in of(Movement)}
        for start, _ in runs("W"):
            if start > 116:
                assert max(g[30.0 * start + second] for second in range(10)) > 0.05

    def test_the_room_stays_a_dark_quiet_bedroom(self) -> None:
        rooms = [room for _, room in of(Room)]
        assert len(rooms) == 960
        for room in rooms:
            assert room.noise_calibrated
            assert 19.0 <= (room.temperature_c or 0.0) <= 21.0
            assert 25.0 <= (room.noise_dba or 0.0) <= 35.0
            assert 0.0 <= (-1.0 if room.light_lux is None else room.light_lux) <= 2.0
            assert 40.0 <= (room.humidity_pct or 0.0) <= 60.0

    def test_the_battery_only_falls(self) -> None:
        left = [battery.percent for _, battery in of(Battery)]
        assert len(left) == 96
        assert all(a >= b for a, b in pairwise(left))
        assert left[-1] > 50


class TestRecording:
    def test_it_says_everywhere_that_it_is_synthetic(self) -> None:
        info = sample_night().info
        assert info.synthetic
        assert info.kind == "synthetic"
        assert "synthetic" in info.origin
        assert "Synthetic" in info.notes[0]
        assert all(stream.simulated for stream in info.streams)
        assert all(stream.source.startswith("sample-") for stream in info.streams)

    def test_it_begins_at_04_50_local_time(self) -> None:
        info = sample_night().info
        assert info.start_wall_ns is not None
        assert info.utc_offset_s == 8 * 3600
        begins = datetime.fromtimestamp(info.start_wall_ns / 1e9, UTC) + timedelta(hours=8)
        assert f"{begins:%Y-%m-%d %H:%M:%S}" == "2026-10-11 04:50:00"

    def test_samples_are_in_order_of_time_and_can_be_read_again(self) -> None:
        night = sample_night()
        first = list(night.samples())
        assert all(a.t <= b.t for a, b in pairwise(first))
        assert list(night.samples()) == first

    def test_only_the_streams_asked_for_are_given(self) -> None:
        wanted = frozenset({Stream.STAGE, Stream.ROOM})
        assert {sample.stream for sample in sample_night().samples(wanted)} == wanted

    def test_each_stream_keeps_its_declared_source_and_interval(self) -> None:
        for declared in sample_night().info.streams:
            samples = [sample for sample in night(1) if sample.stream is declared.stream]
            assert {sample.source for sample in samples} == {declared.source}
            gaps = Counter(b.t - a.t for a, b in pairwise(samples))
            assert gaps.most_common(1)[0][0] == declared.interval_s

    def test_nobody_scored_it(self) -> None:
        assert sample_night().truth() == ()
        assert sample_night().info.truth_origin is None

    def test_the_same_seed_gives_the_same_samples_in_another_process(self) -> None:
        program = (
            "from hashlib import sha256; from replay.sample_night import sample_night;"
            "print(sha256(repr(list(sample_night(seed=3).samples())).encode()).hexdigest())"
        )
        printed = [
            subprocess.run(
                [sys.executable, "-c", program],
                cwd=ROOT,
                env={"PYTHONHASHSEED": hash_seed},
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            for hash_seed in ("1", "2")
        ]
        assert printed[0] == printed[1]
        assert len(printed[0].strip()) == 64

    def test_another_seed_gives_other_values_in_every_stream_that_varies(self) -> None:
        for kind in (StageReading, HeartRate, Movement, Room):
            assert of(kind, 1) != of(kind, 2)

    def test_a_negative_seed_is_refused_with_the_remedy(self) -> None:
        with pytest.raises(RecordingError, match="seed is -3; give a whole number from 0 up"):
            sample_night(seed=-3)
