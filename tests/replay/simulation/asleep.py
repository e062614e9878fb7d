"""Small profiles and simulated nights for the tests of the sleeper."""

from dataclasses import replace
from typing import Any

from bedside.trace import MemorySink, Trace
from devices.types import Stage
from replay.setting import Setting
from replay.simulation.answers import Answers, ThemeModel
from replay.simulation.fitting import CONTEXTS
from replay.simulation.nights import SimulatedNight, simulate
from replay.simulation.profiles import profile_named
from replay.simulation.sleep import AGES, PARTS_H, PHASES, STAGES, Profile
from replay.simulation.world import Simulation
from tests.replay.nights import Line, lines_of, setting

W, L, D, R = STAGES
HEALTHY = profile_named("healthy")
NO_ANSWERS = Answers(1.0, 1.0)
NO_THEME = ThemeModel(0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0)
_PARTS, _AGES = len(PARTS_H) + 1, len(AGES) + 1


def flat(leave: dict[Stage, float], after: dict[Stage, Stage]) -> Profile:
    """A stage ends with one chance at any age, and one stage follows."""
    return Profile(
        "flat",
        {(stage, before): ((leave[stage],) * _AGES,) * _PARTS for stage, before in CONTEXTS},
        {
            (stage, before): ((tuple(float(s is after[stage]) for s in STAGES),) * PHASES,) * _PARTS
            for stage, before in CONTEXTS
        },
        dict.fromkeys(STAGES, 0.0),
    )


STEADY = flat({W: 0.02, L: 0.02, D: 0.02, R: 0.02}, {W: L, L: R, D: L, R: L})
"""Wake, light, REM, light, REM … fifty epochs each."""


class Slept:
    """A simulated night with its traces."""

    def __init__(self, night: SimulatedNight, trace: bytes, hidden: bytes) -> None:
        self.night, self.trace_bytes, self.hidden_bytes = night, trace, hidden
        self.trace: list[Line] = lines_of(trace)
        self.hidden: list[Line] = lines_of(hidden)
        self.true = "".join(stage.letter for stage in night.true)
        self.shown = "".join(stage.letter for stage in night.shown)

    def events(self, *names: str) -> list[Line]:
        return [line for line in self.hidden if line.get("event") in names]


def slept(agent: Any, made: Setting | None = None, **given: Any) -> Slept:
    """Play one night: `Simulation` with these fields, the healthy sleeper by default."""
    simulation = replace(Simulation(HEALTHY, epochs=240), **given)
    trace, hidden = MemorySink(), MemorySink()
    night = simulate(
        simulation,
        agent,
        made or setting(),
        session_id="0123456789abcdef",
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    return Slept(night, trace.bytes(), hidden.bytes())
