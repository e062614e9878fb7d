"""The live default, condition by condition, at its edge and one step inside it."""

from typing import Any

import pytest
from hypothesis import given as generated
from hypothesis import strategies as st

from agents.gentle_rule import GentleRule
from agents.types import Action, Observation, PlaySound, Wait
from devices.types import Stage, Volume
from tests.agents.timelines import START_CLOCK_S, decided, given, seen

CLOCK_S = START_CLOCK_S + 4 * 3600.0


def ripe(**changes: object) -> Observation:
    """Every condition of the rule holds at its edge: one more step back and it would wait."""
    plain = {
        "clock_s": CLOCK_S,
        "stage": Stage.REM,
        "confidence": 0.6,
        "minutes_in_stage": 5.0,
        "rem_epochs_in_row": 2,
        "rem_period": 2,
        "cues_in_rem_period": 2,
        "minutes_since_onset": 100.0,
        "cues": given(9),
        "minutes_since_cue": 4.0,
        "budget_left": 1,
        "still_s": 60.0,
    }
    return seen(**{**plain, **changes})


async def test_it_plays_low_when_every_condition_just_holds() -> None:
    assert await GentleRule().decide(ripe()) == PlaySound(
        Volume.LOW, "REM period 2, REM for 5.0 min, still for 60 s, cue 3 of this period"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"has_reading": False, "stage": None}, "no reading, so no cue"),
        ({"stage": Stage.AWAKE}, "the stage is awake, not rem"),
        ({"stage": Stage.LIGHT}, "the stage is light, not rem"),
        ({"stage": Stage.DEEP}, "the stage is deep, not rem"),
        ({"minutes_in_stage": 4.5}, "REM for 4.5 min, 5 needed"),
        ({"rem_epochs_in_row": 1}, "REM epochs in a row: 1, 2 needed"),
        ({"rem_period": 1}, "REM period 1, asleep for 100 min: too early"),
        (
            {"rem_period": 1, "minutes_since_onset": 179.5},
            "REM period 1, asleep for 180 min: too early",
        ),
        (
            {"rem_period": 1, "minutes_since_onset": None},
            "REM period 1, not yet asleep: too early",
        ),
        ({"confidence": 0.59}, "confidence 0.59, 0.6 needed"),
        ({"confidence": float("nan")}, "confidence nan, 0.6 needed"),
        ({"still_s": 59.0}, "moved 59 s ago, 60 s of stillness needed"),
        ({"still_s": float("nan")}, "moved nan s ago, 60 s of stillness needed"),
        ({"minutes_since_cue": 3.5}, "last cue 3.5 min ago, 4 apart"),
        ({"cues_in_rem_period": 3}, "3 cues in this period, 3 at most"),
        ({"cues": given(10)}, "10 cues this session, 10 at most"),
        ({"budget_left": 0}, "no cue is left in the budget"),
        ({"reported_awake": True}, "the sleeper reported being awake"),
        ({"paused_until_clock_s": CLOCK_S + 90.0}, "paused for another 1.5 min"),
    ],
)
async def test_it_waits_when_one_condition_does_not_hold(
    changes: dict[str, Any], reason: str
) -> None:
    assert await GentleRule().decide(ripe(**changes)) == Wait(reason)


@pytest.mark.parametrize(
    "changes",
    [
        {"rem_period": 1, "minutes_since_onset": 180.0},
        {"rem_period": 2, "minutes_since_onset": None},
        {"rem_period": 5},
        {"confidence": None},
        {"confidence": 1.0},
        {"minutes_since_cue": None, "cues": (), "cues_in_rem_period": 0},
        {"paused_until_clock_s": CLOCK_S},
        {"memory": None, "lines": ()},
    ],
)
async def test_it_plays_where_a_condition_is_met_the_other_way(changes: dict[str, Any]) -> None:
    assert isinstance(await GentleRule().decide(ripe(**changes)), PlaySound)


async def test_unknown_movement_passes_and_the_reason_says_so() -> None:
    action = await GentleRule().decide(ripe(still_s=None))
    assert isinstance(action, PlaySound)
    assert "movement unknown" in action.reason


async def test_what_the_person_said_is_told_before_anything_else() -> None:
    action = await GentleRule().decide(ripe(reported_awake=True, stage=Stage.AWAKE))
    assert action.reason == "the sleeper reported being awake"


async def test_it_never_asks_above_the_volume_cap() -> None:
    loud = GentleRule(volume=Volume.HIGH)
    for cap in Volume:
        action = await loud.decide(ripe(volume_cap=cap))
        assert isinstance(action, PlaySound)
        assert action.volume is cap


async def test_it_never_asks_above_low_by_default() -> None:
    action = await GentleRule().decide(ripe(volume_cap=Volume.HIGH))
    assert isinstance(action, PlaySound)
    assert action.volume is Volume.LOW


async def test_a_long_late_rem_period_gets_three_sounds_four_minutes_apart() -> None:
    """40 min of REM in period 2: minute 5, 9 and 13, then the period has had its three."""
    played: list[float] = []
    for half_minutes in range(1, 81):
        minutes = half_minutes / 2
        action = await GentleRule().decide(
            ripe(
                minutes_in_stage=minutes,
                rem_epochs_in_row=half_minutes,
                cues=given(len(played)),
                cues_in_rem_period=len(played),
                minutes_since_cue=minutes - played[-1] if played else None,
            )
        )
        if isinstance(action, PlaySound):
            played.append(minutes)
    assert played == [5.0, 9.0, 13.0]


def safe_by_the_text(seen: Observation) -> bool:
    """The rule once more, straight from its wording."""
    return (
        seen.has_reading
        and seen.stage == "rem"
        and (seen.rem_period >= 2 or (seen.minutes_since_onset or 0) / 60 >= 3)
        and seen.minutes_in_stage >= 5
        and seen.rem_epochs_in_row >= 2
        and (seen.confidence is None or seen.confidence >= 0.6)
        and (seen.still_s is None or seen.still_s >= 60)
        and (seen.minutes_since_cue is None or seen.minutes_since_cue >= 4)
        and seen.cues_in_rem_period < 3
        and len(seen.cues) < 10
        and seen.budget_left > 0
        and not seen.reported_awake
        and not (seen.paused_until_clock_s or 0) > seen.clock_s
    )


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "stage": st.sampled_from([Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM]),
        "has_reading": st.booleans(),
        "confidence": st.none() | st.floats(0, 1),
        "minutes_in_stage": st.integers(1, 40).map(lambda epochs: epochs / 2),
        "rem_epochs_in_row": st.integers(0, 5),
        "rem_period": st.integers(0, 4),
        "cues_in_rem_period": st.integers(0, 5),
        "minutes_since_onset": st.none() | st.integers(0, 960).map(lambda epochs: epochs / 2),
        "cues": st.integers(0, 12).map(given),
        "minutes_since_cue": st.none() | st.floats(0, 30),
        "budget_left": st.integers(0, 3),
        "still_s": st.none() | st.floats(0, 300),
        "reported_awake": st.booleans(),
        "paused_until_clock_s": st.none() | st.floats(CLOCK_S - 600, CLOCK_S + 600),
    },
)


@generated(CHANGES)
def test_it_plays_exactly_when_the_wording_allows(changes: dict[str, Any]) -> None:
    observation = ripe(**changes)
    action: Action = decided(GentleRule(), observation)
    assert isinstance(action, PlaySound) == safe_by_the_text(observation)
