"""A run worked out: which attempts it plans, in which order, and under which ids."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.configuration import default_toml
from devices.types import PaprikaError
from replay.conditions import Condition, SignalFault
from replay.experiment.run import RunError, resolve
from replay.experiment.spec import RunSpec
from replay.latency import LatencyModel
from tests.replay.experiment.runs import (
    LETTERS,
    QUIET_LETTERS,
    agent_file,
    small_night,
    small_run,
    small_spec,
)


def test_every_agent_meets_every_task_seed_and_scale_once(tmp_path: Path):
    run = small_run(tmp_path, "wait", "rem_rule", seeds=(1, 2), scales=(0.5, 1.0))

    keys = [planned.unit.key for planned in run.planned]
    assert len(keys) == len(set(keys)) == 4 * 2 * 2 * 2
    assert Counter(planned.unit.kind for planned in run.planned) == {
        "sleep_onset": 8,
        "rem_onset": 8,
        "longest_light": 8,
        "longest_deep": 8,
    }
    assert run.manifest["units"] == len(keys)


def test_a_bundled_night_gives_fifteen_start_points_a_seed():
    run = resolve(RunSpec(("wait",), seeds=(1, 2, 3, 4, 5, 6, 7, 8)))
    assert len(run.planned) == 15 * 8
    assert sum(planned.unit.held_out for planned in run.planned) == 15 * 3


def test_a_task_is_named_by_its_kind_time_theme_and_seed(tmp_path: Path):
    names = {planned.unit.task for planned in small_run(tmp_path, seeds=(3,)).planned}
    # Epoch 74 of a night that starts at 23:00 is 37 minutes in.
    assert any(name.startswith("rem_onset-2337-t") and name.endswith("-s3") for name in names)


def test_a_task_that_shows_rem_can_be_cued_and_one_without_rem_asks_for_restraint(tmp_path: Path):
    run = small_run(tmp_path, "wait", scales=(0.0,))
    possible = {planned.unit.kind: planned.unit.feasible for planned in run.planned}
    # 40 steps from epoch 4 end at 44, from 34 at 74: the REM run from 74 to 113 is in neither.
    assert possible == {
        "sleep_onset": False,
        "rem_onset": True,
        "longest_light": False,
        "longest_deep": False,
    }


def test_ids_are_the_same_again_and_change_with_anything_that_can_change_a_byte(tmp_path: Path):
    spec = small_spec(tmp_path, "wait")
    table = tmp_path / "table.toml"
    changed = dict(default_toml("wake_table"))
    rows = "\n".join(
        f"[chances.{stage}]\n" + "\n".join(f"{k} = {v}" for k, v in row.items())
        for stage, row in {
            **changed["chances"],
            "rem": {**changed["chances"]["rem"], "low": 0.06},
        }.items()
    )
    table.write_text(f"schema = 1\nawake_epochs = 4\n{rows}\n", encoding="utf-8")
    variants = [
        spec,
        replace(spec, dropout=0.02),
        replace(spec, wake_table=table),
        replace(spec, latency=LatencyModel(2.4)),
        replace(spec, stop_is_latch=True),
        replace(spec, conditions=(Condition(signal=SignalFault.FLICKER),)),
        replace(spec, nights=(small_night(tmp_path, LETTERS + "W", "longer"),)),
        replace(spec, agents=("rem_rule",)),
        replace(spec, seeds=(2,)),
        replace(spec, scales=(2.0,)),
    ]
    runs = [resolve(one) for one in variants]
    assert len({run.id for run in runs}) == len(runs)
    assert len({run.planned[0].session for run in runs}) == len(runs)
    assert resolve(spec) == runs[0]


def test_runs_of_other_agents_seeds_and_scales_stand_in_one_table_and_no_others(tmp_path: Path):
    spec = small_spec(tmp_path, "wait")

    def key(**other: object) -> str:
        return str(resolve(replace(spec, **other)).manifest["comparability_key"])  # type: ignore[arg-type]

    assert key() == key(agents=("rem_rule",)) == key(seeds=(2,)) == key(scales=(2.0,))
    assert len({key(), key(dropout=0.1), key(stop_is_latch=True)}) == 3


def test_a_manifest_is_json_and_names_no_place_of_this_machine(tmp_path: Path):
    spoken = agent_file(tmp_path, "pass")
    text = json.dumps(small_run(tmp_path, "wait", spoken).manifest, ensure_ascii=False)
    assert str(tmp_path) not in text
    assert "made_up.py:Made" in text


def test_two_agents_of_one_name_keep_labels_apart(tmp_path: Path):
    first = agent_file(tmp_path, "pass")
    (tmp_path / "other").mkdir()
    second = agent_file(tmp_path / "other", "self.step += 0")
    run = small_run(tmp_path, first, second)
    assert list(run.manifest["agents"]) == ["made_up", "made_up-2"]


def test_one_agent_spelt_two_ways_is_refused_and_a_house_name_stays_with_its_owner(tmp_path: Path):
    spoken = agent_file(tmp_path, "pass", "rem_rule")
    with pytest.raises(PaprikaError, match="in the run already"):
        small_run(tmp_path, spoken, spoken.replace("/rem_rule.py", "/./rem_rule.py"))
    run = small_run(tmp_path, spoken, "rem_rule")
    labels = {agent["given_as"]: label for label, agent in run.manifest["agents"].items()}
    assert labels == {"rem_rule": "rem_rule", "rem_rule.py:Made": "rem_rule-2"}


def test_tasks_start_at_the_same_epochs_under_every_overlay(tmp_path: Path):
    night = small_night(tmp_path, LETTERS, "both", truth=LETTERS)
    starts = [
        [(task["kind"], task["epoch"]) for task in small_run(
            tmp_path, "wait", nights=(night,), overlay=overlay
        ).manifest["tasks"]]
        for overlay in ("device", "confusion", "consumer")
    ]  # fmt: skip
    assert starts[0] == starts[1] == starts[2] != []


def test_an_agent_named_like_a_path_cannot_leave_the_folder_of_the_run(tmp_path: Path):
    path = tmp_path / "sly.py"
    path.write_text(
        "class Sly:\n"
        "    name = '../../etc/passwd'\n"
        "    def reset(self, session): ...\n"
        "    async def decide(self, observation): ...\n",
        encoding="utf-8",
    )
    run = small_run(tmp_path, f"{path}:Sly")
    assert all(".." not in p.unit.agent and "/" not in p.unit.agent for p in run.planned)


def test_a_night_without_rem_is_planned_as_restraint_alone(tmp_path: Path):
    quiet = small_night(tmp_path, QUIET_LETTERS, "quiet")
    run = small_run(tmp_path, "wait", nights=(quiet,))
    assert run.planned
    assert not any(planned.unit.feasible for planned in run.planned)
    assert "rem_onset" in run.manifest["nights"]["quiet"]["lacking"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"seeds": ()}, "--seeds"),
        ({"seeds": (1, 1)}, "--seeds"),
        ({"scales": (1.0, 1.0)}, "--wake-scale"),
        ({"scales": (-1.0,)}, "--wake-scale"),
        ({"scales": (1.0, 1.0000001)}, "--wake-scale"),
        ({"conditions": (Condition(), Condition())}, "--conditions"),
        ({"trial": -5}, "--trial -5"),
        ({"dropout": 1.5}, "--dropout"),
        ({"agents": ("wait", "wait")}, "--agents"),
        ({"agents": ("wiat",)}, "did you mean wait"),
        ({"agents": ("memoriser",)}, "development"),
        ({"wake_table": Path("nowhere.toml")}, "nowhere.toml"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(
    tmp_path: Path, given: dict[str, object], says: str
):
    with pytest.raises(PaprikaError, match=says):
        resolve(replace(small_spec(tmp_path, "wait"), **given))  # type: ignore[arg-type]


def test_one_night_twice_is_refused(tmp_path: Path):
    (tmp_path / "again").mkdir()
    nights = (small_night(tmp_path), small_night(tmp_path / "again"))
    with pytest.raises(RunError, match="second night small"):
        small_run(tmp_path, nights=nights)


def test_nights_too_short_for_a_task_are_refused(tmp_path: Path):
    with pytest.raises(RunError, match="start point"):
        small_run(tmp_path, nights=(small_night(tmp_path, "WWLLRR", "short"),))
