"""The command `paprika tasks`: where agents are tried in a night, and what that covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bedside.cli import print_json
from replay.progress import shown_progress

if TYPE_CHECKING:
    from replay.recorded_night import RecordedNight
    from replay.tasks.coverage import Coverage
    from replay.tasks.task_table import TaskTable

Several = Parameter(consume_multiple=True)
Kind = Literal["sleep_onset", "rem_onset", "longest_light", "longest_deep", "n1_onset"]
SCALES = (0.5, 1.0, 2.0, 4.0)


def tasks(
    *,
    nights: Path | None = None,
    kinds: Annotated[list[Kind] | None, Several] = None,
    conditions: Annotated[list[str] | None, Several] = None,
    coverage: bool = False,
    n1_share: Path | None = None,
    minutes: float = 5.0,
    json: bool = False,
) -> int:
    """List the tasks of a night: start points, what lies in their windows, which can be passed.

    Parameters
    ----------
    nights
        A night file, or a folder of them; without it, the bundled night.
    kinds
        Kinds of start points: sleep_onset rem_onset longest_light longest_deep, and n1_onset.
    conditions
        Faults joined by +, such as frozen_stage+cue_late; by default plain, with --coverage
        every fault alone as well.
    coverage
        Play every task untouched and as the oracle, and say which families and conditions stand.
    n1_share
        A run's folder: of each agent and night, what was really slept when cues came in the first
        minutes of shown light sleep. For nights that tell N1 from N2.
    minutes
        How many minutes of it, with --n1-share.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.tasks.start_points import DEFAULT_KINDS
    from replay.tasks.task import StartKind

    if n1_share is not None:
        _say_n1_share(n1_share, minutes, json=json)
        return 0
    chosen = tuple(map(StartKind, kinds)) if kinds else DEFAULT_KINDS
    if coverage:
        _say_coverage(_coverage(nights, chosen, conditions, quiet=json), json=json)
    else:
        _say_tables(_tables(nights, chosen, conditions, quiet=json), json=json)
    return 0


def _tables(
    nights: Path | None,
    kinds: Sequence[Any],
    conditions: Sequence[str] | None,
    *,
    quiet: bool,
) -> list[TaskTable]:
    from replay.conditions import PLAIN, task_condition
    from replay.tasks.task import DEVELOPMENT_SEEDS, HELD_OUT_SEEDS
    from replay.tasks.task_table import task_table

    found = []
    with shown_progress("Looking at nights", quiet=quiet) as progress:
        for number, night, total in _opened(nights):
            if progress is not None:
                progress(number, total, night.info.night_id)
            found += [
                task_table(
                    night,
                    seeds=(*DEVELOPMENT_SEEDS, *HELD_OUT_SEEDS),
                    kinds=kinds,
                    scales=SCALES,
                    condition=condition,
                    **_rules(),
                )
                for condition in map(task_condition, conditions or (PLAIN.name,))
            ]
    return found


def _coverage(
    nights: Path | None,
    kinds: Sequence[Any],
    conditions: Sequence[str] | None,
    *,
    quiet: bool,
) -> Coverage:
    from replay.conditions import PLAIN, task_condition
    from replay.tasks.composed import single_faults
    from replay.tasks.coverage import CHECKED_SEEDS, coverage

    chosen = tuple(map(task_condition, conditions)) if conditions else (PLAIN, *single_faults())
    with shown_progress("Checking tasks", quiet=quiet) as progress:
        return coverage(
            (night for _, night, _ in _opened(nights)),
            seeds=CHECKED_SEEDS,
            kinds=kinds,
            conditions=chosen,
            progress=progress,
            **_rules(),
        )


def _opened(nights: Path | None) -> Iterator[tuple[int, RecordedNight, int]]:
    """Each night with its number and how many there are, one in memory at a time."""
    from replay.experiment.nights import found_nights, opened

    paths = (None,) if nights is None else found_nights(nights)
    for number, path in enumerate(paths):
        yield number, opened(path, "device", in_memory=path is None), len(paths)


def _rules() -> dict[str, Any]:
    from bedside.configuration import default_toml, default_value
    from replay.wake_rule import wake_table

    return {
        "wake_table": wake_table(default_toml("wake_table")),
        "dropout": default_value("paprika", "replay.task_dropout", float),
    }


def _say_tables(tables: Sequence[TaskTable], *, json: bool) -> None:
    if json:
        print_json({"nights": [table.as_dict(SCALES) for table in tables]})
    else:
        from replay.tasks.tasks_text import print_tables

        print_tables(tables, SCALES)


def _say_coverage(found: Coverage, *, json: bool) -> None:
    if json:
        print_json(found.as_dict())
    else:
        from replay.tasks.tasks_text import print_coverage

        print_coverage(found)


def _say_n1_share(folder: Path, minutes: float, *, json: bool) -> None:
    from dataclasses import asdict

    from replay.experiment.folder import RunFolder
    from replay.tasks.n1_share import n1_shares
    from replay.tasks.tasks_text import print_n1_shares

    shares = n1_shares(RunFolder.open(folder), minutes=minutes)
    if json:
        told = [{"agent": at[0], "night": at[1], **asdict(one)} for at, one in shares.items()]
        print_json({"minutes": minutes, "shares": told})
    else:
        print_n1_shares(shares, minutes)
