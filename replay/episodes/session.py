"""One session of an episode on the disk: two attempts on one night, with memory and without."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from agents.types import Agent
from bedside.trace import MemorySink, Trace, TraceError
from devices.types import EPOCH_S
from replay.attempt import attempt
from replay.decisions import bundled_prices
from replay.episodes.scripted import MorningReport
from replay.episodes.seen import SeenNight, seen_night
from replay.experiment.counting import Evidence, row_of
from replay.experiment.rows import Row, Unit
from replay.manifest import replay_id, write_json, write_manifest
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.trace_lines import parsed, read_bytes

MEMORY: Final = "memory"
PLAIN: Final = "plain"
SIDES: Final = (MEMORY, PLAIN)
RECORD: Final = "session.json"
TRACE: Final = "trace.jsonl.zst"
HIDDEN: Final = "hidden.jsonl.zst"
WHOLE: Final = "whole_night"
LEVEL: Final = 9
"""Of zstd."""


@dataclass(frozen=True, slots=True)
class SideRow:
    """What an attempt came to. rem_cues: heard in shown REM. dose: of them, a minute of shown REM;
    None without REM.

    wakings are of the hidden sleeper; no memory is told of them.
    """

    id: str
    memory_sha256: str | None
    cues: int
    rem_cues: int
    rem_epochs: int
    dose: float | None
    wakings: int
    violations: int
    theme: float | None
    trace_sha256: str
    hidden_sha256: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session of the episode, counted from 1."""

    session: int
    night: str
    start_wall_ns: int
    memory: SideRow
    plain: SideRow


@dataclass(frozen=True, slots=True)
class Lived:
    """An attempt that was lived through, before it is on the disk. row: as a run counts it."""

    made_of: Mapping[str, Any]
    trace: bytes
    hidden: bytes
    row: Row

    def seen(self, session: int) -> SeenNight:
        return seen_night(session, parsed(self.trace, f"session {session}"))


def live(night: RecordedNight, agent: Agent, setting: Setting, made_of: Mapping[str, Any]) -> Lived:
    """Live one night through, in memory."""
    trace, hidden = MemorySink(), MemorySink()
    attempt(
        night,
        agent,
        setting,
        session_id=replay_id(made_of),
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    evidence = Evidence(trace.bytes(), hidden.bytes())
    row = row_of(_unit(night, agent, setting), evidence, night.shown, bundled_prices())
    return Lived(made_of, evidence.trace, evidence.hidden, row)


def side_row(lived: Lived, report: MorningReport) -> SideRow:
    """What an attempt came to, and what was told in the morning."""
    row, memory = lived.row, lived.made_of["memory"]
    rem_min = row.rem_epochs * EPOCH_S / 60.0
    return SideRow(
        id=replay_id(lived.made_of),
        memory_sha256=None if memory is None else memory["sha256"],
        cues=row.delivered,
        rem_cues=row.rem_cues,
        rem_epochs=row.rem_epochs,
        dose=round(row.rem_cues / rem_min, 6) if rem_min else None,
        wakings=row.wakings,
        violations=sum(row.violations.values()),
        theme=report.theme,
        trace_sha256=row.trace_sha256,
        hidden_sha256=row.hidden_sha256,
    )


def write_session(
    folder: Path, row: SessionRow, lived: Mapping[str, Lived], report: MorningReport
) -> None:
    """Write a session whole or not at all."""
    growing = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(growing, ignore_errors=True)
    for side, one in lived.items():
        place = growing / side
        place.mkdir(parents=True)
        files = {TRACE: place / TRACE, HIDDEN: place / HIDDEN}
        for name, raw in ((TRACE, one.trace), (HIDDEN, one.hidden)):
            files[name].write_bytes(_packed(raw))
        write_manifest(place / "manifest.json", one.made_of, files)
    write_json(growing / RECORD, {"schema": 1, **asdict(row), "report": asdict(report)})
    os.rename(growing, folder)


def read_session(folder: Path) -> tuple[SessionRow, MorningReport, SeenNight] | None:
    """A whole session as it was written; None where it is none, or its traces were changed."""
    try:
        told = json.loads((folder / RECORD).read_bytes())
        sides = {side: SideRow(**_only(SideRow, told[side])) for side in SIDES}
        row = SessionRow(**{**_only(SessionRow, told), **sides})
        traces = {side: read_bytes(folder / side / TRACE) for side in SIDES}
        hidden = {side: read_bytes(folder / side / HIDDEN) for side in SIDES}
        whole = all(
            (one.trace_sha256, one.hidden_sha256)
            == tuple(sha256(x[side]).hexdigest() for x in (traces, hidden))
            for side, one in sides.items()
        )
        seen = seen_night(row.session, parsed(traces[MEMORY], str(folder)))
        return (row, MorningReport(**told["report"]), seen) if whole else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, TraceError):
        return None


def _unit(night: RecordedNight, agent: Agent, setting: Setting) -> Unit:
    """A whole night, for the count of a run."""
    return Unit(
        night=night.info.night_id,
        task=WHOLE,
        kind=WHOLE,
        start_epoch=setting.first_epoch,
        cluster=0,
        theme=setting.theme.name,
        seed=setting.seed,
        condition=setting.condition.name,
        held_out=False,
        feasible=True,
        agent=agent.name,
        scale=setting.wake_table.scale,
    )


def _only(kind: type, told: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: told[field.name] for field in fields(kind)}


def _packed(raw: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=LEVEL).compress(raw)
