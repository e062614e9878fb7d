"""What `paprika tasks` says to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from replay.conditions import PLAIN
from replay.screen import LABEL_COLUMNS, Screen
from replay.tasks.coverage import Cell, Coverage
from replay.tasks.n1_share import N1Share
from replay.tasks.task import DEVELOPMENT_SEEDS, HELD_OUT_SEEDS
from replay.tasks.task_table import StartRow, TaskTable
from replay.wording import clean, plural

if TYPE_CHECKING:
    from rich.console import Console

SHOWN: Final = ("awake", "rem", "light", "deep", "none")
"""Columns of stage shares, in the field's order."""
HEAD: Final = {"awake": "awake", "rem": "REM", "light": "light", "deep": "deep", "none": "none"}
MOST_PROBLEMS: Final = 8


def print_tables(
    tables: Sequence[TaskTable], scales: Sequence[float], *, console: Console | None = None
) -> None:
    """The start points of one night under each condition, or a line for each of several nights."""
    screen = Screen(console)
    if len({table.night for table in tables}) == 1:
        for table in tables:
            _one_night(screen, table, scales)
    else:
        _several(screen, tables, scales)
    development, held_out = _span(DEVELOPMENT_SEEDS), _span(HELD_OUT_SEEDS)
    screen.flow(
        "seeds",
        [
            f"{development} for development, {held_out} held out",
            "(new dice, not new sleep: try a build on them once)",
        ],
    )


def print_coverage(found: Coverage, *, console: Console | None = None) -> None:
    """Conditions down, families across."""
    screen = Screen(console)
    screen.heading(
        ["Tasks that stand, development + held out", "r: restraint, no action passes them"],
        style="bold",
    )
    screen.heading(["!: the self-check fails", "—: uncovered"])
    screen.blank()
    width = max(map(len, found.conditions))
    screen.heading([_row("", [str(family) for family in found.families], width)], style="bold")
    for name in found.conditions:
        cells = [_cell(found.cells[family, name]) for family in found.families]
        screen.heading([_row(name, cells, width)])
    if found.problems:
        screen.blank()
    for name, problems in list(found.problems.items())[:MOST_PROBLEMS]:
        screen.heading([f"! {clean(name)}", *problems])
    if len(found.problems) > MOST_PROBLEMS:
        screen.heading([f"and {len(found.problems) - MOST_PROBLEMS} more: see --json"])


def print_n1_shares(
    shares: Mapping[tuple[str, str], N1Share], minutes: float, *, console: Console | None = None
) -> None:
    """An agent and a night a line."""
    screen = Screen(console)
    early = f"Cues in the first {minutes:g} min of shown light sleep"
    screen.heading([early, "by the true stage"], style="bold")
    screen.blank()
    columns = ("cues", "N1", "N2", "awake", "light", "other")
    head = "".join(f"{name:>6}" for name in columns)
    screen.heading([f"{'agent':<14}{'night':<26}{head}"], style="bold")
    for (agent, night), share in shares.items():
        parts = (share.n1, share.n2, share.awake, share.light, share.other)
        told = "".join(f"{_percent(part, share.cues):>6}" for part in parts)
        names = f"{clean(agent)[:13]:<14}{clean(night)[:25]:<26}"
        screen.heading([f"{names}{share.cues:>6}{told}"])
    screen.blank()
    screen.flow("light", ["not told apart from N1 and N2 by whoever scored the truth"])


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def _one_night(screen: Screen, table: TaskTable, scales: Sequence[float]) -> None:
    made = ["SYNTHETIC"] if table.synthetic else []
    guess = ["time of day assumed"] if table.start_assumed else []
    under = [] if table.condition == PLAIN else [table.condition.name]
    screen.heading(
        [f"Tasks of {clean(table.night)}", *under, *made, *guess, _size(table)], style="bold"
    )
    screen.blank()
    shares = "".join(f"{HEAD[name]:>7}" for name in SHOWN)
    given = "".join(f"{f'×{scale:g}':>6}" for scale in scales)
    screen.line("start", [(f"{'kind':<14}{'epoch':>5}{'cluster':>8}{shares} {given}", "bold")])
    for row in table.rows:
        screen.line(_clock(row), [(_start(row, table, scales), "")])
    screen.blank()
    counts = [f"{table.feasible(scale)} at ×{scale:g}" for scale in scales]
    screen.flow("passable", [f"of {plural(table.tasks, 'task')}:", *counts])
    screen.flow("", ["the last columns, by wake scale; the other tasks ask for restraint"])
    for kind, why in table.lacking.items():
        screen.flow("lacking", [f"{kind}: {why}"])


def _several(screen: Screen, tables: Sequence[TaskTable], scales: Sequence[float]) -> None:
    total = sum(table.tasks for table in tables)
    nights = len({table.night for table in tables})
    screen.heading([plural(nights, "night"), plural(total, "task")], style="bold")
    screen.blank()
    given = "".join(f"{f'×{scale:g}':>6}" for scale in scales)
    screen.heading([f"{'night':<32}{'starts':>7}{'tasks':>7}{'clusters':>9} {given}  lacking"])
    for table in tables:
        counts = "".join(f"{table.feasible(scale):>6}" for scale in scales)
        lacking = ", ".join(map(str, table.lacking))
        numbers = f"{len(table.rows):>7}{table.tasks:>7}{table.clusters:>9}"
        name = clean(table.night) + ("" if table.condition == PLAIN else f" {table.condition.name}")
        screen.heading([f"{name[:31]:<32}{numbers} {counts}  {lacking}".rstrip()])
    screen.blank()
    sums = {scale: sum(table.feasible(scale) for table in tables) for scale in scales}
    counted = [f"{count:,} at ×{scale:g}" for scale, count in sums.items()]
    screen.flow("passable", [f"of {plural(total, 'task')}:", *counted])
    screen.flow("", ["the other tasks ask for restraint; --json says why kinds are lacking"])


def _size(table: TaskTable) -> str:
    starts = plural(len(table.rows), "start point")
    clusters = plural(table.clusters, "cluster")
    return f"{starts} in {clusters} × {len(table.seeds)} seeds = {table.tasks} tasks"


def _clock(row: StartRow) -> str:
    return f"{row.point.clock[:2]}:{row.point.clock[2:]}"


def _start(row: StartRow, table: TaskTable, scales: Sequence[float]) -> str:
    total = sum(row.epochs.values())
    shares = "".join(f"{f'{100 * row.epochs[name] / total:.0f} %':>7}" for name in SHOWN)
    seeds = len(table.seeds)
    given = "".join(f"{f'{row.feasible[scale]}/{seeds}':>6}" for scale in scales)
    return f"{row.point.kind:<14}{row.point.epoch:>5}{row.point.cluster:>8}{shares} {given}"


def _cell(cell: Cell) -> str:
    if cell.uncovered and not cell.invalid:
        return "—"
    words = [f"{cell.development}+{cell.held_out}"] if cell.development + cell.held_out else []
    words += [f"{cell.restraint} r"] if cell.restraint else []
    words += [f"{cell.invalid} !"] if cell.invalid else []
    return " ".join(words)


def _row(name: str, cells: Sequence[str], width: int) -> str:
    return f"{name:<{max(width, LABEL_COLUMNS)}}" + "".join(f"{cell:>15}" for cell in cells)


def _span(seeds: Sequence[int]) -> str:
    return f"{seeds[0]}–{seeds[-1]}"
