"""The decision cache on a real disk: what is kept, what is damaged, who was first."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.decisions.cache import (
    CacheCorrupt,
    CacheMiss,
    CacheMode,
    DecisionCache,
    Stored,
    begin_fill,
)
from replay.decisions.question import Place, Question, question

PLACE = Place("night-a/rem_onset-0941-t3-s1", seed=1)
BODY = {"model": "small", "messages": ["REM, what now?"], "max_tokens": 100, "tools": []}
GOOD = Stored(2.4, {"action": "wait", "n": 1.5}, {"input_tokens": 7}, 2, None)
BAD = Stored(20.0, None, {}, 3, "model: no answer within 20 s")


def asked(history: str = "h", call: int = 1, place: Place = PLACE, **body: Any) -> Question:
    return question(place, history, call, "model", {**BODY, **body})


def cache(folder: Path, mode: CacheMode = CacheMode.RECORD, fill: int | None = None) -> Any:
    return DecisionCache(folder, mode, fill)


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json"))


# The key


def test_the_parts_of_a_body_stand_in_the_key_apart() -> None:
    key = asked()
    parts = (key.prompt, key.parameters, key.tools)
    assert key.model == "small"
    assert len({*parts, None}) == 4
    bare = question(PLACE, "h", 1, "model", {})
    assert (bare.model, bare.prompt, bare.parameters, bare.tools) == (None,) * 4


@pytest.mark.parametrize(
    "other",
    [
        asked("another history"),
        asked(call=2),
        asked(place=replace(PLACE, task="night-b/rem_onset-0941-t3-s1")),
        asked(place=replace(PLACE, seed=2)),
        asked(place=replace(PLACE, trial=2)),
        asked(model="large"),
        asked(messages=["REM, what next?"]),
        asked(max_tokens=101),
        asked(tools=[{"name": "cue"}]),
        question(PLACE, "h", 1, "judge", BODY),
    ],
)
def test_whatever_was_different_when_it_was_asked_is_another_question(other: Question) -> None:
    assert other.digest != asked().digest


def test_the_order_of_keys_in_a_body_is_no_difference() -> None:
    turned = dict(reversed(BODY.items()))
    assert question(PLACE, "h", 1, "model", turned) == asked()


@pytest.mark.parametrize("body", [{"n": float("inf")}, {"n": {1, 2}}, {"n": object()}])
def test_what_is_not_json_has_no_key(body: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        question(PLACE, "h", 1, "model", body)


# Modes


def test_what_is_recorded_is_given_again(tmp_path: Path) -> None:
    recording = cache(tmp_path)
    assert recording.known(asked()) is None
    assert recording.keep(asked(), GOOD) == GOOD
    for mode in (CacheMode.RECORD, CacheMode.REPLAY_ONLY, CacheMode.FILL):
        assert cache(tmp_path, mode, 9 if mode is CacheMode.FILL else None).known(asked()) == GOOD


def test_a_failure_is_recorded_too_and_given_again(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(), BAD)
    assert cache(tmp_path).known(asked()) == BAD
    assert cache(tmp_path, CacheMode.REPLAY_ONLY).known(asked()) == BAD


def test_a_miss_of_replay_only_names_the_key_and_where_it_was_asked(tmp_path: Path) -> None:
    with pytest.raises(CacheMiss) as error:
        cache(tmp_path, CacheMode.REPLAY_ONLY).known(asked(call=3))
    told = str(error.value)
    assert asked(call=3).digest[:16] in told
    assert "model call 3 of night-a/rem_onset-0941-t3-s1, seed 1, trial 1" in told
    assert not list(tmp_path.iterdir())


def test_a_fill_asks_again_for_failures_of_earlier_runs_once(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(), BAD)
    cache(tmp_path).keep(asked(call=2), GOOD)
    first = begin_fill(tmp_path)
    filling = cache(tmp_path, CacheMode.FILL, first)
    assert filling.known(asked(call=2)) == GOOD
    assert filling.known(asked()) is None
    still_bad = replace(BAD, latency_s=1.0, fill=first)
    assert filling.keep(asked(), still_bad) == still_bad
    # Asked in this fill: the same failure for whoever asks next, until another fill begins.
    assert cache(tmp_path, CacheMode.FILL, first).known(asked()) == still_bad
    second = begin_fill(tmp_path)
    filling = cache(tmp_path, CacheMode.FILL, second)
    assert filling.known(asked()) is None
    better = replace(GOOD, fill=second)
    assert filling.keep(asked(), better) == better
    assert cache(tmp_path).known(asked()) == better


def test_a_run_of_before_a_fill_can_still_be_repeated(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(), BAD)
    number = begin_fill(tmp_path)
    cache(tmp_path, CacheMode.FILL, number).keep(asked(), replace(GOOD, fill=number))
    assert cache(tmp_path, CacheMode.REPLAY_ONLY, 0).known(asked()) == BAD
    assert cache(tmp_path, CacheMode.REPLAY_ONLY, number).known(asked()).error is None
    assert cache(tmp_path, CacheMode.REPLAY_ONLY).known(asked()).error is None


def test_a_resumed_fill_takes_what_a_later_fill_has_found(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(), BAD)
    older, newer = begin_fill(tmp_path), begin_fill(tmp_path)
    found = replace(BAD, latency_s=3.0, fill=newer)
    cache(tmp_path, CacheMode.FILL, newer).keep(asked(), found)
    assert cache(tmp_path, CacheMode.FILL, older).keep(asked(), replace(BAD, fill=older)) == found


def test_fills_are_numbered_from_one(tmp_path: Path) -> None:
    assert [begin_fill(tmp_path / "new") for _ in range(3)] == [1, 2, 3]


# Who was first


def test_the_first_answer_stays_and_the_second_process_takes_it(tmp_path: Path) -> None:
    other = replace(GOOD, latency_s=9.0, body={"action": "sound"})
    assert cache(tmp_path).keep(asked(), GOOD) == GOOD
    assert cache(tmp_path).keep(asked(), other) == GOOD


def keep_many(folder: Path, mine: int, gate: Any, said: Any) -> None:
    recording = cache(folder)
    gate.wait()
    kept = [
        recording.keep(asked(call=call), replace(GOOD, latency_s=float(mine))).latency_s
        for call in range(60)
    ]
    said.put(kept)


def test_two_processes_that_fill_one_cache_agree_on_every_answer(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    gate, said = context.Barrier(2), context.Queue()
    both = [context.Process(target=keep_many, args=(tmp_path, n, gate, said)) for n in (1, 2)]
    for one in both:
        one.start()
    first, second = said.get(timeout=30), said.get(timeout=30)
    for one in both:
        one.join(30)
    assert first == second
    replayed = cache(tmp_path, CacheMode.REPLAY_ONLY)
    assert [replayed.known(asked(call=call)).latency_s for call in range(60)] == first
    assert len(files(tmp_path)) == 60
    assert not list(tmp_path.rglob("*.part"))


# On the disk


@given(
    body=st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ).filter(lambda value: value not in (float("inf"), float("-inf"))),
        max_size=4,
    )
)
@settings(max_examples=40)
def test_any_json_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, body: dict[str, Any]
) -> None:
    if "Infinity" in json.dumps(body):
        return
    folder = tmp_path_factory.mktemp("cache")
    stored = replace(GOOD, body=body)
    assert cache(folder).keep(asked(), stored) == stored
    assert cache(folder).known(asked()) == stored


def test_an_entry_says_what_was_asked_without_a_word_of_the_prompt(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(), GOOD)
    (path,) = files(tmp_path)
    digest = asked().digest
    assert path.relative_to(tmp_path).as_posix() == f"{digest[:2]}/{digest}-1.json"
    entry = json.loads(path.read_text())
    assert entry["schema"] == 1
    assert list(entry["key"]) == sorted(
        ["service", "history", "body", "model", "prompt", "parameters", "tools", "task", "seed",
         "trial", "call"]
    )  # fmt: skip
    assert entry["stored"] == {
        "latency_s": 2.4, "body": {"action": "wait", "n": 1.5}, "usage": {"input_tokens": 7},
        "attempts": 2, "error": None, "fill": 0,
    }  # fmt: skip
    assert "what now" not in path.read_text()


def cut(text: bytes) -> bytes:
    return text[: len(text) // 2]


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        lambda text: b"",
        lambda text: text.replace(b"2.4", b"2.5"),
        lambda text: text.replace(b'"wait"', b'"stop"'),
        lambda text: text.replace(b'"call":1', b'"call":2'),
        lambda text: b"[]",
        lambda text: b"[" * 100_000,
        lambda text: b"\xff" + text,
        lambda text: text.replace(b'"schema":1', b'"schema":0'),
    ],
)
@pytest.mark.parametrize("mode", [CacheMode.RECORD, CacheMode.REPLAY_ONLY])
def test_a_damaged_entry_is_named_and_never_taken_or_asked_for_again(
    tmp_path: Path, damage: Any, mode: CacheMode
) -> None:
    cache(tmp_path).keep(asked(), GOOD)
    (path,) = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CacheCorrupt, match=rf"{path.name}: damaged; remove it"):
        cache(tmp_path, mode).known(asked())


def test_an_entry_under_another_key_s_name_is_damaged(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(), GOOD)
    (path,) = files(tmp_path)
    other = asked(call=2).digest
    (tmp_path / other[:2]).mkdir(exist_ok=True)
    path.rename(tmp_path / other[:2] / f"{other}-1.json")
    with pytest.raises(CacheCorrupt, match="damaged"):
        cache(tmp_path).known(asked(call=2))


def test_a_newer_entry_is_refused_by_name(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(), GOOD)
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":2'))
    with pytest.raises(CacheCorrupt, match="schema 2 is newer than 1; update Paprika"):
        cache(tmp_path).known(asked())


def test_a_process_killed_while_writing_leaves_nothing_that_is_read(tmp_path: Path) -> None:
    cache(tmp_path).keep(asked(call=2), GOOD)
    digest = asked().digest
    (tmp_path / digest[:2]).mkdir(exist_ok=True)
    (tmp_path / digest[:2] / f".{digest}-1.json.77.1.part").write_bytes(b'{"half')
    assert cache(tmp_path).known(asked()) is None
    assert cache(tmp_path).keep(asked(), GOOD) == GOOD


def test_a_cache_that_cannot_be_written_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheCorrupt, match="cannot be"):
        cache(tmp_path / "file").keep(asked(), GOOD)
    with pytest.raises(CacheCorrupt, match="cannot be used"):
        begin_fill(tmp_path / "file")
