"""The results database: what goes in comes out, and a broken one is named."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.experiment.results import ResultsError, read_results, write_results
from replay.experiment.rows import Row, Status, Unit
from replay.scores.verdicts import Property, Value, Verdict

COUNTS = st.dictionaries(st.text(max_size=8), st.integers(0, 10**6), max_size=4)
NUMBERS = st.integers(0, 10**9)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
FLOATS = st.floats(0, 1e9, allow_nan=False)

UNITS = st.builds(
    Unit,
    night=TEXTS, task=TEXTS, kind=TEXTS, start_epoch=NUMBERS, cluster=NUMBERS, theme=TEXTS,
    seed=NUMBERS, condition=TEXTS, held_out=st.booleans(), feasible=st.booleans(), agent=TEXTS,
    scale=FLOATS,
)  # fmt: skip
ROWS = st.builds(
    Row,
    unit=UNITS, status=st.sampled_from(Status), ending=TEXTS, detail=st.none() | TEXTS,
    steps=NUMBERS, compared=NUMBERS, mismatched=NUMBERS, asked=NUMBERS, delivered=NUMBERS,
    refused=NUMBERS, rewritten=NUMBERS, shown=COUNTS, true=COUNTS, rem_cues=NUMBERS,
    true_rem_cues=NUMBERS, wakings=NUMBERS, violations=COUNTS, violations_delivered=COUNTS,
    limit_hits=COUNTS, rem_epochs=NUMBERS, rem_periods=NUMBERS, rem_periods_cued=NUMBERS,
    first_cue_s=st.none() | FLOATS, decisions=COUNTS, suspected_wakings=NUMBERS, latency_s=FLOATS,
    calls=NUMBERS, client_calls=NUMBERS, cached=NUMBERS, failed_calls=NUMBERS,
    limit_waits=NUMBERS, tokens_in=NUMBERS, tokens_out=NUMBERS, cost_paid=st.none() | FLOATS,
    cost_nominal=st.none() | FLOATS, evidence=st.booleans(), trace_sha256=TEXTS,
    hidden_sha256=TEXTS,
)  # fmt: skip


def _named(rows: list[Row]) -> list[Row]:
    """Rows whose keys differ, as in any run."""
    return [
        replace(row, unit=replace(row.unit, task=f"{number}-{row.unit.task}"))
        for number, row in enumerate(rows)
    ]


@given(st.lists(ROWS, max_size=4))
def test_rows_come_back_as_they_went_in_and_in_their_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
):
    path = tmp_path_factory.mktemp("results") / "r.sqlite"
    write_results(path, _named(rows), {})
    assert read_results(path) == _named(rows)


def test_the_same_rows_give_the_same_bytes(tmp_path: Path):
    verdicts = {"0001-a": [Verdict("k", {Property.NO_WAKING: Value.PASS}, "why")]}
    digests = set()
    for name in ("a", "b"):
        write_results(tmp_path / name, [], verdicts)
        digests.add(sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(digests) == 1


def test_anybody_can_ask_the_database_with_plain_sql(tmp_path: Path):
    verdicts = {
        "0001-a": [Verdict("k", {Property.NO_WAKING: Value.FAIL}, "woke")],
        "0002-b": [Verdict("k", {Property.NO_WAKING: Value.PASS}, "")],
    }
    write_results(tmp_path / "r.sqlite", [], verdicts)
    with sqlite3.connect(tmp_path / "r.sqlite") as base:
        found = base.execute('SELECT "set", key, overall, no_waking, rem_cue FROM verdicts')
        assert found.fetchall() == [
            ("0001-a", "k", "fail", "fail", None),
            ("0002-b", "k", "unresolved", "pass", None),
        ]


def test_a_database_of_a_newer_schema_is_refused_by_name(tmp_path: Path):
    path = tmp_path / "r.sqlite"
    write_results(path, [], {})
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version=7")
    with pytest.raises(ResultsError, match=r"r\.sqlite: schema 7 is newer"):
        read_results(path)


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all", b"SQLite format 3\0" + b"x" * 200]
)
def test_what_is_no_database_is_named(tmp_path: Path, content: bytes):
    path = tmp_path / "r.sqlite"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match=r"r\.sqlite: not a results database"):
        read_results(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(ResultsError, match=r"r\.sqlite: unable to open"):
        write_results(tmp_path / "nowhere" / "r.sqlite", [], {})
