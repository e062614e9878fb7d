"""The command `paprika run`: agents on tasks, made once, judged, and put side by side."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import Parameter

from bedside.cli import print_json
from devices.types import PaprikaError
from replay.progress import output_to_errors, shown_progress

if TYPE_CHECKING:
    from replay.decisions import DecisionOptions
    from replay.experiment.run import Run
    from replay.experiment.running import Made
    from replay.experiment.spec import RunSpec
    from replay.latency import LatencyModel

_T = TypeVar("_T")
Several = Parameter(consume_multiple=True)
SCALES = (0.5, 1.0, 2.0, 4.0)
"""At which wakings are always told. Source: `replay-environment.md`, E10."""
BROKEN = 1
"""Exit code of a run some attempts of which left no evidence."""
Option = Literal["time_of_night", "onset_delay"]
Kind = Literal["sleep_onset", "rem_onset", "longest_light", "longest_deep", "n1_onset"]


class RunOptionError(PaprikaError):
    """An option of `paprika run` that cannot be; the message names it."""


def run(
    *,
    agents: Annotated[list[str], Several],
    seed: str | None = None,
    seeds: Annotated[list[str] | None, Several] = None,
    wake_scale: Annotated[list[float] | None, Several] = None,
    nights: Annotated[list[Path] | None, Several] = None,
    development: Annotated[list[Path] | None, Several] = None,
    kinds: Annotated[list[Kind] | None, Several] = None,
    conditions: Annotated[list[str] | None, Several] = None,
    overlay: Literal["device", "confusion", "consumer"] = "device",
    mode: Literal["observe", "enforce"] | None = None,
    dropout: float | None = None,
    latency: str | None = None,
    stop_is_latch: bool = False,
    wake_table: Path | None = None,
    wake_option: Annotated[list[Option] | None, Several] = None,
    service: Annotated[list[str] | None, Several] = None,
    cache_mode: Literal["off", "record", "replay_only", "fill"] = "off",
    cache: Path | None = None,
    call_limit: int | None = None,
    task_cap: float | None = None,
    spend_cap: float | None = None,
    prices: Path | None = None,
    token_env: str | None = None,
    trial: int = 1,
    jobs: int | None = None,
    resume: bool = False,
    dry_run: bool = False,
    episode: bool = False,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Try agents on the tasks of recorded nights, on the same dice, and score them.

    Without --nights the bundled night is used. What was made lies in one folder: traces, verdicts,
    a results database. The same command again only shows it.

    Parameters
    ----------
    agents
        Names, controls (one_cue, oracle, …), file.py:Class, or "cmd:program".
    seed
        One seed of the dice.
    seeds
        Several: 1-5, or 1 2 8. Seeds 6 to 8 are held out: each agent build may see them once.
    wake_scale
        Multiples of the wake table; by default 0.5 1 2 4, since its chances are assumed.
    nights
        Night files, or folders of them.
    development
        Nights that an agent which learns (memoriser) may learn from.
    kinds
        Where tasks start; by default all but n1_onset.
    conditions
        Faults of composed tasks, joined by +, such as dropout_burst+stop_pressed; plain is none.
    overlay
        What the device shows: as recorded, or the truth seen through a fitted or a consumer device.
    mode
        observe logs broken rules; enforce refuses as a live night does.
    dropout
        Chance that a step has no reading.
    latency
        Seconds that every decision takes, as 2.4, or 2.4/0.5 for a log-normal spread.
    stop_is_latch
        An agent's stop does not end its task.
    wake_table
        A file to use instead of the bundled wake table.
    wake_option
        Assumptions of the wake table to switch on: time_of_night, onset_delay.
    service
        Where an agent's requests go: NAME=URL.
    cache_mode
        The decision cache: off, record, replay_only (a miss is an error), fill.
    cache
        Folder of the decision cache.
    call_limit
        Most calls of an agent in a task, retries included; by default 12.
    task_cap
        Most US dollars of one attempt, as if nothing were cached.
    spend_cap
        Most US dollars that the run may really pay.
    prices
        A file of prices to use instead of the bundled one.
    token_env
        Environment variable that holds the services' bearer token.
    trial
        Number of the repetition, for agents that do not answer the same twice.
    jobs
        Processes; by default as many as there are processors.
    resume
        Go on with a run that was broken off.
    dry_run
        Say what would be made, and make nothing.
    episode
        Chain the nights of one person, with memory from session to session and without. Takes one
        agent, one seed and one wake scale.
    out
        Folder of the run.
    json
        One JSON object on standard output, nothing else.
    """
    if episode:
        _refuse_with_episode(
            development=development,
            kinds=kinds,
            conditions=conditions,
            overlay=overlay if overlay != "device" else None,
            dropout=dropout,
            latency=latency,
            stop_is_latch=stop_is_latch,
            wake_table=wake_table,
            wake_option=wake_option,
            service=service,
            jobs=jobs,
        )
        from replay.commands.episode import episode as chain

        return chain(
            nights or (),
            agent=_one("--agents", agents),
            seed=_not_held_out(_one("--seeds", _seeds(seed, seeds))),
            wake_scale=_one("--wake-scale", wake_scale or (1.0,)),
            mode=mode,
            dry_run=dry_run,
            out=out,
            resume=resume,
            json=json,
        )
    from replay.experiment.folder import runs_folder
    from replay.experiment.run import resolve
    from replay.experiment.running import make
    from replay.tasks.exposure import Exposure

    spec = _spec(
        agents=tuple(agents),
        seeds=_seeds(seed, seeds),
        scales=tuple(wake_scale or SCALES),
        nights=_night_files(nights),
        development=_night_files(development),
        kinds=kinds,
        conditions=conditions,
        overlay=overlay,
        mode=mode,
        dropout=dropout,
        latency=_latency(latency),
        stop_is_latch=stop_is_latch,
        wake_table=wake_table,
        wake_options=tuple(sorted(wake_option or ())),
        decisions={
            "service": service or [],
            "mode": cache_mode,
            "cache": cache,
            "call_limit": call_limit,
            "task_cap_usd": task_cap,
            "run_cap_usd": spend_cap,
            "prices": prices,
            "token_env": token_env,
        },
        trial=trial,
    )
    with output_to_errors(), shown_progress("Looking at nights", quiet=json) as progress:
        made_of = resolve(spec, progress)
    folder = out or runs_folder() / f"{made_of.id}{_suffix(cache_mode)}"
    if dry_run:
        return _say_plan(made_of, folder, json)
    processes = _processes(jobs)
    with output_to_errors(), shown_progress("Making attempts", quiet=json) as progress:
        made = make(
            made_of,
            folder,
            processes=processes,
            resume=resume,
            exposure=Exposure(),
            progress=progress,
        )
    return _say(made, json)


def _suffix(cache_mode: str) -> str:
    """A repeat from the cache, or a fill of it, is the same run made once more: beside it."""
    return f"-{cache_mode}" if cache_mode in ("replay_only", "fill") else ""


def _refuse_with_episode(**given: object) -> None:
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise RunOptionError(f"{option}: an episode does not take it; leave it out")


def _not_held_out(seed: int) -> int:
    from replay.tasks.task import HELD_OUT_SEEDS

    if seed in HELD_OUT_SEEDS:
        raise RunOptionError(f"--seed {seed}: held out for tasks; give an episode another")
    return seed


def _one(option: str, given: Sequence[_T]) -> _T:
    if len(given) != 1:
        raise RunOptionError(f"{option}: an episode takes one, not {len(given)}")
    return given[0]


def _spec(**given: Any) -> RunSpec:
    from bedside.configuration import default_value
    from bedside.safety.gate import Mode
    from replay.conditions import PLAIN, task_condition
    from replay.experiment.spec import RunSpec
    from replay.tasks.start_points import DEFAULT_KINDS
    from replay.tasks.task import StartKind

    mode = given.pop("mode") or default_value("paprika", "replay.mode", str)
    dropout = given.pop("dropout")
    if dropout is None:
        dropout = default_value("paprika", "replay.task_dropout", float)
    kinds, conditions = given.pop("kinds"), given.pop("conditions")
    return RunSpec(
        mode=Mode(mode),
        dropout=dropout,
        kinds=tuple(map(StartKind, kinds)) if kinds else DEFAULT_KINDS,
        conditions=tuple(map(task_condition, conditions)) if conditions else (PLAIN,),
        decisions=_decisions(**given.pop("decisions")),
        **given,
    )


def _decisions(
    *, service: list[str], mode: str, cache: Path | None, prices: Path | None, **given: Any
) -> DecisionOptions:
    from replay.decisions import (
        CacheMode,
        DecisionOptions,
        bundled_prices,
        cache_folder,
        read_prices,
        services_from,
    )

    how = CacheMode(mode)
    return DecisionOptions(
        services=services_from(service),
        mode=how,
        cache=None if how is CacheMode.OFF else cache_folder(cache),
        prices=bundled_prices() if prices is None else read_prices(prices),
        **{name: value for name, value in given.items() if value is not None},
    )


def _seeds(seed: str | None, seeds: Sequence[str] | None) -> tuple[int, ...]:
    if seed is not None and seeds is not None:
        raise RunOptionError("--seed and --seeds: give one of them")
    if seed is not None and not re.fullmatch(r"\d{1,9}", seed):
        raise RunOptionError(f"--seed {seed}: give a whole number")
    if seeds is None:
        return (int(seed or 1),)
    found: list[int] = []
    for part in (piece for given in seeds for piece in given.split(",")):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= first + 999:
            raise RunOptionError(f"--seeds {part}: give numbers such as 1-5, or 1 2 8")
        found += range(first, last + 1)
    return tuple(dict.fromkeys(found))


def _night_files(places: Iterable[Path] | None) -> tuple[Path, ...]:
    from replay.experiment.nights import found_nights

    found = [path for place in places or () for path in found_nights(place)]
    return tuple(dict.fromkeys(path.resolve() for path in found))


def _latency(given: str | None) -> LatencyModel | None:
    from replay.latency import LatencyModel

    if given is None:
        return None
    median, _, spread = given.partition("/")
    try:
        return LatencyModel(float(median), float(spread or 0.0))
    except ValueError:
        raise RunOptionError(f"--latency {given}: give seconds, as 2.4 or 2.4/0.5") from None


def _processes(jobs: int | None) -> int:
    if jobs is None:
        return len(os.sched_getaffinity(0))
    if not 1 <= jobs <= 512:
        raise RunOptionError(f"--jobs {jobs}: give a number of processes from 1 to 512")
    return jobs


def _say_plan(run: Run, folder: Path, json: bool) -> int:
    from replay.experiment.run_text import plan_as_dict, print_plan

    if json:
        print_json(plan_as_dict(run, folder))
    else:
        print_plan(run, folder)
    return 0


def _say(made: Made, json: bool) -> int:
    from replay.experiment.run_text import made_as_dict, print_made

    if json:
        print_json(made_as_dict(made))
    else:
        print_made(made)
    return 0 if all(row.evidence for row in made.folder.rows()) else BROKEN
