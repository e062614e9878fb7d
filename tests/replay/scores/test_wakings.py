"""Wakings as a range over the wake scales, with the agreement of the agents' order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bedside.configuration import default_toml
from replay.scores.scoreboard import scoreboard
from replay.scores.wakings import CELLS, lacking, saturation
from tests.replay.scores.score_rows import Run, played, together

CHANCES = default_toml("wake_table")["chances"]


def waking(agent: str, by_scale: dict[float, list[int]]) -> Run:
    """Wakings of each attempt, a start point each."""
    runs = []
    for scale, wakings in by_scale.items():
        rows, verdicts = played(agent, dict.fromkeys(range(len(wakings)), "+"), scale=scale)
        woken = [replace(one, wakings=n) for one, n in zip(rows, wakings, strict=True)]
        runs.append((woken, verdicts))
    return together(runs)


A = waking("a", {0.5: [0, 0], 1.0: [1, 0], 4.0: [2, 1]})
B = waking("b", {0.5: [1, 0], 1.0: [1, 1], 4.0: [1, 0]})
C = waking("c", {0.5: [2, 2], 1.0: [2, 3], 4.0: [4, 4]})


def test_wakings_are_a_range_over_the_scales():
    more = [waking("a", {2.0: [1, 0]}), waking("b", {2.0: [0, 3]})]
    first, second = scoreboard(*together([A, B, *more])).waking_ranges
    assert first.by_scale == {"0.5": 0.0, "1": 0.5, "2": 0.5, "4": 1.5}
    assert (first.low, first.high) == (0.0, 1.5)
    assert (second.low, second.high) == (0.5, 1.5)


def test_without_one_of_the_four_scales_there_is_no_range():
    assert lacking((1.0,)) == (0.5, 2.0, 4.0)
    assert lacking((0.25, 0.5, 1.0, 2.0, 4.0)) == ()
    board = scoreboard(*together([A, B]))
    assert {(one.low, one.high) for one in board.waking_ranges} == {(None, None)}
    assert (
        board.notes.count(
            "Not played at wake scale 2: the wake table is assumed, and without it wakings have no "
            "range."
        )
        == 1
    )


def test_the_order_of_agents_is_held_against_itself_at_every_two_scales():
    (found,) = scoreboard(*together([A, B, C])).rank_agreement
    assert found.agents == 3
    assert found.by_pair == {
        "0.5/1": 1.0,
        "0.5/4": pytest.approx(1 / 3),
        "1/4": pytest.approx(1 / 3),
    }
    assert found.lowest == pytest.approx(1 / 3)


def test_agents_that_nothing_ranks_have_no_agreement():
    calm = [waking(name, {0.5: [0], 1.0: [0]}) for name in "ab"]
    (found,) = scoreboard(*together(calm)).rank_agreement
    assert (found.by_pair, found.lowest) == ({"0.5/1": None}, None)


def test_with_one_scale_there_is_nothing_to_hold_it_against():
    (found,) = scoreboard(*waking("a", {1.0: [1, 0]})).rank_agreement
    assert (found.by_pair, found.lowest) == ({}, None)


def test_an_agent_without_one_whole_attempt_at_a_scale_is_not_ranked():
    broken = together([played("d", {0: "?", 1: "?"}, scale=scale) for scale in (0.5, 1.0, 4.0)])
    board = scoreboard(*together([A, B, broken]))
    assert board.rank_agreement[0].agents == 2
    assert (board.waking_ranges[2].low, board.waking_ranges[2].high) == (None, None)


def test_at_scale_4_two_of_nine_cells_saturate():
    """0.45 and 0.40 times 4 are over 1; 0.20 times 4 is 0.8."""
    assert len(CELLS) == 9
    (found,) = saturation([0.5, 1, 2, 4], CHANCES)
    assert (found.scale, found.cells) == (4, ("light high", "rem high"))


def test_a_cell_of_exactly_one_saturates():
    (found,) = saturation([5.0], CHANCES)
    assert "light medium" in found.cells
    assert "rem medium" not in found.cells
