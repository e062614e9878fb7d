"""What cannot be branched is refused with its place, and words are read as actions."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.rem_rule import RemRule
from agents.types import Action, BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from devices.types import PaprikaError, Volume
from replay.branching import BranchError, action_in_words, asked_action, branch
from tests.replay.branching.played import LETTERS, Played, loaded, night_file
from tests.replay.nights import Scripted, waking_setting

# --- refusals


def test_a_changed_prefix_is_refused_with_its_line(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    rows = played.trace.read_bytes().splitlines(keepends=True)
    place = next(n for n, row in enumerate(rows) if b'"step":5,' in row)
    rows[place] = rows[place].replace(b'"coverage":1.0', b'"coverage":0.5')
    played.trace.write_bytes(b"".join(rows))
    with pytest.raises(
        BranchError, match=rf"trace.jsonl: line {place + 1} was .*0\.5.* now .*1\.0"
    ):
        played.branch(11, Wait())
    assert not any((tmp_path / "branch").iterdir())


def test_what_comes_after_the_step_may_have_been_changed(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    changed = played.trace.read_bytes().replace(b'"step":30,"t":930.0', b'"step":30,"t":930.5')
    played.trace.write_bytes(changed)
    assert played.branch(11, Wait()).parted == 30


def test_a_changed_step_of_the_branch_is_refused_where_it_was_seen_otherwise(
    tmp_path: Path,
) -> None:
    played = Played(tmp_path, RemRule())
    rows = played.trace.read_bytes().splitlines(keepends=True)
    place = next(n for n, row in enumerate(rows) if b'"step":11,' in row)
    rows[place] = rows[place].replace(b'"stage":"rem"', b'"stage":"deep"')
    played.trace.write_bytes(b"".join(rows))
    with pytest.raises(BranchError, match=f"line {place + 1} was"):
        played.branch(11, Wait())


def test_a_changed_hidden_prefix_is_refused(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), waking_setting())
    hidden = played.folder / "hidden.jsonl"
    hidden.write_bytes(hidden.read_bytes().replace(b'"stage":"rem"', b'"stage":"deep"', 1))
    with pytest.raises(BranchError, match=r"hidden.jsonl: line 2 was"):
        played.branch(11, Wait())


def test_another_seed_in_the_manifest_is_refused(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule(), waking_setting())
    path = played.folder / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(BranchError, match=r"hidden.jsonl: line 1"):
        played.branch(11, Wait())


def test_another_night_is_refused_by_its_stages(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    other = tmp_path / "other"
    other.mkdir()
    wrong = night_file(other, LETTERS[::-1])
    with pytest.raises(BranchError, match="other stages than the night 'night-a'"):
        branch(played.folder, 11, Wait(), night=wrong, out=tmp_path / "branch")


def test_a_night_that_is_not_the_bundled_one_must_be_named(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    with pytest.raises(BranchError, match="give its file with --night"):
        branch(played.folder, 11, Wait())


@pytest.mark.parametrize("at", [-1, 34, 10**9])
def test_a_step_that_is_not_there_is_refused_with_the_ones_that_are(
    tmp_path: Path, at: int
) -> None:
    with pytest.raises(BranchError, match=rf"no step {at}; give --at 0 to 33"):
        Played(tmp_path, RemRule()).branch(at, Wait())


def test_a_step_at_which_nobody_was_asked_is_refused(tmp_path: Path, agents: str) -> None:
    played = Played(tmp_path, loaded(agents, "Stubborn"))
    busy = next(s["step"] for s in played.steps if s["decision"]["status"] == "busy")
    with pytest.raises(BranchError, match=f"nobody is asked at step {busy}"):
        played.branch(busy, Wait(), then=f"{agents}:Stubborn")


def test_the_parent_is_never_written_over(tmp_path: Path) -> None:
    played = Played(tmp_path, RemRule())
    with pytest.raises(BranchError, match="the parent's own folder"):
        played.branch(11, Wait(), out=played.folder)


def test_an_agent_that_cannot_be_found_again_must_be_named(tmp_path: Path) -> None:
    played = Played(tmp_path, Scripted({}))
    with pytest.raises(BranchError, match=r"no agent 'scripted'.*--then"):
        played.branch(11, Wait())


@pytest.mark.parametrize("name", ["manifest.json", "hidden.jsonl"])
def test_what_must_stand_beside_the_trace_is_named(tmp_path: Path, name: str) -> None:
    played = Played(tmp_path, RemRule())
    (played.folder / name).unlink()
    with pytest.raises(PaprikaError, match=name.partition(".")[0]):
        played.branch(11, Wait())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", "one"),
        ("seed", True),
        ("mode", "careful"),
        ("theme", []),
        ("theme", {"name": "cat", "memory": "x", "lines": [1]}),
        ("wake_table", {"light": {}}),
        ("wake_scale", None),
        ("awake_epochs", 101),
        ("wake_options", []),
        ("wake_options", {"time_of_night": {"per_hour": "much"}}),
        ("wake_options", {"onset_delay": {"light_s": 300.0}}),
        ("first_epoch", 1.5),
        ("condition", "flicker+flicker"),
        ("condition", "earthquake"),
        ("latency", {"median_s": "long"}),
        ("recording", None),
        ("dropout", {}),
    ],
)
def test_a_manifest_that_cannot_be_is_refused_by_key(tmp_path: Path, key: str, value: Any) -> None:
    played = Played(tmp_path, RemRule())
    path = played.folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(BranchError, match=f"manifest.json.*{key}"):
        played.branch(11, Wait())


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, raw: bytes) -> None:
    played = Played(tmp_path, RemRule())
    (played.folder / "manifest.json").write_bytes(raw)
    with pytest.raises(PaprikaError, match=r"manifest.json"):
        played.branch(11, Wait())


@settings(max_examples=25)
@given(where=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_a_trace_with_any_byte_changed_is_branched_or_refused(
    where: int, byte: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    played = Played(folder, RemRule(), letters="LLRRRRRRRRRR")
    raw = bytearray(played.trace.read_bytes())
    raw[where % len(raw)] = byte
    played.trace.write_bytes(raw)
    with suppress(PaprikaError):
        assert len(played.branch(6, Wait()).branch.stages) == 12


# --- the words of an action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("wait", Wait()),
        ("stop", Stop()),
        ("sound", PlaySound()),
        ("sound:high", PlaySound(Volume.HIGH)),
        ("whisper:the sea: again", Whisper("the sea: again")),
        ("scent", UseObject(BedsideObject.SCENT)),
        ("light", UseObject(BedsideObject.LIGHT)),
        ("diffuser", UseObject(BedsideObject.DIFFUSER)),
        ('{"kind":"sound","volume":"medium","reason":"r"}', PlaySound(Volume.MEDIUM, "r")),
    ],
)
def test_an_action_is_read_from_json_or_a_short_form(text: str, action: Action) -> None:
    assert asked_action(text) == action
    if not text.startswith("{") and text != "sound":
        assert action_in_words(action) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sing",
        "sound:loud",
        "whisper",
        "whisper:",
        "wait:now",
        "{",
        '{"kind":"wait","x":1}',
        "[]",
    ],
)
def test_what_is_no_action_is_refused_with_what_it_may_be(text: str) -> None:
    with pytest.raises(BranchError, match=r"--action .*sound:low"):
        asked_action(text)
