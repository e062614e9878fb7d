"""What arrives when: the recording's own time, moved on only by wakings.

The room's temperature tells in these nights at which second of the recording it was measured.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.types import Action, BedsideObject, Observation, PlaySound, UseObject
from bedside.clock import SessionClock, SessionStart
from bedside.safety.gate import Mode
from bedside.trace import MemorySink, Trace
from devices.types import (
    Cue,
    CueKind,
    HeartRate,
    Movement,
    Room,
    Sample,
    Stream,
    StreamInfo,
    Volume,
)
from replay.clock import run_virtual
from replay.player import Player, PlayerError
from replay.recorded_night import RecordedNight
from replay.rolls import Dice
from replay.sleeper import Sleeper
from replay.wake_rule import WakeTable
from tests.replay.nights import (
    ALWAYS,
    SOFT,
    Lived,
    Scripted,
    cue_at,
    lived,
    night,
    setting,
    waking_setting,
)

ROOM = StreamInfo(Stream.ROOM, 30.0, "sensor")
RATES = pytest.mark.parametrize("interval_s", [0.5, 1.0, 30.0])


def thermometer(epochs: int) -> list[Sample]:
    """A report in the middle of each epoch that says when it was made."""
    times = [30.0 * k + 15.0 for k in range(epochs)]
    return [Sample(Stream.ROOM, t, Room(temperature_c=t), "sensor") for t in times]


def timed(letters: str) -> RecordedNight:
    return night(letters, extra=thermometer(len(letters)), streams=(ROOM,))


def told(done: Lived) -> list[tuple[float, float] | None]:
    """Second of the recording and age of each step's temperature."""
    found = [step["observation"]["temperature_c"] for step in done.steps]
    return [None if one is None else (one[0], one[1]) for one in found]


# --- as it was recorded


@RATES
def test_an_epoch_shows_what_was_recorded_in_it(interval_s: float) -> None:
    letters = "WWLLDDRR?W12R"
    done = lived(night(letters, interval_s=interval_s), Scripted({}))
    assert done.shown == letters.replace("1", "L").replace("2", "L")
    fine = [step["epoch"]["fine"] for step in done.steps]
    assert fine[10:12] == ["n1", "n2"]
    assert all(
        step["epoch"]["coverage"] == 1.0 for step in done.steps if letters[step["step"]] != "?"
    )


@settings(max_examples=30)
@given(
    letters=st.text("WLDR?12", min_size=1, max_size=40),
    interval_s=st.sampled_from((1.0, 3.0, 30.0)),
    other=st.text("WLDR?", max_size=20),
)
def test_what_comes_later_in_the_recording_changes_no_earlier_observation(
    letters: str, interval_s: float, other: str
) -> None:
    def seen(whole: str) -> list[Observation]:
        agent = cue_at(3, 9, 21)
        lived(night(whole, interval_s=interval_s), agent, setting(0.0))
        return agent.seen[: len(letters)]

    assert seen(letters + other) == seen(letters)


class Heard(NamedTuple):
    """A sample and the loop time at which it was pushed."""

    t: float
    sample: Sample


async def played(
    known: RecordedNight, *, until_t: float, cue_t: float | None = None
) -> list[Heard]:
    """What a player pushes, with a cue that wakes."""
    table = WakeTable(ALWAYS, 4)
    sleeper = Sleeper(
        known.hidden, first_epoch=0, dice=Dice("a", 1), table=table, trace=Trace(MemorySink())
    )
    player = Player(
        known.info.streams,
        known.pages(0),
        shown=known.shown,
        sleeper=sleeper,
        dropped=lambda _: False,
    )
    clock = SessionClock(SessionStart(None))
    heard: list[Heard] = []
    async with player.pushing(lambda sample: heard.append(Heard(clock.t(), sample)), clock):
        if cue_t is not None:
            await clock.until(cue_t)
            sleeper.hear(Cue(1, CueKind.SOUND, Volume.LOW, "cat", 8.0), cue_t)
        await clock.until(until_t)
    return heard


def test_a_sample_arrives_at_its_time_and_in_order() -> None:
    known = night("WLDR", interval_s=0.5, extra=thermometer(4), streams=(ROOM,))
    heard = run_virtual(played(known, until_t=500.0))
    assert [one.sample for one in heard] == list(known.recording.samples())
    assert all(one.t == one.sample.t for one in heard)


def test_after_it_is_closed_nothing_arrives() -> None:
    heard = run_virtual(played(night("WLDR", interval_s=0.5), until_t=45.0))
    assert [one.t for one in heard] == [0.25 + 0.5 * k for k in range(90)]


def test_a_recording_needs_a_loop_on_virtual_time() -> None:
    with pytest.raises(PlayerError, match="VirtualTimeLoop"):
        asyncio.run(played(night("RRR"), until_t=1.0))


# --- wakings


@RATES
@pytest.mark.parametrize(
    ("latency_s", "shown"),
    [(0.0, "LLLRWWWWRRRLL"), (0.1, "LLLRRWWWWRRLL"), (25.0, "LLLRRWWWWRRLL")],
)
def test_a_waking_is_four_awake_epochs_from_the_first_boundary_at_or_after_delivery(
    latency_s: float, shown: str, interval_s: float
) -> None:
    known = night("LLLRRRRLL", interval_s=interval_s)
    done = lived(known, cue_at(3, latency_s=latency_s), waking_setting())
    assert done.shown == shown
    assert len(done.attempt.wakings) == 1
    assert all(step["epoch"]["coverage"] == 1.0 for step in done.steps)


def test_each_waking_makes_the_rest_of_the_night_120_seconds_later() -> None:
    letters = "L" * 12
    done = lived(timed(letters), cue_at(2, 9), waking_setting())
    assert len(done.steps) == len(letters) + 2 * 4
    assert done.shown == "LLL" + "WWWW" + "LLL" + "WWWW" + "L" * 6
    wakings = [0] * 3 + [1] * 4 + [1] * 3 + [2] * 4 + [2] * 6
    recorded = {
        step["step"]: told(done)[step["step"]]
        for step in done.steps
        if step["epoch"]["stage"] != "awake"
    }
    assert recorded == {k: (30.0 * k + 15.0 - 120.0 * wakings[k], 15.0) for k in recorded}


def test_before_the_recording_showed_wake_a_waking_is_a_gap_of_the_body() -> None:
    done = lived(timed("LLLLLL"), cue_at(2), waking_setting())
    assert told(done)[2:8] == [
        (75.0, 15.0), (75.0, 45.0), (75.0, 75.0), (75.0, 105.0), (75.0, 135.0), (105.0, 15.0),
    ]  # fmt: skip


def test_the_body_of_a_waking_is_the_last_stretch_of_the_recording_s_own_wake() -> None:
    letters = "WWWWWW" + "LL" + "WW" + "LL" + "L"
    done = lived(timed(letters), cue_at(11), waking_setting())
    # Epochs 2 to 5 are the last four of wake in a row; 8 and 9 are too short.
    assert done.shown == letters[:12] + "WWWW" + "L"
    assert told(done)[12:16] == [(75.0, 15.0), (105.0, 15.0), (135.0, 15.0), (165.0, 15.0)]


def test_what_is_shown_while_woken_has_no_counter_or_clock_of_the_recording() -> None:
    still = [
        Sample(Stream.MOVEMENT, 30.0 * k + 10.0, Movement(0.01), "strap", 500.0 + k, k)
        for k in range(9)
    ]
    info = StreamInfo(Stream.MOVEMENT, 30.0, "strap")
    known = night("WWWWLLLLL", extra=still, streams=(info,))
    heard = run_virtual(played(known, until_t=1000.0, cue_t=180.0))
    moved = [one.sample for one in heard if one.sample.stream is Stream.MOVEMENT]
    assert [s.t for s in moved] == [30.0 * k + 10.0 for k in range(13)]
    assert [s.seq for s in moved] == [0, 1, 2, 3, 4, 5, None, None, None, None, 6, 7, 8]
    assert [s.device_t is None for s in moved] == [s.seq is None for s in moved]
    labels = [one.sample for one in heard if one.sample.stream is Stream.STAGE]
    assert all(s.source == "band" for s in labels)


def test_cues_while_woken_break_their_rule_and_roll_nothing() -> None:
    known = night("L" * 12, interval_s=0.5)
    done = lived(known, cue_at(2, 3, 4, 5, 6, 7), waking_setting())
    found = done.deliveries()
    assert [found[step]["rules"] for step in (2, 3, 4, 5, 6, 7)] == [
        [], *[["cue_while_awake"]] * 4, [],
    ]  # fmt: skip
    assert [line["step"] for line in done.rolls()] == [2, 7]
    assert [line["cue"] for line in done.hidden if line.get("event") == "awake_already"] == [
        2, 3, 4, 5,
    ]  # fmt: skip


def test_a_second_cue_before_the_woken_sleeper_shows_it_wakes_nobody_twice() -> None:
    # Asked at step 2 with 29 s of thought: delivered at 119 s, awake from 120 s. Step 3 asks at
    # 120 s, before a label of that wake has come.
    script = {2: (29.0, SOFT), 3: SOFT}
    letters = "L" * 10
    done = lived(timed(letters), Scripted(script), waking_setting())
    assert len(done.attempt.wakings) == 1
    assert done.shown == "LLLL" + "WWWW" + "LLLLLL"
    assert done.attempt.ending == "night_end"
    assert done.hidden[-1]["inserted_epochs"] == 4
    assert told(done)[8] == (135.0, 15.0)


def test_the_night_grows_by_four_epochs_for_each_waking_up_to_its_very_end() -> None:
    done = lived(night("L" * 6), cue_at(5), waking_setting())
    assert (len(done.steps), done.attempt.ending) == (6, "night_end")
    done = lived(night("L" * 6), cue_at(4), waking_setting())
    assert (len(done.steps), done.shown) == (10, "LLLLLWWWWL")


# --- dropout and parts of a night


def test_a_dropped_step_loses_its_stage_alone() -> None:
    heart = [
        Sample(Stream.HEART_RATE, 30.0 * k + 5.0, HeartRate(60.0 + k), "strap") for k in range(8)
    ]
    known = night("LLLLRRRR", extra=heart, streams=(StreamInfo(Stream.HEART_RATE, 30.0, "strap"),))
    done = lived(known, Scripted({}), setting(dropout=1.0))
    assert done.shown == "?" * 8
    assert [step["observation"]["heart_rate_bpm"][0] for step in done.steps] == [
        60.0 + k for k in range(8)
    ]


def test_a_part_of_a_night_starts_at_zero_with_a_warm_history() -> None:
    letters = "WW" + "L" * 12 + "R" * 8 + "D" * 4
    heart = [
        Sample(Stream.HEART_RATE, t + 0.5, HeartRate(60.0, (1000.0 + 20.0 * (t % 2),)), "strap")
        for t in range(30 * len(letters))
    ]
    info = StreamInfo(Stream.HEART_RATE, 1.0, "strap")
    agent = Scripted({})
    known = night(letters, extra=heart, streams=(info,))
    done = lived(known, agent, setting(0.0, first_epoch=18, steps=3))
    first = agent.seen[0]
    assert [step["step"] for step in done.steps] == [0, 1, 2]
    assert [step["t"] for step in done.steps] == [30.0, 60.0, 90.0]
    assert done.shown == "RRR"
    assert first.clock_s == 39_600.0 + 18 * 30.0 + 30.0
    assert agent.sessions[0].start_clock_s == 39_600.0 + 18 * 30.0
    assert (first.minutes_in_stage, first.rem_epochs_in_row, first.rem_period) == (2.5, 5, 1)
    assert first.minutes_since_onset == 17 * 0.5
    assert (first.cues, first.minutes_since_cue, first.last_outcome) == ((), None, None)
    assert first.hrv_rmssd_ms is not None
    assert first.hrv_rmssd_ms.value == pytest.approx(20.0)
    assert done.trace[0]["night"]["first_epoch"] == 18


def test_a_part_shows_the_same_as_the_whole_night_does_there() -> None:
    letters = "WWLLLLDDRRRRRRLLRRWW"
    whole = lived(timed(letters), Scripted({}))
    part = lived(timed(letters), Scripted({}), setting(0.0, first_epoch=9))
    seen = (
        "stage",
        "minutes_in_stage",
        "rem_epochs_in_row",
        "rem_period",
        "temperature_c",
        "clock_s",
    )
    assert [[step["observation"][name] for name in seen] for step in part.steps] == [
        [step["observation"][name] for name in seen] for step in whole.steps[9:]
    ]


def test_wake_before_a_part_begins_can_be_its_own_wake() -> None:
    letters = "WWWW" + "LLLL"
    done = lived(timed(letters), cue_at(1), waking_setting(first_epoch=4))
    assert done.shown == "LL" + "WWWW" + "LL"
    assert [one[0] for one in told(done)[2:6] if one] == [15.0, 45.0, 75.0, 105.0]


# --- rolls, seen from outside


LOUDER = {Volume.LOW: 0, Volume.MEDIUM: 1, Volume.HIGH: 2}


def woken_at(letters: str, step: int, action: Action, scale: float, seed: int) -> bool:
    done = lived(night(letters), cue_at(step, action=action), setting(scale, seed=seed))
    return bool(done.attempt.wakings)


@settings(max_examples=30)
@given(
    letters=st.text("LDR", min_size=6, max_size=6),
    step=st.integers(0, 5),
    seed=st.integers(0, 10_000),
    scales=st.tuples(st.floats(0.0, 8.0), st.floats(0.0, 8.0)),
)
def test_louder_or_a_larger_scale_can_only_add_a_waking(
    letters: str, step: int, seed: int, scales: tuple[float, float]
) -> None:
    small, large = sorted(scales)
    table = [
        [woken_at(letters, step, PlaySound(volume), scale, seed) for volume in LOUDER]
        for scale in (small, large)
    ]
    for row in table:
        assert row == sorted(row)
    assert all(low <= high for low, high in zip(*table, strict=True))


def test_objects_roll_as_low_sounds_do() -> None:
    light = UseObject(BedsideObject.LIGHT)
    for seed in range(60):
        soft = woken_at("R" * 6, 2, SOFT, 4.0, seed)
        assert woken_at("R" * 6, 2, light, 4.0, seed) is soft


def rolls_by_step(agent: Scripted, **given_: Any) -> dict[int, float]:
    done = lived(night("L" * 10 + "R" * 30), agent, setting(**given_))
    return {line["step"]: line["value"] for line in done.rolls()}


@pytest.mark.parametrize("mode", list(Mode))
def test_the_same_step_of_the_same_task_meets_the_same_roll_whoever_cues(mode: Mode) -> None:
    def agents() -> Iterable[Scripted]:
        yield cue_at(4, 8, 12, 16, 20, 24, 28, 32)
        yield cue_at(8, 16, 24, 32, action=PlaySound(Volume.MEDIUM))
        yield Scripted(
            lambda step: (2.4, SOFT) if step % 4 == 0 else UseObject(BedsideObject.LIGHT)
        )
        yield cue_at(16, 24, action=PlaySound(Volume.HIGH), latency_s=20.0)

    found: dict[int, set[float]] = {}
    for scale in (0.0, 1.0, 4.0):
        for agent in agents():
            for step, value in rolls_by_step(agent, scale=scale, mode=mode).items():
                found.setdefault(step, set()).add(value)
    assert all(len(values) == 1 for values in found.values())
    assert len({next(iter(values)) for values in found.values()}) == len(found) > 8
