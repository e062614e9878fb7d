"""The command `paprika tasks`."""

import json
from pathlib import Path
from typing import Any

import pytest

from bedside.recording import write_night
from devices.types import PaprikaError
from replay.commands.tasks import tasks
from replay.conditions import ConditionError
from tests.replay.nights import recording

NIGHT = "WW" + "L" * 45 + "R" * 8 + "W" * 45


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("night-b", "night-a"):
        made = recording(NIGHT, night_id=name)
        write_night(tmp_path / f"{name}.mcap", made)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], **given: Any) -> dict[str, Any]:
    assert tasks(json=True, **given) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    found: dict[str, Any] = json.loads(out)
    return found


def test_without_a_night_the_bundled_one_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = printed(capsys)["nights"]
    assert found["tasks"] == 120
    assert found["feasible"] == {"0.5": 96, "1": 96, "2": 96, "4": 96}
    assert found["restraint"] == {"0.5": 24, "1": 24, "2": 24, "4": 24}
    assert found["clusters"] == 9
    assert found["lacking"] == {}
    assert found["starts"][0] == {
        "kind": "sleep_onset",
        "epoch": 116,
        "clock": "0548",
        "cluster": 1,
        "epochs": {"awake": 0, "light": 17, "deep": 24, "rem": 0, "none": 0},
        "feasible": {"0.5": 0, "1": 0, "2": 0, "4": 0},
    }


def test_a_folder_is_listed_night_by_night(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, nights=folder)["nights"]
    assert [one["night"] for one in found] == ["night-a", "night-b"]
    assert {one["tasks"] for one in found} == {24}


def test_kinds_are_those_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = printed(capsys, nights=folder / "night-a.mcap", kinds=["rem_onset", "n1_onset"])[
        "nights"
    ]
    assert [one["kind"] for one in found["starts"]] == ["rem_onset"]
    assert found["lacking"] == {"n1_onset": "no label tells N1 from N2"}


def test_conditions_are_listed_one_after_the_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["plain", "flicker+cue_late"]
    found = printed(capsys, nights=folder / "night-a.mcap", conditions=names)["nights"]
    assert [one["condition"] for one in found] == names


def test_coverage_covers_every_fault_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, nights=folder / "night-a.mcap", coverage=True)
    assert len(found["cells"]) == 4 * 11
    deep = [cell for cell in found["cells"] if cell["family"] == "longest_deep"]
    assert all(cell["uncovered"] for cell in deep)
    plain = next(
        cell
        for cell in found["cells"]
        if (cell["family"], cell["condition"]) == ("rem_onset", "plain")
    )
    assert (plain["development"], plain["held_out"], plain["invalid"]) == (1, 1, 0)
    assert found["problems"] == {}


def test_coverage_of_chosen_conditions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tasks(nights=folder / "night-a.mcap", conditions=["no_memory"], coverage=True) == 0
    out = capsys.readouterr().out
    assert "no_memory" in out
    assert "flicker" not in out


def test_a_person_reads_what_a_night_lacks(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tasks(nights=folder / "night-a.mcap") == 0
    assert "longest_deep: no epoch shows deep sleep" in capsys.readouterr().out


def test_a_folder_without_nights_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(PaprikaError, match=r"no night file"):
        tasks(nights=tmp_path)


def test_an_unknown_condition_is_named() -> None:
    with pytest.raises(ConditionError, match="'noise' is unknown"):
        tasks(conditions=["noise"])
