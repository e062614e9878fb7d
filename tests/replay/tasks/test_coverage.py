"""Families against conditions, and the table of a night's tasks."""

from typing import Any

import pytest

from replay.conditions import PLAIN, condition_named
from replay.recorded_night import RecordedNight
from replay.tasks import coverage as coverage_module
from replay.tasks.composed import SelfCheck, Standing, self_check
from replay.tasks.coverage import Cell, Coverage, coverage
from replay.tasks.start_points import DEFAULT_KINDS
from replay.tasks.task import StartKind, Task
from replay.tasks.task_table import task_table
from replay.tasks.tasks_text import print_coverage, print_tables
from tests.replay.nights import night
from tests.replay.tasks.made import NOBODY, TABLE, bundled_night, rolled

NIGHT = "WW" + "L" * 45 + "R" * 8 + "W" * 45
"""Starts: onset at 2, REM at 47, longest light at 2; no deep sleep."""
LATE, STOPPED = condition_named("cue_late"), condition_named("stop_pressed")


def covered(*conditions: object, letters: str = NIGHT) -> Coverage:
    return coverage(
        [night(letters)],
        seeds=(1, 2, 6),
        kinds=DEFAULT_KINDS,
        conditions=conditions,  # type: ignore[arg-type]
        wake_table=NOBODY,
        dropout=0.0,
    )


def test_a_family_is_counted_by_development_and_held_out_seeds() -> None:
    cells = covered(PLAIN).cells
    assert cells[StartKind.REM_ONSET, "plain"] == Cell(development=2, held_out=1)
    assert cells[StartKind.SLEEP_ONSET, "plain"] == Cell(restraint=3)


def test_a_family_the_night_lacks_is_uncovered() -> None:
    found = covered(PLAIN)
    assert found.cells[StartKind.LONGEST_DEEP, "plain"].uncovered
    assert not found.cells[StartKind.SLEEP_ONSET, "plain"].uncovered


def test_each_condition_is_a_row_of_its_own() -> None:
    found = covered(PLAIN, LATE, STOPPED)
    assert found.conditions == ("plain", "cue_late", "stop_pressed")
    assert len(found.cells) == 3 * 4
    assert sum(cell.development + cell.held_out for cell in found.cells.values()) == 9


def test_several_nights_are_counted_together() -> None:
    found = coverage(
        [night(NIGHT), night(NIGHT, night_id="night-b")],
        seeds=(1,),
        kinds=DEFAULT_KINDS,
        conditions=(PLAIN,),
        wake_table=NOBODY,
        dropout=0.0,
    )
    assert found.cells[StartKind.REM_ONSET, "plain"].development == 2


def test_an_invalid_task_is_counted_apart_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(recorded: RecordedNight, task: Task, **given: Any) -> SelfCheck:
        if task.seed == 2:
            return SelfCheck(task, Standing.INVALID, (), ("an agent that waits passes",))
        return self_check(recorded, task, **given)

    monkeypatch.setattr(coverage_module, "self_check", failing)
    found = covered(PLAIN)
    cell = found.cells[StartKind.REM_ONSET, "plain"]
    assert cell == Cell(development=1, held_out=1, invalid=1)
    (name,) = [name for name in found.problems if "rem_onset" in name]
    assert name.startswith("night-a/rem_onset-2323-")
    assert found.as_dict()["problems"][name] == ["an agent that waits passes"]


def test_progress_tells_how_many_tasks_of_the_night_are_done() -> None:
    told: list[tuple[int, int, str]] = []
    coverage(
        [night(NIGHT)],
        seeds=(1,),
        kinds=DEFAULT_KINDS,
        conditions=(PLAIN,),
        wake_table=NOBODY,
        dropout=0.0,
        progress=lambda *one: told.append(one),
    )
    assert told == [(0, 3, "night-a"), (1, 3, "night-a"), (2, 3, "night-a")]


def test_the_table_of_coverage_reads_at_a_glance(capsys: pytest.CaptureFixture[str]) -> None:
    cells = {
        (StartKind.SLEEP_ONSET, "plain"): Cell(restraint=2),
        (StartKind.REM_ONSET, "plain"): Cell(development=12, held_out=11, invalid=1),
        (StartKind.SLEEP_ONSET, "flicker"): Cell(),
        (StartKind.REM_ONSET, "flicker"): Cell(development=1, restraint=3),
    }
    kinds = (StartKind.SLEEP_ONSET, StartKind.REM_ONSET)
    print_coverage(Coverage(kinds, ("plain", "flicker"), cells, {"n/x": ("the oracle fails",)}))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["plain", "2", "r", "12+11", "1", "!"] in lines
    assert ["flicker", "—", "1+0", "3", "r"] in lines
    assert ["!", "n/x", "·", "the", "oracle", "fails"] in lines


# --- the table of a night


def test_a_table_counts_the_stages_of_each_window() -> None:
    table = task_table(
        night(NIGHT),
        seeds=(1, 6),
        kinds=DEFAULT_KINDS,
        scales=(1.0,),
        wake_table=TABLE,
        dropout=0.0,
    )
    onset, rem, light = table.rows
    assert onset.epochs == {"awake": 0, "light": 41, "deep": 0, "rem": 0, "none": 0}
    assert rem.epochs == {"awake": 33, "light": 0, "deep": 0, "rem": 8, "none": 0}
    assert light.epochs == onset.epochs
    assert (table.tasks, table.clusters) == (6, 2)
    assert table.lacking == {StartKind.LONGEST_DEEP: "no epoch shows deep sleep"}


def test_a_table_counts_what_can_be_passed_by_scale() -> None:
    recorded, seeds, scales = night("R" * 6 + "W" * 45), range(1, 9), (1.0, 10.0)
    table = task_table(
        recorded,
        seeds=seeds,
        kinds=(StartKind.REM_ONSET,),
        scales=scales,
        wake_table=TABLE,
        dropout=0.0,
    )
    for scale in scales:
        expected = sum(
            any(rolled(recorded, 0, seed, "wake", step) >= 0.05 * scale for step in range(6))
            for seed in seeds
        )
        assert table.feasible(scale) == expected


def test_the_table_of_the_bundled_night_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    table = task_table(
        bundled_night(),
        seeds=range(1, 9),
        kinds=DEFAULT_KINDS,
        scales=(0.5, 1.0, 2.0, 4.0),
        wake_table=TABLE,
        dropout=0.02,
    )
    print_tables([table], (0.5, 1.0, 2.0, 4.0))
    printed = capsys.readouterr().out
    assert "SYNTHETIC" in printed
    assert "15 start points in 9 clusters × 8 seeds = 120 tasks" in printed
    starts = [line for line in printed.splitlines() if "rem_onset" in line]
    assert len(starts) == 12
    assert all(line.endswith("8/8   8/8   8/8   8/8") for line in starts)
    assert max(map(len, printed.splitlines())) <= 100


def test_several_nights_are_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    tables = [
        task_table(
            night(NIGHT, night_id=name),
            seeds=(1,),
            kinds=DEFAULT_KINDS,
            scales=(1.0,),
            wake_table=NOBODY,
            dropout=0.0,
        )
        for name in ("night-a", "night-b")
    ]
    print_tables(tables, (1.0,))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 nights · 6 tasks"
    assert [line.split() for line in lines if line.startswith("night-b")] == [
        ["night-b", "3", "3", "2", "1", "longest_deep"]
    ]
