"""The spec of a run: kept as JSON, read back as it was, and refused by name when broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bedside.safety.gate import Mode
from replay.conditions import ActuatorFault, Condition, PersonAct, SignalFault
from replay.experiment.spec import RunSpec, SpecError, read_spec
from replay.latency import LatencyModel
from replay.tasks.task import StartKind

FULL = RunSpec(
    agents=("wait", "cmd:python3 my agent.py", "file.py:Class"),
    seeds=(1, 2, 8),
    scales=(0.5, 1.0, 4.0),
    nights=(Path("/nights/夜.mcap"),),
    development=(Path("/nights/other.mcap"),),
    kinds=(StartKind.REM_ONSET,),
    conditions=(
        Condition(),
        Condition(SignalFault.FLICKER, ActuatorFault.CUE_LATE, PersonAct.NO_MEMORY),
    ),
    mode=Mode.ENFORCE,
    dropout=0.02,
    overlay="consumer",
    latency=LatencyModel(2.4, 0.5),
    stop_is_latch=True,
    wake_table=Path("/tables/mine.toml"),
)


@pytest.mark.parametrize("spec", [FULL, RunSpec(("wait",))])
def test_a_spec_comes_back_as_it_was(tmp_path: Path, spec: RunSpec):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec.as_dict()), encoding="utf-8")
    assert read_spec(path) == spec


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": 2}, "schema 2 is newer"),
        ({"mode": "guess"}, "guess"),
        ({"kinds": ["dusk"]}, "dusk"),
        ({"conditions": ["thunder"]}, "thunder"),
        ({"seeds": 3}, "not the spec of a run"),
        ({"latency": {"mean_s": 2.0}}, "mean_s"),
    ],
)
def test_a_key_that_cannot_be_is_named(tmp_path: Path, change: dict[str, object], says: str):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({**FULL.as_dict(), **change}))
    with pytest.raises(SpecError, match=says):
        read_spec(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "{"])
def test_a_file_that_is_no_spec_is_named(tmp_path: Path, text: str):
    path = tmp_path / "spec.json"
    path.write_text(text)
    with pytest.raises(SpecError, match=r"spec\.json: not the spec of a run"):
        read_spec(path)


def test_a_missing_spec_is_named(tmp_path: Path):
    with pytest.raises(SpecError, match="No such file"):
        read_spec(tmp_path / "spec.json")
