"""After a change: what is kept, judged anew, or made again, and that old verdicts stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replay.experiment import regrading, running, verdict_sets
from replay.experiment.regrading import Need, RegradingError, regrade, work_plan
from replay.experiment.rows import Row
from replay.experiment.verdict_sets import VerdictSetError, add_verdicts, read_verdicts
from replay.scores.verdicts import Property, Value, Verdict
from tests.replay.experiment.runs import bytes_of, made, small_run

TABLE = """
schema = 1
awake_epochs = 4
[chances.light]
low = 0.08
medium = 0.20
high = 0.45
object = 0.08
[chances.rem]
low = 0.06
medium = 0.15
high = 0.40
object = 0.05
[chances.deep]
low = 0.02
medium = 0.08
high = 0.20
object = 0.02
"""
"""The bundled wake table with one chance changed: REM, low, 0.05 → 0.06."""


@pytest.fixture
def stricter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker of another build, by which nothing passes."""

    def refuse(row: Row) -> Verdict:
        values = {Property.NO_WAKING: Value.FAIL, Property.EVIDENCE_COMPLETE: Value.PASS}
        return Verdict(row.unit.key, values, "stricter")

    for module in (running, regrading, verdict_sets):
        monkeypatch.setattr(module, "checker_sha256", lambda: "f" * 64)
    monkeypatch.setattr(running, "check", refuse)


def test_nothing_has_changed_and_all_is_kept(tmp_path: Path):
    folder = made(small_run(tmp_path), tmp_path / "run").folder
    plan = work_plan(folder.path)
    assert set(plan.needs.values()) == {Need.KEEP}
    assert (plan.checker_changed, plan.why) == (False, ())
    before = bytes_of(folder.path)
    regrade(folder.path)
    assert bytes_of(folder.path) == before


@pytest.mark.usefixtures("stricter")
def test_a_changed_checker_asks_for_verdicts_and_a_changed_wake_table_for_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    folder = made(small_run(tmp_path), tmp_path / "run").folder.path
    table = tmp_path / "table.toml"
    table.write_text(TABLE, encoding="utf-8")
    for module in (running, regrading, verdict_sets):
        monkeypatch.setattr(module, "checker_sha256", lambda: "f" * 64)

    after_checker = work_plan(folder)
    assert set(after_checker.needs.values()) == {Need.REGRADE}
    assert after_checker.why == ()

    after_table = work_plan(folder, wake_table=table)
    assert set(after_table.needs.values()) == {Need.RERUN}
    assert after_table.why == ("wake_table.rem.low: 0.05 → 0.06",)


def test_regrading_adds_a_linked_set_and_keeps_every_byte_of_the_old_one(
    tmp_path: Path, request: pytest.FixtureRequest
):
    folder = made(small_run(tmp_path), tmp_path / "run").folder
    old = folder.verdicts()
    (first,) = folder.verdict_sets()
    kept = first.path.read_bytes()
    traces = {name: digest for name, digest in bytes_of(folder.path).items() if "attempts" in name}

    request.getfixturevalue("stricter")
    judged, plan = regrade(folder.path)

    assert plan.counts["regrade"] == len(old)
    before, after = judged.verdict_sets()
    assert (before.id, after.parent) == (first.id, first.id)
    assert first.path.read_bytes() == kept
    assert judged.verdicts(first.id) == old
    assert {verdict.overall for verdict in judged.verdicts().values()} == {Value.FAIL}
    assert traces.items() <= bytes_of(folder.path).items()


def test_regrading_is_refused_where_evidence_is_missing(
    tmp_path: Path, request: pytest.FixtureRequest
):
    folder = made(small_run(tmp_path), tmp_path / "run").folder
    next(folder.path.rglob("*.trace.jsonl.zst")).unlink()
    request.getfixturevalue("stricter")
    assert work_plan(folder.path).counts[Need.MAKE] == 1
    with pytest.raises(RegradingError, match="1 of 8 attempts would have to be made again"):
        regrade(folder.path)
    assert len(folder.verdict_sets()) == 1


def test_regrading_is_refused_where_an_agent_has_changed(tmp_path: Path):
    from tests.replay.experiment.runs import agent_file

    spoken = agent_file(tmp_path, "pass")
    folder = made(small_run(tmp_path, spoken, "wait"), tmp_path / "run").folder
    agent_file(tmp_path, "return PlaySound()")
    plan = work_plan(folder.path)
    assert plan.counts == {"keep": 4, "regrade": 0, "rerun": 4, "make": 0}
    assert any("source_sha256" in line for line in plan.why)
    with pytest.raises(RegradingError, match="source_sha256"):
        regrade(folder.path)


def test_a_deleted_database_is_built_again_byte_for_byte(tmp_path: Path):
    folder = made(small_run(tmp_path), tmp_path / "run").folder
    before = bytes_of(folder.path)
    (folder.path / "results.sqlite").unlink()
    regrade(folder.path)
    assert bytes_of(folder.path) == before


def test_attempts_without_a_trace_are_judged_again_too(
    tmp_path: Path, request: pytest.FixtureRequest
):
    path = tmp_path / "cannot.py"
    path.write_text(
        "class Cannot:\n"
        "    name = 'cannot'\n"
        "    def reset(self, session): raise ValueError('no')\n"
        "    async def decide(self, observation): ...\n",
        encoding="utf-8",
    )
    folder = made(small_run(tmp_path, f"{path}:Cannot", "wait"), tmp_path / "run").folder
    request.getfixturevalue("stricter")
    judged, _ = regrade(folder.path)
    assert len(judged.verdicts()) == len(judged.rows()) == 8
    assert sum(not row.evidence for row in judged.rows()) == 4


def test_verdict_sets_are_numbered_and_never_overwritten(tmp_path: Path):
    verdict = Verdict("a/b/c/x1", {Property.NO_WAKING: Value.PASS}, "ein Grund 夜")
    first, second = add_verdicts(tmp_path, [verdict]), add_verdicts(tmp_path, [verdict, verdict])
    assert (first.id[:4], second.id[:4]) == ("0001", "0002")
    assert (first.parent, second.parent) == (None, first.id)
    assert read_verdicts(first) == {"a/b/c/x1": verdict}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: not JSON"),
        ("[]\n", "line 1: not a JSON object"),
        ('{"kind":"verdicts"}\n', "line 1: not a verdict set"),
        ('{"schema":9,"id":"x"}\n', "schema 9 is newer"),
    ],
)
def test_a_broken_verdict_set_is_named(tmp_path: Path, text: str, says: str):
    (tmp_path / "verdicts").mkdir()
    (tmp_path / "verdicts" / "0001-x.jsonl").write_text(text)
    with pytest.raises(VerdictSetError, match=says):
        verdict_sets.verdict_sets(tmp_path)


@pytest.mark.parametrize(
    "line",
    ['{"key":"a"}', '{"key":"a","values":{"luck":"pass"},"reason":""}', '{"values":[]}'],
)
def test_a_line_that_is_no_verdict_is_named(tmp_path: Path, line: str):
    made_set = add_verdicts(tmp_path, [])
    head = {**json.loads(made_set.path.read_text()), "count": 1}
    made_set.path.write_text(json.dumps(head) + "\n" + line + "\n")
    with pytest.raises(VerdictSetError, match="line 2: no verdict"):
        read_verdicts(made_set)


def test_forged_verdicts_are_judged_anew_and_torn_ones_are_named(tmp_path: Path):
    folder = made(small_run(tmp_path, "wait"), tmp_path / "run").folder
    honest = folder.verdicts()
    (first,) = folder.verdict_sets()
    text = first.path.read_text()
    first.path.write_text(text.replace('"fail"', '"pass"'))
    judged, _ = regrade(folder.path)
    assert judged.verdicts() == honest
    assert len(judged.verdict_sets()) == 2
    first.path.write_text("\n".join(text.splitlines()[:3]) + "\n")
    with pytest.raises(VerdictSetError, match="2 verdicts where its first line says 4"):
        judged.verdicts(first.id)
