"""Inspection counts what is there and what is missing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.recording import Gap, Inspection, MemoryRecording, StreamReport, inspect, write_night
from devices.types import (
    HeartRate,
    Movement,
    PersonAct,
    PersonEvent,
    Room,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Truth,
)
from tests.bedside.recording.nights import INFO, small_night


def inspected(tmp_path: Path, info: object, samples: list[Sample]) -> Inspection:
    path = tmp_path / "night.mcap"
    write_night(path, MemoryRecording(info, tuple(sorted(samples, key=lambda s: s.t))))  # type: ignore[arg-type]
    return inspect(path)


def only(report: Inspection, stream: Stream) -> StreamReport:
    (found,) = [each for each in report.streams if each.declared.stream is stream]
    return found


def night(*streams: StreamInfo, epochs: int | None = None) -> object:
    return replace(INFO, streams=streams, epochs=epochs, truth_origin=None)


def stage(t: float) -> Sample:
    return Sample(Stream.STAGE, t, StageReading(Stage.N2), "band")


LABELS = StreamInfo(Stream.STAGE, 30.0, "band")
PULSE = StreamInfo(Stream.HEART_RATE, 1.0, "strap")


def test_a_label_each_epoch_is_complete(tmp_path: Path) -> None:
    report = inspected(
        tmp_path, night(LABELS, epochs=960), [stage(30 * k + 15) for k in range(960)]
    )
    stages = only(report, Stream.STAGE)
    assert (stages.count, stages.expected, stages.completeness) == (960, 960, 1.0)
    assert (stages.first_t, stages.last_t, stages.gaps) == (15.0, 28785.0, ())
    assert (report.first_t, report.last_t, report.closed) == (15.0, 28785.0, True)


def test_a_hole_of_more_than_three_intervals_is_a_gap_and_one_of_three_is_none(
    tmp_path: Path,
) -> None:
    times = [t for t in range(100) if not 20 < t < 23 and not 50 < t < 54]
    samples = [Sample(Stream.HEART_RATE, float(t), HeartRate(60.0), "strap") for t in times]
    pulse = only(inspected(tmp_path, night(PULSE), samples), Stream.HEART_RATE)
    assert pulse.gaps == (Gap(50.0, 54.0),)
    assert (pulse.gap_count, pulse.longest_gap_s) == (1, 4.0)
    assert pulse.completeness == round(95 / 99, 4)


def test_a_stream_that_begins_late_or_ends_early_has_gaps_at_the_ends(tmp_path: Path) -> None:
    pulse = [Sample(Stream.HEART_RATE, float(t), HeartRate(60.0), "strap") for t in range(100, 200)]
    report = inspected(
        tmp_path,
        night(LABELS, PULSE, epochs=10),
        [*pulse, *(stage(30 * k + 15) for k in range(10))],
    )
    found = only(report, Stream.HEART_RATE)
    assert found.gaps == (Gap(0.0, 100.0), Gap(199.0, 300.0))
    assert (found.expected, found.completeness) == (300, round(100 / 300, 4))


def test_a_declared_stream_that_never_came_is_all_gap(tmp_path: Path) -> None:
    report = inspected(tmp_path, night(LABELS, PULSE, epochs=2), [stage(15.0), stage(45.0)])
    found = only(report, Stream.HEART_RATE)
    assert (found.count, found.first_t, found.completeness) == (0, None, 0.0)
    assert found.gaps == (Gap(0.0, 60.0),)


def test_irregular_streams_have_gaps_of_more_than_a_minute_and_no_completeness(
    tmp_path: Path,
) -> None:
    times = (0.0, 60.0, 121.0, 130.0)
    room = StreamInfo(Stream.ROOM, None, "room")
    samples = [Sample(Stream.ROOM, t, Room(20.0), "room") for t in times]
    found = only(inspected(tmp_path, night(room), samples), Stream.ROOM)
    assert found.gaps == (Gap(60.0, 121.0),)
    assert (found.expected, found.completeness) == (None, None)


def test_events_of_a_person_have_no_gaps(tmp_path: Path) -> None:
    page = StreamInfo(Stream.PERSON, None, "page")
    samples = [
        Sample(Stream.PERSON, t, PersonEvent(PersonAct.TOUCH), "page") for t in (0.0, 9000.0)
    ]
    assert only(inspected(tmp_path, night(page), samples), Stream.PERSON).gap_count == 0


def test_samples_with_and_without_device_time_are_one_stream(tmp_path: Path) -> None:
    band = StreamInfo(Stream.MOVEMENT, 1.0, "band")
    samples = [
        Sample(Stream.MOVEMENT, float(t), Movement(0.0), "band", float(t) if t % 2 else None)
        for t in range(50)
    ]
    found = only(inspected(tmp_path, night(band), samples), Stream.MOVEMENT)
    assert (found.count, found.gap_count) == (50, 0)


def test_a_source_that_was_not_declared_is_listed(tmp_path: Path) -> None:
    report = inspected(tmp_path, night(LABELS), [Sample(Stream.ROOM, 1.0, Room(), "window")])
    assert {each.declared.source: each.count for each in report.streams} == {"band": 0, "window": 1}


def test_a_torn_night_says_where(tmp_path: Path) -> None:
    path = tmp_path / "night.mcap"
    write_night(path, small_night())
    path.write_bytes(path.read_bytes()[:-40])
    report = inspect(path)
    assert not report.closed
    assert "the night itself is whole" in report.damages[0].what
    assert report.size_bytes == path.stat().st_size


def test_the_many_gaps_of_a_bad_night_are_counted_but_not_all_listed(tmp_path: Path) -> None:
    samples = [
        Sample(Stream.HEART_RATE, float(t * 5), HeartRate(60.0), "strap") for t in range(2000)
    ]
    found = only(inspected(tmp_path, night(PULSE), samples), Stream.HEART_RATE)
    assert (found.gap_count, len(found.gaps)) == (1999, 1000)


def test_an_inspection_is_json_and_tells_of_truth(tmp_path: Path) -> None:
    path = tmp_path / "night.mcap"
    truth = tuple(Truth(30.0 * k + 15.0, Stage.DEEP) for k in range(5))
    write_night(path, MemoryRecording(INFO, tuple(small_night().samples()), truth))
    report = json.loads(json.dumps(inspect(path).as_dict()))
    assert report["truths"] == 5
    assert report["night_id"] == "small-01"
    assert report["closed"] is True
    assert sum(stream["count"] for stream in report["streams"]) == len(
        list(small_night().samples())
    )


@pytest.mark.parametrize("seconds", [0, 3])
def test_a_night_of_nothing_much_can_be_inspected(tmp_path: Path, seconds: int) -> None:
    samples = [stage(float(second)) for second in range(seconds)]
    report = inspected(tmp_path, night(LABELS), samples)
    assert only(report, Stream.STAGE).count == seconds
