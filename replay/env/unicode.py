"""A space of texts in any script, and how Gymnasium batches, flattens and shares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import gymnasium.spaces.utils as flattening
import gymnasium.vector.utils as batching
import gymnasium.vector.utils.shared_memory as sharing
import gymnasium.wrappers.utils as zeros
import numpy as np
from gymnasium.spaces import Box, Space, Tuple
from numpy.typing import NDArray

SAMPLED: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "äéñßøçłğ",
    "αβγδεζηθ",
    "абвгдежз",
    "夜夢海森猫時鐘椰",
    "ゆめうみもりねこ",
    "꿈바다숲고양이",
    "حلمبحرغابة",
    "सपनासमुद्र",
    "🌊🌲🐈",
)
"""What samples are made of, a script each; the space holds every other text as well."""
HIGHEST: Final = 0x110000
"""A code point plus one is at most this; 0 stands after the end of a text."""


class Unicode(Space[str]):
    """Texts of any script, spaces included, of at most `max_length` code points.

    min_length: code points that are left when white space at both ends is cut off; from 1 on, a
        blank text is outside. Half a surrogate pair is outside too: it cannot be written as UTF-8.
    """

    def __init__(
        self, max_length: int, *, min_length: int = 0, seed: int | np.random.Generator | None = None
    ) -> None:
        if not 0 <= min_length <= max_length or max_length < 1:
            raise ValueError(f"lengths {min_length} to {max_length}: give 0 <= min <= max, max > 0")
        self.min_length = int(min_length)
        self.max_length = int(max_length)
        super().__init__(dtype=np.int32, seed=seed)  # of the flattened form

    @property
    def is_np_flattenable(self) -> bool:
        """Code points plus one, filled with zeros up to `max_length`."""
        return True

    def contains(self, x: Any) -> bool:
        if not isinstance(x, str) or len(x) > self.max_length:
            return False
        if not x.isascii() and any("\ud800" <= letter <= "\udfff" for letter in x):
            return False
        return not self.min_length or len(x.strip()) >= self.min_length

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Words of one script, with single spaces between them."""
        if mask is not None or probability is not None:
            raise ValueError("texts are sampled without a mask and without probabilities")
        length = int(self.np_random.integers(self.min_length, self.max_length + 1))
        letters = SAMPLED[int(self.np_random.integers(len(SAMPLED)))]
        drawn = self.np_random.integers(-len(letters) // 5, len(letters), length).tolist()
        inner = range(1, length - 1)
        return "".join(
            " " if number < 0 and place in inner and drawn[place - 1] >= 0 else letters[number]
            for place, number in enumerate(drawn)
        )

    def __repr__(self) -> str:
        return f"Unicode({self.min_length}, {self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and self._lengths == other._lengths

    def __hash__(self) -> int:
        return hash(self._lengths)

    @property
    def _lengths(self) -> tuple[int, int]:
        return self.min_length, self.max_length


class SharedTexts(Sequence[str]):
    """The texts that stand in shared memory now; a deep copy is the tuple of them.

    Gymnasium reads its memory once and copies what it read at every step: arrays are views of the
    memory, and a tuple would stay as it was at first.
    """

    def __init__(self, space: Unicode, rows: NDArray[np.int32]) -> None:
        self._space = space
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._now()[index]

    def __eq__(self, other: object) -> bool:
        return self._now() == (other._now() if isinstance(other, SharedTexts) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._now())

    def __deepcopy__(self, memo: object) -> tuple[str, ...]:
        return self._now()

    def _now(self) -> tuple[str, ...]:
        return tuple(_unflatten(self._space, row) for row in self._rows)


@flattening.flatdim.register(Unicode)
def _flatdim(space: Unicode) -> int:
    return space.max_length


@flattening.flatten_space.register(Unicode)
def _flatten_space(space: Unicode) -> Box:
    return Box(0, HIGHEST, (space.max_length,), np.int32)


@flattening.flatten.register(Unicode)
def _flatten(space: Unicode, x: str) -> NDArray[np.int32]:  # type: ignore[misc]
    codes = np.zeros(space.max_length, np.int32)
    codes[: len(x)] = [ord(letter) + 1 for letter in x]
    return codes


@flattening.unflatten.register(Unicode)
def _unflatten(space: Unicode, x: NDArray[Any]) -> str:  # type: ignore[misc]
    return "".join(chr(code - 1) for code in x.astype(np.int64).tolist() if code > 0)


@flattening.is_space_dtype_shape_equiv.register(Unicode)
def _alike(space_1: Unicode, space_2: Space[Any]) -> bool:
    return isinstance(space_2, Unicode) and space_1.max_length == space_2.max_length


@batching.batch_space.register(Unicode)
def _batch_space(space: Unicode, n: int = 1) -> Tuple[Any]:
    return _together([space] * n)


@batching.batch_differing_spaces.register(Unicode)
def _batch_differing_spaces(spaces: list[Unicode]) -> Tuple[Any]:  # type: ignore[misc]
    return _together(spaces)


@batching.concatenate.register(Unicode)
def _concatenate(space: Unicode, items: Any, out: Any) -> tuple[str, ...]:
    return tuple(items)


@batching.create_empty_array.register(Unicode)
def _create_empty_array(space: Unicode, n: int = 1, fn: Any = np.zeros) -> tuple[str, ...]:
    return (zeros.create_zero_array(space),) * n


@zeros.create_zero_array.register(Unicode)
def _create_zero_array(space: Unicode) -> str:  # type: ignore[misc]
    return "a" * space.min_length


@sharing.create_shared_memory.register(Unicode)
def _create_shared_memory(space: Unicode, n: int = 1, ctx: Any = None) -> Any:
    import multiprocessing

    return (ctx or multiprocessing).Array("i", n * space.max_length)


@sharing.read_from_shared_memory.register(Unicode)
def _read_from_shared_memory(space: Unicode, shared_memory: Any, n: int = 1) -> SharedTexts:
    return SharedTexts(space, _rows(space, shared_memory)[:n])


@sharing.write_to_shared_memory.register(Unicode)
def _write_to_shared_memory(space: Unicode, index: int, values: str, shared_memory: Any) -> None:
    _rows(space, shared_memory)[index] = _flatten(space, values)


def _rows(space: Unicode, shared_memory: Any) -> NDArray[np.int32]:
    codes = np.frombuffer(shared_memory.get_obj(), np.int32)
    return cast("NDArray[np.int32]", codes.reshape(-1, space.max_length))


def _together(spaces: list[Unicode]) -> Tuple[Any]:
    """One space each, drawing from seeds of its own."""
    from copy import deepcopy

    dice = deepcopy(spaces[0].np_random)
    seeds = map(int, dice.integers(0, 2**31, len(spaces)))
    copies = zip(spaces, seeds, strict=True)
    return Tuple(
        [Unicode(one.max_length, min_length=one.min_length, seed=seed) for one, seed in copies],
        seed=dice,
    )
