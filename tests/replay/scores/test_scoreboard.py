"""The scoreboard as a whole."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from subprocess import run

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.experiment.rows import Status
from replay.scores.estimators import ScoreError
from replay.scores.figures import Scoreboard, Split
from replay.scores.scoreboard import scoreboard
from tests.replay.scores.score_rows import Run, played, row, together, unit, verdict

GOOD = dict.fromkeys(range(12), "+++++")
FAIR = dict.fromkeys(range(12), "+-+-+")


def board(*runs: Run, seed: int = 1) -> Scoreboard:
    return scoreboard(*together(runs), seed=seed)


def test_it_says_what_it_is_of():
    found = board(played("a", GOOD), played("b", FAIR, scale=2.0))
    assert (found.agents, found.scales, found.nights) == (("a", "b"), (1.0, 2.0), 1)
    assert found.seeds == {"development": (1, 2, 3, 4, 5)}
    assert (found.clusters, found.resamples, found.seed) == (12, 2000, 1)


def test_without_a_row_there_is_nothing_to_score():
    with pytest.raises(ScoreError, match="no attempt"):
        scoreboard([], {})


def test_development_and_held_out_seeds_are_never_one_figure():
    held = played("a", dict.fromkeys(range(12), "---"), held_out=True, start_seed=6)
    found = board(played("a", GOOD), held)
    assert found.seeds == {"development": (1, 2, 3, 4, 5), "held_out": (6, 7, 8)}
    rates = {score.split: score.passes for score in found.scores}
    assert rates[Split.DEVELOPMENT] is not None
    assert rates[Split.HELD_OUT] is not None
    assert (rates[Split.DEVELOPMENT].lower, rates[Split.HELD_OUT].upper) == (1.0, 0.0)
    assert [len(score.pass_k) for score in found.scores] == [5, 3]
    assert any("new dice on the same sleep" in note for note in found.notes)


def test_it_is_json_with_rounded_numbers_and_no_nan():
    text = json.dumps(board(played("a", GOOD), played("b", {0: "?"})).as_dict(), allow_nan=False)
    plain = json.loads(text)
    assert plain["schema"] == 1
    assert plain["scores"][0]["passes"]["lower"] == 1.0
    assert plain["comparisons"][0]["passes"]["word"] == "not distinguishable"


def test_the_same_rows_give_the_same_figures_and_another_seed_other_intervals():
    runs = [played("a", GOOD), played("b", {start: "+-+--"[start % 4 :] for start in range(12)})]
    assert board(*runs) == board(*runs)
    assert board(*runs).scores[1] != board(*runs, seed=2).scores[1]


def test_another_process_gives_the_same_bytes():
    program = (
        "import json\n"
        "from replay.scores.scoreboard import scoreboard\n"
        "from tests.replay.scores.score_rows import played, together\n"
        "runs = [played('a', {s: '+-+?+' for s in range(12)}), played('b', {0: '+'})]\n"
        "print(json.dumps(scoreboard(*together(runs)).as_dict()))\n"
    )
    done = run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    here = board(played("a", dict.fromkeys(range(12), "+-+?+")), played("b", {0: "+"}))
    assert done.stdout.strip() == json.dumps(here.as_dict())


def test_the_three_claims_are_kept_apart():
    first, second, third = board(played("a", GOOD)).claims
    assert "paprika validate" in first
    assert "does well" in second
    assert third == "That the specification stands for real dreams is not shown."


def test_what_is_open_is_said_and_what_is_whole_is_not():
    assert any(
        note.startswith("2 cue-feasible attempts are open")
        for note in board(played("a", {0: "??", 1: "++"})).notes
    )
    assert not any("open" in note for note in board(played("a", GOOD)).notes)


def test_few_clusters_and_mixed_start_points_are_said():
    rows = [row(unit(seed=1)), row(unit(seed=2, feasible=False))]
    found = scoreboard(rows, {one.unit.key: verdict(one.unit) for one in rows})
    assert "Only 1 cluster of start points: no interval can be given." in found.notes
    assert any(note.startswith("1 start point is") for note in found.notes)
    assert any("Only 2 clusters" in note for note in board(played("a", {0: "+", 1: "-"})).notes)


def test_saturated_cells_are_said_with_the_wake_table_of_the_run():
    runs = together([played("a", {0: "+"}), played("a", {0: "+"}, scale=4.0)])
    assert [one.cells for one in scoreboard(*runs).saturation] == [("light high", "rem high")]
    calm = {
        stage: dict.fromkeys(("low", "medium", "high"), 0.1) for stage in ("light", "rem", "deep")
    }
    assert scoreboard(*runs, chances=calm).saturation == ()


def test_passes_are_told_by_start_kind_and_condition():
    runs = [
        played("a", {0: "+-"}),
        played("a", {1: "?+"}, kind="longest_deep", condition="flicker"),
        played("a", {2: "+"}, kind="longest_deep", feasible=False),
    ]
    found = board(*runs)
    told = [(part.name, part.passed, part.open, part.planned) for part in found.kinds]
    assert told == [("rem_onset", 1, 0, 2), ("longest_deep", 1, 1, 2)]
    assert [part.name for part in found.conditions] == ["plain", "flicker"]


def two_nights(gaps: dict[str, int]) -> Run:
    """Each night has one attempt of ten cues in shown REM, of which so many were in no true REM."""
    rows = []
    for night, gap in gaps.items():
        one = unit(night=night)
        rows.append(row(one, delivered=10, rem_cues=10, true_rem_cues=10 - gap))
    return rows, {one.unit.key: verdict(one.unit) for one in rows}


def test_the_five_nights_where_shown_and_true_rem_differ_most_come_worst_first():
    gaps = {f"night-{number}": number for number in range(8)}
    found = board(two_nights(gaps))
    assert [one.night for one in found.differ_most] == [f"night-{n}" for n in (7, 6, 5, 4, 3)]
    assert found.differ_most[0].shown_rem_share == 1.0
    assert found.differ_most[0].true_rem_share == pytest.approx(0.3)
    assert len(found.night_scores) == 8


def test_nights_without_a_difference_are_not_listed():
    assert board(two_nights({"night-1": 0})).differ_most == ()


def test_half_of_all_calls_failing_takes_nothing_out_of_a_denominator():
    marks = {start: "+?-?+?"[start % 2 :][:5] for start in range(12)}
    found = board(played("paid", marks), played("rem_rule", GOOD)).scores[0]
    assert found.passes is not None
    assert found.passes.planned == 60
    assert found.passes.open == sum(line.count("?") for line in marks.values())
    assert found.passes.upper - found.passes.lower == pytest.approx(found.passes.open / 60)
    assert found.pass_k[-1].k == 5


cells = st.sampled_from("+-?")
grids = st.lists(st.text(cells, min_size=3, max_size=3), min_size=2, max_size=5)


@settings(max_examples=25, deadline=None)
@given(grids, st.data())
def test_every_completion_of_open_attempts_lies_within_the_bounds(
    grid: list[str], data: st.DataObject
):
    done = ["".join(data.draw(st.sampled_from("+-")) if c == "?" else c for c in r) for r in grid]
    open_, closed = (board(played("a", dict(enumerate(marks)))).scores[0] for marks in (grid, done))
    assert open_.passes is not None
    assert closed.passes is not None
    assert open_.passes.lower <= closed.passes.lower <= open_.passes.upper
    for unsure, sure in zip(open_.pass_k, closed.pass_k, strict=True):
        assert unsure.lower - 1e-12 <= sure.lower <= unsure.upper + 1e-12


@settings(max_examples=25, deadline=None)
@given(grids)
def test_more_passes_never_lower_a_figure(grid: list[str]):
    better = [row.replace("-", "+", 1) for row in grid]
    worse, best = (board(played("a", dict(enumerate(m)))).scores[0] for m in (grid, better))
    assert worse.passes is not None
    assert best.passes is not None
    assert worse.passes.lower <= best.passes.lower
    assert all(a.lower <= b.lower + 1e-12 for a, b in zip(worse.pass_k, best.pass_k, strict=True))


def test_agents_that_broke_are_counted_by_status():
    rows, verdicts = played("a", {0: "+++"})
    rows[1] = replace(rows[1], status=Status.ENV_ERROR)
    assert scoreboard(rows, verdicts).scores[0].statuses == {"completed": 2, "env_error": 1}
