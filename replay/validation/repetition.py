"""The same again: twice, in another process, side by side, and told in other words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from replay.controls.contenders import contender
from replay.recorded_night import RecordedNight
from replay.scores.checker import check
from replay.setting import Setting
from replay.tasks.task import Task
from replay.validation.findings import Finding, found, not_applicable
from replay.validation.ground import Ground
from replay.validation.nights import retold
from replay.validation.trials import Trial, trial
from replay.validation.verdicts import row

AGENTS: Final = ("rem_rule", "fixed_timer", "random")
TASKS: Final = 5
THREADS: Final = 4
HASH_SEEDS: Final = (1, 2)
DAY_NS: Final = 86_400 * 1_000_000_000
ASSUMED_START_NS: Final = 1_790_031_600_000_000_000
"""23:00 on a day in 2026: what a recording without a time of day is taken for."""
OTHER_NAME: Final = "a theme by another name"

Unit = tuple[str, Task]
"""An agent and a task."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the same attempts are made another way: changes that must not change a verdict."""

    night: RecordedNight
    session_id: str = "validation"
    setting: Callable[[Setting], Setting] = lambda setting: setting
    reverse: bool = False


def units(ground: Ground) -> list[Unit]:
    """The attempts that are made again, in their order."""
    return [(agent, task) for task in ground.some_tasks(TASKS) for agent in AGENTS]


def lived(ground: Ground, unit: Unit, way: Way | None = None) -> Trial:
    """One of them."""
    agent, task = unit
    chosen = way or Way(ground.night)
    setting = chosen.setting(ground.task_setting(task, agent))
    return trial(
        ground.environment,
        chosen.night,
        contender(agent),
        setting,
        session_id=chosen.session_id,
    )


def digests(ground: Ground, *, reverse: bool = False) -> list[str]:
    """The digests of all of them, in their order, whichever order they were made in."""
    order = units(ground)
    made = {unit: lived(ground, unit).digest for unit in (order[::-1] if reverse else order)}
    return [made[unit] for unit in order]


def same_bytes(ground: Ground) -> Finding:
    """The same task and seed give the same bytes when it is done again."""
    again = digests(ground)
    return _compared(_first(ground), again, "attempts repeated byte for byte")


def same_bytes_in_another_process(ground: Ground) -> Finding:
    """So do two other processes at once, with other hash seeds, one of them backwards."""
    from replay.validation.elsewhere import digests_elsewhere

    here = _first(ground)
    others = digests_elsewhere(ground, HASH_SEEDS)
    if others is None:
        return not_applicable("this night or environment cannot be handed to a process")
    there = [digest for other in others for digest in other]
    return _compared(here * len(others), there, f"attempts in {len(others)} processes the same")


def attempts_are_isolated(ground: Ground) -> Finding:
    """Attempts in threads that run at the same time do not change each other."""
    here = _first(ground)
    with ThreadPoolExecutor(THREADS) as pool:
        there = list(pool.map(lambda unit: lived(ground, unit).digest, units(ground)))
    return _compared(here, there, f"attempts in {THREADS} threads the same")


def theme_renamed(ground: Ground) -> Finding:
    """Another name for the theme changes no verdict."""

    def renamed(setting: Setting) -> Setting:
        return replace(setting, theme=replace(setting.theme, name=OTHER_NAME))

    return _same_verdicts(ground, Way(ground.night, setting=renamed))


def clock_shifted_a_day(ground: Ground) -> Finding:
    """A night that was a day later has the same verdicts."""
    info = ground.night.info
    start_ns = ASSUMED_START_NS if info.start_wall_ns is None else info.start_wall_ns
    later = retold(ground.night, replace(info, start_wall_ns=start_ns + DAY_NS))
    return _same_verdicts(ground, Way(later))


def ids_changed(ground: Ground) -> Finding:
    """Another name of the night and of the session changes no verdict."""
    info = replace(ground.night.info, night_id="another-night", origin="another-file")
    return _same_verdicts(ground, Way(retold(ground.night, info), session_id="another"))


def tasks_reordered(ground: Ground) -> Finding:
    """The last task first: the same verdicts."""
    return _same_verdicts(ground, Way(ground.night, reverse=True))


def concurrency_changed(ground: Ground) -> Finding:
    """Four at a time or one: the same verdicts."""
    order = units(ground)
    with ThreadPoolExecutor(THREADS) as pool:
        there = list(pool.map(lambda unit: _verdict(ground, unit, lived(ground, unit)), order))
    return _verdicts_compared(_verdicts(ground), there)


Verdict = tuple[object, ...]


def _verdict(ground: Ground, unit: Unit, done: Trial) -> Verdict:
    """What the checker says of an attempt, with the counts behind it."""
    agent, task = unit
    got = row(task, agent, done, feasible=task in ground.feasible)
    broken = tuple(sorted(got.violations.items()))
    counts = got.true_rem_cues, got.delivered, got.wakings, broken, got.ending
    return tuple(check(got).values.items()), *counts


def _first(ground: Ground) -> list[str]:
    return [digest for digest, _ in _here(ground)]


def _verdicts(ground: Ground) -> list[Verdict]:
    return [verdict for _, verdict in _here(ground)]


def _here(ground: Ground) -> list[tuple[str, Verdict]]:
    """What all are compared with, made once."""

    def made(unit: Unit) -> tuple[str, Verdict]:
        done = lived(ground, unit)
        return done.digest, _verdict(ground, unit, done)

    return ground.kept("repeated", lambda: [made(unit) for unit in units(ground)])


def _same_verdicts(ground: Ground, way: Way) -> Finding:
    order = units(ground)
    made = {
        unit: _verdict(ground, unit, lived(ground, unit, way))
        for unit in (order[::-1] if way.reverse else order)
    }
    return _verdicts_compared(_verdicts(ground), [made[unit] for unit in order])


def _verdicts_compared(here: Sequence[Verdict], there: Sequence[Verdict]) -> Finding:
    return _compared(here, there, "verdicts the same")


def _compared(here: Sequence[object], there: Sequence[object], what: str) -> Finding:
    same = sum(one == two for one, two in zip(here, there, strict=True))
    return found(same == len(here), f"{same} of {len(here)} {what}", compared=len(here), same=same)
