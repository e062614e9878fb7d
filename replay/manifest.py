"""What a replay was made of, and the key under which results may be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

from agents.types import Agent
from bedside.agent_loading import identity
from bedside.configuration import default_toml
from bedside.recording.info import info_as_dict
from devices.version import VERSION
from replay.hypnogram import stage4_sha256
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.staging import write_whole
from replay.wake_rule import WakeTable

SCHEMA: Final = 1
KEY_LENGTH: Final = 16
_PACKAGES: Final = ("devices", "agents", "bedside")
OF_THE_LOOP: Final = (
    "attempt.py",
    "clock.py",
    "conditions.py",
    "controls",
    "decisions/asking.py",
    "decisions/cache.py",
    "decisions/ledger.py",
    "decisions/limits.py",
    "decisions/options.py",
    "decisions/prices.py",
    "decisions/question.py",
    "decisions/way_out.py",
    "faults",
    "hypnogram.py",
    "latency.py",
    "outside.py",
    "overlays/confusion.py",
    "overlays/laying.py",
    "overlays/named.py",
    "pages.py",
    "player.py",
    "recorded_night.py",
    "rolls.py",
    "room.py",
    "sample_body.py",
    "sample_eeg.py",
    "sample_labels.py",
    "sample_night.py",
    "setting.py",
    "simulation",
    "sleeper.py",
    "tasks/oracle.py",
    "tasks/task.py",
    "tasks/task_set.py",
    "tasks/uncued.py",
    "wake_rule.py",
    "world.py",
)
"""Parts of this package that can change a byte of a trace."""


def ingredients(night: RecordedNight, agent: Agent, setting: Setting) -> dict[str, Any]:
    """Everything that settles the bytes of a trace, and nothing about the host."""
    return made_of(recording_of(night), identity(agent), setting)


def made_of(
    recording: Mapping[str, Any], agent: Mapping[str, Any], setting: Setting
) -> dict[str, Any]:
    """`ingredients` from a recording's and an agent's own parts, worked out before."""
    table, theme, latency = setting.wake_table, setting.theme, setting.latency
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "code_sha256": code_sha256(),
        "recording": recording,
        "agent": agent,
        "seed": setting.seed,
        "mode": setting.mode,
        "first_epoch": setting.first_epoch,
        "steps": setting.steps,
        "dropout": setting.dropout,
        "condition": setting.condition.name,
        "ends_at_stop": setting.ends_at_stop,
        "stable_deep": setting.stable_deep,
        "latency": None if latency is None else asdict(latency),
        "charges": None if setting.charges is None else list(setting.charges.values()),
        "wake_table": wake_table_of(table),
        "wake_scale": table.scale,
        "awake_epochs": table.awake_epochs,
        "wake_options": table.options,
        "theme": {
            "name": theme.name,
            "memory": theme.memory,
            "lines": list(theme.lines),
            "language": theme.language,
        },
        "sound_s": theme.sound_s,
        "digest": list(setting.digest),
        "words_sha256": words_sha256(),
    }


def recording_of(night: RecordedNight) -> dict[str, Any]:
    """What a recording brings to a trace."""
    info = night.info
    path = getattr(night.recording, "path", None)
    return {
        "id": info.night_id,
        "kind": info.kind,
        "origin": info.origin,
        "start_wall_ns": info.start_wall_ns,
        "utc_offset_s": info.utc_offset_s,
        "streams": info_as_dict(info)["streams"],
        "file_sha256": None if path is None else file_sha256(path),
        "synthetic": info.synthetic,
        "truth_origin": info.truth_origin,
        "epochs": night.epochs,
        "stage4_sha256": night.stage4_sha256,
        "shown4_sha256": stage4_sha256(night.shown),
    }


def wake_table_of(table: WakeTable) -> dict[str, Any]:
    """The chances of a wake table, without its scale."""
    return {stage: dict(chances) for stage, chances in table.chances.items()}


@cache
def words_sha256() -> str:
    return digest_of(default_toml("words"))


def replay_id(made_of: Mapping[str, Any]) -> str:
    """The id of a replayed session: first 16 hex digits of the SHA-256 of its ingredients.

    Latencies are no part of it: a measured run and its rerun from the charges are one session.
    """
    return digest_of({**made_of, "charges": None})[:KEY_LENGTH]


def comparability_key(made_of: Mapping[str, Any]) -> str:
    """What two agents, or two seeds of one, must share to stand in one table."""
    shared = {name: value for name, value in made_of.items() if name not in ("agent", "seed")}
    return digest_of({**shared, "charges": None})[:KEY_LENGTH]


def write_manifest(path: Path, made_of: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """Write the manifest beside the traces, with the SHA-256 of each file named."""
    manifest = {
        **made_of,
        "id": replay_id(made_of),
        "comparability_key": comparability_key(made_of),
        "files": {name: file_sha256(file) for name, file in files.items()},
    }
    write_json(path, manifest)


def write_json(path: Path, value: object) -> None:
    """Write a JSON file whole or not at all."""
    write_whole(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@cache
def code_sha256() -> str:
    """SHA-256 over the source of all that can change a byte of a trace, in the order of paths.

    Pages, tables, statistics and commands are no part of it: to change them is to change no run.
    """
    return source_sha256(*_PACKAGES, *(f"replay/{name}" for name in OF_THE_LOOP))


def source_sha256(*parts: str) -> str:
    """SHA-256 over the Python source of packages and modules, named as paths of the checkout."""
    root = Path(__file__).parent.parent
    digest = sha256()
    for part in sorted(parts):
        place = root / part
        for source in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(source.relative_to(root).as_posix().encode() + b"\0")
            digest.update(source.read_bytes())
    return digest.hexdigest()


def digest_of(value: object) -> str:
    """SHA-256 of the canonical JSON of a value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
