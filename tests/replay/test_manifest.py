"""What settles a trace is in the key, and nothing else is."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agents.rem_rule import RemRule
from agents.wait import WaitAgent
from bedside.safety.gate import Mode
from bedside.themes import bundled_theme
from replay.manifest import code_sha256, comparability_key, ingredients, replay_id, write_manifest
from replay.rolls import roll_night
from replay.staging import StagingError
from tests.replay.nights import night, setting

LETTERS = "LLRRRR"


def key(made: Any = None, *, agent: Any = None, **given: Any) -> str:
    letters = given.pop("letters", LETTERS)
    return replay_id(
        ingredients(night(letters, **given), agent or WaitAgent(), made or setting(1.0))
    )


def test_the_key_is_sixteen_hex_digits_and_always_the_same() -> None:
    assert key() == key()
    assert len(key()) == 16
    int(key(), 16)


@pytest.mark.parametrize(
    "changed",
    [
        lambda: key(setting(2.0)),
        lambda: key(setting(1.0, seed=2)),
        lambda: key(setting(1.0, mode=Mode.ENFORCE)),
        lambda: key(setting(1.0, first_epoch=1)),
        lambda: key(setting(1.0, steps=3)),
        lambda: key(setting(1.0, dropout=0.02)),
        lambda: key(setting(1.0, ends_at_stop=True)),
        lambda: key(setting(1.0, stable_deep=10)),
        lambda: key(setting(1.0, theme="sea")),
        lambda: key(replace(setting(1.0), theme=replace(bundled_theme("cat"), sound_s=9.0))),
        lambda: key(agent=RemRule()),
        lambda: key(letters="LLRRRD"),
        lambda: key(truth="LLRRRD"),
        lambda: key(night_id="night-b"),
    ],
)
def test_whatever_settles_the_bytes_of_a_trace_changes_the_key(changed: Any) -> None:
    assert changed() != key()


def test_a_measured_run_and_its_rerun_from_the_charges_are_one_session() -> None:
    assert key(setting(1.0, charges={1: 1.2, 2: 0.3})) == key()
    made_of = ingredients(night(LETTERS), WaitAgent(), setting(1.0, charges={1: 1.2, 2: 0.3}))
    assert made_of["charges"] == [1.2, 0.3]


def test_the_code_is_part_of_it() -> None:
    made_of = ingredients(night(LETTERS), WaitAgent(), setting(1.0))
    assert made_of["code_sha256"] == code_sha256()
    assert replay_id({**made_of, "code_sha256": "0" * 64}) != key()


def table(made: Any = None, agent: Any = None) -> str:
    return comparability_key(
        ingredients(night(LETTERS), agent or WaitAgent(), made or setting(1.0))
    )


def test_agents_and_seeds_may_stand_in_one_table_and_nothing_else_may_differ() -> None:
    assert table(agent=RemRule()) == table(setting(1.0, seed=2)) == table()
    assert table(agent=RemRule()) != key()
    others = [setting(2.0), setting(1.0, mode=Mode.ENFORCE), setting(1.0, dropout=0.02)]
    assert len({table(), *map(table, others)}) == 4


def test_no_host_fact_is_part_of_it() -> None:
    made_of = json.dumps(ingredients(night(LETTERS), WaitAgent(), setting(1.0)))
    assert str(Path.home()) not in made_of
    assert "/" not in json.loads(made_of)["recording"]["origin"]


def test_rolls_depend_on_who_slept_and_where_the_task_starts_alone() -> None:
    digest = sha256(LETTERS.encode()).hexdigest()
    assert roll_night(digest, 4) == f"{digest[:16]}:4"
    assert night(LETTERS).stage4_sha256 == digest
    assert night("LLLLLL", truth=LETTERS).stage4_sha256 == digest


def test_a_manifest_names_the_files_with_their_digests(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_bytes(b"line\n")
    made_of = ingredients(night(LETTERS), WaitAgent(), setting(1.0))
    write_manifest(tmp_path / "manifest.json", made_of, {"trace.jsonl": trace})
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["schema"] == 1
    assert manifest["id"] == replay_id(made_of)
    assert manifest["comparability_key"] == comparability_key(made_of)
    assert manifest["files"] == {"trace.jsonl": sha256(b"line\n").hexdigest()}
    assert {name: manifest[name] for name in made_of} == made_of
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "trace.jsonl"]


def test_a_manifest_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StagingError, match=r"file/manifest\.json"):
        write_manifest(tmp_path / "file" / "manifest.json", {}, {})
