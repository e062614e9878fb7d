"""`paprika simulate`: what a person sees, what is written, what is refused."""

import json
from pathlib import Path

import pytest

from devices.types import PaprikaError
from replay.commands.simulate import simulate
from replay.manifest import file_sha256
from tests.replay.nights import lines_of


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_person_sees_that_it_is_a_simulation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(nights=2, epochs=120, out=tmp_path) == 0
    lines = told(capsys).splitlines()
    assert lines[0] == "SIMULATION · healthy sleeper · rem_rule · seed 1 · 2 nights"
    assert lines[1].startswith("effect of the theme's presence, assumed: 0 ·")
    assert "no agent can do anything for dreams" in "".join(lines[1:3])
    table = lines[lines.index("") + 1 :]
    assert table[0].split()[0] == "night"
    assert table[0].endswith("synthetic report")
    assert [line.split()[0] for line in table[1:3]] == ["1", "2"]


def test_the_folder_holds_two_traces_a_night_and_a_manifest(tmp_path: Path) -> None:
    simulate(nights=2, epochs=60, out=tmp_path)
    files = sorted(
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()
    )
    assert files == [
        "manifest.json",
        "night-001/hidden.jsonl", "night-001/trace.jsonl",
        "night-002/hidden.jsonl", "night-002/trace.jsonl",
    ]  # fmt: skip
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["recording"]["synthetic"] is True
    assert manifest["recording"]["kind"] == "simulation"
    assert manifest["nights"] == 2
    for name, digest in manifest["files"].items():
        assert file_sha256(tmp_path / name) == digest
    heads = [lines_of((tmp_path / f"night-00{k}/hidden.jsonl").read_bytes())[0] for k in (1, 2)]
    assert [head["simulation"]["number"] for head in heads] == [1, 2]
    assert [head["session"] for head in heads] == [f"{manifest['id']}-00{k}" for k in (1, 2)]


def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        simulate(agent="fixed_timer", nights=1, epochs=90, effect=0.5, out=tmp_path / name)
    for file in ("manifest.json", "night-001/trace.jsonl", "night-001/hidden.jsonl"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_json_is_one_object_that_agrees_with_the_traces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate(agent="fixed_timer", nights=1, epochs=200, out=tmp_path, json=True)
    given = json.loads(told(capsys))
    assert given["simulation"] is True
    (night,) = given["nights"]
    hidden = lines_of((tmp_path / "night-001/hidden.jsonl").read_bytes())
    rolls = [line for line in hidden if line.get("event") in ("roll", "awake_already")]
    letters = next(line["letters"] for line in hidden if line.get("event") == "truth")
    assert night["cues"] == len(rolls) == 20
    assert night["wakings"] == hidden[-1]["wakings"]
    assert sum(night["cues_by_stage"].values()) == night["cues"]
    assert night["true_stages"]["light"] == letters.count("L")
    assert night["synthetic_dream"]["report"].startswith("[synthetic report]")


def test_an_overlay_shows_other_stages_than_were_slept(tmp_path: Path) -> None:
    simulate(agent="wait", nights=1, epochs=200, overlay="consumer", out=tmp_path)
    hidden = lines_of((tmp_path / "night-001/hidden.jsonl").read_bytes())
    assert hidden[0]["simulation"]["overlay"] == "consumer"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nights": 0}, "--nights 0: give 1 to 1000"),
        ({"epochs": 0}, "--epochs 0: give 1 to 2880"),
        ({"effect": -1.0}, "effect -1 .--effect.: give a number of 0 or more"),
        ({"profile": "me"}, "profile 'me' is unknown; known: healthy, apnoea, headband"),
        ({"wake_scale": -1.0}, "wake scale"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    tmp_path: Path, given: dict[str, object], message: str
) -> None:
    with pytest.raises(PaprikaError, match=message) as raised:
        simulate(out=tmp_path / "x", **given)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "x").exists()
