"""What an actuator or a disk may do wrong, and that the night goes on."""

import asyncio
from collections.abc import Callable

import pytest

from agents.types import (
    PlaySound,
    Whisper,
)
from bedside.safety.gate import Mode
from devices.types import (
    Cue,
    CueKind,
    HeartRate,
    Movement,
    Outcome,
    OutcomeStatus,
    PersonAct,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Volume,
)
from tests.bedside.bells import BUTTON, LINES, AtBedside, Bell, Notebook, pressed
from tests.replay.nights import SOFT, Scripted, cue_at, deliveries_of, events_of, steps_of

BOTH = pytest.mark.parametrize("mode", list(Mode))
MEDIUM = PlaySound(Volume.MEDIUM, "now")


# --- what an actuator or a disk may do wrong


def test_a_cue_whose_intent_is_not_safe_in_a_second_is_dropped() -> None:
    night = AtBedside("RRRRRR", cue_at(1, 4), sink=Notebook([3.0, 0.0]))
    lines = night.spend()
    first, second = events_of(lines, "outcome")
    assert (first["cue"], first["status"], first["onset_t"]) == (1, "failed", None)
    assert first["t"] == 61.0
    assert first["detail"]
    assert (second["cue"], second["status"]) == (2, "confirmed")
    assert [cue.number for cue in night.bell.cues] == [2]
    assert lines[-1]["outcomes"] == {"confirmed": 1, "failed": 1}


def test_a_slow_disk_that_is_fast_enough_delays_the_cue() -> None:
    night = AtBedside("RRRR", cue_at(1), sink=Notebook([0.8]))
    night.spend()
    assert night.bell.said("ring 1") == [60.8]


def raises(error: Exception) -> Callable[[Cue], object]:
    def begins(cue: Cue) -> object:
        raise error

    return begins


@pytest.mark.parametrize(
    ("bell", "told"),
    [
        (Bell(begins=raises(OSError(5, "device gone"))), "OSError"),
        (Bell(begins=lambda cue: asyncio.sleep(1e9)), "did not return"),
        (Bell(begins=lambda cue: "played"), "str"),
        (Bell(kinds=[CueKind.WHISPER]), "no device performs sound"),
    ],
    ids=["raises", "hangs", "returns nonsense", "has no such kind"],
)
def test_an_actuator_that_fails_is_written_down_and_the_night_goes_on(
    bell: Bell, told: str
) -> None:
    night = AtBedside("R" * 12, cue_at(1, 5), actuators=(bell,), plan={"sound_s": 8.0})
    agent = night.agent
    lines = night.spend()
    assert len(steps_of(lines)) == 12
    outcomes = events_of(lines, "outcome")
    assert [line["status"] for line in outcomes] == ["failed", "failed"]
    assert all(told in line["detail"] for line in outcomes)
    assert isinstance(agent, Scripted)
    assert agent.seen[-1].last_outcome is OutcomeStatus.FAILED
    assert lines[-1]["outcomes"] == {"failed": 2}


def test_an_actuator_that_hangs_is_silenced_when_its_time_is_over() -> None:
    night = AtBedside("R" * 6, cue_at(1), actuators=(Bell(begins=lambda cue: asyncio.sleep(1e9)),))
    (outcome,) = events_of(night.spend(), "outcome")
    assert outcome["t"] == 60.0 + 2.0 + 8.0 + 5.0  # deadline, cue, and the grace of 5 s
    assert night.bell.said("silence") == night.bell.said("rearm") == [75.0]


def test_a_device_that_does_not_behave_stays_silent_after_a_person_s_stop() -> None:
    bell = Bell(begins=lambda cue: asyncio.sleep(1e9))
    press = (pressed(70.0, PersonAct.STOP),)
    night = AtBedside("R" * 6, cue_at(1), actuators=(bell,), streams=(BUTTON,), extra=press)
    night.spend()
    assert bell.said("rearm") == []


def test_a_failed_cue_is_not_repeated_at_once() -> None:
    bell = Bell(begins=raises(OSError("gone")))
    night = AtBedside("R" * 6, cue_at(1, 2, 4), actuators=(bell,), mode=Mode.ENFORCE)
    found = deliveries_of(night.spend())
    assert found[2]["refused_by"] == ["failed_repeat"]
    assert found[4]["cue"] == 2


def test_the_first_actuator_that_has_the_kind_performs() -> None:
    whispers, all_kinds = Bell(kinds=[CueKind.WHISPER]), Bell()
    script = {1: Whisper(LINES[1]), 3: SOFT}
    night = AtBedside("RRRRRR", Scripted(script), actuators=(whispers, all_kinds))
    night.spend()
    assert [cue.kind for cue in whispers.cues] == ["whisper"]
    assert [cue.kind for cue in all_kinds.cues] == ["sound"]


def test_an_outcome_with_numbers_that_are_none_is_written_as_null() -> None:
    nan = float("nan")
    bell = Bell(begins=lambda cue: Outcome(OutcomeStatus.UNCONFIRMED, nan, 61.0, nan))
    (outcome,) = events_of(AtBedside("RRR", cue_at(1), actuators=(bell,)).spend(), "outcome")
    assert (outcome["onset_t"], outcome["level_dba"]) == (None, None)


def test_samples_that_are_no_numbers_do_not_end_the_night() -> None:
    nan = float("nan")
    extra = (
        Sample(Stream.HEART_RATE, 10.0, HeartRate(nan), "strap"),
        Sample(Stream.HEART_RATE, 40.0, HeartRate(1.7e308), "strap"),
        Sample(Stream.HEART_RATE, 41.0, HeartRate(1.7e308), "strap"),
        Sample(Stream.STAGE, 5.0, StageReading(Stage.REM, float("inf")), "band"),
        Sample(Stream.STAGE, 6.0, StageReading(Stage.REM, float("-inf")), "band"),
        Sample(Stream.MOVEMENT, 11.0, Movement(nan), "strap"),
        Sample(Stream.MOVEMENT, 70.0, Movement(float("inf")), "strap"),
    )
    infos = (StreamInfo(Stream.HEART_RATE, 1.0, "strap"), StreamInfo(Stream.MOVEMENT, 1.0, "strap"))
    lines = AtBedside("RRRR", cue_at(1), extra=extra, streams=infos).spend()
    assert len(steps_of(lines)) == 4
