"""Profiles and assumptions as the file holds them."""

import copy
import tomllib
from typing import Any

import pytest

from bedside import configuration
from bedside.configuration import ConfigurationError, default_toml
from devices.types import Stage
from replay.simulation.answers import bundled_answers, bundled_theme_model
from replay.simulation.profiles import FILE, as_toml, profile, profile_named, profile_names
from replay.simulation.sleep import STAGES
from tests.replay.simulation.asleep import STEADY, L, W

TABLE = default_toml(FILE)


def test_the_bundled_profiles() -> None:
    assert profile_names() == ("healthy", "apnoea", "headband")
    for name in profile_names():
        assert profile_named(name).name == name


def test_a_profile_is_written_as_it_is_read() -> None:
    read = tomllib.loads("\n".join(as_toml(STEADY)))
    assert profile("flat", read["profile"]["flat"]) == STEADY


def test_an_unknown_profile_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean healthy.*apnoea, headband"):
        profile_named("healty")


def test_a_stage_never_follows_itself_in_any_profile() -> None:
    for name in profile_names():
        for (stage, _), parts in profile_named(name).next.items():
            for row in (row for part in parts for row in part):
                assert row[STAGES.index(stage)] == 0.0


def test_the_theme_has_no_effect_as_it_comes() -> None:
    model = bundled_theme_model()
    assert model.gain == 0.0
    assert (model.talk, model.cue, model.half_life_h, model.carry) == (1.0, 1.0, 2.0, 0.1)


def test_the_answers_as_they_come() -> None:
    answers = bundled_answers()
    assert (answers.stage_change, answers.arousal) == (1.5, 3.0)
    assert answers.onset_delay is not None
    assert answers.onset_delay.chances["low"] == 0.08
    assert answers.onset_delay.light_s == 300.0


def broken(*path: Any, value: Any) -> dict[str, Any]:
    table = copy.deepcopy(dict(TABLE["profile"]["healthy"]))
    place: Any = table
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return table


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("spread",), 3, "profile.x.spread.awake: must be 0 to 1"),
        (("spread", "rem"), 1.5, "profile.x.spread.rem: must be 0 to 1"),
        (("leave", "light"), {}, "profile.x.leave.light.awake: must be 4 rows"),
        (("leave", "light", "awake"), [[0.1] * 8], "profile.x.leave.light.awake: must be 4 rows"),
        (("leave", "light", "awake", 0), [0.1] * 7, "must hold rows of 8 chances"),
        (("leave", "light", "awake", 0, 2), 1.2, "must hold rows of 8 chances"),
        (("next", "rem", "light", 1), [], "profile.x.next.rem.light: must hold 4 rows a part"),
        (("next", "rem", "light", 1, 0), [1, 0, 0], "must hold rows of 4 chances"),
        (("next", "rem", "light", 1, 0), [0.9, 0, 0, 0], "each row must add up to 1"),
    ],
)
def test_a_broken_profile_is_refused_by_its_key(path: Any, value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        profile("x", broken(*path, value=value))
    assert message in str(raised.value)
    assert str(raised.value).startswith("simulated_sleeper.toml: ")


@pytest.mark.parametrize(
    ("table", "key", "value", "message"),
    [
        ("answers", "stage_change", 0.5, "answers.stage_change must be 1 to 100"),
        ("answers", "arousal", 1.2, "answers.arousal must be 1.5 to 100"),
        ("theme", "carry", 2, "theme.carry must be 0 to 1"),
        ("theme", "gain", True, "theme.gain must be 0 to 100"),
        ("theme", "half_life_h", 0, "theme.half_life_h must be 0.01 to 1000"),
    ],
)
def test_a_broken_assumption_is_refused_by_its_key(
    monkeypatch: pytest.MonkeyPatch, table: str, key: str, value: Any, message: str
) -> None:
    made = copy.deepcopy(dict(TABLE))
    made[table][key] = value
    read = configuration._read
    monkeypatch.setattr(
        configuration, "_read", lambda path: made if path.stem == FILE else read(path)
    )
    with pytest.raises(ConfigurationError, match=message):
        bundled_answers() if table == "answers" else bundled_theme_model()


def test_wake_as_the_night_begins_has_its_own_row() -> None:
    healthy = profile_named("healthy")
    (begin,) = set(healthy.leave[W, Stage.UNKNOWN])
    assert begin[0] < 0.1 < healthy.leave[W, L][0][0]
