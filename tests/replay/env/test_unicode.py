"""The space of texts: what is in it, sampling, batching, flattening, shared memory."""

import multiprocessing
import pickle
from copy import deepcopy
from typing import Any

import gymnasium.spaces.utils as flattening
import numpy as np
import pytest
from gymnasium.spaces import Dict, Discrete, Text
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    iterate,
    read_from_shared_memory,
    write_to_shared_memory,
)
from gymnasium.wrappers.utils import create_zero_array
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.env.unicode import Unicode

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
"""Everything that can be written as UTF-8."""


@given(TEXTS)
def test_every_text_that_utf8_can_write_is_inside(text: str) -> None:
    assert text in Unicode(40)


@pytest.mark.parametrize(
    "text", ["", "森で眠る 猫", "a b", "\n", "ab" * 20, "eating coconut chicken"]
)
def test_spaces_and_any_script_are_inside(text: str) -> None:
    assert text in Unicode(40)


@pytest.mark.parametrize("other", ["a" * 41, "\ud800", "ab\udfffc", b"bytes", 3, None, ["a"]])
def test_longer_texts_half_characters_and_other_values_are_outside(other: object) -> None:
    assert other not in Unicode(40)


@pytest.mark.parametrize(
    ("text", "inside"), [("", False), ("   ", False), ("\n\t", False), ("a", True), (" a ", True)]
)
def test_with_a_least_length_a_blank_text_is_outside(text: str, inside: bool) -> None:
    assert (text in Unicode(5, min_length=1)) is inside


@given(st.integers(0, 10_000), st.integers(0, 12), st.integers(1, 30))
@settings(max_examples=200)
def test_samples_are_inside_and_can_be_written(seed: int, least: int, more: int) -> None:
    space = Unicode(least + more, min_length=least, seed=seed)
    for _ in range(3):
        text = space.sample()
        assert text in space
        assert "  " not in text
        text.encode()


def test_samples_come_in_several_scripts_with_spaces_and_of_all_lengths() -> None:
    space = Unicode(6, seed=1)
    drawn = [space.sample() for _ in range(400)]
    assert {len(text) for text in drawn} == set(range(7))
    assert any(" " in text for text in drawn)
    assert len({letter for text in drawn for letter in text}) > 60


def test_the_same_seed_gives_the_same_samples() -> None:
    first, second = Unicode(30, seed=7), Unicode(30)
    second.seed(7)
    assert [first.sample() for _ in range(9)] == [second.sample() for _ in range(9)]
    third = Unicode(30, seed=8)
    assert first.sample() != third.sample()


def test_a_pickled_or_copied_space_is_equal_and_samples_on() -> None:
    space = Unicode(30, min_length=2, seed=7)
    for copy in (pickle.loads(pickle.dumps(space)), deepcopy(space)):
        assert copy == space
        assert hash(copy) == hash(space)
    copy = deepcopy(space)
    assert copy.sample() == space.sample()
    assert space != Unicode(30)
    assert space != Text(30)


@pytest.mark.parametrize(("longest", "least"), [(0, 0), (3, 4), (3, -1)])
def test_lengths_that_cannot_be_are_refused(longest: int, least: int) -> None:
    with pytest.raises(ValueError, match="lengths"):
        Unicode(longest, min_length=least)


def test_a_mask_is_refused_instead_of_ignored() -> None:
    with pytest.raises(ValueError, match="mask"):
        Unicode(3).sample(mask=(1, None))


@given(TEXTS)
def test_flattening_gives_code_points_and_comes_back(text: str) -> None:
    space = Unicode(40)
    flat = flattening.flatten(space, text)
    assert flat in flattening.flatten_space(space)
    assert [chr(code - 1) for code in flat[: len(text)]] == list(text)
    assert not flat[len(text) :].any()
    assert flattening.unflatten(space, flat) == text


def test_a_dict_with_a_text_flattens_to_one_row_of_numbers() -> None:
    space = Dict({"line": Unicode(4), "kind": Discrete(3)})
    flat = flattening.flatten(space, {"line": "a b", "kind": np.int64(1)})
    assert flattening.flatdim(space) == len(flat) == 7
    assert flat.tolist() == [0, 1, 0, 98, 33, 99, 0]
    assert flattening.unflatten(space, flat)["line"] == "a b"
    assert flat in flattening.flatten_space(space)


def test_a_batch_is_a_tuple_of_texts() -> None:
    space = Dict({"line": Unicode(8, min_length=1, seed=3), "kind": Discrete(3)})
    batched = batch_space(space, 3)
    drawn = batched.sample()
    assert drawn in batched
    assert len(set(drawn["line"])) == 3
    items: list[Any] = list(iterate(batched, drawn))
    assert [item["line"] for item in items] == list(drawn["line"])
    out = concatenate(space, items, create_empty_array(space, 3))
    assert out["line"] == drawn["line"]
    assert out["kind"].tolist() == drawn["kind"].tolist()


def test_batching_leaves_the_dice_of_the_space_alone_and_does_not_share_them() -> None:
    space, same = Unicode(8, seed=3), Unicode(8, seed=3)
    batch_space(space, 2).sample()
    assert space.sample() == same.sample()


def test_spaces_of_different_lengths_are_batched_as_they_are() -> None:
    batched = batch_differing_spaces([Unicode(3), Unicode(9)])
    assert ("abc", "abcdefghi") in batched
    assert ("abcd", "a") not in batched
    assert flattening.is_space_dtype_shape_equiv(Unicode(3), Unicode(3, min_length=1))
    assert not flattening.is_space_dtype_shape_equiv(Unicode(3), Unicode(9))
    assert not flattening.is_space_dtype_shape_equiv(Unicode(3), Text(3))


def test_empty_and_zero_texts_are_inside() -> None:
    for space in (Unicode(5), Unicode(5, min_length=3)):
        assert create_zero_array(space) in space
        assert all(text in space for text in create_empty_array(space, 2))


@given(st.lists(TEXTS, min_size=3, max_size=3))
@settings(max_examples=30)
def test_texts_come_out_of_shared_memory_as_they_went_in(texts: list[str]) -> None:
    space = Unicode(40)
    memory = create_shared_memory(space, 3, ctx=multiprocessing)
    for number, text in enumerate(texts):
        write_to_shared_memory(space, number, "x" * 40, memory)
        write_to_shared_memory(space, number, text, memory)
    assert read_from_shared_memory(space, memory, 3) == tuple(texts)


def test_what_was_read_of_shared_memory_follows_it_and_a_copy_does_not() -> None:
    space = Unicode(5)
    memory = create_shared_memory(space, 2, ctx=multiprocessing)
    read: Any = read_from_shared_memory(space, memory, 2)
    before = deepcopy(read)
    write_to_shared_memory(space, 1, "夜 猫", memory)
    assert before == ("", "")
    assert isinstance(before, tuple)
    assert (len(read), read[1], list(read), repr(read)) == (
        2,
        "夜 猫",
        ["", "夜 猫"],
        "('', '夜 猫')",
    )
    assert read == read_from_shared_memory(space, memory, 2) != before
