"""`paprika validate`: what it prints, in words and for programs, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bedside.recording import write_night
from replay.commands.validate import as_json, validate
from replay.experiment.nights import NightsError
from replay.validation.findings import Check, Checked, Finding, Report, Result
from replay.validation.several import Unreadable, validate_all
from replay.validation.terminal import print_report, print_validated
from tests.replay.nights import recording

SHORT = "WWLLDDRRRRRRWW"
"""Too short for a task."""


@pytest.fixture
def short_night(tmp_path: Path) -> Path:
    path = tmp_path / "short.mcap"
    write_night(path, recording(SHORT))
    return path


def told(name: str, result: Result, line: str = "so many") -> Checked:
    return Checked(name, Finding(result, line, {"many": 3}), 0.25)


REPORT = Report(
    "night-a",
    12,
    (
        told("first", Result.PASSED),
        told("second", Result.FAILED, "2 of 3 \x1b[31m"),
        told("third", Result.NOT_APPLICABLE, "no such thing here"),
    ),
)
GOOD = Report("night-b", 13, (told("first", Result.PASSED),))


def test_a_night_too_short_for_a_task_is_checked_as_far_as_it_goes(short_night: Path) -> None:
    heard: list[tuple[int, int, str]] = []
    reports = validate_all([short_night], progress=lambda *at: heard.append(at))
    printed = as_json(reports)
    (night,) = printed["nights"]
    assert (printed["passed"], night["epochs"], night["failed"]) == (True, len(SHORT), [])
    results = {one["name"]: one["result"] for one in night["checks"]}
    assert results["wait_replays_exactly"] == "passed"
    assert results["oracle_passes"] == "not applicable"
    assert all(one["seconds"] >= 0 for one in night["checks"])
    assert heard[0][2] == "wait_is_never_cued"
    assert heard[-1][0] == heard[-1][1] == len(heard) - 1 == len(results)


def test_a_folder_is_searched_by_two_processes_and_a_torn_night_is_named(
    short_night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = short_night.with_name("a-torn.mcap")
    torn.write_bytes(short_night.read_bytes()[:-200])
    assert validate(nights=[short_night.parent], jobs=2, json=True) == 2
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [one["night"] for one in printed["unreadable"]] == ["a-torn.mcap"]
    assert "paprika recover" in printed["unreadable"][0]["error"]
    assert [one["night"] for one in printed["nights"]] == ["night-a"]
    assert printed["nights"][0]["passed"]
    assert printed["passed"] is False


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(NightsError, match=r"nowhere\.mcap: no such file"):
        validate([Path("nowhere.mcap")])


def test_a_number_of_processes_that_cannot_be_is_named() -> None:
    with pytest.raises(Exception, match="--jobs 0"):
        validate(jobs=0)


def test_a_report_for_programs_has_every_number() -> None:
    got = as_json([REPORT, GOOD, Unreadable("bad", "torn")])
    assert got["passed"] is False
    assert [one["passed"] for one in got["nights"]] == [False, True]
    assert got["nights"][0]["failed"] == ["second"]
    assert got["nights"][0]["seconds"] == 0.75
    assert got["nights"][0]["checks"][2] == {
        "name": "third",
        "result": "not applicable",
        "line": "no such thing here",
        "numbers": {"many": 3},
        "seconds": 0.25,
    }
    json.dumps(got, allow_nan=False)


def test_a_report_for_people_names_each_check(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(REPORT)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == [
        "Night night-a · 12 epochs · 1 passed, 1 failed, 1 not applicable · 0.8 s",
        "  passed  first: so many",
        "  FAILED  second: 2 of 3 \N{REPLACEMENT CHARACTER}[31m",
        "       –  third: no such thing here",
    ]


def test_of_many_nights_only_failures_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_validated([GOOD, GOOD, REPORT, Unreadable("bad.mcap", "bad.mcap: torn")])
    printed = capsys.readouterr().out
    assert "first" not in printed
    assert "second: 2 of 3" in printed
    assert printed.splitlines()[-1] == "4 nights, 2 passed, 1 failed, 1 could not be read"


def test_a_check_needs_nothing_unless_it_says_so() -> None:
    assert Check("one", lambda ground: Finding(Result.PASSED, "")).needs == ()
