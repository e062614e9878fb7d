"""What a person sees in the terminal after a replay."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from bedside.recording import RecordingInfo
from devices.types import Stage
from replay.hypnogram import from_letters
from replay.hypnogram_text import text_hypnogram
from replay.importers import ImportedNight, ImportResult
from replay.replaying import Replayed
from replay.summary import Summary
from replay.terminal import print_hypnogram, print_imported, print_summary
from replay.wording import clock_ticks, steps_in_words
from tests.replay.summaries import cued_night, summary

FILES = {
    name: Path("/nights/out") / name
    for name in ("trace.jsonl", "hidden.jsonl", "manifest.json", "page/index.html")
}


def printed(found: Summary, width: int = 80, *, terminal: bool = False, **done: object) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
    )
    values = {"files": FILES, "trace_sha256": "", "wall_s": 0.5, "speed_x": 7740.0, **done}
    print_summary(Replayed(summary=found, **values), console=console)
    return out.getvalue()


def line(text: str, label: str) -> str:
    return next(row for row in text.splitlines() if row.strip().startswith(label + " "))


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_title_names_night_agent_seed_mode_and_speed():
    title = printed(cued_night()).splitlines()[0]
    assert title == "Night night-7 · SYNTHETIC · rem_rule · seed 3 · observe · 7,740 × real time"


def test_a_real_night_is_not_called_synthetic():
    assert "SYNTHETIC" not in printed(summary())


def test_every_figure_is_on_the_screen():
    text = words(printed(cued_night(), width=100))
    assert "23:30–00:35, 1 h 5 min" in text
    assert "awake 20 (16.0 %)" in text
    assert "REM 30 (24.0 %)" in text
    assert "light 45 (36.0 %)" in text
    assert "deep 30 (24.0 %)" in text
    assert "of 125 scored no reading 1 (+ 4 inserted awake)" in text
    assert "3, in shown stage: REM 2 deep 1" in text
    assert "wakings 1 (at 00:25), 6 suspected" in text
    assert "asked: cue_in_deep 2 words_not_said 1" in text
    assert "delivered: cue_in_deep 1 (2 refused, 1 rewritten)" in text
    assert "limits gap 17 (observe: not applied)" in text
    assert "decisions ok 128 late 2" in text
    assert "125 compared with the recording, 1 excluded" in text
    assert "(no reading in the recording: step 20), 0 mismatched" in text


def test_a_night_in_which_nothing_happened_says_so_in_few_words():
    text = words(printed(summary("W" * 40)))
    assert "cues none delivered" in text
    assert "wakings none" in text
    assert "rules none broken" in text
    assert "limits none met" in text
    assert "decisions" not in text


def test_the_files_come_last_and_the_page_as_an_address():
    rows = printed(summary()).splitlines()
    assert words(rows[-2]) == "files /nights/out/ trace.jsonl hidden.jsonl manifest.json"
    assert words(rows[-1]) == "page file:///nights/out/page/index.html"


def test_wake_is_on_top_then_rem_light_and_deep():
    rows = printed(cued_night()).splitlines()
    at = [
        next(k for k, row in enumerate(rows) if row.strip().startswith(name) and "█" in row)
        for name in ("awake", "REM", "light", "deep")
    ]
    assert at == sorted(at)


def test_cues_stand_under_their_columns_and_those_that_woke_look_different():
    drawn = text_hypnogram(cued_night().stages, 65)
    assert drawn.epochs_a_column == 2
    marks = drawn.marks(cued_night().cues)
    assert {k: mark for k, mark in enumerate(marks) if mark != " "} == {35: "▲", 49: "▲", 55: "!"}


def test_a_night_without_cues_has_no_row_of_marks():
    assert "▲" not in printed(summary())


def test_clock_times_stand_at_their_columns():
    row = text_hypnogram(("rem",) * 120, 60).clock(41_400.0)
    assert row.index("╵23:30") == 0
    assert row.index("╵00:00") == 30


def test_an_assumed_time_of_day_is_said():
    text = printed(summary(start_assumed=True))
    assert "(time assumed)" in text
    assert line(text, "assumed")
    assert "assumed" not in printed(summary())


def test_a_column_shows_the_stage_of_most_of_its_epochs_and_ties_the_last_seen():
    stages = ["rem", "rem", "awake", "light", "deep", "light", "deep", "rem", "none"]
    assert text_hypnogram(stages, 3).columns == ("rem", "light", "none")


def test_epochs_without_a_reading_have_a_row_only_where_a_column_shows_them():
    assert text_hypnogram(["rem", "none"], 10).rows[-1] == "none"
    assert "none" not in text_hypnogram(["rem"] * 8 + ["none"], 3).rows


def test_rows_of_a_night_without_readings_stay_in_line():
    rows = printed(summary("?" * 30)).splitlines()
    none = next(row for row in rows if "█" in row)
    assert none == "    none  " + "█" * 30


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("found", [cued_night(), summary("?" * 3), summary("R" * 2000)])
def test_no_line_is_wider_than_the_console_or_a_hundred_columns(width: int, found: Summary):
    rows = printed(found, width).splitlines()
    cut = [row for row in rows if "file://" not in row]  # an address is never broken
    assert len(cut) == len(rows) - 1
    assert max(map(cell_len, cut)) <= min(width, 100)


@pytest.mark.parametrize("width", [80, 100])
def test_a_usual_night_fits_a_screen_of_24_lines(width: int):
    assert len(printed(cued_night(), width).splitlines()) < 24


@given(st.text(max_size=200))
def test_words_from_outside_neither_widen_the_screen_nor_control_it(theme: str):
    text = printed(summary(theme=theme, agent=theme, ending=theme), 60)
    rows = text.split("\n")
    assert max(map(cell_len, rows)) <= 60
    assert "\x1b" not in text
    assert "\r" not in text


def test_square_brackets_in_a_theme_are_words_and_no_style():
    assert "theme [red]sea[/red]" in words(printed(summary(theme="[red]sea[/red]")))


def test_there_is_no_colour_where_output_is_piped():
    assert "\x1b" not in printed(cued_night())


def test_a_terminal_gets_a_colour_a_stage():
    text = printed(cued_night(), terminal=True)
    assert "\x1b[33m" in text
    assert "\x1b[95m" in text


def test_a_console_that_has_only_ascii_gets_only_ascii():
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    console = Console(file=file, width=80)
    found = Replayed(cued_night(), FILES, "", 0.5, 7740.0)
    print_summary(found, console=console)
    file.flush()
    text = raw.getvalue().decode("ascii")
    assert "7,740 x real time" in text
    assert "####" in text


def test_many_excluded_steps_are_ranges_and_a_count():
    assert steps_in_words([37]) == "step 37"
    assert steps_in_words([3, 4, 5, 9, 71]) == "steps 3–5, 9, 71"
    assert steps_in_words([0, 2, 4, 6, 8, 10, 12, 13]) == "steps 0, 2, 4, 6, 8, 10 and 2 more"


def test_clock_ticks_are_round_times_and_no_more_than_fit():
    assert list(clock_ticks(41_000.0, 3600.0, 2)) == [
        (400.0, "23:30"),
        (2200.0, "00:00"),
    ]


def test_a_hypnogram_of_a_recording_is_drawn_and_counted():
    out = io.StringIO()
    info = RecordingInfo("zeo-07", "headband_4stage", "zeo.csv", 18, (), None)
    print_hypnogram(info, from_letters("WW?LLLDDWRRRRRRLRR"), console=Console(file=out, width=80))
    text = out.getvalue()
    assert text.splitlines()[0] == "Night zeo-07 · 23:00–23:09 (time assumed), 9 min"
    assert "awake 3 (17.6 %)  REM 8 (47.1 %)  light 4 (23.5 %)" in text
    assert "of 17 scored  no reading 1" in text


def test_fine_stages_are_counted_as_light():
    out = io.StringIO()
    info = RecordingInfo("psg", "psg_5_scorers", "x", 2, ())
    print_hypnogram(info, [Stage.N1, Stage.N2], console=Console(file=out, width=80))
    assert "light 2 (100.0 %)" in out.getvalue()


def test_imported_nights_are_a_table_and_every_failure_is_named():
    out = io.StringIO()
    night = ImportedNight(
        "zeo-07",
        "out/zeo-07.mcap",
        "zeo.csv",
        960,
        {"awake": 143, "light": 297, "deep": 215, "rem": 303, "none": 2},
        "",
        (200, 300),
        "headband_4stage",
    )
    failed = (("bad.csv", "bad.csv: line 3: unknown stage 'X'"),)
    print_imported(ImportResult((night,), failed, 4), console=Console(file=out, width=80))
    rows = out.getvalue().splitlines()
    assert words(rows[0]) == "night epochs awake REM light deep none REM runs"
    assert rows[1].split() == ["zeo-07", "960", "143", "303", "297", "215", "2", "2"]
    assert rows[0].index("epochs") + len("epochs") == rows[1].index("960") + 3
    assert "failed: bad.csv: line 3: unknown stage 'X'" in rows
    assert rows[-1] == "1 night imported, 1 failed, 4 other files left alone"


def test_rich_loads_only_when_something_is_printed():
    import subprocess

    code = "import sys, replay.terminal; print('rich' in sys.modules, 'numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
