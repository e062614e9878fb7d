"""The seed's rem_rule: after 3 minutes of REM (6 epochs), then every 2 minutes (4 epochs)."""

import pytest

from agents.rem_rule import RemRule
from agents.types import PlaySound, Wait
from devices.types import Stage, Volume
from tests.agents.timelines import seen, sounds


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("RRRRR", []),
        ("RRRRRR", [5]),
        ("R" * 20, [5, 9, 13, 17]),
        # The run begins anew after another stage: 6 REM epochs again.
        ("RRRRRRR" + "L" + "RRRRRR", [5, 13]),
        # Never outside REM, however long.
        ("W" * 20 + "L" * 20 + "D" * 20, []),
        # A gap neither counts nor resets: the 6th REM reading is epoch 7.
        ("RRR??RRR", [7]),
        # A cue that falls due in a gap waits for the next reading.
        ("RRRRRR" + "RRR" + "??" + "R", [5, 11]),
        # No cue on a step without reading, even if every condition holds.
        ("RRRRRR" + "????????", [5]),
        # A cue of an earlier run, 4 epochs ago, does not make this one wait or hurry.
        ("RRRRRR" + "L" + "RRRRRR" + "RRRR", [5, 12, 16]),
    ],
)
async def test_sounds_by_hand(letters: str, expected: list[int]) -> None:
    assert await sounds(RemRule(), letters) == expected


async def test_a_run_of_an_hour_gets_a_sound_every_two_minutes_from_the_third() -> None:
    assert await sounds(RemRule(), "R" * 120) == list(range(5, 120, 4))


async def test_milliseconds_between_decision_and_sound_do_not_cost_an_epoch() -> None:
    late = seen(stage=Stage.REM, minutes_in_stage=5.0, minutes_since_cue=1.996)
    assert isinstance(await RemRule().decide(late), PlaySound)


async def test_a_minute_and_a_half_is_not_yet_two() -> None:
    early = seen(stage=Stage.REM, minutes_in_stage=4.5, minutes_since_cue=1.5)
    assert isinstance(await RemRule().decide(early), Wait)


async def test_a_cue_at_the_very_start_of_the_run_was_given_before_it() -> None:
    before = seen(stage=Stage.REM, minutes_in_stage=3.0, minutes_since_cue=3.0)
    assert (await RemRule().decide(before)).reason == "REM for 3.0 min, no cue yet in this run"


async def test_with_a_first_minute_shorter_than_the_gap_an_older_run_counts_for_nothing() -> None:
    rule = RemRule(first_min=1.0)
    assert await sounds(rule, "RR" + "L" + "RR") == [1, 4]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"stage": Stage.DEEP}, "the stage is deep, not rem"),
        ({"stage": None, "has_reading": False}, "no reading, so no cue"),
        ({"minutes_in_stage": 2.5}, "REM for 2.5 min, first sound at 3"),
        ({"minutes_in_stage": 3.0}, "REM for 3.0 min, no cue yet in this run"),
        ({"minutes_since_cue": 0.5}, "REM for 5.0 min, last cue 0.5 min ago, next at 2"),
        ({"minutes_since_cue": 2.0}, "REM for 5.0 min, last cue 2.0 min ago"),
    ],
)
async def test_reasons_carry_the_numbers(changes: dict[str, object], reason: str) -> None:
    observation = seen(**{"stage": Stage.REM, "minutes_in_stage": 5.0, **changes})
    assert (await RemRule().decide(observation)).reason == reason


async def test_the_sound_is_low_unless_chosen_otherwise() -> None:
    due = seen(stage=Stage.REM, minutes_in_stage=3.0)
    low, high = await RemRule().decide(due), await RemRule(volume=Volume.HIGH).decide(due)
    assert isinstance(low, PlaySound)
    assert low.volume is Volume.LOW
    assert isinstance(high, PlaySound)
    assert high.volume is Volume.HIGH
