"""Plays agents on simulated nights: one, an episode of several, or a sweep over effects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.types import Agent
from bedside.plan import Ending
from bedside.trace import MemorySink, Trace
from devices.types import EPOCH_S, Stage
from replay.attempt import play
from replay.clock import run_virtual
from replay.progress import Report
from replay.setting import Setting
from replay.simulation.sleeper import SyntheticDream
from replay.simulation.world import SimulatedWorld, Simulation, simulated_world
from replay.sleeper import Waking
from replay.trace_lines import Line
from replay.world import World

SESSION: str = "simulated-night"


@dataclass(frozen=True, slots=True)
class SimulatedNight:
    """How a simulated night went; no person slept it.

    true, shown: stages of every epoch. dream: synthetic. presence: of the theme on the next
    evening, before that evening's talk.
    """

    simulation: Simulation
    ending: Ending
    wakings: tuple[Waking, ...]
    true: tuple[Stage, ...]
    shown: tuple[Stage, ...]
    dream: SyntheticDream
    presence: float

    def next_evening(self) -> Simulation:
        """The same sleeper's next night."""
        number = self.simulation.number + 1
        return replace(self.simulation, number=number, presence=self.presence)


@dataclass(frozen=True, slots=True)
class Swept:
    """One agent at one effect, over the nights of an episode.

    effect: gain of the theme model. themes: by night, whether the theme was in the dream.
    told: by night, whether the theme stands in the morning's synthetic report.
    presence: mean over nights. cues: delivered. rem_cues: of them in true REM.
    """

    agent: str
    effect: float
    themes: tuple[bool, ...]
    told: tuple[bool, ...]
    presence: float
    cues: int
    rem_cues: int
    wakings: int


def simulate(
    simulation: Simulation,
    agent: Agent,
    setting: Setting,
    *,
    session_id: str = SESSION,
    trace: Trace,
    hidden: Trace,
    progress: Report | None = None,
) -> SimulatedNight:
    """Play one simulated night on virtual time; both traces are complete when it returns."""
    built: list[SimulatedWorld] = []

    def build() -> World:
        built.append(
            simulated_world(
                simulation, setting, session_id=session_id, hidden=hidden, progress=progress
            )
        )
        return built[-1].world

    played = run_virtual(play(build, agent, setting, trace=trace))
    sleeper, headband = built[-1].sleeper, built[-1].headband
    if sleeper.dream is None:
        raise AssertionError("a night that was played is closed")
    end_t = len(sleeper.stages) * EPOCH_S
    return SimulatedNight(
        simulation,
        played.ending,
        played.wakings,
        tuple(sleeper.stages),
        tuple(headband.shown),
        sleeper.dream,
        simulation.theme.carry * sleeper.presence_at(end_t),
    )


def episode(
    simulation: Simulation,
    agent: Agent,
    setting: Setting,
    nights: int,
    traces: Callable[[Simulation], tuple[str, Trace, Trace]] | None = None,
) -> Iterator[SimulatedNight]:
    """So many nights of one sleeper, what is left of the theme carried from night to night.

    traces: session id, trace and hidden trace of a night; None: they are not kept.
    """
    for _ in range(nights):
        session_id, trace, hidden = (_nowhere if traces is None else traces)(simulation)
        lived = simulate(
            simulation, agent, setting, session_id=session_id, trace=trace, hidden=hidden
        )
        yield lived
        simulation = lived.next_evening()


def sweep(
    simulation: Simulation,
    agents: Mapping[str, Callable[[], Agent]],
    setting: Setting,
    *,
    effects: Sequence[float],
    nights: int,
) -> tuple[Swept, ...]:
    """Every agent at every effect on the same sleeper's nights with the same dice.

    At effect 0 the themes of all agents are the same, night by night: see `gaps_at_zero`.
    """
    return tuple(
        _swept(name, make(), effect, simulation, setting, nights)
        for effect in effects
        for name, make in agents.items()
    )


def gaps_at_zero(swept: Sequence[Swept]) -> dict[str, int]:
    """By agent, on how many nights its theme differs from the first agent's where the effect is
    zero. Anything but 0 is an error of the simulation, never a merit of the agent."""
    at_zero = [one for one in swept if one.effect == 0.0]
    return {
        one.agent: sum(
            mine != first
            for mine, first in zip(one.themes + one.told, _first(at_zero), strict=True)
        )
        for one in at_zero
    }


def _first(swept: Sequence[Swept]) -> tuple[bool, ...]:
    return swept[0].themes + swept[0].told


def _swept(
    name: str, agent: Agent, effect: float, simulation: Simulation, setting: Setting, nights: int
) -> Swept:
    simulation = replace(simulation, theme=simulation.theme.with_gain(effect))
    kept: list[MemorySink] = []

    def traces(_: Simulation) -> tuple[str, Trace, Trace]:
        kept.append(MemorySink())
        return SESSION, Trace(MemorySink()), Trace(kept[-1])

    lived = list(episode(simulation, agent, setting, nights, traces))
    rolls = [line for sink in kept for line in rolls_of(sink.bytes())]
    return Swept(
        name,
        effect,
        themes=tuple(night.dream.theme for night in lived),
        told=tuple(night.dream.theme and night.dream.recalled for night in lived),
        presence=round(sum(night.dream.presence for night in lived) / max(1, nights), 6),
        cues=len(rolls),
        rem_cues=sum(line.get("stage") == Stage.REM.value for line in rolls),
        wakings=sum(len(night.wakings) for night in lived),
    )


def rolls_of(hidden: bytes) -> list[Line]:
    """What a hidden trace says of the cues that reached the sleeper, one line a cue."""
    import json

    lines = (json.loads(line) for line in hidden.splitlines())
    return [line for line in lines if line.get("event") in ("roll", "awake_already")]


def _nowhere(_: Simulation) -> tuple[str, Trace, Trace]:
    return SESSION, Trace(MemorySink()), Trace(MemorySink())
