"""The wake table's assumptions: off by default and then without a trace; on, told and rolled."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rem_rule import RemRule
from bedside.configuration import default_toml
from devices.types import CueKind, Stage, Volume
from replay.setting import Setting
from replay.wake_rule import WakeTable, WakeTableError, wake_table
from tests.replay.nights import Lived, cue_at, events_of, lived, night, setting

TABLE = default_toml("wake_table")
FALLING_ASLEEP = "WWWWLLWWLLLLLLLLLLLLLLLLDDDD"
"""Sustained onset at epoch 8; two epochs of light before it."""


def on(*options: str, scale: float = 1.0, **changed: Any) -> Setting:
    given = copy.deepcopy(dict(TABLE))
    for table, values in changed.items():
        given[table] |= values
    plain = setting()
    return Setting(plain.theme, wake_table(given, scale, options))


def sure(scale: float = 1.0) -> Setting:
    """Every cue that may delay sleep does; none wakes."""
    given = copy.deepcopy(dict(TABLE))
    given["onset_delay"] |= dict.fromkeys(("low", "medium", "high", "object"), 1.0)
    for row in given["chances"].values():
        row |= dict.fromkeys(row, 0.0)
    return Setting(setting().theme, wake_table(given, scale, ("onset_delay",)))


def delayed(*steps: int, made: Setting | None = None) -> Lived:
    return lived(night(FALLING_ASLEEP), cue_at(*steps), made or sure())


def test_both_are_off_by_default_and_leave_no_trace() -> None:
    table = wake_table(TABLE)
    assert (table.time_of_night, table.onset_delay, table.options) == (None, None, {})
    without = {key: TABLE[key] for key in ("schema", "awake_epochs", "chances")}
    plain = Setting(setting().theme, wake_table(without))
    one, two = (lived(night(FALLING_ASLEEP * 5), RemRule(), made) for made in (plain, setting(1.0)))
    assert (one.trace_bytes, one.hidden_bytes) == (two.trace_bytes, two.hidden_bytes)
    assert b"assumption" not in one.hidden_bytes
    assert b"onset" not in one.hidden_bytes.replace(b"minutes_since_onset", b"")


def test_what_is_on_is_told_with_its_numbers() -> None:
    done = delayed(2)
    (told,) = events_of(done.hidden, "assumptions")
    assert told["onset_delay"]["light_s"] == 300.0
    assert "time_of_night" not in told


@pytest.mark.parametrize("step", [0, 3, 4, 5, 7])
def test_a_cue_before_sustained_onset_inserts_wake_but_is_no_waking(step: int) -> None:
    done = delayed(step)
    (delay,) = events_of(done.hidden, "onset_delay")
    assert (delay["from_t"], delay["until_t"]) == (30.0 * (step + 1), 30.0 * (step + 5))
    assert done.shown == FALLING_ASLEEP[: step + 1] + "WWWW" + FALLING_ASLEEP[step + 1 :]
    assert done.attempt.wakings == ()
    footer = done.hidden[-1]
    assert (footer["wakings"], footer["inserted_epochs"]) == (0, 4)


@pytest.mark.parametrize("step", [8, 12, 17])
def test_so_does_one_in_the_first_five_minutes_of_light_until_sleep_is_sustained(
    step: int,
) -> None:
    assert events_of(delayed(step).hidden, "onset_delay")


@pytest.mark.parametrize("step", [18, 20, 25])
def test_later_nothing_is_delayed_and_nothing_rolled(step: int) -> None:
    done = delayed(step)
    assert not events_of(done.hidden, "onset_delay")
    assert not events_of(done.hidden, "onset_roll")
    assert done.shown == FALLING_ASLEEP


def test_inside_inserted_wake_nothing_is_rolled() -> None:
    done = delayed(2, 4)
    assert len(events_of(done.hidden, "onset_delay")) == 1
    assert len(events_of(done.hidden, "awake_already")) == 1


def test_its_roll_is_of_its_own_stream_and_a_miss_is_told() -> None:
    from replay.rolls import roll

    made = on("onset_delay", scale=0.0)
    done = delayed(2, made=made)
    (missed,) = events_of(done.hidden, "onset_roll")
    key = done.hidden[0]["roll_night"]
    assert missed["value"] == roll(key, 1, "onset", 2)
    assert (missed["step"], missed["chance"]) == (2, 0.0)


@given(
    st.sampled_from([Stage.LIGHT, Stage.DEEP, Stage.REM]),
    st.sampled_from(list(Volume)),
    st.floats(0.0, 20 * 3600.0),
    st.floats(0.0, 4.0),
)
def test_chances_rise_with_accumulated_sleep_up_to_the_most(
    stage: Stage, volume: Volume, slept_s: float, scale: float
) -> None:
    plain, rising = wake_table(TABLE, scale), wake_table(TABLE, scale, ("time_of_night",))
    base = TABLE["chances"][stage.value][volume.value]
    expected = min(1.0, scale * min(2.0, 1.0 + 0.1 * slept_s / 3600.0) * base)
    assert rising.chance(stage, CueKind.SOUND, volume, slept_s) == pytest.approx(expected)
    assert plain.chance(stage, CueKind.SOUND, volume, slept_s) == min(1.0, scale * base)


def test_sleep_is_counted_up_to_the_cue_and_wake_is_not() -> None:
    """2 wake, 60 light, 2 wake, 60 REM: at the end of epoch 73 slept 60 + 10 epochs."""
    done = lived(
        night("WW" + "L" * 60 + "WW" + "R" * 60), cue_at(73), on("time_of_night", scale=0.001)
    )
    (rolled,) = done.rolls()
    assert rolled["chance"] == pytest.approx(0.001 * 0.05 * (1 + 0.1 * 70 * 30 / 3600))


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        (("snoring",), {}, "wake option 'snoring' is unknown; known: time_of_night, onset_delay"),
        (("time_of_night",), {"time_of_night": {"most": 0.5}}, "time_of_night.most must be 1 to"),
        (("onset_delay",), {"onset_delay": {"low": 2}}, "onset_delay.low must be 0 to 1"),
        (("onset_delay",), {"onset_delay": {"light_min": "5"}}, "onset_delay.light_min must be"),
    ],
)
def test_a_wrong_option_is_refused_by_its_key(
    options: tuple[str, ...], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(WakeTableError, match=message):
        on(*options, **change)


def test_a_table_without_an_option_s_numbers_cannot_turn_it_on() -> None:
    bare = {key: TABLE[key] for key in ("awake_epochs", "chances")}
    with pytest.raises(WakeTableError, match=r"\[onset_delay\] is missing"):
        wake_table(bare, options=("onset_delay",))
    assert wake_table(bare) == WakeTable(wake_table(TABLE).chances, 4)
