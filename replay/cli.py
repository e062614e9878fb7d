"""Commands on recorded nights: replay, import, hypnogram."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import Parameter

from bedside.cli import print_json
from bedside.clock import DAY_S, NOON_S
from bedside.safety.gate import Mode
from devices.types import EPOCH_S, PaprikaError
from replay.progress import output_to_errors, shown_progress

if TYPE_CHECKING:
    from replay.recorded_night import RecordedNight
    from replay.replaying import Replayed
    from replay.setting import Setting

_T = TypeVar("_T", str, int, float)


class ReplayError(PaprikaError):
    """An option of a command does not fit the night; the message names it."""


def replay(
    night: Path | None = None,
    /,
    *,
    agent: str | None = None,
    speed: str = "max",
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    steps: int | None = None,
    seed: int | None = None,
    wake_scale: float | None = None,
    mode: Literal["observe", "enforce"] | None = None,
    dropout: float | None = None,
    theme: str | None = None,
    charges: Path | None = None,
    eeg: bool = False,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Replay a recorded night through the loop of the bedside; without one, the bundled night.

    What is not given stands in `config/paprika.toml`: rem_rule, seed 1, observe, no dropout.

    Parameters
    ----------
    night
        A night file; `paprika import` makes them from recordings.
    agent
        A name (wait, fixed_timer, rem_rule, gentle_rule), file.py:Class, or "cmd:program".
    speed
        "max", or how many times real time.
    from_
        Start at this time of day, such as 09:41.
    steps
        End after so many epochs of 30 s.
    seed
        Selects the dice: the same night, agent and seed give the same bytes.
    wake_scale
        Multiplies every chance that a cue wakes.
    mode
        observe: rules are written down and refuse nothing. enforce: as in a live night.
    dropout
        Chance that an epoch loses its reading.
    theme
        One of the bundled themes.
    charges
        An earlier trace whose measured latencies are charged again.
    eeg
        Give the bundled night four channels of EEG.
    out
        Folder for trace, manifest and page.
    json
        One JSON object on standard output, nothing else.
    """
    from bedside.agent_loading import load_agent
    from replay.replaying import replay as replay_into

    pace = _pace(speed)
    with output_to_errors():
        deciding = load_agent(_given(agent, "replay.agent", str))
    recorded = _night(night, eeg)
    setting = _setting(
        recorded,
        from_,
        steps,
        _given(seed, "replay.seed", int),
        _given(wake_scale, "replay.wake_scale", float),
        Mode(_given(mode, "replay.mode", str)),
        _given(dropout, "replay.dropout", float),
        _given(theme, "theme", str),
        charges,
    )
    with output_to_errors(), shown_progress("Replaying", quiet=json) as progress:
        done = replay_into(recorded, deciding, setting, out=out, speed=pace, progress=progress)
    if json:
        print_json(as_json(done))
    else:
        from replay.terminal import print_summary

        print_summary(done)
    return 0


def hypnogram(
    night: Path | None = None,
    /,
    *,
    letters: bool = False,
    stream: Literal["stage", "truth"] = "stage",
    json: bool = False,
) -> int:
    """Print the stages of a night, an epoch of 30 s each.

    Parameters
    ----------
    night
        A night file; without one, the bundled night.
    letters
        One letter an epoch on one line: W awake, L light, D deep, R REM, ? no reading.
    stream
        The stage the device shows, or the experts' truth.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.hypnogram import figures, shown_stages, true_stages
    from replay.hypnogram import letters as letters_of

    recording = _night(night, eeg=False).recording
    stages = true_stages(recording) if stream == "truth" else shown_stages(recording)
    if not stages:
        raise ReplayError(f"{recording.info.night_id}: no {stream}; it has the other stream only")
    if json:
        print_json(
            {"id": recording.info.night_id, "letters": letters_of(stages), **figures(stages)}
        )
    elif letters:
        print(letters_of(stages))
    else:
        from replay.terminal import print_hypnogram

        print_hypnogram(recording.info, stages)
    return 0


def import_recordings(
    paths: Annotated[list[Path], Parameter(consume_multiple=True)],
    /,
    *,
    out: Path = Path("nights"),
    format: str | None = None,
    device_stage: Literal["auto_f4_o2", "auto_simplenet"] = "auto_f4_o2",
    lenient: bool = False,
    json: bool = False,
) -> int:
    """Turn recordings into night files; folders are searched. Exit code 2 where one failed.

    Parameters
    ----------
    paths
        Files or folders.
    out
        Folder for the night files.
    format
        Read everything named as this format instead of recognising it.
    device_stage
        For DOD nights: whose automatic stages play the device.
    lenient
        Count unknown stage labels as no reading instead of refusing the night.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.importers import import_all

    with shown_progress("Importing", quiet=json) as progress:
        result = import_all(
            paths,
            out,
            format=format,
            lenient=lenient,
            device_stage=device_stage,
            progress=progress,
        )
    if json:
        print_json(result.as_dict())
    else:
        from replay.terminal import print_imported

        print_imported(result)
    return 2 if result.failed or not result.nights else 0


def as_json(done: Replayed) -> dict[str, Any]:
    """What `replay --json` prints."""
    from replay.replaying import HIDDEN, MANIFEST, PAGE, TRACE

    found = done.summary
    return {
        "night": found.night,
        "agent": found.agent,
        "session": found.session,
        "mode": found.mode,
        "seed": found.seed,
        "wake_scale": found.wake_scale,
        "ending": found.ending,
        "epochs": found.epochs,
        "compared": found.compared,
        "excluded": sum(len(one.steps) for one in found.excluded),
        "excluded_where": [asdict(one) for one in found.excluded],
        "mismatched": found.mismatched,
        "stages": found.stage_counts,
        "cues": len(found.cues),
        "cues_by_stage": found.cues_by_stage,
        "asked": found.asked,
        "refused": found.refused,
        "rewritten": found.rewritten,
        "wakings": len(found.wakings),
        "inserted_epochs": len(found.inserted),
        "suspected_wakings": found.suspected_wakings,
        "violations": found.violations,
        "violations_delivered": found.violations_delivered,
        "limit_hits": found.limit_hits,
        "decisions": found.decisions,
        "speed_x": round(done.speed_x, 1),
        "wall_s": round(done.wall_s, 4),
        "trace_sha256": done.trace_sha256,
        "trace": str(done.files[TRACE]),
        "hidden": str(done.files[HIDDEN]),
        "manifest": str(done.files[MANIFEST]),
        "page": str(done.files[PAGE]),
    }


def _given(value: Any, key: str, kind: type[_T]) -> _T:
    """What was asked for, or else the bundled setting."""
    from bedside.configuration import default_value

    return default_value("paprika", key, kind) if value is None else value


def _night(path: Path | None, eeg: bool) -> RecordedNight:
    from replay.recorded_night import RecordedNight

    if path is None:
        from replay.sample_night import sample_night

        return RecordedNight(sample_night(eeg=eeg))
    from bedside.recording import NightFile

    night = NightFile.open(path)
    if not night.closed:
        raise ReplayError(
            f"{path}: torn or still being written; run `paprika recover {path}` first"
        )
    return RecordedNight(night)


def _setting(
    night: RecordedNight,
    from_: str | None,
    steps: int | None,
    seed: int,
    wake_scale: float,
    mode: Mode,
    dropout: float,
    theme: str,
    charges: Path | None,
) -> Setting:
    from bedside.configuration import default_toml
    from bedside.themes import bundled_theme
    from replay.setting import Setting
    from replay.wake_rule import wake_table

    if not 0.0 <= dropout <= 1.0:
        raise ReplayError(f"--dropout {dropout:g}: give a chance from 0 to 1")
    if steps is not None and steps < 1:
        raise ReplayError(f"--steps {steps}: give 1 or more")
    return Setting(
        theme=bundled_theme(theme),
        wake_table=wake_table(default_toml("wake_table"), wake_scale),
        seed=seed,
        mode=mode,
        first_epoch=0 if from_ is None else first_epoch(night, from_),
        steps=steps,
        dropout=dropout,
        charges=None if charges is None else _charges(charges),
    )


def first_epoch(night: RecordedNight, asked: str) -> int:
    """The epoch of the recording that holds this local time of day, `HH:MM` or `HH:MM:SS`."""
    from bedside.clock import SessionStart, clock_s
    from replay.wording import time_of_day

    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", asked)
    if match is None:
        raise ReplayError(f"--from {asked}: give a time of day such as 09:41")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    start_s = clock_s(SessionStart(night.info.start_wall_ns, night.info.utc_offset_s or 0))
    asked_s = hours * 3600 + minutes * 60 + seconds - NOON_S
    epoch = int((asked_s - start_s) % DAY_S // EPOCH_S)
    if epoch >= night.epochs:
        last = time_of_day(start_s + night.epochs * EPOCH_S)
        first = time_of_day(start_s)
        raise ReplayError(f"--from {asked}: {night.info.night_id} runs {first} to {last}")
    return epoch


def _charges(trace: Path) -> dict[int, float]:
    from replay.trace_lines import read_lines

    charges = {}
    for line in read_lines(trace):
        if line.get("kind") == "call":
            number, latency_s = line.get("number"), line.get("latency_s")
            timed = isinstance(latency_s, int | float) and 0.0 <= latency_s < DAY_S
            if not isinstance(number, int) or not timed:
                raise ReplayError(f"{trace}: call {number!r}: {latency_s!r} is no latency")
            charges[number] = float(latency_s or 0.0)
    return charges


def _pace(speed: str) -> float | None:
    if speed == "max":
        return None
    try:
        pace = float(speed)
    except ValueError:
        pace = 0.0
    if not 0.0 < pace < float("inf"):
        raise ReplayError(f'--speed {speed}: give "max" or a number over 0')
    return pace
