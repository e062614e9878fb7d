"""The attempt that is branched: its lines, and the world that stands beside it in a manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from bedside.themes import Theme, bundled_themes
from devices.types import Stage, Volume
from replay.branching.errors import BranchError
from replay.conditions import PLAIN, Condition, ConditionError, condition_named
from replay.experiment.folder import MANIFEST
from replay.export.sources import episode_sources, home_of, manifest_of
from replay.latency import LatencyModel
from replay.setting import Setting
from replay.trace_lines import Line, parsed, read_bytes
from replay.wake_rule import OBJECT, OnsetDelay, TimeOfNight, WakeOption, WakeTable

if TYPE_CHECKING:
    from replay.recorded_night import RecordedNight

COLUMNS: Final = (*(volume.value for volume in Volume), OBJECT)
"""Of a wake table."""
MOST_AWAKE_EPOCHS: Final = 100
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
    return Parent(
        trace=written(source.trace),
        hidden=written(source.hidden),
        folder=folder,
        manifest=manifest_of(source.trace),
        key=None if task is None else _key(source.trace),
    )


def written(path: Path) -> Written:
    """A whole trace."""
    raw = read_bytes(path)
    return Written(path, tuple(BytesIO(raw)), tuple(parsed(raw, str(path))))


def setting_of(parent: Parent) -> Setting:
    """The setting that the manifest of a session tells.

    Raises:
        BranchError: naming the key that is missing or cannot be.
    """
    told = _Told(parent.folder / MANIFEST, parent.manifest)
    return Setting(
        theme=_theme(told),
        wake_table=_wake_table(told),
        seed=told.get("seed", int),
        mode=told.word("mode", Mode),
        first_epoch=told.get("first_epoch", int),
        steps=told.get("steps", int, optional=True),
        dropout=told.number("dropout"),
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
    recording = parent.manifest.get("recording")
    if not isinstance(recording, Mapping):
        raise BranchError(f"{parent.folder / MANIFEST}: no recording in it; not of a replay")
    night = _bundled(recording) if given is None else _of_file(given)
    if night is None:
        raise BranchError(
            f"night {recording.get('id')!r} is not the bundled one; give its file with --night FILE"
        )
    check_stages(night, recording)
    return night


def check_stages(night: RecordedNight, recording: Mapping[str, Any]) -> None:
    """Raise BranchError unless a night shows and hides the stages that a manifest tells of."""
    from replay.hypnogram import stage4_sha256

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

    def number(self, key: str) -> float:
        return float(self.get(key, (int, float)))

    def word(self, key: str, vocabulary: type[_T]) -> _T:
        value = self._values.get(key)
        try:
            return vocabulary(value)  # type: ignore[call-arg]
        except ValueError:
            raise self.wrong(key, value) from None

    def inside(self, key: str, *, optional: bool = False) -> _Told:
        """An object of it; an optional one that is missing or empty is false."""
        values = self.get(key, Mapping, optional=optional) or {}
        return _Told(self._path, values, f"{self._above}{key}.")

    def __bool__(self) -> bool:
        return bool(self._values)

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
    return Theme(name, theme.get("memory", str), tuple(lines), language, told.number("sound_s"))


def _wake_table(told: _Told) -> WakeTable:
    table = told.inside("wake_table")
    chances = {}
    for stage in (Stage.LIGHT, Stage.REM, Stage.DEEP):
        row = table.inside(stage.value)
        chances[stage] = {name: row.number(name) for name in COLUMNS}
    options = told.inside("wake_options", optional=True)
    return WakeTable(
        chances,
        _awake_epochs(told),
        told.number("wake_scale"),
        _time_of_night(options),
        _onset_delay(options),
    )


def _time_of_night(options: _Told) -> TimeOfNight | None:
    option = options.inside(WakeOption.TIME_OF_NIGHT, optional=True)
    return TimeOfNight(option.number("per_hour"), option.number("most")) if option else None


def _onset_delay(options: _Told) -> OnsetDelay | None:
    option = options.inside(WakeOption.ONSET_DELAY, optional=True)
    if not option:
        return None
    chances = option.inside("chances")
    return OnsetDelay({name: chances.number(name) for name in COLUMNS}, option.number("light_s"))


def _awake_epochs(told: _Told) -> int:
    """Epochs that a waking inserts; a manifest of before does not tell them."""
    given = told.get("awake_epochs", int, optional=True)
    if given is not None and not 1 <= given <= MOST_AWAKE_EPOCHS:
        raise told.wrong("awake_epochs", given)
    return int(given or default_toml("wake_table")["awake_epochs"])


def _condition(told: _Told) -> Condition:
    name = told.get("condition", str, optional=True)
    try:
        return PLAIN if name is None else condition_named(name)
    except ConditionError:
        raise told.wrong("condition", name) from None


def _latency(told: _Told) -> LatencyModel | None:
    model = told.inside("latency", optional=True)
    if not model:
        return None
    return LatencyModel(model.number("median_s"), model.number("spread"))


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
