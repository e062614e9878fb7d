"""Two agents side by side, on run folders with traces of real attempts."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from rich.console import Console

from devices.types import PaprikaError
from replay.commands.compare import compare
from replay.experiment.folder import write_database
from replay.experiment.verdict_sets import add_verdicts
from replay.overlays import STANDS_FOR
from replay.scores.estimators import ScoreError
from replay.scores.side_by_side import side_by_side, sides, what_differs
from replay.scores.side_by_side_text import print_side_by_side
from tests.replay.nights import cue_at, lived, night, setting
from tests.replay.scores.score_rows import Run, played, together

SHARED: dict[str, Any] = {
    "schema": 1,
    "comparability_key": "0" * 16,
    "dropout": 0.0,
    "wake_table": {"rem": {"low": 0.05}},
    "tasks": [{"night": "night-a", "epoch": 0, "condition": "plain", "seed": 1}],
    "units": 4,
}
AGENTS = {"early": 4, "late": 7}
"""The step at which each gives its one cue."""


def run_folder(path: Path, run: Run, **manifest: Any) -> Path:
    rows, verdicts = run
    path.mkdir(parents=True)
    agents = {one.unit.agent: {} for one in rows}
    made = {**SHARED, "id": path.name, "agents": agents, **manifest}
    (path / "manifest.json").write_text(json.dumps(made), encoding="utf-8")
    for one in rows:
        done = lived(night("WLLRRRRRRR"), cue_at(AGENTS.get(one.unit.agent, 5)), setting(0.0))
        for name, data in (("trace", done.trace_bytes), ("hidden", done.hidden_bytes)):
            file = path / "attempts" / f"{one.unit.key}.{name}.jsonl.zst"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(zstandard.compress(data))
    add_verdicts(path, list(verdicts.values()))
    write_database(path, rows)
    return path


def early(**given: Any) -> Run:
    return played("early", {0: "++", 1: "+-"}, **given)


def late(**given: Any) -> Run:
    return played("late", {0: "+-", 1: "-?"}, **given)


@pytest.fixture
def both(tmp_path: Path) -> Path:
    louder = [early(scale=4.0), late(scale=4.0)]
    return run_folder(tmp_path / "run", together([early(), late(), *louder]))


def test_two_agents_of_one_run_are_paired_task_by_task(both: Path):
    found = side_by_side(*sides("early", "late", both))
    (one,) = found.comparisons
    assert (found.scale, found.tasks, found.alone) == (1.0, 4, 0)
    assert (one.first, one.second, one.pairs, one.open) == ("early", "late", 4, 1)
    assert (one.only_first, one.only_second, one.passes.p_holm) == (2, 0, one.passes.p_permutation)


def test_each_task_that_came_out_otherwise_says_where_the_traces_part(both: Path):
    found = side_by_side(*sides("early", "late", both)).differences
    assert [(one.task, one.passed) for one in found] == [
        ("rem_onset-0000-t1-s2", (True, False)),
        ("rem_onset-0001-t1-s1", (True, False)),
        ("rem_onset-0001-t1-s2", (False, None)),
    ]
    parts = found[0].parts
    assert parts is not None
    assert (parts.step, parts.first, parts.second) == (4, "sound low in rem", "wait in rem")


def test_another_scale_can_be_asked_for_and_an_unplayed_one_is_refused(both: Path):
    assert side_by_side(*sides("early", "late", both), scale=4.0).scale == 4.0
    with pytest.raises(ScoreError, match=r"--scale: .* wake scales: 1 4"):
        side_by_side(*sides("early", "late", both), scale=2.0)


def test_agents_of_two_runs_are_compared_where_the_runs_are_alike(tmp_path: Path):
    one, two = run_folder(tmp_path / "one", early()), run_folder(tmp_path / "two", late())
    found = side_by_side(*sides(str(one), f"{two}:late"))
    assert (found.tasks, len(found.differences)) == (4, 3)
    assert found.differences[0].parts is not None


def test_one_agent_of_two_runs_is_told_apart_by_the_run(tmp_path: Path):
    one, two = (
        run_folder(tmp_path / "aaaaaaaa", early()),
        run_folder(tmp_path / "bbbbbbbb", early()),
    )
    found = side_by_side(*sides(str(one), str(two)))
    assert (found.first.name, found.second.name) == ("early@aaaaaa", "early@bbbbbb")
    assert found.differences == ()
    assert found.comparisons[0].passes.mean == 0.0


def test_what_only_one_side_made_is_left_out_and_said(tmp_path: Path):
    one = run_folder(tmp_path / "one", early())
    two = run_folder(tmp_path / "two", played("late", {0: "-"}))
    found = side_by_side(*sides(str(one), str(two)))
    assert (found.tasks, found.alone, found.comparisons[0].open) == (1, 3, 0)


def test_runs_that_share_no_task_cannot_be_compared(tmp_path: Path):
    one = run_folder(tmp_path / "one", early())
    two = run_folder(tmp_path / "two", late(start_seed=3))
    with pytest.raises(ScoreError, match="share no task"):
        side_by_side(*sides(str(one), str(two)))


def test_runs_made_differently_are_refused_and_what_differs_is_named(tmp_path: Path):
    one = run_folder(tmp_path / "one", early())
    other = {"comparability_key": "1" * 16, "wake_table": {"rem": {"low": 0.1}}, "dropout": 0.05}
    two = run_folder(tmp_path / "two", late(), **other)
    with pytest.raises(ScoreError) as refused:
        sides(str(one), str(two))
    told = str(refused.value)
    assert "dropout: 0.0 against 0.05; wake_table.rem.low: 0.05 against 0.1" in told
    assert "\n" not in told


def test_verdicts_of_two_checkers_are_never_in_one_table(tmp_path: Path):
    one, two = run_folder(tmp_path / "one", early()), run_folder(tmp_path / "two", late())
    (graded,) = (two / "verdicts").iterdir()
    text = graded.read_text(encoding="utf-8")
    head = json.loads(text.split("\n", 1)[0])
    graded.write_text(text.replace(head["checker_sha256"], "e" * 64), encoding="utf-8")
    with pytest.raises(ScoreError) as refused:
        sides(str(one), str(two))
    told = str(refused.value)
    assert f"{two} by eeeeeeee" in told
    assert told.endswith(f"Run: paprika regrade {two}")
    add_verdicts(two, list(late()[1].values()))
    assert side_by_side(*sides(str(one), str(two))).tasks == 4


def test_what_stands_for_the_device_is_said_beside_two_agents(tmp_path: Path):
    facts = {"nights": {"night-a": {"has_truth": True}}}
    run = run_folder(tmp_path / "run", together([early(), late()]), **facts)
    found, out = side_by_side(*sides("early", "late", run)), io.StringIO()
    print_side_by_side(found, console=Console(file=out, width=80))
    assert found.as_dict()["notes"] == [STANDS_FOR]
    assert STANDS_FOR in " ".join(out.getvalue().split())


def test_agents_seeds_and_scales_keep_no_two_runs_apart():
    tasks = [{"night": "night-a", "epoch": 0, "condition": "plain", "seed": 2}]
    other = {**SHARED, "id": "b", "seeds": [2], "scales": [4], "agents": {"x": {}}, "tasks": tasks}
    assert what_differs(SHARED, other) == []


def test_long_values_are_told_by_their_beginning():
    found = what_differs({"code_sha256": "a" * 64}, {"code_sha256": "b" * 64})
    assert found == ["code_sha256: aaaaaaaaaaaa… against bbbbbbbbbbbb…"]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("early", "nobody", "no agent nobody; there are: early, late"),
        ("early", "early", "are the same agent"),
        ("{run}", "late", "has 2 agents; write {run}:early"),
        ("{run}x:early", "late", "{run}x: no manifest.json there"),
    ],
)
def test_what_names_no_agent_is_refused_in_one_line(
    both: Path, first: str, second: str, words: str
):
    with pytest.raises(PaprikaError) as refused:
        sides(first.format(run=both), second.format(run=both), both)
    assert words.format(run=both) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_command_prints_one_json_object(both: Path, capsys: pytest.CaptureFixture[str]):
    assert compare("early", "late", run=both, json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["first"] == {"run": "run", "agent": "early", "name": "early"}
    assert told["comparisons"][0]["pairs"] == 4
    assert told["differences"][0]["parts"]["step"] == 4


def test_the_newest_run_is_taken_where_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path))
    run_folder(tmp_path / "runs" / "one", together([early(), late()]))
    assert compare("early", "late") == 0
    assert "early and late · wake scale 1 · 4 tasks" in capsys.readouterr().out


def test_a_person_reads_who_is_higher_and_where_the_traces_part(both: Path):
    out = io.StringIO()
    found = side_by_side(*sides("early", "late", both))
    print_side_by_side(found, console=Console(file=out, width=80))
    words = " ".join(out.getvalue().split())
    assert "3 tasks that came out otherwise: early | late" in words
    assert "pass | fail 0 | 1 0 | 0 4 23:02 sound low in rem" in words
    assert max(map(len, out.getvalue().splitlines())) <= 80


def test_agents_that_came_out_alike_are_said_to(tmp_path: Path):
    one, two = run_folder(tmp_path / "a", early()), run_folder(tmp_path / "b", early())
    out = io.StringIO()
    found = side_by_side(*sides(str(one), str(two)))
    print_side_by_side(found, console=Console(file=out, width=80))
    assert "No task came out otherwise." in out.getvalue()
