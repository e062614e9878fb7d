"""Hidden events of every kind: none drops an attempt, and each stands where it happened."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.fixed_timer import FixedTimer
from agents.rem_rule import RemRule
from bedside.configuration import default_toml
from replay.conditions import condition_named
from replay.experiment.run import resolve
from replay.export import Exported, export
from replay.export.columns import HAPPENED, REWARD
from replay.simulation.answers import bundled_answers
from replay.simulation.folder import write_episode
from replay.simulation.world import Simulation
from replay.tasks.task import StartKind
from replay.trace_lines import inserted_steps, read_lines
from replay.wake_rule import wake_table
from tests.replay.experiment.runs import made, small_spec
from tests.replay.nights import Lived, cue_at, lines_of, lived, night, setting, waking_setting
from tests.replay.simulation.asleep import HEALTHY

Row = dict[str, Any]


def written(folder: Path, done: Lived) -> Path:
    folder.mkdir()
    (folder / "trace.jsonl").write_bytes(done.trace_bytes)
    (folder / "hidden.jsonl").write_bytes(done.hidden_bytes)
    return folder


def hidden_of(done: Exported) -> list[Row]:
    return lines_of(done.files["hidden.jsonl"].read_bytes())


def events_in(rows: list[Row]) -> Counter[str]:
    """How often each event stands in an export, whatever its column."""
    found: Counter[str] = Counter()
    for row in rows:
        found["dropout"] += row["dropped"]
        found.update({event: len(row[column]) for event, (column, _) in HAPPENED.items()})
        found.update(one["event"] for one in row["other"])
    return +found


def events_of(*traces: Path) -> Counter[str]:
    """How often each event stands in hidden traces; the truth is a column of its own."""
    lines = (line for path in traces for line in read_lines(path))
    return Counter(x["event"] for x in lines if x["kind"] == "event" and x["event"] != "truth")


# --- attempts that once were left out


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("composed")
    names = ("dropout_burst+cue_late+stop_pressed", "flicker")
    spec = small_spec(
        folder,
        "rem_rule",
        "fixed_timer",
        kinds=(StartKind.REM_ONSET, StartKind.LONGEST_LIGHT),
        conditions=tuple(map(condition_named, names)),
    )
    made(resolve(spec), folder / "run")
    return folder / "run"


def test_no_attempt_of_a_run_with_faults_is_left_out(tmp_path: Path, composed: Path) -> None:
    done = export(composed, tmp_path / "out", hidden=True)
    assert (done.episodes, done.left_out) == (8, ())
    traces = sorted(composed.rglob("*.hidden.jsonl.zst"))
    expected = events_of(*traces)
    assert {"dropout", "disturbed", "fault"} <= expected.keys()
    assert events_in(hidden_of(done)) == expected


def test_faults_stand_at_their_steps(tmp_path: Path, composed: Path) -> None:
    (trace,) = composed.glob("attempts/*/longest_light*flicker/fixed_timer/x1.trace.jsonl.zst")
    rows = hidden_of(export(trace, tmp_path / "out", hidden=True))
    hidden = read_lines(trace.with_name("x1.hidden.jsonl.zst"))
    steps = [line["step"] for line in hidden if line.get("event") == "disturbed"]
    assert [row["step"] for row in rows if row["disturbed"]] == steps != []
    assert {one["fault"] for row in rows for one in row["disturbed"]} == {"flicker"}


def test_a_fault_before_the_session_stands_in_its_first_record(tmp_path: Path) -> None:
    made_of = setting(condition=condition_named("no_memory"))
    done = lived(night("LLRR"), RemRule(), made_of)
    rows = hidden_of(export(written(tmp_path / "s", done), tmp_path / "out", hidden=True))
    assert [row["faults"] for row in rows] == [
        [{"t": 0.0, "fault": "no_memory", "cue": None, "late_s": None}],
        *[[]] * 4,
    ]


def test_a_delay_of_onset_moves_the_truth_behind_it(tmp_path: Path) -> None:
    table = wake_table(default_toml("wake_table"), 1e6, ["onset_delay"])
    given = replace(setting(), wake_table=table)
    done = lived(night("WWWLLLLLLL"), cue_at(1), given)
    folder = written(tmp_path / "s", done)
    rows = hidden_of(export(folder, tmp_path / "out", hidden=True))
    # Kept awake at the end of step 1: four epochs come in before the third of wake.
    assert [row["step"] for row in rows if row["inserted"]] == [2, 3, 4, 5]
    assert [row["true_stage"] for row in rows[:-1]] == ["awake"] * 7 + ["light"] * 7
    (delay,) = rows[1]["onset_delays"]
    assert (delay["from_t"], delay["until_t"], delay["cue"]) == (60.0, 180.0, 1)
    assert events_in(rows) == events_of(folder / "hidden.jsonl")
    (assumed,) = rows[0]["other"]
    assert assumed["event"] == "assumptions"
    assert json.loads(assumed["details"]) == table.options
    assert {row["reward_waking"] for row in rows[:-1]} == {0.0}


def test_simulated_nights_are_exported_whole(tmp_path: Path) -> None:
    answers = replace(bundled_answers(), stage_change=10.0, arousal=20.0)
    simulation = Simulation(HEALTHY, epochs=240, answers=answers)
    write_episode(simulation, FixedTimer(2.0), setting(2.0), 1, out=tmp_path / "nights")
    done = export(tmp_path / "nights", tmp_path / "out", hidden=True)
    assert (done.episodes, done.left_out) == (1, ())
    rows = hidden_of(done)
    traces = sorted((tmp_path / "nights").rglob("hidden.jsonl"))
    expected = events_of(*traces)
    answered = {"waking", "onset_delay", "stage_change", "arousal"}
    assert answered | {"synthetic_dream"} <= expected.keys()
    assert events_in(rows) == expected
    # The truth of a simulated night has every epoch in it, kept awake or not.
    (letters,) = (x["letters"] for x in read_lines(traces[0]) if x.get("event") == "truth")
    names = {"W": "awake", "R": "rem", "L": "light", "D": "deep"}
    assert [row["true_stage"] for row in rows[: len(letters)]] == [names[x] for x in letters]
    assert not any(row["inserted"] for row in rows)


# --- what is not known yet


def test_an_event_that_is_not_known_is_kept_with_its_details(tmp_path: Path) -> None:
    done = lived(night("LLRR"), RemRule(), setting(0.0))
    folder = written(tmp_path / "s", done)
    head, *rest = done.hidden_bytes.splitlines(keepends=True)
    new = [
        {"kind": "event", "t": 60.0, "event": "dream", "depth": [1, "é"]},
        {"kind": "event", "t": 60.0, "event": "awake_already", "cue": 3, "mood": "calm"},
        {"kind": "event", "t": 9e4, "event": "snore", "loud": True},
    ]
    raw = b"".join(json.dumps(one).encode() + b"\n" for one in new)
    (folder / "hidden.jsonl").write_bytes(b"".join([head, raw, *rest]))
    rows = hidden_of(export(folder, tmp_path / "out", hidden=True))
    assert rows[1]["other"] == [
        {"t": 60.0, "event": "dream", "details": '{"depth":[1,"é"]}'},
        {"t": 60.0, "event": "awake_already", "details": '{"mood":"calm"}'},
    ]
    assert rows[1]["awake_already"] == [{"t": 60.0, "cue": 3}]
    assert [one["event"] for one in rows[-1]["other"]] == ["snore"]


def test_inserted_steps_are_those_of_the_trace_reader(tmp_path: Path) -> None:
    done = lived(night("R" * 20), cue_at(2, 9), waking_setting())
    rows = hidden_of(export(written(tmp_path / "s", done), tmp_path / "out", hidden=True))
    assert [row["step"] for row in rows if row["inserted"]] == inserted_steps(done.hidden)


# --- the reward


def test_components_of_the_reward_are_those_of_the_environment() -> None:
    pytest.importorskip("gymnasium")
    from replay.env.rewards import Components

    assert list(REWARD) == list(Components().as_dict())
