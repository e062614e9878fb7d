"""One tiny night, byte for byte. To renew it: `README.md` beside this file."""

import os
from pathlib import Path

import pytest

from agents.types import BedsideObject, PlaySound, Stop, UseObject, Whisper
from devices.types import (
    HeartRate,
    Movement,
    PersonAct,
    PersonEvent,
    Room,
    Sample,
    Stream,
    StreamInfo,
    Volume,
)
from tests.replay.nights import SOFT, Lived, Scripted, lived, night, setting

HERE = Path(__file__).parent
SHOWN = "WWWWL12LRRRR?RRRRRDDDDWLRR"
TRUTH = "WWWWL12LRRRRRRRDDDDDDDWLRR"
SCRIPT = {
    7: SOFT,
    9: (2.4, PlaySound(Volume.HIGH, "as loud as it goes")),
    11: Whisper("a dark wolf howls", Volume.MEDIUM, "words never said"),
    12: UseObject(BedsideObject.SCENT, "no reading"),
    14: ValueError("no idea"),
    15: (31.0, SOFT),
    16: "play",
    18: (0.125, PlaySound(Volume.MEDIUM, "in deep")),
    24: Stop("enough"),
    26: SOFT,
}


def body() -> list[Sample]:
    heart = [
        Sample(Stream.HEART_RATE, k + 0.5, HeartRate(56.0 + k % 7, (1010.0 + k % 11,)), "strap")
        for k in range(len(SHOWN) * 30)
    ]
    return [
        *heart,
        Sample(Stream.ROOM, 61.0, Room(19.25, 31.5, 0.0, 45.0), "sensor"),
        Sample(Stream.MOVEMENT, 2.0, Movement(0.012), "strap"),
        Sample(Stream.MOVEMENT, 305.0, Movement(0.31), "strap"),
        Sample(Stream.PERSON, 500.0, PersonEvent(PersonAct.TELL_DREAM), "button"),
    ]


def tiny_night() -> Lived:
    streams = (
        StreamInfo(Stream.HEART_RATE, 1.0, "strap"),
        StreamInfo(Stream.MOVEMENT, None, "strap"),
        StreamInfo(Stream.ROOM, 60.0, "sensor"),
        StreamInfo(Stream.PERSON, None, "button"),
    )
    known = night(SHOWN, truth=TRUTH, interval_s=0.5, extra=body(), streams=streams)
    return lived(known, Scripted(SCRIPT), setting(1.6, dropout=0.1, seed=18))


@pytest.mark.parametrize("name", ["tiny-night", "tiny-night-hidden"])
def test_the_tiny_night_is_written_as_ever(name: str) -> None:
    done, path = tiny_night(), HERE / f"{name}.jsonl"
    found = done.hidden_bytes if name.endswith("hidden") else done.trace_bytes
    if os.environ.get("RENEW_GOLDEN"):
        path.write_bytes(found)
    expected = path.read_bytes()
    assert found.splitlines() == expected.splitlines()
    assert found == expected


def test_nearly_every_kind_of_line_is_in_it() -> None:
    done = tiny_night()
    assert {line["decision"]["status"] for line in done.steps} == {
        "ok", "late", "error", "nonsense",
    }  # fmt: skip
    events = {line["event"] for line in (*done.trace, *done.hidden) if line["kind"] == "event"}
    assert events == {
        "outcome", "suspected_waking", "person",
        "dropout", "roll", "waking", "awake_already", "truth",
    }  # fmt: skip
    rules = {rule for found in done.deliveries().values() for rule in found["rules"]}
    assert rules == {
        "cue_while_awake", "cue_in_deep", "cue_without_reading", "cue_high_volume",
        "cue_after_stop", "words_not_said",
    }  # fmt: skip
