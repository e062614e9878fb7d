"""Actions and observations as JSON."""

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.types import (
    Action,
    AgentError,
    BedsideObject,
    Observation,
    PlaySound,
    Reading,
    Session,
    Stop,
    UseObject,
    Wait,
    Whisper,
)
from agents.wire import (
    action_from_json,
    action_to_json,
    checked_action,
    observation_to_json,
    session_to_json,
)
from devices.types import OutcomeStatus, Stage, Volume
from tests.agents.timelines import SESSION, seen
from tests.agents.timelines import given as cues

WRITTEN = [
    (Wait("why"), '{"kind":"wait","reason":"why"}'),
    (PlaySound(Volume.MEDIUM, "why"), '{"kind":"sound","volume":"medium","reason":"why"}'),
    (
        Whisper("the sea", Volume.LOW, "why"),
        '{"kind":"whisper","volume":"low","line":"the sea","reason":"why"}',
    ),
    (
        UseObject(BedsideObject.SCENT, "why"),
        '{"kind":"object","object":"scent","reason":"why"}',
    ),
    (Stop("why"), '{"kind":"stop","reason":"why"}'),
]


@pytest.mark.parametrize(("action", "text"), WRITTEN)
def test_an_action_is_written_with_its_keys_in_order(action: Action, text: str) -> None:
    assert json.dumps(action_to_json(action), separators=(",", ":")) == text


@pytest.mark.parametrize(("action", "text"), WRITTEN)
def test_an_action_is_read_back(action: Action, text: str) -> None:
    assert action_from_json(json.loads(text)) == action


@pytest.mark.parametrize(
    ("obj", "action"),
    [
        ({"kind": "sound"}, PlaySound(Volume.LOW, "")),
        ({"kind": "whisper", "line": "the sea"}, Whisper("the sea", Volume.LOW, "")),
        ({"kind": "sound", "volume": None, "line": None, "reason": None}, PlaySound()),
        ({"kind": "wait", "volume": None, "object": None}, Wait()),
    ],
)
def test_absent_and_null_mean_the_gentlest(obj: dict[str, Any], action: Action) -> None:
    assert action_from_json(obj) == action


@pytest.mark.parametrize(
    ("obj", "sentence"),
    [
        (None, "an action is an object with a kind, got None"),
        ([], "an action is an object with a kind, got []"),
        ("wait", "an action is an object with a kind, got 'wait'"),
        ({}, "kind must be one of wait, sound, whisper, object, stop, got None"),
        ({"kind": "play"}, "kind must be one of wait, sound, whisper, object, stop, got 'play'"),
        ({"kind": float("nan")}, "kind must be one of wait, sound, whisper, object, stop, got nan"),
        ({"kind": []}, "kind must be one of wait, sound, whisper, object, stop, got []"),
        ({"kind": "sound", "volume": "loud"}, "volume must be one of low, medium, high"),
        ({"kind": "sound", "volume": 1}, "volume must be one of low, medium, high, got 1"),
        ({"kind": "sound", "volume": float("nan")}, "volume must be one of low, medium, high"),
        ({"kind": "sound", "volume": True}, "volume must be one of low, medium, high, got True"),
        ({"kind": "whisper"}, "a whisper needs its line"),
        ({"kind": "whisper", "line": ""}, "the line of a whisper is empty"),
        ({"kind": "whisper", "line": " \n"}, "the line of a whisper is empty"),
        ({"kind": "whisper", "line": 3}, "line must be text, got 3"),
        ({"kind": "whisper", "line": "\ud800"}, "line holds half a character"),
        ({"kind": "whisper", "line": "a" * 501}, "line has 501 characters, 500 at most"),
        ({"kind": "object"}, "object must be one of scent, light, diffuser, got None"),
        ({"kind": "object", "object": "lamp"}, "object must be one of scent, light, diffuser"),
        ({"kind": "wait", "reason": 1}, "reason must be text, got 1"),
        ({"kind": "wait", "reason": "a" * 501}, "reason has 501 characters, 500 at most"),
        ({"kind": "sound", "vol": "high"}, "unknown key 'vol' in an action"),
        ({"kind": "sound", "line": "the sea"}, "an action of kind sound has no line"),
        ({"kind": "wait", "volume": "low"}, "an action of kind wait has no volume"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(obj: object, sentence: str) -> None:
    with pytest.raises(AgentError) as refusal:
        action_from_json(obj)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_huge_value_gives_a_short_message() -> None:
    with pytest.raises(AgentError) as refusal:
        action_from_json({"kind": "x" * 1_000_000})
    assert len(str(refusal.value)) < 200


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {"kind": st.sampled_from(["wait", "sound", "whisper", "object", "stop"]) | JSON},
    optional={
        "volume": st.sampled_from(["low", "medium", "high"]) | JSON,
        "line": st.text() | JSON,
        "object": st.sampled_from(["scent", "light", "diffuser"]) | JSON,
        "reason": st.text() | JSON,
    },
)


@given(JSON | NEARLY)
def test_any_json_gives_an_action_that_survives_the_wire_or_an_agent_error(obj: object) -> None:
    try:
        action = action_from_json(obj)
    except AgentError:
        return
    written = json.dumps(action_to_json(action), ensure_ascii=False).encode()
    assert action_from_json(json.loads(written)) == action


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, "decide must return Wait, PlaySound, Whisper, UseObject or Stop, got None"),
        ("wait", "decide must return Wait, PlaySound, Whisper, UseObject or Stop, got 'wait'"),
        (PlaySound, "decide must return Wait, PlaySound, Whisper, UseObject or Stop"),
        (PlaySound("high"), "volume must be a Volume, got 'high'"),  # type: ignore[arg-type]
        (Whisper(None), "a whisper needs its line"),  # type: ignore[arg-type]
        (Whisper(" "), "the line of a whisper is empty"),
        (UseObject("scent"), "object must be a BedsideObject, got 'scent'"),  # type: ignore[arg-type]
        (Wait(5), "reason must be text, got 5"),  # type: ignore[arg-type]
    ],
)
def test_what_an_agent_returned_is_checked(answer: object, sentence: str) -> None:
    with pytest.raises(AgentError, match="^" + sentence.split(",")[0]):
        checked_action(answer)
    with pytest.raises(AgentError) as refusal:
        action_to_json(answer)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("action", [action for action, _ in WRITTEN])
def test_a_good_action_is_handed_through(action: Action) -> None:
    assert checked_action(action) is action


def test_an_observation_keeps_every_field_under_its_name_and_in_order() -> None:
    assert list(observation_to_json(seen())) == [field.name for field in fields(Observation)]


def test_a_session_keeps_every_field_under_its_name_and_in_order() -> None:
    assert list(session_to_json(SESSION)) == [field.name for field in fields(Session)]


def test_an_observation_is_plain_json_with_words_and_nulls() -> None:
    told = json.loads(
        json.dumps(
            observation_to_json(
                seen(
                    stage=Stage.REM,
                    cues=cues(1),
                    last_outcome=OutcomeStatus.UNCONFIRMED,
                    heart_rate_bpm=Reading(58.5, 1.25, "strap"),
                    noise_dba=Reading(float("nan"), 3.0, "room"),
                )
            ),
            allow_nan=False,
        )
    )
    assert told["stage"] == "rem"
    assert told["confidence"] is None
    assert told["cues"] == [
        {"clock_s": 60_600.0, "kind": "sound", "volume": "low", "failed": False}
    ]
    assert told["last_outcome"] == "unconfirmed"
    assert told["heart_rate_bpm"] == {"value": 58.5, "age_s": 1.25, "source": "strap"}
    assert told["noise_dba"] is None
    assert told["lines"] == ["the clock", "in the hall"]


@pytest.mark.parametrize("value", [seen(stage=Stage.REM).stage, SESSION.kind])
def test_words_are_plain_strings(value: object) -> None:
    told = {**observation_to_json(seen(stage=Stage.REM)), **session_to_json(SESSION)}
    assert type(told["stage"]) is str
    assert type(told["kind"]) is str
    assert value in (told["stage"], told["kind"])
