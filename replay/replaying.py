"""Replays a night into a folder: traces, manifest and page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.types import Agent
from bedside.clock import real_s
from bedside.home import session_folder
from bedside.trace import FileSink, Trace
from devices.types import EPOCH_S, PaprikaError, Stage
from replay.attempt import attempt
from replay.manifest import file_sha256, ingredients, replay_id, write_manifest
from replay.page import write_page
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.staging import staged
from replay.summary import Summary, summarise
from replay.trace_lines import read_lines

TRACE: Final = "trace.jsonl"
HIDDEN: Final = "hidden.jsonl"
MANIFEST: Final = "manifest.json"
PAGE: Final = "page/index.html"


class ReplayingError(PaprikaError):
    """A night that cannot be replayed; the message names it."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A finished replay: what it came to, its files by name, and how fast it was.

    wall_s: real seconds of the loop. speed_x: recorded time over that.
    """

    summary: Summary
    files: Mapping[str, Path]
    trace_sha256: str
    wall_s: float
    speed_x: float


def replay(
    night: RecordedNight,
    agent: Agent,
    setting: Setting,
    *,
    out: Path | None = None,
    speed: float | None = None,
    progress: Report | None = None,
) -> Replayed:
    """Replay into `out`, by default the session's folder; on failure nothing there has changed.

    speed: None as fast as it goes, else times real time. progress: told after each step.
    """
    if all(stage is Stage.UNKNOWN for stage in night.shown):
        raise ReplayingError(
            f"{night.place}: not one valid epoch in {night.epochs}; give another night"
        )
    made_of = ingredients(night, agent, setting)
    session_id = replay_id(made_of)
    folder = out or session_folder(session_id)
    with staged(folder) as staging:
        files = {name: staging / name for name in (TRACE, HIDDEN, MANIFEST, PAGE)}
        started_s = real_s()
        _run(night, agent, setting, session_id, files, speed, progress)
        wall_s = real_s() - started_s
        if night.damage is not None:
            raise ReplayingError(
                f"{night.place}: {night.damage}; run `paprika recover {night.place}` first"
            )
        summary = summarise(read_lines(files[TRACE]), read_lines(files[HIDDEN]), night.shown)
        files[PAGE].parent.mkdir()
        write_page(files[PAGE], summary)
        write_manifest(files[MANIFEST], made_of, {name: files[name] for name in (TRACE, HIDDEN)})
        trace_sha256 = file_sha256(files[TRACE])
    return Replayed(
        summary=summary,
        files={name: folder / name for name in files},
        trace_sha256=trace_sha256,
        wall_s=wall_s,
        speed_x=len(summary.stages) * EPOCH_S / wall_s,
    )


def _run(
    night: RecordedNight,
    agent: Agent,
    setting: Setting,
    session_id: str,
    files: Mapping[str, Path],
    speed: float | None,
    progress: Report | None,
) -> None:
    sinks: list[FileSink] = []
    try:
        sinks += [FileSink(files[TRACE])]
        sinks += [FileSink(files[HIDDEN])]
        trace, hidden = map(Trace, sinks)
        attempt(
            night,
            agent,
            setting,
            session_id=session_id,
            trace=trace,
            hidden=hidden,
            speed=speed,
            progress=progress,
        )
        for sink in sinks:
            sink.close()
    except BaseException:
        for sink in sinks:
            sink.discard()
        raise
