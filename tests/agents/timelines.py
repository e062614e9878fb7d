"""Small timelines of observations, written out by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from agents.types import (
    Action,
    Agent,
    GivenCue,
    Observation,
    PlaySound,
    Session,
    SessionKind,
)
from devices.types import CueKind, Stage, Volume

START_CLOCK_S = 60_600.0  # 04:50, as the seed's night
SESSION = Session(
    kind=SessionKind.NIGHT,
    start_clock_s=START_CLOCK_S,
    theme="a clock",
    memory="the clock in the hall ticked",
    lines=("the clock", "in the hall"),
)
STAGES = {"W": Stage.AWAKE, "L": Stage.LIGHT, "D": Stage.DEEP, "R": Stage.REM, "?": None}


def seen(**changes: object) -> Observation:
    """One minute into the session, awake, nothing given yet, nothing else known."""
    plain = Observation(
        clock_s=START_CLOCK_S + 60.0,
        session_kind=SessionKind.NIGHT,
        has_reading=True,
        stage=Stage.AWAKE,
        fine_stage=None,
        confidence=None,
        minutes_in_stage=1.0,
        rem_epochs_in_row=0,
        rem_period=0,
        cues_in_rem_period=0,
        minutes_since_onset=None,
        theme="a clock",
        memory="the clock in the hall ticked",
        lines=("the clock", "in the hall"),
        cues=(),
        minutes_since_cue=None,
        last_outcome=None,
        budget_left=40,
        volume_cap=Volume.LOW,
        reported_awake=False,
        paused_until_clock_s=None,
        minutes_to_wake=None,
    )
    return replace(plain, **changes)


def given(count: int, clock_s: float = START_CLOCK_S) -> tuple[GivenCue, ...]:
    return tuple(GivenCue(clock_s, CueKind.SOUND, Volume.LOW) for _ in range(count))


def decided(agent: Agent, observation: Observation) -> Action:
    return asyncio.run(_one(agent, observation))


async def _one(agent: Agent, observation: Observation) -> Action:
    return await agent.decide(observation)


async def sounds(agent: Agent, letters: Iterable[str]) -> list[int]:
    """The 0-based epochs at which the agent plays, when each of its sounds is played at once.

    Minutes in the stage are held over `?` and begin anew with another letter.
    """
    played: list[int] = []
    run, stage, in_row = 0, "", 0
    agent.reset(SESSION)
    for index, letter in enumerate(letters):
        if letter != "?":
            run, stage = (run + 1 if letter == stage else 1), letter
        in_row = in_row + 1 if letter == "R" else 0
        action = await agent.decide(
            seen(
                clock_s=START_CLOCK_S + 30.0 * (index + 1),
                has_reading=letter != "?",
                stage=STAGES[letter],
                minutes_in_stage=run / 2,
                rem_epochs_in_row=in_row,
                cues=given(len(played)),
                minutes_since_cue=(index - played[-1]) / 2 if played else None,
            )
        )
        if isinstance(action, PlaySound):
            played.append(index)
    return played
