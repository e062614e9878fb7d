"""One agent on one recorded night, or on a part of it: the same `Night` as at a bedside."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from agents.types import Agent, AsksOutside, Session, SessionKind
from bedside.call_log import LoggedOutside
from bedside.clock import SessionClock, SessionStart, clock_s
from bedside.configuration import default_toml
from bedside.night import Night, StepDone
from bedside.plan import Ending, NightPlan
from bedside.safety.gate import Mode
from bedside.safety.limits import PersonalLimits, Powers
from bedside.safety.words import OwnWords, own_words
from bedside.themes import Theme
from bedside.trace import SCHEMA, Trace
from devices.types import EPOCH_S, Volume
from replay.clock import run_virtual
from replay.player import WARM_EPOCHS, Player
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.rolls import Dice, RollStream, roll_night
from replay.room import SilentRoom
from replay.sleeper import Sleeper, Waking
from replay.wake_rule import WakeTable

if TYPE_CHECKING:
    from replay.outside import HeldOutside


@dataclass(frozen=True, slots=True)
class Setting:
    """What an attempt is made under; with the night and the agent it settles every byte.

    first_epoch, steps: the part of the recording; steps None: to its end.
    dropout: chance that a step loses its stage readings. ends_at_stop: an agent's Stop ends it.
    stable_deep: end after so many DEEP readings in a row; None: never.
    charges: latencies (s) of outside calls by number, from an earlier trace; None: measure.
    """

    theme: Theme
    wake_table: WakeTable
    seed: int = 1
    mode: Mode = Mode.OBSERVE
    first_epoch: int = 0
    steps: int | None = None
    dropout: float = 0.0
    ends_at_stop: bool = False
    stable_deep: int | None = None
    charges: Mapping[int, float] | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """How it went; the evidence is in the trace and the hidden trace."""

    ending: Ending
    wakings: tuple[Waking, ...]


def attempt(
    night: RecordedNight,
    agent: Agent,
    setting: Setting,
    *,
    session_id: str,
    trace: Trace,
    hidden: Trace,
    speed: float | None = None,
    progress: Report | None = None,
) -> Attempt:
    """Run one attempt on virtual time; both traces are complete when it returns."""
    work = _attempt(night, agent, setting, session_id, trace, hidden, progress)
    return run_virtual(work, speed=speed)


async def _attempt(
    night: RecordedNight,
    agent: Agent,
    setting: Setting,
    session_id: str,
    trace: Trace,
    hidden: Trace,
    progress: Report | None,
) -> Attempt:
    plan = _plan(night, setting, session_id)
    dice = Dice(roll_night(night.stage4_sha256, setting.first_epoch), setting.seed)
    clock = SessionClock(_start(night))
    hidden.line("header", _hidden_header(plan, setting, dice))
    sleeper = Sleeper(
        night.hidden,
        first_epoch=setting.first_epoch,
        dice=dice,
        table=setting.wake_table,
        trace=hidden,
    )
    dropout = _Dropout(dice, setting.dropout, hidden)
    player = Player(
        night.info.streams,
        night.pages(max(0, setting.first_epoch - WARM_EPOCHS)),
        shown=night.shown,
        sleeper=sleeper,
        dropped=dropout.drops,
        first_epoch=setting.first_epoch,
    )
    with ExitStack() as closing:
        held = _held_outside(agent, setting, closing)
        ending = await Night(
            plan,
            clock=clock,
            sources=(player,),
            actuators=(SilentRoom(sleeper),),
            agent=agent,
            outside=None if held is None else LoggedOutside(held, trace, clock),
            trace=trace,
            ended=_Endings(night, setting, sleeper, progress),
        ).run()
    if held is not None and held.fault is not None:
        raise held.fault
    sleeper.close(clock.t())
    return Attempt(ending, tuple(sleeper.wakings))


def _held_outside(agent: Agent, setting: Setting, closing: ExitStack) -> HeldOutside | None:
    """The way out for an agent that needs one; loaded only then."""
    if not isinstance(agent, AsksOutside):
        return None
    from bedside.agent_process import services_for
    from bedside.outside import SecondLoop
    from replay.outside import HeldOutside

    second = closing.enter_context(SecondLoop())
    return HeldOutside(services_for(agent), charges=setting.charges, second=second)


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
    """Whether a step loses its stage readings, by a seeded roll."""

    def __init__(self, dice: Dice, chance: float, hidden: Trace) -> None:
        self._dice = dice
        self._chance = chance
        self._hidden = hidden

    def drops(self, step: int) -> bool:
        if not self._chance or self._dice.roll(RollStream.DROPOUT, step) >= self._chance:
            return False
        self._hidden.line("event", {"t": step * EPOCH_S, "event": "dropout", "step": step})
        return True


def _start(night: RecordedNight) -> SessionStart:
    return SessionStart(night.info.start_wall_ns, night.info.utc_offset_s or 0)


def _plan(night: RecordedNight, setting: Setting, session_id: str) -> NightPlan:
    theme, start = setting.theme, _start(night)
    personal = PersonalLimits(volume_cap=Volume.MEDIUM, powers=Powers.MEDIUM)
    session = Session(
        kind=SessionKind.NIGHT,
        start_clock_s=clock_s(start) + setting.first_epoch * EPOCH_S,
        theme=theme.name,
        memory=theme.memory,
        lines=theme.lines,
        volume_cap=personal.volume_cap or Volume.LOW,
        cue_budget=personal.cue_budget,
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
    return {
        "schema": SCHEMA,
        "session": plan.session_id,
        "seed": setting.seed,
        "roll_night": dice.night,
        "wake_table": {stage: dict(chances) for stage, chances in table.chances.items()},
        "wake_scale": table.scale,
        "dropout": setting.dropout,
    }
