"""Caps on length, level and light: the cap itself passes, anything above becomes the cap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.safety import caps
from bedside.safety.caps import Cap, Capped
from devices.types import CueKind

NAN, INF = float("nan"), float("inf")
LONGEST = {"sound": 20.0, "whisper": 8.0, "scent": 60.0, "light": 20.0, "diffuser": 60.0}


def test_the_ids_of_caps_are_what_a_trace_will_say() -> None:
    assert " ".join(Cap) == (
        "not_a_number duration level room_level room_unmeasured light light_uncalibrated light_fade"
    )


@pytest.mark.parametrize("kind", CueKind)
def test_a_cue_lasts_no_longer_than_its_kind_may(kind: CueKind) -> None:
    cap = LONGEST[kind]
    assert caps.duration_s(kind, cap) == Capped(cap, None)
    assert caps.duration_s(kind, 0.0) == Capped(0.0, None)
    assert caps.duration_s(kind, cap + 0.001) == Capped(cap, Cap.DURATION)
    assert caps.duration_s(kind, INF) == Capped(cap, Cap.DURATION)
    assert caps.duration_s(kind, NAN) == Capped(0.0, Cap.NOT_A_NUMBER)
    assert caps.duration_s(kind, -0.001) == Capped(0.0, Cap.NOT_A_NUMBER)


@pytest.mark.parametrize(
    ("asked", "room_l90", "capped"),
    [
        (45.0, 40.0, Capped(45.0)),
        (45.1, 40.0, Capped(45.0, Cap.LEVEL)),
        (90.0, 35.0, Capped(45.0, Cap.LEVEL)),
        (42.0, 30.0, Capped(40.0, Cap.ROOM_LEVEL)),
        (40.0, 30.0, Capped(40.0)),
        (90.0, 34.999, Capped(44.999, Cap.ROOM_LEVEL)),
        (35.0, None, Capped(35.0)),
        (35.1, None, Capped(35.0, Cap.ROOM_UNMEASURED)),
        (-10.0, 30.0, Capped(-10.0)),
        (INF, 60.0, Capped(45.0, Cap.LEVEL)),
        (NAN, 30.0, Capped(0.0, Cap.NOT_A_NUMBER)),
        (50.0, NAN, Capped(45.0, Cap.LEVEL)),
    ],
)
def test_a_level_stays_under_45_db_and_ten_above_the_room(
    asked: float, room_l90: float | None, capped: Capped
) -> None:
    found = caps.level_dba(asked, room_l90)
    assert found.value == pytest.approx(capped.value)
    assert found.by is capped.by


def test_light_is_five_lux_or_one_percent_of_an_unknown_lamp_and_never_flashes() -> None:
    assert caps.light_lux(5.0) == Capped(5.0)
    assert caps.light_lux(5.01) == Capped(5.0, Cap.LIGHT)
    assert caps.light_share(0.01) == Capped(0.01)
    assert caps.light_share(0.02) == Capped(0.01, Cap.LIGHT_UNCALIBRATED)
    assert caps.light_lux(NAN) == caps.light_share(NAN) == Capped(0.0, Cap.NOT_A_NUMBER)
    assert caps.light_fade_s(2.0) == Capped(2.0)
    assert caps.light_fade_s(30.0) == Capped(30.0)
    assert caps.light_fade_s(1.999) == Capped(2.0, Cap.LIGHT_FADE)
    assert caps.light_fade_s(NAN) == Capped(2.0, Cap.LIGHT_FADE)


@given(st.floats(), st.sampled_from(CueKind), st.none() | st.floats())
def test_no_number_whatever_gets_past_a_cap(
    asked: float, kind: CueKind, room_l90: float | None
) -> None:
    assert 0.0 <= caps.duration_s(kind, asked).value <= LONGEST[kind]
    assert caps.level_dba(asked, room_l90).value <= 45.0
    assert 0.0 <= caps.light_lux(asked).value <= 5.0
    assert 0.0 <= caps.light_share(asked).value <= 0.01
    assert caps.light_fade_s(asked).value >= 2.0
