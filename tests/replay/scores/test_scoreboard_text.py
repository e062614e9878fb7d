"""What a person reads of a scoreboard in a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from replay.scores.figures import Scoreboard
from replay.scores.scoreboard import scoreboard
from replay.scores.scoreboard_text import print_scoreboard
from tests.replay.scores.score_rows import Run, played, together


def printed(run: Run, width: int = 80, encoding: str = "utf-8") -> str:
    return shown(scoreboard(*run), width, encoding)


def shown(board: Scoreboard, width: int = 80, encoding: str = "utf-8") -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=out, width=width, highlight=False)
    print_scoreboard(board, console=console)
    out.flush()
    written = out.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode(encoding)


def words(text: str) -> str:
    return " ".join(text.split())


def whole_run() -> Run:
    """Three agents on twelve start points, five seeds and two scales, and held-out seeds."""
    runs = []
    for name, marks in (("wait", "-----"), ("fixed_timer", "+-?+-"), ("rem_rule", "+++++")):
        for scale in (1.0, 4.0):
            runs.append(played(name, dict.fromkeys(range(12), marks), scale=scale))
        calm = played(name, {12: marks}, feasible=False)
        held = played(name, dict.fromkeys(range(12), marks[:3]), held_out=True, start_seed=6)
        runs += [calm, held]
    return together(runs)


@pytest.fixture(scope="module")
def board() -> Scoreboard:
    return scoreboard(*whole_run())


@pytest.fixture(scope="module")
def text(board: Scoreboard) -> str:
    return shown(board)


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(board: Scoreboard, width: int):
    lines = shown(board, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert not any(line.endswith(" ") for line in lines)


def test_a_narrower_terminal_loses_no_figure(board: Scoreboard, text: str):
    assert shown(board, 40) == text


def test_a_terminal_without_unicode_gets_ascii(board: Scoreboard):
    found = shown(board, encoding="ascii")
    assert "(<= " in found
    assert "0.40-0.60" in found


def test_passes_stand_with_bounds_interval_resolution_and_restraint(text: str):
    assert "one flipped attempt is 0.017" in words(text)
    line = next(line for line in text.splitlines() if line.startswith("fixed_timer 24 of 60"))
    assert " 24 of 60, 12 open 0.40–0.60 [0.14–0.86] " in words(line)
    assert line.endswith("2 of 5, 1 open")


def test_pass_k_has_a_column_for_every_k_and_held_out_seeds_a_table_of_their_own(text: str):
    heads = [line.split("k = ")[1:] for line in text.splitlines() if "k = 1" in line]
    assert [[one.strip() for one in head] for head in heads] == [
        ["1", "2", "3", "4", "5"],
        ["1", "2", "3"],
    ]
    assert "development seeds 1 2 3 4 5" in words(text)
    assert "held-out seeds 6 7 8" in words(text)


def test_many_seeds_show_the_first_four_and_the_last():
    head = next(line for line in printed(played("a", {0: "+" * 9})).splitlines() if "k = 1" in line)
    assert [one.strip() for one in head.split("k = ")[1:]] == ["1", "2", "3", "4", "9"]


def test_no_waking_in_75_attempts_is_told_with_what_it_leaves_possible():
    quiet = printed(played("wait", dict.fromkeys(range(15), "+++++")))
    assert "wait 0 of 75 (≤ 3.9 %) 0 of 75 (≤ 3.9 %) -" in words(quiet)


def test_wakings_at_the_four_scales_are_told_as_a_range():
    runs = [played("a", {0: "-+"}, scale=scale) for scale in (0.5, 1.0, 2.0)]
    found = words(printed(together([*runs, played("a", {0: "--"}, scale=4.0)])))
    assert "and as a range over all agent × 0.5 × 1 × 2 × 4 range a 0.50 0.50 0.50 1.00" in found
    assert "1.00 0.50–1.00" in found
    assert "Not played" not in found


def test_wakings_are_told_at_every_scale_and_without_a_range_where_some_are_missing(text: str):
    lines = text.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("Wakings a task"))
    assert lines[head + 1].split() == ["agent", "×", "1", "×", "4"]
    assert lines[head + 2].split() == ["wait", "1.00", "1.00"]
    assert "Not played at wake scales 0.5, 2: the wake table is assumed" in words(text)
    assert "Kendall's tau): 1/4 1.00; the same at every scale." in words(text)


def test_pairs_are_called_higher_or_not_distinguishable(text: str):
    assert "second higher" in text
    assert "second higher on these dice" not in " ".join(text.split())
    same = printed(together([played("a", {0: "+-"}), played("b", {0: "+-"})]))
    assert "not distinguishable" in same
    assert "higher" not in same.split("Pairs of agents")[1]


def test_a_difference_that_rests_on_two_stretches_of_sleep_is_one_of_these_dice_only():
    a, b = played("a", {0: "+++++", 1: "+++++"}), played("b", {0: "-----", 1: "-----"})
    found = printed(together([a, b]))
    assert found.count("first higher\n") == found.count("second higher\n") == 1
    assert found.count(" on these dice\n") == 2
    assert "On these dice: on other sleep not distinguishable." in found


def test_what_broke_is_told_by_status(text: str):
    assert "fixed_timer: attempts provider_error 13" in words(text)


def test_claims_and_saturation_stand_at_the_end(text: str):
    end = words(text)[-420:]
    assert "certain to wake in 2 of 9 cells: light high, REM high." in words(text)
    assert end.endswith("That the specification stands for real dreams is not shown.")


def test_calls_and_cost_appear_for_agents_that_call_and_an_unknown_price_is_no_zero():
    assert "Calls and cost" not in printed(played("a", {0: "+"}))
    rows, verdicts = played("a", {0: "+"})
    paid = [replace(rows[0], calls=3, client_calls=5, tokens_in=1200, limit_waits=4)]
    assert "$0.00" in printed((paid, verdicts))
    assert "unknown" in printed(([replace(paid[0], cost_paid=None)], verdicts))


def test_rules_are_told_as_asked_and_delivered():
    rows, verdicts = played("a", {0: "+"})
    broken = [
        replace(
            rows[0],
            violations={"words_not_said": 6, "cue_in_deep": 1},
            violations_delivered={"cue_in_deep": 1},
            rewritten=6,
            refused=2,
            decisions={"ok": 38, "late": 2},
        )
    ]
    found = words(printed((broken, verdicts)))
    assert "words_not_said 6 (0) cue_in_deep 1 (1)" in found
    assert "a: decisions late 2" in found
    assert "a: cues refused by the gate 2" in found


def test_nights_where_shown_and_true_rem_differ_are_listed():
    rows, verdicts = played("a", {0: "+"}, night="night-b")
    rows = [replace(rows[0], delivered=4, rem_cues=4, true_rem_cues=1)]
    assert "a night-b 4 100 % 25 %" in words(printed((rows, verdicts)))


def test_a_name_cannot_steer_the_terminal():
    assert "\x1b" not in printed(played("a\x1b[31m", {0: "+"}))
