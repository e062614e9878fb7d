"""The example run that comes with the checkout: whole, readable, and as its traces say."""

from __future__ import annotations

from collections import Counter

from replay.decisions import bundled_prices
from replay.experiment.counting import Evidence, row_of
from replay.experiment.folder import RunFolder, hidden_path, trace_path
from replay.hypnogram import from_letters
from replay.scores.checker import check
from replay.trace_lines import read_bytes
from tests.conftest import ROOT

FOLDER = ROOT / "runs" / "examples" / "bundled-night"


def test_the_example_holds_five_agents_on_fifteen_tasks_at_four_scales():
    run = RunFolder.open(FOLDER)
    assert Counter(row.unit.agent for row in run.rows()) == dict.fromkeys(
        ("wait", "fixed_timer", "rem_rule", "gentle_rule", "one_cue"), 15 * 4
    )
    assert {row.status.value for row in run.rows()} == {"completed"}
    assert (FOLDER / "page" / "index.html").is_file()


def test_the_examples_rows_and_verdicts_are_what_its_traces_say():
    run = RunFolder.open(FOLDER)
    shown = {name: from_letters(night["shown"]) for name, night in run.manifest["nights"].items()}
    verdicts = run.verdicts()
    for row in run.rows()[::7]:
        key = row.unit.key
        evidence = Evidence(
            read_bytes(trace_path(FOLDER, key)), read_bytes(hidden_path(FOLDER, key))
        )
        assert row_of(row.unit, evidence, shown[row.unit.night], bundled_prices()) == row
        assert check(row) == verdicts[key]


def test_the_example_names_no_place_of_the_machine_it_was_made_on():
    for name in ("manifest.json", "spec.json"):
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert "/home" not in text
        assert "/root" not in text
        assert "/work" not in text
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 6_000_000
