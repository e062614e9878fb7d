"""The chain of an episode: talk, night, morning, memory, and again, over the nights of one person.

Beside each session the same agent plays the same night with the same dice and without memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from agents.types import Agent
from bedside.home import home
from devices.types import PaprikaError
from replay.episodes.memory import EpisodeMemory, MemoryState, WakingMemory
from replay.episodes.scripted import Morning, ScriptedMorning, ScriptedTalk, Talk
from replay.episodes.session import (
    MEMORY,
    PLAIN,
    SessionRow,
    live,
    read_session,
    side_row,
    write_session,
)
from replay.episodes.slopes import Estimate, mean_difference, slope
from replay.manifest import digest_of, ingredients, replay_id, write_json
from replay.progress import Report
from replay.recorded_night import RecordedNight
from replay.rolls import Dice, roll_night
from replay.setting import Setting

RESULT: Final = "episode.json"
SESSIONS: Final = "sessions"
METRICS: Final = ("theme", "wakings", "dose")


class EpisodeError(PaprikaError):
    """An episode that cannot be run or gone on with; the message says what to do."""


@dataclass(frozen=True, slots=True)
class EpisodeSpec:
    """What an episode is made of.

    agent, memory: make a new one each. setting: of every night but for theme and digest.
    """

    agent: Callable[[], Agent]
    setting: Setting
    memory: Callable[[], EpisodeMemory] = WakingMemory
    talk: Talk | None = None
    morning: Morning = field(default_factory=ScriptedMorning)


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """An episode before its first session. nights: in the order of their dates."""

    id: str
    folder: Path
    agent: str
    memory: str
    nights: tuple[RecordedNight, ...]

    def as_dict(self) -> dict[str, Any]:
        """What `--dry-run --json` prints."""
        return {
            "id": self.id,
            "folder": str(self.folder),
            "agent": self.agent,
            "memory": self.memory,
            "sessions": [
                {
                    "session": session,
                    "night": night.info.night_id,
                    "start_wall_ns": night.info.start_wall_ns,
                }
                for session, night in enumerate(self.nights, 1)
            ],
            "attempts": 2 * len(self.nights),
        }


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished episode.

    slopes: change a session by side and metric. differences: with memory − without, by metric:
    `mean`, and `slope` of the difference. gone_on: sessions that were there already.
    """

    id: str
    folder: Path
    agent: str
    memory: str
    rows: tuple[SessionRow, ...]
    slopes: dict[str, dict[str, Estimate | None]]
    differences: dict[str, dict[str, Estimate | None]]
    gone_on: int

    def values(self, side: str, metric: str) -> list[float | None]:
        """A metric over the sessions."""
        return [getattr(getattr(row, side), metric) for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """What `episode.json` and `--json` hold; the same bytes for the same episode."""
        return {
            "schema": 1,
            "id": self.id,
            "agent": self.agent,
            "memory": self.memory,
            "reports": "synthetic",
            "sessions": [asdict(row) for row in self.rows],
            "slopes": _as_dict(self.slopes),
            "differences": _as_dict(self.differences),
        }


def plan_episode(
    nights: Sequence[RecordedNight], spec: EpisodeSpec, out: Path | None = None
) -> EpisodePlan:
    """What `run_episode` would play; nothing is written.

    Raises:
        EpisodeError: for a night without a date, or none.
    """
    ordered, agent, memory = _by_date(nights), spec.agent(), spec.memory()
    parts = [ingredients(night, agent, spec.setting) for night in ordered]
    episode_id = digest_of([memory.name, repr(spec.morning), *parts])[:16]
    folder = out or home() / "episodes" / episode_id
    return EpisodePlan(episode_id, folder, agent.name, memory.name, tuple(ordered))


def run_episode(
    nights: Sequence[RecordedNight],
    spec: EpisodeSpec,
    *,
    out: Path | None = None,
    resume: bool = False,
    progress: Report | None = None,
) -> Episode:
    """Chain the nights in the order of their dates; `out` gets every session as it is whole.

    resume: go on behind the last whole session in `out`. All nights are taken as one person's.

    Raises:
        EpisodeError: for a night without a date, or sessions of something else in `out`.
    """
    plan = plan_episode(nights, spec, out)
    ordered, folder = plan.nights, plan.folder
    place = folder / SESSIONS
    if not resume and place.is_dir() and any(place.iterdir()):
        raise EpisodeError(f"{folder}: holds an episode; --resume goes on, or choose another --out")
    if (folder / "attempts").exists():
        raise EpisodeError(f"{folder}: holds a run of tasks; choose another --out")
    place.mkdir(parents=True, exist_ok=True)
    memory = spec.memory()
    rows: list[SessionRow] = []
    gone_on = 0
    for session, night in enumerate(ordered, 1):
        if progress is not None:
            progress(session - 1, len(ordered), night.info.night_id)
        chained = _Session(session, night, spec, memory.before(session), place / f"{session:03}")
        stood = chained.stands()
        rows.append(chained.go_on(memory) if stood else chained.run(memory))
        gone_on += stood
    found = _result(plan, rows, gone_on)
    write_json(folder / RESULT, found.as_dict())
    return found


@dataclass(frozen=True, slots=True)
class _Session:
    """One link of the chain."""

    session: int
    night: RecordedNight
    spec: EpisodeSpec
    before: MemoryState
    folder: Path

    def stands(self) -> bool:
        return self.folder.exists()

    def run(self, memory: EpisodeMemory) -> SessionRow:
        """Live the night twice, hear the morning, write it all, and remember it."""
        lived = {
            side: live(self.night, self.spec.agent(), self._setting(side), self._made_of(side))
            for side in (MEMORY, PLAIN)
        }
        seen = {side: one.seen(self.session) for side, one in lived.items()}
        reports = {side: self.spec.morning.report(one, self._dice) for side, one in seen.items()}
        row = SessionRow(
            session=self.session,
            night=self.night.info.night_id,
            start_wall_ns=self.night.info.start_wall_ns or 0,
            **{side: side_row(lived[side], reports[side]) for side in lived},
        )
        write_session(self.folder, row, lived, reports[MEMORY])
        memory.after(seen[MEMORY], reports[MEMORY])
        return row

    def go_on(self, memory: EpisodeMemory) -> SessionRow:
        """Remember a session that is on the disk, if it is the one that would be run now."""
        found = read_session(self.folder)
        if found is None:
            raise EpisodeError(f"{self.folder}: not whole or changed; remove it, or choose --out")
        row, report, seen = found
        due = [replay_id(self._made_of(side)) for side in (MEMORY, PLAIN)]
        if [row.memory.id, row.plain.id] != due or row.session != self.session:
            raise EpisodeError(
                f"{self.folder}: made of another night, agent, memory, seed or program; "
                "choose another --out"
            )
        memory.after(seen, report)
        return row

    @property
    def _dice(self) -> Dice:
        return Dice(roll_night(self.night.stage4_sha256, 0), self.spec.setting.seed)

    def _setting(self, side: str) -> Setting:
        talk = self.spec.talk or ScriptedTalk(self.spec.setting.theme)
        digest = self.before.lines if side == MEMORY else ()
        return replace(self.spec.setting, theme=talk.theme(self.session), digest=digest)

    def _made_of(self, side: str) -> dict[str, Any]:
        """The ingredients of an attempt; what is remembered is one of them."""
        told = None
        if side == MEMORY:
            told = {"sha256": self.before.sha256, "session": self.session}
        made_of = ingredients(self.night, self.spec.agent(), self._setting(side))
        return {**made_of, "memory": told}


def _by_date(nights: Sequence[RecordedNight]) -> list[RecordedNight]:
    if not nights:
        raise EpisodeError("no nights: give the night files of one person")
    for night in nights:
        if night.info.start_wall_ns is None:
            raise EpisodeError(f"{night.place}: no date, so that it has no place in an episode")
    ordered = sorted(nights, key=lambda one: (one.info.start_wall_ns or 0, one.info.night_id))
    for one, after in pairwise(ordered):
        if one.info.start_wall_ns == after.info.start_wall_ns:
            raise EpisodeError(f"{one.place} and {after.place} start at one time; leave one out")
    return ordered


def _result(plan: EpisodePlan, rows: Sequence[SessionRow], gone_on: int) -> Episode:
    found = Episode(plan.id, plan.folder, plan.agent, plan.memory, tuple(rows), {}, {}, gone_on)
    values = {(s, m): found.values(s, m) for s in (MEMORY, PLAIN) for m in METRICS}
    slopes = {s: {m: slope(values[s, m]) for m in METRICS} for s in (MEMORY, PLAIN)}
    differences = {}
    for metric in METRICS:
        ours, theirs = values[MEMORY, metric], values[PLAIN, metric]
        apart = [
            None if a is None or b is None else a - b for a, b in zip(ours, theirs, strict=True)
        ]
        differences[metric] = {"mean": mean_difference(ours, theirs), "slope": slope(apart)}
    return replace(found, slopes=slopes, differences=differences)


def _as_dict(estimates: dict[str, dict[str, Estimate | None]]) -> dict[str, Any]:
    return {
        name: {key: None if one is None else asdict(one) for key, one in inner.items()}
        for name, inner in estimates.items()
    }
