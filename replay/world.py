"""The world of one attempt: a recorded night, its hidden sleeper and a room, built from a seed.

Whoever plays it (an agent in the loop, a Gymnasium step, a branch) plays the same `Night`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

from agents.types import Agent, Outside, Session, SessionKind
from bedside.clock import SessionClock, SessionStart, clock_s
from bedside.configuration import default_toml
from bedside.night import Night, StepDone
from bedside.plan import Ending, NightPlan
from bedside.safety.limits import PersonalLimits, Powers
from bedside.safety.words import OwnWords, own_words
from bedside.themes import Theme
from bedside.trace import SCHEMA, Trace
from devices.ports import Actuator, Source
from devices.types import EPOCH_S, Volume
from replay.conditions import PLAIN, PersonAct
from replay.faults.labels import label_path
from replay.faults.stop_press import StopPress
from replay.faults.strikes import Faults
from replay.player import WARM_EPOCHS, Player
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.rolls import Dice, RollStream, roll_night
from replay.room import FaultyRoom, SilentRoom
from replay.setting import Setting
from replay.sleeper import Sleeper, Waking


class HiddenSleeper(Protocol):
    """Who sleeps in a world, and what nobody may see before it is over."""

    @property
    def wakings(self) -> list[Waking]: ...

    def close(self, t: float) -> None:
        """Write the truth and the end of the hidden trace."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """Everything of an attempt but the agent and the trace. Plays once."""

    plan: NightPlan
    clock: SessionClock
    dice: Dice
    sources: tuple[Source, ...]
    actuators: tuple[Actuator, ...]
    sleeper: HiddenSleeper
    ended: Callable[[StepDone], Ending | None]

    def night(self, agent: Agent, trace: Trace, outside: Outside | None = None) -> Night:
        """The night that this world plays with this agent."""
        return Night(
            self.plan,
            clock=self.clock,
            sources=self.sources,
            actuators=self.actuators,
            agent=agent,
            outside=outside,
            trace=trace,
            ended=self.ended,
        )


def recorded_world(
    night: RecordedNight,
    setting: Setting,
    *,
    session_id: str,
    hidden: Trace,
    progress: Report | None = None,
) -> World:
    """A recorded night under a setting; the head of the hidden trace is written here.

    To be called on the loop that plays it.
    """
    plan = _plan(night, setting, session_id)
    dice = Dice(roll_night(night.stage4_sha256, setting.first_epoch), setting.seed)
    faults = Faults(setting.condition, dice)
    hidden.line("header", _hidden_header(plan, setting, dice))
    _say_before(faults, hidden)
    sleeper = Sleeper(
        night.hidden,
        first_epoch=setting.first_epoch,
        dice=dice,
        table=setting.wake_table,
        trace=hidden,
    )
    player = Player(
        night.info.streams,
        night.pages(max(0, setting.first_epoch - WARM_EPOCHS)),
        shown=night.shown,
        sleeper=sleeper,
        dropped=_Dropout(faults, setting.dropout, hidden).drops,
        first_epoch=setting.first_epoch,
        labels=label_path(faults, hidden),
    )
    stop_t = faults.stop_t
    return World(
        plan=plan,
        clock=SessionClock(_start(night)),
        dice=dice,
        sources=(player,) if stop_t is None else (player, StopPress(stop_t, hidden)),
        actuators=(_room(sleeper, faults, hidden),),
        sleeper=sleeper,
        ended=_Endings(night, setting, sleeper, progress),
    )


class _Endings:
    """When an attempt is over."""

    def __init__(
        self,
        night: RecordedNight,
        setting: Setting,
        sleeper: Sleeper,
        progress: Report | None,
    ) -> None:
        self._steps = setting.steps or night.epochs
        self._progress = progress
        self._recorded_s = night.epochs * EPOCH_S
        self._setting = setting
        self._sleeper = sleeper

    def __call__(self, done: StepDone) -> Ending | None:
        if self._progress is not None:
            self._progress(min(done.step + 1, self._steps), self._steps, "")
        setting = self._setting
        if setting.ends_at_stop and done.stopped:
            return Ending.AGENT_STOP
        if setting.stable_deep is not None and done.history.deep_in_row >= setting.stable_deep:
            return Ending.STABLE_DEEP
        if setting.steps is not None and done.step + 1 >= setting.steps:
            return Ending.STEP_LIMIT
        if self._sleeper.recorded_s((done.step + 1) * EPOCH_S) >= self._recorded_s:
            return Ending.NIGHT_END if setting.steps is None else Ending.RECORDING_EXHAUSTED
        return None


class _Dropout:
    """Whether a step loses its stage readings, by a seeded roll or in a burst."""

    def __init__(self, faults: Faults, chance: float, hidden: Trace) -> None:
        self._dice = faults.dice
        self._burst = faults.burst
        self._chance = chance
        self._hidden = hidden

    def drops(self, step: int) -> bool:
        if step not in self._burst and not self._rolled(step):
            return False
        self._hidden.line("event", {"t": step * EPOCH_S, "event": "dropout", "step": step})
        return True

    def _rolled(self, step: int) -> bool:
        return bool(self._chance) and self._dice.roll(RollStream.DROPOUT, step) < self._chance


def _room(sleeper: Sleeper, faults: Faults, hidden: Trace) -> SilentRoom:
    if faults.condition.actuator is None:
        return SilentRoom(sleeper)
    return FaultyRoom(sleeper, faults, hidden)


def _say_before(faults: Faults, hidden: Trace) -> None:
    """Note what went wrong before the session began."""
    act = faults.condition.person
    if act is not None and act is not PersonAct.STOP_PRESSED:
        hidden.line("event", {"t": 0.0, "event": "fault", "fault": act})


def _start(night: RecordedNight) -> SessionStart:
    return SessionStart(night.info.start_wall_ns, night.info.utc_offset_s or 0)


def _plan(night: RecordedNight, setting: Setting, session_id: str) -> NightPlan:
    theme, start = _told(setting), _start(night)
    personal = PersonalLimits(volume_cap=Volume.MEDIUM, powers=Powers.MEDIUM)
    session = Session(
        kind=SessionKind.NIGHT,
        start_clock_s=clock_s(start) + setting.first_epoch * EPOCH_S,
        theme=theme.name,
        memory=theme.memory or None,
        lines=theme.lines,
        volume_cap=personal.volume_cap or Volume.LOW,
        cue_budget=personal.cue_budget,
        digest=setting.digest,
    )
    return NightPlan(
        session_id=session_id,
        session=session,
        mode=setting.mode,
        personal=personal,
        words=_words(theme),
        sound_s=theme.sound_s,
        history=night.history_before(setting.first_epoch),
        start_assumed=start.assumed,
        night=_night(night, setting),
    )


def _told(setting: Setting) -> Theme:
    """The theme as the person left it: without a memory there are no lines of it either."""
    if setting.condition.person is not PersonAct.NO_MEMORY:
        return setting.theme
    return replace(setting.theme, memory="", lines=())


@cache
def _words(theme: Theme) -> OwnWords:
    table = default_toml("words")
    return own_words(theme.memory, theme.lines, theme.name, table, language=theme.language)


def _night(night: RecordedNight, setting: Setting) -> Mapping[str, Any]:
    info = night.info
    return {
        "id": info.night_id,
        "kind": info.kind,
        "origin": info.origin,
        "synthetic": info.synthetic,
        "first_epoch": setting.first_epoch,
    }


def _hidden_header(plan: NightPlan, setting: Setting, dice: Dice) -> Mapping[str, Any]:
    table = setting.wake_table
    condition = setting.condition
    return {
        "schema": SCHEMA,
        "session": plan.session_id,
        "seed": setting.seed,
        "roll_night": dice.night,
        "wake_table": {stage: dict(chances) for stage, chances in table.chances.items()},
        "wake_scale": table.scale,
        "dropout": setting.dropout,
        **({} if condition == PLAIN else {"condition": condition.name}),
    }
