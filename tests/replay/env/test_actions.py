"""Actions: every agent's action is in the space, and a malformed one is told by its key."""

from typing import Any

import numpy as np
import pytest
from gymnasium.error import InvalidAction
from hypothesis import given
from hypothesis import strategies as st

from agents.types import Action, BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from devices.types import PaprikaError, Volume
from replay.env.actions import MalformedAction, action_space, decoded, encoded

MEANT: list[tuple[dict[str, Any], Action]] = [
    ({"kind": 0}, Wait()),
    ({"kind": 1, "volume": 0}, PlaySound(Volume.LOW)),
    ({"kind": 1, "volume": 1}, PlaySound(Volume.MEDIUM)),
    ({"kind": 1, "volume": 2}, PlaySound(Volume.HIGH)),
    ({"kind": 2, "volume": 1, "line": "森の 猫"}, Whisper("森の 猫", Volume.MEDIUM)),
    ({"kind": 3, "object": 0}, UseObject(BedsideObject.SCENT)),
    ({"kind": 3, "object": 1}, UseObject(BedsideObject.LIGHT)),
    ({"kind": 3, "object": 2}, UseObject(BedsideObject.DIFFUSER)),
    ({"kind": 4}, Stop()),
]


@pytest.mark.parametrize(("given_", "meant"), MEANT)
def test_each_kind_means_one_action_and_needs_only_its_own_keys(
    given_: dict[str, Any], meant: Action
) -> None:
    assert decoded(given_) == meant
    as_arrays = {k: v if k == "line" else np.array([v]) for k, v in given_.items()}
    assert decoded(as_arrays) == meant
    assert decoded({**given_, "reason": "beside the space"}) == meant


@pytest.mark.parametrize("meant", [meant for _, meant in MEANT])
def test_every_action_has_its_member_of_the_space(meant: Action) -> None:
    member = encoded(meant)
    assert member in action_space()
    assert decoded(member) == meant


def test_every_sample_is_an_action() -> None:
    space = action_space()
    space.seed(1)
    kinds = {type(decoded(space.sample())) for _ in range(100)}
    assert kinds == {Wait, PlaySound, Whisper, UseObject, Stop}


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({}, "no 'kind'"),
        ({"kind": 5}, r"action\['kind'\] is 5"),
        ({"kind": -1}, r"action\['kind'\] is -1"),
        ({"kind": True}, r"action\['kind'\] is True"),
        ({"kind": "sound"}, r"action\['kind'\] is 'sound'"),
        ({"kind": 1.0}, r"action\['kind'\] is 1.0"),
        ({"kind": None}, r"action\['kind'\] is None"),
        ({"kind": np.array([1, 2])}, r"action\['kind'\]"),
        ({"kind": 1}, "no 'volume'"),
        ({"kind": 1, "volume": 3}, r"action\['volume'\] is 3"),
        ({"kind": 2, "volume": 0}, "no 'line'"),
        ({"kind": 2, "volume": 0, "line": " "}, r"action\['line'\] is ' '"),
        ({"kind": 2, "volume": 0, "line": "a" * 501}, r"action\['line'\]"),
        ({"kind": 2, "volume": 0, "line": "\ud800"}, r"action\['line'\]"),
        ({"kind": 2, "volume": 0, "line": 3}, r"action\['line'\] is 3"),
        ({"kind": 2, "line": "sea"}, "no 'volume'"),
        ({"kind": 3}, "no 'object'"),
        ({"kind": 3, "object": "scent"}, r"action\['object'\] is 'scent'"),
        (1, "an action is a dict .* got int"),
        ([0, 0, 0, 0], "got list"),
    ],
)
def test_a_malformed_action_is_one_error_that_names_the_key(given_: Any, said: str) -> None:
    with pytest.raises(MalformedAction, match=said) as raised:
        decoded(given_)
    assert isinstance(raised.value, PaprikaError)
    assert isinstance(raised.value, InvalidAction)
    assert "\n" not in str(raised.value)


KEYS = st.sampled_from(["kind", "volume", "line", "object", "other"])


@given(st.dictionaries(KEYS, st.one_of(st.integers(), st.text(), st.none(), st.floats())))
def test_whatever_is_given_is_an_action_or_one_clear_error(given_: dict[str, Any]) -> None:
    try:
        assert encoded(decoded(given_)) in action_space()
    except MalformedAction as error:
        if not any(repr(key) in str(error) for key in ("kind", "volume", "line", "object")):
            raise
