"""Writes an episode of simulated nights into a folder: two traces a night, and a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.types import Agent
from bedside.agent_loading import identity
from bedside.home import session_folder
from bedside.trace import FileSink, Trace
from replay.manifest import made_of, replay_id, write_manifest
from replay.progress import Report
from replay.setting import Setting
from replay.simulation.headband import KIND
from replay.simulation.nights import SimulatedNight, simulate
from replay.simulation.world import NOTE, Simulation
from replay.staging import staged
from replay.summary import Summary, summarise
from replay.trace_lines import read_lines

TRACE: Final = "trace.jsonl"
HIDDEN: Final = "hidden.jsonl"
MANIFEST: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class Written:
    """A simulated night with what its traces come to."""

    night: SimulatedNight
    summary: Summary


@dataclass(frozen=True, slots=True)
class WrittenEpisode:
    """id: first 16 hex of what settles it."""

    id: str
    folder: Path
    nights: tuple[Written, ...]


def write_episode(
    simulation: Simulation,
    agent: Agent,
    setting: Setting,
    nights: int,
    *,
    out: Path | None = None,
    progress: Report | None = None,
) -> WrittenEpisode:
    """Play and write; on failure nothing in the folder has changed."""
    made = {**made_of(recording(simulation), identity(agent), setting), "nights": nights}
    episode_id = replay_id(made)
    folder = out or session_folder(episode_id)
    written = list[Written]()
    with staged(folder) as staging:
        for number in range(nights):
            place = staging / f"night-{number + 1:03d}"
            place.mkdir()
            session_id = f"{episode_id}-{number + 1:03d}"
            written.append(_night(simulation, agent, setting, session_id, place))
            simulation = written[-1].night.next_evening()
            if progress is not None:
                progress(number + 1, nights, "nights")
        traces = {str(path.relative_to(staging)): path for path in sorted(staging.rglob("*.jsonl"))}
        write_manifest(staging / MANIFEST, made, traces)
    return WrittenEpisode(episode_id, folder, tuple(written))


def recording(simulation: Simulation) -> Mapping[str, Any]:
    """What stands in a manifest in the place of a recording."""
    return {
        "id": simulation.night_id,
        "kind": KIND,
        "synthetic": True,
        "note": NOTE,
        "simulation": simulation.as_dict(),
    }


def summary_of(night: SimulatedNight, trace: Path, hidden: Path) -> Summary:
    """Counts of one night. A waking is part of a simulated night, so nothing is compared there."""
    rows = read_lines(hidden)
    spans = [(w.from_t, w.until_t) for w in night.wakings]
    played = [s for k, s in enumerate(night.shown) if not any(a <= 30 * k < b for a, b in spans)]
    return summarise(read_lines(trace), rows, played)


def _night(
    simulation: Simulation, agent: Agent, setting: Setting, session_id: str, place: Path
) -> Written:
    trace, hidden = place / TRACE, place / HIDDEN
    with ExitStack() as undone:
        sinks = []
        for path in (trace, hidden):
            sinks.append(FileSink(path))
            undone.callback(sinks[-1].discard)
        lived = simulate(
            simulation,
            agent,
            setting,
            session_id=session_id,
            trace=Trace(sinks[0]),
            hidden=Trace(sinks[1]),
        )
        undone.pop_all()
    for sink in sinks:
        sink.close()
    return Written(lived, summary_of(lived, trace, hidden))
