"""The epoch rule of design.md §5 and protocols.md §1, worked out by hand."""

import math
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.epocher import Epocher
from bedside.hub import Hub
from bedside.stage_rule import epoch_stage
from devices.types import (
    Contact,
    HeartRate,
    Movement,
    Room,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
)

A, L, D, R, U = Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM, Stage.UNKNOWN
N1, N2 = Stage.N1, Stage.N2
BAND = StreamInfo(Stream.STAGE, 0.5, "band")


def readings(*counted: tuple[Stage, int]) -> list[StageReading]:
    return [StageReading(stage) for stage, count in counted for _ in range(count)]


class Bench:
    """An epocher behind a hub, fed by hand."""

    def __init__(self, *infos: StreamInfo) -> None:
        self.hub = Hub()
        self.epocher = Epocher(infos or (BAND,))
        self.epocher.listen(self.hub)

    def stage(
        self,
        start_t: float,
        end_t: float,
        stage: Stage,
        *,
        step_s: float = 0.5,
        source: str = "band",
        confidence: float | None = None,
        seq: int | None = None,
    ) -> None:
        for number in range(round((end_t - start_t) / step_s)):
            self.hub(
                Sample(
                    Stream.STAGE,
                    start_t + number * step_s,
                    StageReading(stage, confidence),
                    source,
                    None,
                    seq,
                )
            )


# The rule on readings


@pytest.mark.parametrize(
    ("given_readings", "stage", "fine"),
    [
        (readings((R, 60)), R, R),
        (readings((L, 31), (R, 29)), L, L),
        (readings((L, 30), (R, 30)), R, R),  # a tie goes to the one seen last
        (readings((R, 30), (L, 30)), L, L),
        (readings((N1, 20), (N2, 15), (R, 25)), L, N1),  # N1 and N2 vote together
        (readings((N1, 20), (N2, 20), (R, 20)), L, N2),  # inside the winner, the tie again
        (readings((N1, 10), (L, 11), (R, 20)), L, L),
        (readings((R, 20), (U, 40)), R, R),  # 20 of 60 are enough
        (readings((R, 19), (U, 41)), U, U),  # 19 are not
        (readings((U, 60)), U, U),
        ([], U, U),
    ],
)
def test_the_most_common_coarse_stage_wins(
    given_readings: list[StageReading], stage: Stage, fine: Stage
) -> None:
    assert epoch_stage(given_readings, expected=60)[:2] == (stage, fine)


def test_coverage_is_seen_over_expected_and_unknown_is_not_seen() -> None:
    assert epoch_stage(readings((R, 30), (U, 30)), expected=60).coverage == 0.5
    assert epoch_stage(readings((R, 90)), expected=60).coverage == 1.0


@given(st.lists(st.sampled_from(list(Stage)), max_size=80))
def test_the_rule_agrees_with_a_slow_telling_of_it(stages: list[Stage]) -> None:
    seen = [stage for stage in stages if stage is not U]
    found = epoch_stage([StageReading(stage) for stage in stages], expected=60)
    if len(seen) * 3 < 60:
        assert found.stage is U
        return
    coarse = [L if stage in (N1, N2) else stage for stage in seen]
    most = max(coarse.count(stage) for stage in coarse)
    winner = [stage for stage in coarse if coarse.count(stage) == most][-1]
    inside = [fine for fine, stage in zip(seen, coarse, strict=True) if stage is winner]
    most = max(inside.count(stage) for stage in inside)
    assert found.stage is winner
    assert found.fine is [stage for stage in inside if inside.count(stage) == most][-1]


# Epochs on the grid


def test_a_sample_of_the_closing_instant_belongs_to_the_next_epoch() -> None:
    bench = Bench(StreamInfo(Stream.STAGE, 30.0, "band"))
    bench.hub(Sample(Stream.STAGE, 0.0, StageReading(L), "band"))
    bench.hub(Sample(Stream.STAGE, 30.0, StageReading(R), "band"))
    assert bench.epocher.close(0).stage is L
    assert bench.epocher.close(1).stage is R


def test_an_epoch_closed_late_still_holds_only_its_own_samples() -> None:
    bench = Bench()
    bench.stage(0, 30, L)
    bench.stage(30, 31, R)
    assert bench.epocher.close(0).stage is L


@pytest.mark.parametrize("interval_s", [0.5, 1.0, 30.0])
def test_each_rate_of_labels_gives_the_same_epochs(interval_s: float) -> None:
    night = [A, A, L, L, D, D, U, R, R, A]
    bench = Bench(StreamInfo(Stream.STAGE, interval_s, "band"))
    closed = []
    for index, stage in enumerate(night):
        first = index * 30 + interval_s / 2
        bench.stage(first, first + 30, stage, step_s=interval_s)
        closed.append(bench.epocher.close(index).stage)
    assert closed == night


def test_an_epoch_without_any_sample_has_no_reading() -> None:
    epoch = Bench().epocher.close(0)
    assert (epoch.stage, epoch.coverage, epoch.confidence) == (U, 0.0, None)


def test_confidence_is_the_mean_of_the_readings_that_voted_for_the_stage() -> None:
    bench = Bench()
    bench.stage(0, 20, R, confidence=0.9)
    bench.stage(20, 30, A, confidence=0.1)
    assert bench.epocher.close(0).confidence == pytest.approx(0.9)


def test_without_contact_for_most_of_an_epoch_there_is_no_reading() -> None:
    bench = Bench(BAND, StreamInfo(Stream.CONTACT, 10.0, "band"))
    bench.stage(0, 90, R)
    for t, on_skin in ((1, True), (11, True), (21, False), (31, True), (41, False), (51, False)):
        bench.hub(Sample(Stream.CONTACT, t, Contact(on_skin), "band"))
    assert [bench.epocher.close(k).stage for k in range(3)] == [R, U, U]


def test_contact_that_a_device_cannot_tell_hides_nothing() -> None:
    bench = Bench(BAND, StreamInfo(Stream.CONTACT, 10.0, "band"))
    bench.stage(0, 30, R)
    bench.hub(Sample(Stream.CONTACT, 1.0, Contact(None), "band"))
    assert bench.epocher.close(0).stage is R


# Several sources, frozen sources


def test_the_preferred_source_counts_and_the_next_steps_in_when_it_falls_silent() -> None:
    bench = Bench(BAND, StreamInfo(Stream.STAGE, 30.0, "ring"))
    bench.hub(Sample(Stream.STAGE, 15.0, StageReading(D), "ring"))
    bench.stage(16, 30, R)
    bench.hub(Sample(Stream.STAGE, 45.0, StageReading(D), "ring"))
    bench.stage(46, 60, U)
    assert [bench.epocher.close(k).stage for k in range(2)] == [R, D]


def test_a_counter_that_stands_still_for_a_minute_is_a_frozen_source() -> None:
    bench = Bench()
    closed = []
    for index in range(4):
        bench.stage(index * 30, index * 30 + 30, R, seq=7)
        closed.append(bench.epocher.close(index))
    assert [epoch.stage for epoch in closed] == [R, R, U, U]
    assert [epoch.frozen for epoch in closed] == [False, False, True, True]


def test_a_confidence_that_stays_the_same_for_five_minutes_is_a_frozen_source() -> None:
    bench = Bench()
    closed = []
    for index in range(12):
        bench.stage(index * 30, index * 30 + 30, R, confidence=0.73)
        closed.append(bench.epocher.close(index).stage)
    assert closed == [R] * 10 + [U] * 2


def test_a_source_without_counter_or_confidence_is_never_frozen() -> None:
    bench = Bench()
    for index in range(30):
        bench.stage(index * 30, index * 30 + 30, R)
        assert bench.epocher.close(index).stage is R


def test_a_frozen_source_gives_way_to_the_next() -> None:
    bench = Bench(BAND, StreamInfo(Stream.STAGE, 30.0, "ring"))
    closed = []
    for index in range(4):
        bench.hub(Sample(Stream.STAGE, index * 30.0, StageReading(L), "ring"))
        bench.stage(index * 30 + 0.25, index * 30 + 30, R, seq=7)
        closed.append(bench.epocher.close(index).stage)
    assert closed == [R, R, L, L]


# What is shown at delivery


def test_what_is_shown_follows_the_thirty_seconds_before_the_delivery() -> None:
    bench = Bench()
    bench.stage(0, 30, R)
    bench.epocher.close(0)
    bench.stage(30, 46, D)
    assert bench.epocher.shown(30.0).stage is R
    assert bench.epocher.shown(44.5).stage is R  # 29 of D against 31 of R
    assert bench.epocher.shown(45.5).stage is D  # 31 against 29


def test_at_an_epoch_boundary_the_shown_stage_is_that_epoch_exactly() -> None:
    bench = Bench()
    bench.stage(0, 30, L)
    epoch = bench.epocher.close(0)
    bench.stage(30, 30.5, R)
    assert bench.epocher.shown(30.0).stage is epoch.stage


def test_the_age_of_a_reading_is_since_the_last_valid_one() -> None:
    bench = Bench()
    bench.stage(0, 10, R)
    bench.stage(10, 30, U)
    bench.epocher.close(0)
    assert bench.epocher.shown(30.0).age_s == pytest.approx(20.5)
    assert bench.epocher.close(1).stage is U
    assert bench.epocher.shown(60.0).stage is None
    assert bench.epocher.shown(60.0).age_s == pytest.approx(50.5)
    assert Bench().epocher.shown(30.0).age_s == math.inf


# Body and room


def heart_bench() -> Bench:
    return Bench(BAND, StreamInfo(Stream.HEART_RATE, 1.0, "strap"))


def test_rmssd_of_alternating_beats_is_their_difference() -> None:
    bench = heart_bench()
    for second in range(120):
        rr_ms = (1000.0 + (second % 2) * 40.0,)
        bench.hub(Sample(Stream.HEART_RATE, second + 0.5, HeartRate(60.0, rr_ms), "strap"))
    epochs = [bench.epocher.close(k) for k in range(4)]
    assert epochs[-1].hrv_rmssd_ms is not None
    assert epochs[-1].hrv_rmssd_ms.value == pytest.approx(40.0)
    assert epochs[-1].heart_rate_bpm is not None
    assert epochs[-1].heart_rate_bpm.value == pytest.approx(60.0)
    assert epochs[-1].heart_rate_bpm.age_s == pytest.approx(0.5)
    assert epochs[-1].heart_rate_bpm.source == "strap"


def test_artefacts_leave_rmssd_as_it_was() -> None:
    bench = heart_bench()
    for second in range(120):
        rr_ms: tuple[float, ...] = (1000.0 + (second % 2) * 40.0,)
        if second % 10 == 5:
            rr_ms = (256.0, 7259.0)  # the extremes of a real export: noise, and a lost strap
        bench.hub(Sample(Stream.HEART_RATE, second + 0.5, HeartRate(60.0, rr_ms), "strap"))
    reading = [bench.epocher.close(k).hrv_rmssd_ms for k in range(4)][-1]
    assert reading is not None
    assert reading.value == pytest.approx(40.0)


def test_hrv_reaches_back_two_minutes_and_no_further() -> None:
    bench = heart_bench()
    for second in range(240):
        swing = 100.0 if second < 120 else 20.0
        rr_ms = (1000.0 + (second % 2) * swing,)
        bench.hub(Sample(Stream.HEART_RATE, second + 0.5, HeartRate(60.0, rr_ms), "strap"))
    readings_ = [bench.epocher.close(k).hrv_rmssd_ms for k in range(8)]
    assert readings_[3] is not None
    assert readings_[7] is not None
    assert readings_[3].value == pytest.approx(100.0)
    assert readings_[7].value == pytest.approx(20.0, abs=5.0)  # one pair spans the change


def test_a_lost_strap_leaves_its_last_value_with_a_growing_age() -> None:
    bench = heart_bench()
    bench.hub(Sample(Stream.HEART_RATE, 5.0, HeartRate(58.0), "strap"))
    ages = [bench.epocher.close(k).heart_rate_bpm for k in range(3)]
    assert [reading and (reading.value, reading.age_s) for reading in ages] == [
        (58.0, 25.0),
        (58.0, 55.0),
        (58.0, 85.0),
    ]


def test_stillness_counts_from_the_last_movement_over_threshold() -> None:
    bench = Bench(BAND, StreamInfo(Stream.MOVEMENT, 1.0, "band"))
    assert bench.epocher.close(0).still_s is None
    for t, g in ((31.0, 0.01), (40.0, 0.4), (41.0, 0.01), (65.0, 0.02)):
        bench.hub(Sample(Stream.MOVEMENT, t, Movement(g), "band"))
    first, second = bench.epocher.close(1), bench.epocher.close(2)
    assert first.still_s == pytest.approx(20.0)
    assert first.movement_g is not None
    assert first.movement_g.value == 0.4
    assert second.still_s == pytest.approx(50.0)


def test_each_room_value_keeps_its_own_age_and_source() -> None:
    bench = Bench(BAND, StreamInfo(Stream.ROOM, None, "air"), StreamInfo(Stream.ROOM, None, "mic"))
    bench.hub(Sample(Stream.ROOM, 1.0, Room(temperature_c=19.5), "air"))
    bench.hub(Sample(Stream.ROOM, 20.0, Room(noise_dba=31.0), "mic"))
    epoch = bench.epocher.close(0)
    assert epoch.temperature_c is not None
    assert epoch.noise_dba is not None
    assert (epoch.temperature_c.value, epoch.temperature_c.age_s) == (19.5, 29.0)
    assert (epoch.noise_dba.value, epoch.noise_dba.source) == (31.0, "mic")
    assert epoch.light_lux is None


def test_samples_from_before_the_session_fill_the_trailing_windows() -> None:
    bench = heart_bench()
    for second in range(-240, 30):
        rr_ms = (1000.0 + (second % 2) * 40.0,)
        bench.hub(Sample(Stream.HEART_RATE, second + 0.5, HeartRate(60.0, rr_ms), "strap"))
    bench.epocher.warm()
    reading = bench.epocher.close(0).hrv_rmssd_ms
    assert reading is not None
    assert reading.value == pytest.approx(40.0)


@given(st.lists(st.sampled_from([A, L, D, R, U]), min_size=1, max_size=12), st.integers(0, 9))
def test_memory_holds_minutes_not_the_night(night: list[Stage], seed: int) -> None:
    bench = Bench()
    for index, stage in enumerate(night * 4):
        bench.stage(index * 30, index * 30 + 30, stage)
        bench.epocher.close(index)
    held = bench.epocher.windows.every(Stream.STAGE, -math.inf, math.inf)
    assert len(held) <= 480
    assert [len(list(group)) for _, group in groupby(s.t for s in held)].count(1) == len(held)


def test_the_second_source_steps_in_when_the_first_covers_too_little() -> None:
    bench = Bench(BAND, StreamInfo(Stream.STAGE, 0.5, "other"))
    bench.stage(0, 5, R)
    for number in range(60):
        bench.hub(Sample(Stream.STAGE, 0.25 + number / 2, StageReading(D), "other"))
    assert bench.epocher.close(0).stage is D


def test_contact_of_a_strap_says_nothing_about_the_headband() -> None:
    bench = Bench(
        BAND,
        StreamInfo(Stream.CONTACT, 10.0, "strap"),
        StreamInfo(Stream.CONTACT, 10.0, "band"),
    )
    for start, strap, band in ((0, False, True), (30, True, False)):
        bench.stage(start, start + 30, R)
        for second in (1, 11, 21):
            bench.hub(Sample(Stream.CONTACT, start + second, Contact(strap), "strap"))
            bench.hub(Sample(Stream.CONTACT, start + second, Contact(band), "band"))
    assert [bench.epocher.close(k).stage for k in range(2)] == [R, U]


def test_a_movement_sensor_that_fell_silent_tells_no_stillness() -> None:
    bench = Bench(BAND, StreamInfo(Stream.MOVEMENT, 1.0, "band"))
    bench.hub(Sample(Stream.MOVEMENT, 10.0, Movement(0.0), "band"))
    assert [bench.epocher.close(k).still_s for k in range(3)] == [20.0, 50.0, None]


def test_a_value_that_is_no_number_is_no_value() -> None:
    bench = Bench(BAND, StreamInfo(Stream.MOVEMENT, 1.0, "band"))
    for t, g in ((1.0, math.nan), (2.0, 0.01), (3.0, math.inf)):
        bench.hub(Sample(Stream.MOVEMENT, t, Movement(g), "band"))
    movement = bench.epocher.close(0).movement_g
    assert movement is not None
    assert (movement.value, movement.age_s) == (0.01, 28.0)


def test_of_a_flood_only_the_newest_samples_are_looked_at() -> None:
    bench = Bench(BAND, StreamInfo(Stream.ROOM, None, "air"))
    for number in range(60_000):
        bench.hub(Sample(Stream.ROOM, number / 2000, Room(temperature_c=float(number)), "air"))
    epoch = bench.epocher.close(0)
    assert epoch.temperature_c is not None
    assert epoch.temperature_c.value == 59_999.0
    assert len(bench.epocher.windows.every(Stream.ROOM, 0.0, 30.0)) == 8192
