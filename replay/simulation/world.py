"""The world of a simulated night: a headband whose stages are made as the night goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from bedside.night import StepDone
from bedside.plan import Ending
from bedside.recording import MemoryRecording, RecordingInfo
from bedside.trace import SCHEMA, MemorySink, Trace
from devices.types import PaprikaError
from replay.conditions import PLAIN
from replay.overlays.confusion import Device, Overlay
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.rolls import Dice, roll_night
from replay.room import SilentRoom
from replay.setting import Setting
from replay.simulation.answers import Answers, ThemeModel, bundled_answers, bundled_theme_model
from replay.simulation.headband import KIND, STREAMS, Dropout, SimulatedHeadband
from replay.simulation.profiles import as_toml
from replay.simulation.sleep import Profile
from replay.simulation.sleeper import SimulatedSleeper
from replay.world import World, recorded_world

EPOCHS: Final = 960
"""Eight hours."""
NOTE: Final = "SIMULATION: no person slept this night"


class SimulationError(PaprikaError):
    """A setting that a simulated night cannot have; the message names it."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """One night of a simulated sleeper.

    number: which of the sleeper's nights. presence: of the theme, left from the evening before.
    overlay: the device that shows the stages; None: it shows the truth.
    """

    profile: Profile
    number: int = 1
    epochs: int = EPOCHS
    presence: float = 0.0
    answers: Answers = field(default_factory=bundled_answers)
    theme: ThemeModel = field(default_factory=bundled_theme_model)
    overlay: Overlay | None = None

    @property
    def night_id(self) -> str:
        return f"simulated-{self.profile.name}-{self.number}"

    @property
    def key(self) -> str:
        """The night's key for rolls: whose sleep and which night; nothing that is swept."""
        text = "\n".join(("paprika-simulation/1", str(self.number), *as_toml(self.profile)))
        return roll_night(sha256(text.encode()).hexdigest(), 0)

    def as_dict(self) -> dict[str, Any]:
        """What settles it, as JSON values."""
        return {
            "profile": self.profile.name,
            "key": self.key,
            "number": self.number,
            "epochs": self.epochs,
            "presence": round(self.presence, 6),
            "answers": asdict(self.answers),
            "theme_model": asdict(self.theme),
            "overlay": None if self.overlay is None else self.overlay.name,
        }


@dataclass(frozen=True, slots=True)
class SimulatedWorld:
    """A world, and what can be asked of it when the night is over."""

    world: World
    sleeper: SimulatedSleeper
    headband: SimulatedHeadband


def simulated_world(
    simulation: Simulation,
    setting: Setting,
    *,
    session_id: str,
    hidden: Trace,
    progress: Report | None = None,
) -> SimulatedWorld:
    """A simulated night under a setting; the head of the hidden trace is written here.

    To be called on the loop that plays it.
    """
    if setting.first_epoch or setting.condition != PLAIN:
        raise SimulationError(
            f"{simulation.night_id}: a simulated night is played from its start and without faults"
        )
    dice = Dice(simulation.key, setting.seed)
    hidden.line("header", _hidden_header(simulation, setting, session_id))
    sleeper = SimulatedSleeper(
        simulation.profile,
        dice=dice,
        table=setting.wake_table,
        answers=simulation.answers,
        theme=simulation.theme,
        trace=hidden,
        presence=simulation.presence,
    )
    headband = SimulatedHeadband(
        sleeper,
        simulation.epochs,
        device=_device(simulation, dice),
        dropout=Dropout(dice, setting.dropout, hidden),
    )
    world = replace(
        _likeness(simulation, setting, session_id),
        dice=dice,
        sources=(headband,),
        actuators=(SilentRoom(sleeper),),
        sleeper=sleeper,
        ended=_Endings(simulation, setting, progress),
    )
    return SimulatedWorld(world, sleeper, headband)


class _Endings:
    def __init__(self, simulation: Simulation, setting: Setting, progress: Report | None) -> None:
        self._epochs, self._setting, self._progress = simulation.epochs, setting, progress

    def __call__(self, done: StepDone) -> Ending | None:
        setting, lived = self._setting, done.step + 1
        if self._progress is not None:
            self._progress(lived, self._epochs, "")
        if setting.ends_at_stop and done.stopped:
            return Ending.AGENT_STOP
        if setting.stable_deep is not None and done.history.deep_in_row >= setting.stable_deep:
            return Ending.STABLE_DEEP
        if setting.steps is not None and lived >= setting.steps:
            return Ending.STEP_LIMIT
        return Ending.NIGHT_END if lived >= self._epochs else None


def _device(simulation: Simulation, dice: Dice) -> Device | None:
    overlay = simulation.overlay
    if overlay is None or not overlay.grades:
        return None
    return Device(overlay, dice.night, dice.seed)


def _likeness(simulation: Simulation, setting: Setting, session_id: str) -> World:
    """The world of a recorded night of which nothing is recorded yet: plan and clock are its."""
    info = RecordingInfo(
        simulation.night_id,
        kind=KIND,
        origin=KIND,
        epochs=0,
        streams=STREAMS,
        synthetic=True,
        stages="",
        notes=(NOTE,),
    )
    unwritten = RecordedNight(MemoryRecording(info, ()))
    return recorded_world(unwritten, setting, session_id=session_id, hidden=Trace(MemorySink()))


def _hidden_header(simulation: Simulation, setting: Setting, session_id: str) -> Mapping[str, Any]:
    table = setting.wake_table
    return {
        "schema": SCHEMA,
        "session": session_id,
        "seed": setting.seed,
        "roll_night": simulation.key,
        "wake_table": {stage: dict(chances) for stage, chances in table.chances.items()},
        "wake_scale": table.scale,
        "dropout": setting.dropout,
        "simulation": {"note": NOTE, **simulation.as_dict()},
        **({"wake_options": table.options} if table.options else {}),
    }
