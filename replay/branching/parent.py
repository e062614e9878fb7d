"""The attempt that is branched: its lines, and the world that stands beside it in a manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from bedside.themes import Theme, bundled_themes
from devices.types import Stage
from replay.branching.errors import BranchError
from replay.conditions import PLAIN, Condition, ConditionError, condition_named
from replay.export.lines import raw_lines, trace_lines
from replay.export.sources import MANIFEST, episode_sources, home_of, read_manifest
from replay.latency import LatencyModel
from replay.setting import Setting
from replay.wake_rule import WakeTable

if TYPE_CHECKING:
    from replay.recorded_night import RecordedNight

Line = dict[str, Any]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Written:
    """A trace as bytes, a line each, and as values."""

    path: Path
    raw: tuple[bytes, ...]
    lines: tuple[Line, ...]

    @property
    def sha256(self) -> str:
        return sha256(b"".join(self.raw)).hexdigest()


@dataclass(frozen=True, slots=True)
class Parent:
    """What is branched. manifest: of the session, or of the whole run. key: its unit in a run."""

    trace: Written
    hidden: Written
    folder: Path
    manifest: Mapping[str, Any]
    key: str | None

    @property
    def header(self) -> Line:
        return self.trace.lines[0]


def parent_of(place: Path) -> Parent:
    """The attempt of a trace, or of a folder that holds one.

    Raises:
        BranchError: where several are there, or no manifest tells of its world.
    """
    found = episode_sources(place)
    if len(found) != 1:
        raise BranchError(f"{place}: holds {len(found)} traces; name the one to branch")
    source = found[0]
    if source.hidden is None:
        raise BranchError(f"{source.trace}: no hidden trace beside it, which a branch needs")
    folder, task = home_of(source.trace)
    manifest = read_manifest(folder / MANIFEST)
    return Parent(
        trace=written(source.trace),
        hidden=written(source.hidden),
        folder=folder,
        manifest=manifest,
        key=None if task is None else _key(source.trace),
    )


def written(path: Path) -> Written:
    """A whole trace."""
    lines = tuple(line for _, line in trace_lines(path))
    return Written(path, tuple(raw_lines(path)), lines)


def setting_of(parent: Parent) -> Setting:
    """The setting that the manifest of a session tells.

    Raises:
        BranchError: naming the key that is missing or cannot be.
    """
    told = _Told(parent.folder / MANIFEST, parent.manifest)
    return Setting(
        theme=_theme(told),
        wake_table=_wake_table(told, parent.hidden),
        seed=told.get("seed", int),
        mode=told.word("mode", Mode),
        first_epoch=told.get("first_epoch", int),
        steps=told.get("steps", int, optional=True),
        dropout=float(told.get("dropout", (int, float))),
        condition=_condition(told),
        ends_at_stop=told.get("ends_at_stop", bool),
        stable_deep=told.get("stable_deep", int, optional=True),
        latency=_latency(told),
        digest=tuple(map(str, parent.header.get("digest") or ())),
    )


def night_of(parent: Parent, given: Path | None) -> RecordedNight:
    """The night that was slept: the bundled one, or the file given, checked by its stages.

    Raises:
        BranchError: where it is another night, or a file is needed and none was given.
    """
    from replay.hypnogram import stage4_sha256

    recording = parent.manifest.get("recording")
    if not isinstance(recording, Mapping):
        raise BranchError(f"{parent.folder / MANIFEST}: no recording in it; not of a replay")
    night = _bundled(recording) if given is None else _of_file(given)
    if night is None:
        raise BranchError(
            f"night {recording.get('id')!r} is not the bundled one; give its file with --night FILE"
        )
    stages = {
        "stage4_sha256": night.stage4_sha256,
        "shown4_sha256": stage4_sha256(night.shown),
    }
    for key, found in stages.items():
        if recording.get(key) != found:
            raise BranchError(
                f"{night.place}: other stages than the night {recording.get('id')!r} that was"
                f" played ({key} {found[:16]}, not {str(recording.get(key))[:16]}); give its file"
            )
    return night


class _Told:
    """What a manifest tells, checked key by key."""

    def __init__(self, path: Path, values: Mapping[str, Any], above: str = "") -> None:
        self._path = path
        self._values = values
        self._above = above

    def get(self, key: str, kind: Any, *, optional: bool = False) -> Any:
        value = self._values.get(key)
        if value is None and optional:
            return None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(key, value)
        return value

    def word(self, key: str, vocabulary: type[_T]) -> _T:
        value = self._values.get(key)
        try:
            return vocabulary(value)  # type: ignore[call-arg]
        except ValueError:
            raise self.wrong(key, value) from None

    def inside(self, key: str) -> _Told:
        return _Told(self._path, self.get(key, Mapping), f"{self._above}{key}.")

    def wrong(self, key: str, value: object) -> BranchError:
        where = f"{self._path}: {self._above}{key}"
        return BranchError(f"{where} is {json.dumps(value)[:60]}; run that session again")


def _theme(told: _Told) -> Theme:
    theme = told.inside("theme")
    name, lines = theme.get("name", str), theme.get("lines", list)
    if not all(isinstance(line, str) for line in lines):
        raise theme.wrong("lines", lines)
    bundled = bundled_themes()
    language = bundled[name].language if name in bundled else default_toml("themes")["language"]
    sound_s = float(told.get("sound_s", (int, float)))
    return Theme(name, theme.get("memory", str), tuple(lines), language, sound_s)


def _wake_table(told: _Told, hidden: Written) -> WakeTable:
    table = told.inside("wake_table")
    chances = {}
    for stage in (Stage.LIGHT, Stage.REM, Stage.DEEP):
        row = table.inside(stage.value)
        columns = ("low", "medium", "high", "object")
        chances[stage] = {name: float(row.get(name, (int, float))) for name in columns}
    return WakeTable(chances, _awake_epochs(hidden), float(told.get("wake_scale", (int, float))))


def _awake_epochs(hidden: Written) -> int:
    """Epochs that a waking inserts: as it did there, else the bundled number."""
    foot = hidden.lines[-1]
    wakings, inserted = foot.get("wakings"), foot.get("inserted_epochs")
    if isinstance(wakings, int) and isinstance(inserted, int) and wakings > 0:
        return max(1, min(inserted // wakings, 100))
    return int(default_toml("wake_table")["awake_epochs"])


def _condition(told: _Told) -> Condition:
    name = told.get("condition", str, optional=True)
    try:
        return PLAIN if name is None else condition_named(name)
    except ConditionError:
        raise told.wrong("condition", name) from None


def _latency(told: _Told) -> LatencyModel | None:
    if told.get("latency", Mapping, optional=True) is None:
        return None
    model = told.inside("latency")
    median_s, spread = (float(model.get(key, (int, float))) for key in ("median_s", "spread"))
    return LatencyModel(median_s, spread)


def _key(trace: Path) -> str:
    """`night/task/agent/x1` of a trace in a run's folder."""
    scale = trace.name.partition(".trace.")[0]
    agent, task, night = trace.absolute().parents[:3]
    return "/".join((night.name, task.name, agent.name, scale))


def _bundled(recording: Mapping[str, Any]) -> RecordedNight | None:
    from replay.recorded_night import RecordedNight
    from replay.sample_night import sample_night

    if recording.get("file_sha256") is not None:
        return None
    streams = recording.get("streams")
    named = streams if isinstance(streams, list) else []
    eeg = any(isinstance(one, Mapping) and one.get("stream") == "eeg" for one in named)
    night = RecordedNight(sample_night(eeg=eeg))
    return night if night.info.night_id == recording.get("id") else None


def _of_file(path: Path) -> RecordedNight:
    from bedside.recording import NightFile
    from replay.recorded_night import RecordedNight

    night = NightFile.open(path)
    if not night.closed:
        raise BranchError(f"{path}: torn or still being written; run `paprika recover {path}`")
    return RecordedNight(night)
