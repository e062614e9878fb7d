"""The five-minute timer. Epoch k ends at 30 (k + 1) s, so minute 5 is epoch 9."""

from dataclasses import replace

import pytest

from agents.fixed_timer import FixedTimer
from agents.types import Action, PlaySound, Wait
from devices.types import Volume
from tests.agents.timelines import SESSION, START_CLOCK_S, seen, sounds


async def at(agent: FixedTimer, *elapsed_s: float) -> list[Action]:
    return [await agent.decide(seen(clock_s=START_CLOCK_S + s)) for s in elapsed_s]


def timer(**settings: float) -> FixedTimer:
    agent = FixedTimer(**settings)
    agent.reset(SESSION)
    return agent


async def played(agent: FixedTimer, *elapsed_s: float) -> list[bool]:
    return [isinstance(action, PlaySound) for action in await at(agent, *elapsed_s)]


async def test_a_task_of_forty_steps_gets_four_sounds_at_minutes_5_10_15_and_20() -> None:
    assert await sounds(FixedTimer(), "R" * 40) == [9, 19, 29, 39]


@pytest.mark.parametrize("letters", ["W" * 40, "D" * 40, "?" * 40, "WLDR?" * 8])
async def test_the_stage_changes_nothing_not_even_its_absence(letters: str) -> None:
    assert await sounds(FixedTimer(), letters) == [9, 19, 29, 39]


async def test_a_night_of_960_steps_gets_96_sounds() -> None:
    assert await sounds(FixedTimer(), "L" * 960) == list(range(9, 960, 10))


async def test_a_step_that_never_came_delays_the_sound_to_the_next_step() -> None:
    assert await played(timer(), 270, 330, 360) == [False, True, False]


async def test_the_next_sound_after_a_delayed_one_keeps_to_the_clock() -> None:
    assert await played(timer(), 270, 330, 570, 600) == [False, True, False, True]


async def test_several_multiples_crossed_at_once_give_one_sound() -> None:
    assert await played(timer(), 270, 930, 960, 1170, 1200) == [False, True, False, False, True]


async def test_a_session_resumed_late_does_not_begin_with_a_sound() -> None:
    assert await played(timer(), 3150, 3180, 3300) == [False, False, True]


async def test_a_session_resumed_on_a_multiple_plays_it() -> None:
    assert await played(timer(), 3000) == [True]


async def test_the_very_start_of_a_session_is_no_multiple() -> None:
    assert await played(timer(), 0) == [False]


async def test_reset_forgets_the_sounds_of_an_earlier_session() -> None:
    agent = timer()
    await at(agent, 30, 300, 600)
    agent.reset(replace(SESSION, start_clock_s=START_CLOCK_S))
    assert await played(agent, 30, 270, 300) == [False, False, True]


async def test_elapsed_time_counts_from_the_session_not_from_noon() -> None:
    agent = FixedTimer()
    agent.reset(replace(SESSION, start_clock_s=START_CLOCK_S - 100.0))
    assert await played(agent, 170, 200) == [False, True]


async def test_a_start_that_is_no_round_number_loses_no_sound() -> None:
    start = 60_600.1
    agent = FixedTimer()
    agent.reset(replace(SESSION, start_clock_s=start))
    actions = [await agent.decide(seen(clock_s=start + 30.0 * k)) for k in range(1, 961)]
    assert sum(isinstance(action, PlaySound) for action in actions) == 96


async def test_reasons_carry_the_minutes() -> None:
    assert await at(timer(), 270, 300) == [
        Wait("next sound at 5 min of the session"),
        PlaySound(Volume.LOW, "5 min of the session are over"),
    ]


async def test_interval_and_volume_can_be_chosen() -> None:
    agent = FixedTimer(every_min=2.5, volume=Volume.MEDIUM)
    agent.reset(SESSION)
    assert await at(agent, 150) == [PlaySound(Volume.MEDIUM, "2.5 min of the session are over")]


@pytest.mark.parametrize("every_min", [0.0, -5.0, float("nan")])
def test_an_interval_that_is_no_time_is_refused(every_min: float) -> None:
    with pytest.raises(ValueError, match="every_min must be above 0"):
        FixedTimer(every_min)
