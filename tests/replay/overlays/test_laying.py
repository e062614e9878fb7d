"""An overlay over a recorded night: other stages are shown, and nothing else has changed."""

from pathlib import Path

import pytest

from agents.rem_rule import RemRule
from bedside.recording import MemoryRecording, NightFile, write_night
from devices.types import Contact, HeartRate, Sample, Stage, Stream, StreamInfo
from replay.hypnogram import letters, shown_stages
from replay.overlays import overlaid, overlay_named
from replay.overlays.confusion import shown_by
from replay.overlays.laying import RECORDED_TRUTH
from replay.recorded_night import RecordedNight
from replay.rolls import roll_night
from tests.replay.nights import cue_at, lived, night, recording, setting, waking_setting
from tests.replay.overlays.devices import FLICKERING, D, L, R, W, always

SLEPT = "WWLLLLDDDDLLRRRRRRLLWWLL"
HEART = StreamInfo(Stream.HEART_RATE, 30.0, "strap")
BEATS = tuple(
    Sample(Stream.HEART_RATE, 30.0 * k + 4.0, HeartRate(60.0 + k), "strap")
    for k in range(len(SLEPT))
)


def test_the_device_overlay_is_the_night_itself() -> None:
    recorded = night(SLEPT)
    assert overlaid(recorded, overlay_named("device"), seed=1) is recorded


def test_the_truth_and_with_it_the_rolls_stay_the_same() -> None:
    recorded = night(SLEPT, truth="WWLLLLDDDDLLRRRRRRLLWWL?")
    laid = overlaid(recorded, always({R: L}), seed=1)
    assert letters(laid.hidden) == "WWLLLLDDDDLLRRRRRRLLWWL?"
    assert laid.stage4_sha256 == recorded.stage4_sha256
    assert laid.info.truth_origin == "a hand"
    assert letters(laid.shown) == "WWLLLLDDDDLLLLLLLLLLWWL?"


def test_fine_truth_stays_fine_and_is_shown_coarse() -> None:
    laid = overlaid(night("LLLL", truth="1122"), always({}), seed=1)
    assert laid.hidden == (Stage.N1, Stage.N1, Stage.N2, Stage.N2)
    assert laid.shown == (Stage.LIGHT,) * 4


def test_without_a_truth_the_recorded_stages_are_it() -> None:
    laid = overlaid(night(SLEPT), always({R: W}), seed=1)
    assert letters(laid.hidden) == SLEPT
    assert letters(laid.shown) == SLEPT.replace("R", "W")
    assert laid.info.truth_origin == RECORDED_TRUTH


def test_the_night_s_key_and_the_seed_settle_what_is_shown() -> None:
    recorded = night(SLEPT * 4)
    key = roll_night(recorded.stage4_sha256, 0)
    for seed in (1, 2):
        expected = shown_by(FLICKERING, recorded.hidden, night=key, seed=seed)
        assert overlaid(recorded, FLICKERING, seed=seed).shown == expected


def test_what_is_said_to_be_shown_is_what_the_stream_shows() -> None:
    laid = overlaid(night(SLEPT), FLICKERING, seed=3)
    recording = laid.recording
    assert isinstance(recording, MemoryRecording)
    unsaid = MemoryRecording(
        type(laid.info)("n", "k", "o", epochs=len(SLEPT), streams=laid.info.streams),
        tuple(recording.samples()),
    )
    assert shown_stages(unsaid) == laid.shown


def test_the_stage_stream_is_a_program_s_and_the_night_says_so() -> None:
    laid = overlaid(night(SLEPT), overlay_named("consumer"), seed=1)
    (stream,) = laid.info.streams
    assert (stream.source, stream.simulated) == ("overlay-consumer", True)
    assert laid.info.notes[-1].startswith("overlay consumer")


def test_the_other_streams_stay_and_the_device_s_contact_goes() -> None:
    contact = StreamInfo(Stream.CONTACT, 30.0, "band")
    extra = (*BEATS, Sample(Stream.CONTACT, 40.0, Contact(False), "band"))
    laid = overlaid(night(SLEPT, extra=extra, streams=(HEART, contact)), FLICKERING, seed=1)
    told = list(laid.recording.samples())
    assert [one for one in told if one.stream is Stream.HEART_RATE] == list(BEATS)
    assert {one.stream for one in told} == {Stream.STAGE, Stream.HEART_RATE}
    assert [one.t for one in told] == sorted(one.t for one in told)


def test_a_night_file_is_laid_over_as_the_same_night_in_memory_is(tmp_path: Path) -> None:
    in_memory = recording(SLEPT, extra=BEATS, streams=(HEART,))
    write_night(tmp_path / "a.mcap", in_memory)
    of_file = overlaid(RecordedNight(NightFile.open(tmp_path / "a.mcap")), FLICKERING, seed=1)
    of_memory = overlaid(RecordedNight(in_memory), FLICKERING, seed=1)
    assert of_file.place == str(tmp_path / "a.mcap")
    assert list(of_file.recording.samples()) == list(of_memory.recording.samples())
    heart = frozenset({Stream.HEART_RATE})
    assert list(of_file.recording.samples(heart)) == list(BEATS)
    one, two = (lived(laid, cue_at(13), setting()) for laid in (of_file, of_memory))
    assert (one.trace_bytes, one.hidden_bytes) == (two.trace_bytes, two.hidden_bytes)


def test_a_part_of_a_night_file_begins_where_it_is_asked_to(tmp_path: Path) -> None:
    write_night(tmp_path / "a.mcap", recording(SLEPT, extra=BEATS, streams=(HEART,)))
    laid = overlaid(RecordedNight(NightFile.open(tmp_path / "a.mcap")), FLICKERING, seed=1)
    told = [sample for batch in laid.recording.batches(300.0) for sample in batch]
    assert [one for one in told if one.t >= 300.0] == [
        one for one in laid.recording.samples() if one.t >= 300.0
    ]


def test_an_agent_sees_the_shown_stage_and_the_sleeper_answers_by_the_true_one() -> None:
    """REM shown as deep sleep: the roll is made on REM, the rule is broken in shown DEEP."""
    laid = overlaid(night(SLEPT), always({R: D, D: R}), seed=1)
    done = lived(laid, cue_at(13), waking_setting(steps=16))
    assert done.shown[:13] == "WWLLLLRRRRLLD"
    assert [line["stage"] for line in done.rolls()] == ["rem"]
    assert done.deliveries()[13]["rules"] == ["cue_in_deep"]


def test_a_rule_that_cues_in_shown_rem_misses_true_rem_under_a_wrong_device() -> None:
    laid = overlaid(night("LLLLLLLLLLLLRRRRRRRRRRRRLLLL"), always({R: L, L: R}), seed=1)
    done = lived(laid, RemRule(), setting(0.0))
    assert done.rolls()
    assert {line["stage"] for line in done.rolls()} == {"light"}


@pytest.mark.parametrize("name", ["confusion", "consumer"])
def test_every_agent_meets_the_same_device(name: str) -> None:
    recorded = night(SLEPT * 3)
    seen = {overlaid(recorded, overlay_named(name), seed=1).shown for _ in range(3)}
    assert len(seen) == 1
    assert W in overlaid(recorded, overlay_named(name), seed=1).hidden
    assert L in seen.pop()
