"""Exports of traces, sessions and runs into a folder: files, bytes, metadata and refusals."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agents.fixed_timer import FixedTimer
from agents.rem_rule import RemRule
from bedside.trace import TraceError
from devices.types import PaprikaError
from replay.commands.export import export as command
from replay.export import Exported, ExportError, export
from replay.export.columns import EPISODE, HIDDEN, STEP
from tests.replay.nights import Lived, cue_at, lived, night, setting, waking_setting

ROOT = Path(__file__).resolve().parents[3]
HIDDEN_KEYS = {"seed", "roll_night", "wake_table", "wake_scale", "roll", "rolls", "wakings"}
HIDDEN_KEYS |= {"true_stage", "truth", "letters", "chance", "imputed", "woken", "inserted"}
MANIFEST = {
    "schema": 1,
    "units": 1,
    "id": "r1",
    "comparability_key": "c1",
    "training_exposure": ["n7"],
    "seed": 9,
}


def session(folder: Path, done: Lived, manifest: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True)
    (folder / "trace.jsonl").write_bytes(done.trace_bytes)
    (folder / "hidden.jsonl").write_bytes(done.hidden_bytes)
    if manifest is not None:
        (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def run_of(folder: Path, attempts: dict[str, Lived]) -> Path:
    """A run's folder, as far as an export looks at it."""
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    for key, done in attempts.items():
        path = folder / "attempts" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, raw in (("trace", done.trace_bytes), ("hidden", done.hidden_bytes)):
            path.with_name(f"{path.name}.{name}.jsonl.zst").write_bytes(zstandard.compress(raw))
    return folder


def rows(done: Exported, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.files[name].read_bytes().splitlines()]


@pytest.fixture(scope="module")
def woken() -> Lived:
    return lived(night("LLRRRR", truth="LDDRRR"), cue_at(2, 3), waking_setting())


@pytest.fixture(scope="module")
def cut() -> Lived:
    return lived(night("LLRRRRRRRRRR"), RemRule(), setting(steps=11, seed=4))


# --- files


def test_json_lines_are_written_with_an_index_of_them(tmp_path: Path, woken: Lived) -> None:
    done = export(session(tmp_path / "s", woken), tmp_path / "out")
    assert sorted(os.listdir(done.folder)) == ["episodes.jsonl", "export.json", "steps.jsonl"]
    assert (done.episodes, done.transitions, done.records, done.truncated) == (1, 10, 11, 0)
    index = json.loads(done.files["export.json"].read_bytes())
    assert index["files"] == {
        name: sha256((done.folder / name).read_bytes()).hexdigest()
        for name in ("steps.jsonl", "episodes.jsonl")
    }


def keys_in(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys_in(inner)}
    return {key for inner in value for key in keys_in(inner)} if isinstance(value, list) else set()


def test_nothing_hidden_is_in_the_steps(tmp_path: Path, woken: Lived) -> None:
    done = export(session(tmp_path / "s", woken), tmp_path / "out", hidden=True)
    steps = rows(done, "steps.jsonl")
    assert not keys_in(steps) & HIDDEN_KEYS
    assert {row["reward_components"]["waking"] for row in steps[:-1]} == {None}
    again = export(tmp_path / "s", tmp_path / "again")
    assert done.sha256["steps.jsonl"] == again.sha256["steps.jsonl"]
    hidden = rows(done, "hidden.jsonl")
    assert [(r["episode"], r["step"]) for r in hidden] == [(r["episode"], r["step"]) for r in steps]
    assert [r["true_stage"] for r in hidden][:3] == ["light", "deep", "deep"]


def test_another_truth_changes_the_hidden_file_alone(tmp_path: Path) -> None:
    made = [
        export(
            session(tmp_path / truth, lived(night("LLRR", truth=truth), RemRule(), setting())),
            tmp_path / f"out-{truth}",
            hidden=True,
        )
        for truth in ("LLRR", "WWDD")
    ]
    steps, hidden = ([one.sha256[f"{n}.jsonl"] for one in made] for n in ("steps", "hidden"))
    assert steps[0] == steps[1]
    assert hidden[0] != hidden[1]


def test_parquet_reads_back_equal_to_the_json_lines(
    tmp_path: Path, woken: Lived, cut: Lived
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run = run_of(tmp_path / "run", {"n/t/a/x1": woken, "n/t/b/x1": cut})
    done = export(run, tmp_path / "out", parquet=True, hidden=True)
    for name in ("steps", "episodes", "hidden"):
        read = parquet.read_table(done.files[f"{name}.parquet"]).to_pylist()
        assert read == rows(done, f"{name}.jsonl")


def test_parquet_in_many_row_groups_is_the_same_table(
    tmp_path: Path, cut: Lived, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("replay.export.parquet.GROUP", 5)
    done = export(session(tmp_path / "s", cut), tmp_path / "out", parquet=True)
    file = parquet.ParquetFile(done.files["steps.parquet"])
    assert file.num_row_groups == 3  # 12 records
    assert file.read().to_pylist() == rows(done, "steps.jsonl")


def test_parquet_alone_writes_no_json_lines(tmp_path: Path, cut: Lived) -> None:
    pytest.importorskip("pyarrow")
    done = export(session(tmp_path / "s", cut), tmp_path / "out", json_lines=False, parquet=True)
    assert sorted(os.listdir(done.folder)) == ["episodes.parquet", "export.json", "steps.parquet"]


def test_without_pyarrow_the_extra_is_named_and_json_lines_still_work(
    tmp_path: Path, cut: Lived, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    folder = session(tmp_path / "s", cut)
    with pytest.raises(ExportError, match=r"paprika-bedside\[parquet\]"):
        export(folder, tmp_path / "out", parquet=True)
    assert not (tmp_path / "out").exists()
    assert export(folder, tmp_path / "out").episodes == 1


def test_the_same_traces_give_the_same_bytes_in_another_process(
    tmp_path: Path, woken: Lived, cut: Lived
) -> None:
    pytest.importorskip("pyarrow")
    run = run_of(tmp_path / "run", {"n/t2/b/x1": woken, "n/t1/b/x1": cut})
    here = export(run, tmp_path / "here", parquet=True, hidden=True)
    code = (
        "from pathlib import Path; from replay.export import export; "
        f"export(Path({str(run)!r}), Path({str(tmp_path / 'there')!r}), parquet=True, hidden=True)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    for name in here.files:
        assert (tmp_path / "there" / name).read_bytes() == here.files[name].read_bytes()


# --- sources


def test_a_trace_alone_and_its_session_give_the_same_records(tmp_path: Path, cut: Lived) -> None:
    folder = session(tmp_path / "s", cut, MANIFEST)
    alone = export(folder / "trace.jsonl", tmp_path / "a", hidden=True)
    both = export(folder, tmp_path / "b", hidden=True)
    assert dict(alone.sha256) == dict(both.sha256)


def test_a_run_is_exported_in_the_order_of_its_paths(
    tmp_path: Path, woken: Lived, cut: Lived
) -> None:
    keys = ["n/rem-s2/wait/x1", "n/rem-s1/wait/x2", "n/rem-s1/wait/x1", "m/rem-s1/rem_rule/x0.5"]
    run = run_of(tmp_path / "run", dict.fromkeys(keys, woken) | {keys[1]: cut})
    done = export(run, tmp_path / "out")
    found = rows(done, "episodes.jsonl")
    assert [row["source"].removesuffix(".trace.jsonl.zst") for row in found] == [
        f"attempts/{key}" for key in sorted(keys)
    ]
    assert [row["task"] for row in found] == ["rem-s1", "rem-s1", "rem-s1", "rem-s2"]
    assert [row["episode"] for row in found] == [0, 1, 2, 3]
    assert (done.episodes, done.truncated) == (4, 1)
    steps = rows(done, "steps.jsonl")
    for row in found:
        mine = [step for step in steps if step["episode"] == row["episode"]]
        assert len(mine) == row["records"] == row["transitions"] + 1


def test_metadata_of_an_episode_comes_from_run_manifest_and_both_traces(
    tmp_path: Path, cut: Lived
) -> None:
    run = run_of(tmp_path / "run", {"night-a/rem-s4/rem_rule/x1": cut})
    (row,) = rows(export(run, tmp_path / "out"), "episodes.jsonl")
    assert list(row) == list(EPISODE)
    told = {key: row[key] for key in ("run", "task", "agent", "seed", "comparability_key")}
    assert told == {
        "run": "r1",
        "task": "rem-s4",
        "agent": "rem_rule",
        "seed": 4,  # of the attempt, not the 9 of the run
        "comparability_key": "c1",
    }
    assert (row["training_exposure"], row["ending"], row["truncated"]) == (
        ["n7"],
        "step_limit",
        True,
    )
    assert row["night"]["id"] == "night-a"
    # What the header says stands there unchanged.
    header = {k: v for k, v in cut.trace[0].items() if k not in ("kind", "schema")}
    assert {key: row[key] for key in header if key != "streams"} == {
        key: value for key, value in header.items() if key != "streams"
    }
    packed = run / "attempts/night-a/rem-s4/rem_rule/x1.trace.jsonl.zst"
    assert row["trace_sha256"] == sha256(packed.read_bytes()).hexdigest()


def test_without_manifest_or_hidden_trace_what_they_tell_is_null(
    tmp_path: Path, cut: Lived
) -> None:
    folder = session(tmp_path / "s", cut)
    (folder / "hidden.jsonl").unlink()
    (row,) = rows(export(folder, tmp_path / "out"), "episodes.jsonl")
    names = ("run", "seed", "comparability_key", "training_exposure", "hidden_sha256")
    assert [row[name] for name in names] == [None] * 5


def test_a_broken_trace_of_a_run_is_left_out_and_named(
    tmp_path: Path, woken: Lived, cut: Lived
) -> None:
    run = run_of(tmp_path / "run", {"n/t1/a/x1": woken, "n/t2/a/x1": cut, "n/t3/a/x1": woken})
    torn = run / "attempts/n/t2/a/x1.trace.jsonl.zst"
    rest = b"".join(cut.trace_bytes.splitlines(keepends=True)[:5])
    torn.write_bytes(zstandard.compress(rest))
    done = export(run, tmp_path / "out", hidden=True)
    assert (done.episodes, len(done.left_out)) == (2, 1)
    assert [row["task"] for row in rows(done, "episodes.jsonl")] == ["t1", "t3"]
    assert {row["episode"] for row in rows(done, "steps.jsonl")} == {0, 1}
    (left,) = json.loads(done.files["export.json"].read_bytes())["left_out"]
    assert left["source"] == "attempts/n/t2/a/x1.trace.jsonl.zst"
    assert "broken off after line 5" in left["why"]
    assert str(tmp_path) not in left["why"]


def test_what_is_still_being_written_is_no_trace(tmp_path: Path, cut: Lived) -> None:
    run = run_of(tmp_path / "run", {"n/t1/a/x1": cut})
    part = run / ".77.part" / "trace.jsonl"
    part.parent.mkdir()
    part.write_bytes(b"")
    assert export(run, tmp_path / "out").left_out == ()


# --- refusals


def test_a_broken_trace_alone_is_refused_and_nothing_is_written(tmp_path: Path, cut: Lived) -> None:
    folder = session(tmp_path / "s", cut)
    (folder / "trace.jsonl").write_bytes(cut.trace_bytes[:-10])
    with pytest.raises(TraceError, match=rf"trace.jsonl: line {len(cut.trace)}: not JSON"):
        export(folder, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_a_run_without_one_whole_trace_is_refused(tmp_path: Path, cut: Lived) -> None:
    run = run_of(tmp_path / "run", {"n/t1/a/x1": cut, "n/t2/a/x1": cut})
    for path in run.rglob("*.trace.jsonl.zst"):
        path.write_bytes(b"")
    with pytest.raises(ExportError, match="not one whole trace"):
        export(run, tmp_path / "out")


@pytest.mark.parametrize("name", ["nowhere", "empty", "page.html"])
def test_what_holds_no_trace_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "page.html").write_text("")
    with pytest.raises(ExportError, match=name):
        export(tmp_path / name, tmp_path / "out")


def test_hidden_fields_that_are_not_there_are_refused(tmp_path: Path, cut: Lived) -> None:
    folder = session(tmp_path / "s", cut)
    (folder / "hidden.jsonl").unlink()
    with pytest.raises(ExportError, match="leave --hidden out"):
        export(folder, tmp_path / "out", hidden=True)


def test_files_of_another_export_are_not_mixed_with_this_one(tmp_path: Path, cut: Lived) -> None:
    folder = session(tmp_path / "s", cut)
    export(folder, tmp_path / "out", hidden=True)
    with pytest.raises(ExportError, match=r"holds hidden.jsonl of another export"):
        export(folder, tmp_path / "out")
    assert export(folder, tmp_path / "out", hidden=True).episodes == 1


@pytest.mark.parametrize(
    "line",
    [
        {"event": "waking", "t": 30.0, "from_t": "soon", "until_t": 1.0},
        {"event": "waking", "t": 30.0, "from_t": 30.0},
        {"event": "waking", "t": 30.0, "from_t": 30.0, "until_t": 1e12},
        {"event": "onset_delay", "t": 30.0, "from_t": 30.0},
        {"event": "dream"},
        {"event": "dream", "t": 30.0, "depth": float("nan")},
        {"event": "roll", "t": None, "cue": 1},
        {"event": "awake_already", "t": 30.0, "cue": "first"},
    ],
)
def test_a_hidden_trace_that_cannot_be_is_refused(
    tmp_path: Path, cut: Lived, line: dict[str, Any]
) -> None:
    folder = session(tmp_path / "s", cut)
    head, *rest = cut.hidden_bytes.splitlines(keepends=True)
    raw = json.dumps({"kind": "event", **line}).encode() + b"\n"
    (folder / "hidden.jsonl").write_bytes(b"".join([head, raw, *rest]))
    with pytest.raises(PaprikaError, match=r"hidden.jsonl"):
        export(folder, tmp_path / "out", hidden=True)


def test_a_live_trace_has_no_hidden_side(tmp_path: Path, cut: Lived) -> None:
    folder = session(tmp_path / "s", cut)
    raw = cut.trace_bytes.replace(b'"first_epoch":0', b'"first_epoch":null')
    (folder / "trace.jsonl").write_bytes(raw)
    with pytest.raises(ExportError, match="--hidden needs a recording"):
        export(folder, tmp_path / "out", hidden=True)


# --- many attempts, and the command


def test_memory_does_not_grow_with_the_number_of_attempts(tmp_path: Path) -> None:
    import tracemalloc

    long = lived(night("LR" * 20), FixedTimer(), setting())
    peaks = []
    for count in (2, 6):
        keys = [f"n/t{number:02}/a/x1" for number in range(count)]
        run = run_of(tmp_path / f"run{count}", dict.fromkeys(keys, long))
        tracemalloc.start()
        export(run, tmp_path / f"out{count}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5


def test_the_command_says_what_it_wrote(
    tmp_path: Path, cut: Lived, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = session(tmp_path / "s", cut)
    assert command(folder, out=tmp_path / "out") == 0
    said = capsys.readouterr().out
    assert "1 episode · 11 transitions · 12 records · 1 truncated" in said
    assert "steps.jsonl" in said
    command(folder, out=tmp_path / "out", json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["episodes"], told["transitions"], told["records"]) == (1, 11, 12)
    command(folder, out=tmp_path / "both", rlds=True, parquet=True)
    assert len(os.listdir(tmp_path / "both")) == 5


def test_the_reference_names_every_column() -> None:
    text = (ROOT / "docs/reference/export.md").read_text(encoding="utf-8")
    for columns in (STEP, HIDDEN, EPISODE):
        for name in columns:
            assert f"`{name}`" in text, name
