"""A contract test for anybody's agent: a plain coroutine, no test library needed.

    from agents.testing import check_agent

    async def test_my_agent():
        await check_agent(MyAgent)

A broken promise is an AssertionError that begins with the promise's name.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from typing import Final, NoReturn

from agents.types import (
    Action,
    Agent,
    AgentError,
    AsksOutside,
    GivenCue,
    Observation,
    Outside,
    PlaySound,
    Reading,
    Session,
    SessionKind,
    Whisper,
)
from agents.wire import checked_action
from devices.types import EPOCH_S, CueKind, OutcomeStatus, Stage, Volume

SESSION: Final = Session(
    kind=SessionKind.NIGHT,
    start_clock_s=39_600.0,
    theme="the sea",
    memory="we swam out to the rocks and the water was warm",
    lines=("the sea", "the rocks", "the water was warm"),
)
"""A night that begins at 23:00."""

STAGES: Final = "WWWW?WLLLLLLLLLLLDDDDDDDDLLRRRRRRRR?RRRRRRRRLLLLDDDDLLRRRRRRRRRRRRRRRR??RRWWLLRR"
"""A short night, one letter an epoch: W awake, L light, D deep, R REM, ? no reading."""


class Promise(StrEnum):
    """What an agent promises, by the name a failure begins with."""

    NAMED = "named"
    RESETS = "resets"
    DECIDES = "decides"
    ACTS = "acts"
    WHISPERS_OWN_LINES = "whispers_own_lines"
    REPEATS = "repeats"
    FORGETS = "forgets"
    LEAVES_NO_TASKS = "leaves_no_tasks"


async def check_agent(
    make_agent: Callable[[], Agent],
    *,
    outside: Outside | None = None,
    session: Session = SESSION,
    decide_s: float = 25.0,
    own_lines: bool = True,
    repeats: bool = True,
) -> None:
    """Let new agents decide a short night and check what an agent promises.

    outside: for agents that ask outside. decide_s: longest decision.
    own_lines: every whisper is one of the session's lines, as it must be in a live night.
    repeats: the same night gives the same actions; false for agents that ask a model.
    """
    before = asyncio.all_tasks()
    first = _made(make_agent, outside)
    actions = await _night(first, session, decide_s)
    if own_lines:
        _keep_own_lines(actions, session)
    if repeats:
        fresh = await _night(_made(make_agent, outside), session, decide_s)
        _keep_same(fresh, actions, Promise.REPEATS, "a second agent in the same night")
        again = await _night(first, session, decide_s)
        _keep_same(again, actions, Promise.FORGETS, "the same agent after a new reset")
    await asyncio.sleep(0)
    left = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    _keep(not left, Promise.LEAVES_NO_TASKS, f"still running: {', '.join(left)}")


def sample_observations(
    session: Session = SESSION, stages: str = STAGES, cued: Iterable[int] = ()
) -> tuple[Observation, ...]:
    """What an agent would see in a night of these stages; `cued`: epochs answered with a sound.

    The second half has body and room readings; a pause, a report of being awake and an empty
    budget each come for one epoch near the end.
    """
    night = _Night(session)
    answered = frozenset(cued)
    seen = []
    for index, letter in enumerate(stages):
        observation = night.close(index, letter)
        seen.append(_varied(observation, index, len(stages)))
        if index in answered:
            night.cue(observation.clock_s)
    return tuple(seen)


def _made(make_agent: Callable[[], Agent], outside: Outside | None) -> Agent:
    agent = make_agent()
    name = getattr(agent, "name", None)
    _keep(isinstance(name, str) and bool(name), Promise.NAMED, f"its name is {name!r}")
    _keep(callable(getattr(agent, "reset", None)), Promise.RESETS, "it has no reset(session)")
    decide = getattr(agent, "decide", None)
    _keep(inspect.iscoroutinefunction(decide), Promise.DECIDES, "decide must be `async def decide`")
    if isinstance(agent, AsksOutside):
        if outside is None:
            _broken(Promise.DECIDES, "it asks outside: hand check_agent an outside=")
        agent.connect(outside)
    return agent


async def _night(agent: Agent, session: Session, decide_s: float) -> list[Action]:
    try:
        answer: object = agent.reset(session)  # type: ignore[func-returns-value]
    except Exception as error:
        _broken(Promise.RESETS, f"reset raised {error!r}")
    if inspect.iscoroutine(answer):
        answer.close()
        _broken(Promise.RESETS, "reset must be `def reset`, not async")
    night = _Night(session)
    return [
        await _step(agent, night, index, letter, decide_s) for index, letter in enumerate(STAGES)
    ]


async def _step(agent: Agent, night: _Night, index: int, letter: str, decide_s: float) -> Action:
    observation = _varied(night.close(index, letter), index, len(STAGES))
    action = await _decided(agent, observation, decide_s)
    if isinstance(action, PlaySound | Whisper):
        night.cue(observation.clock_s)
    return action


async def _decided(agent: Agent, observation: Observation, decide_s: float) -> Action:
    at = f"at {observation.clock_s:.0f} s with the stage {observation.stage}"
    try:
        async with asyncio.timeout(decide_s):
            answer = await agent.decide(observation)
    except TimeoutError:
        _broken(Promise.DECIDES, f"no answer within {decide_s:g} s {at}")
    except Exception as error:
        _broken(Promise.DECIDES, f"decide raised {error!r} {at}")
    try:
        return checked_action(answer)
    except AgentError as error:
        _broken(Promise.ACTS, f"{error}, {at}")


class _Night:
    """The observations of a night as its epochs close; hand-made, no part of the live path."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stage: Stage | None = None
        self._epochs_in_stage = 0
        self._rem_in_row = 0
        self._asleep_in_row = 0
        self._onset: int | None = None
        self._last_rem: int | None = None
        self._period = 0
        self._cues: tuple[GivenCue, ...] = ()
        self._cues_in_period = 0

    def cue(self, clock_s: float) -> None:
        self._cues += (GivenCue(clock_s, CueKind.SOUND, Volume.LOW),)
        self._cues_in_period += 1

    def close(self, index: int, letter: str) -> Observation:
        stage = _STAGES[letter]
        self._count(index, stage)
        session, clock_s = self._session, self._session.start_clock_s + EPOCH_S * (index + 1)
        last_s = self._cues[-1].clock_s if self._cues else None
        onset = self._onset
        wake_s = session.planned_wake_clock_s
        return Observation(
            clock_s=clock_s,
            session_kind=session.kind,
            has_reading=stage is not None,
            stage=stage,
            fine_stage=None,
            confidence=None if stage is None else 0.9,
            minutes_in_stage=self._epochs_in_stage * EPOCH_S / 60,
            rem_epochs_in_row=self._rem_in_row,
            rem_period=self._period,
            cues_in_rem_period=self._cues_in_period,
            minutes_since_onset=None if onset is None else (index + 1 - onset) * EPOCH_S / 60,
            theme=session.theme,
            memory=session.memory,
            lines=session.lines,
            cues=self._cues,
            minutes_since_cue=None if last_s is None else (clock_s - last_s) / 60,
            last_outcome=OutcomeStatus.CONFIRMED if self._cues else None,
            budget_left=max(0, session.cue_budget - len(self._cues)),
            volume_cap=session.volume_cap,
            reported_awake=False,
            paused_until_clock_s=None,
            minutes_to_wake=None if wake_s is None else (wake_s - clock_s) / 60,
            digest=session.digest,
        )

    def _count(self, index: int, stage: Stage | None) -> None:
        asleep = stage is not None and stage.is_sleep
        self._asleep_in_row = self._asleep_in_row + 1 if asleep else 0
        if self._onset is None and self._asleep_in_row == 10:
            self._onset = index - 9
        if stage is not None:
            self._epochs_in_stage = self._epochs_in_stage + 1 if stage is self._stage else 1
            self._stage = stage
        self._rem_in_row = self._rem_in_row + 1 if stage is Stage.REM else 0
        if stage is Stage.REM:
            if self._last_rem is None or index - self._last_rem > 31:
                self._period += 1
                self._cues_in_period = 0
            self._last_rem = index


_STAGES: Final = {
    "W": Stage.AWAKE,
    "L": Stage.LIGHT,
    "D": Stage.DEEP,
    "R": Stage.REM,
    "?": None,
}


def _varied(observation: Observation, index: int, epochs: int) -> Observation:
    """The things that happen now and then, each at a fixed place of the night."""
    from_end = epochs - index
    if from_end == 12:
        return replace(observation, reported_awake=True)
    if from_end == 10:
        return replace(observation, paused_until_clock_s=observation.clock_s + 600.0)
    if from_end == 8:
        return replace(observation, budget_left=0, last_outcome=OutcomeStatus.FAILED)
    if from_end < epochs // 2:
        return replace(
            observation,
            heart_rate_bpm=Reading(58.0, 1.0, "strap"),
            movement_g=Reading(0.01, 0.5, "headband"),
            still_s=240.0,
            noise_dba=Reading(31.0, 20.0, "room"),
        )
    return observation


def _keep_own_lines(actions: Iterable[Action], session: Session) -> None:
    for action in actions:
        if isinstance(action, Whisper) and action.line not in session.lines:
            _broken(Promise.WHISPERS_OWN_LINES, f"{action.line!r} is none of the session's lines")


def _keep_same(found: list[Action], expected: list[Action], promise: Promise, who: str) -> None:
    for index, (one, other) in enumerate(zip(found, expected, strict=True)):
        _keep(one == other, promise, f"{who} did {one!r} at epoch {index}, before {other!r}")


def _keep(kept: bool, promise: Promise, detail: str) -> None:
    if not kept:
        _broken(promise, detail)


def _broken(promise: Promise, detail: str) -> NoReturn:
    raise AssertionError(f"{promise}: {detail}")
