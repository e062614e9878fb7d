"""Signs of a waking: each at its threshold, just past it, and outside the minute after a cue."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bedside.safety import waking
from bedside.safety.waking import Sign, WakeSigns, suspected

QUIET = WakeSigns(30.0)


def test_the_figures_are_those_of_the_safety_document() -> None:
    assert (waking.WATCH_S, waking.AWAKE_LABELS_S, waking.HEART_RATE_RISE_BPM) == (60.0, 10.0, 8.0)
    assert waking.BASELINE_S == 60.0
    assert waking.MOVEMENT_G == 0.1
    assert " ".join(Sign) == "awake_labels movement heart_rate contact_lost touch"


def test_nothing_seen_is_no_sign() -> None:
    assert WakeSigns(30.0, 0.0, None, None, None, False, False) == QUIET
    assert suspected(QUIET) == ()
    assert suspected(WakeSigns(0.0, 9.999, 0.1, 68.0, 60.0)) == ()


@pytest.mark.parametrize(
    ("seen", "sign"),
    [
        ({"awake_s": 10.0}, Sign.AWAKE_LABELS),
        ({"movement_g": 0.101}, Sign.MOVEMENT),
        ({"heart_rate_bpm": 68.001, "heart_rate_before_bpm": 60.0}, Sign.HEART_RATE),
        ({"contact_lost": True}, Sign.CONTACT_LOST),
        ({"touched": True}, Sign.TOUCH),
    ],
)
def test_any_one_sign_in_the_minute_after_a_cue_is_enough(
    seen: dict[str, float], sign: Sign
) -> None:
    signs = replace(QUIET, **seen)  # type: ignore[arg-type]
    assert suspected(signs) == (sign,)
    for since, counts in ((0.0, True), (59.999, True), (60.0, False), (-0.001, False)):
        assert bool(suspected(replace(signs, since_cue_s=since))) is counts
    assert suspected(replace(signs, since_cue_s=float("nan"))) == (sign,)


@pytest.mark.parametrize("missing", ["heart_rate_bpm", "heart_rate_before_bpm"])
def test_a_heart_rate_without_its_comparison_is_no_sign(missing: str) -> None:
    both = replace(QUIET, heart_rate_bpm=90.0, heart_rate_before_bpm=60.0)
    assert suspected(replace(both, **{missing: None})) == ()  # type: ignore[arg-type]


def test_a_falling_heart_rate_is_no_sign() -> None:
    assert suspected(replace(QUIET, heart_rate_bpm=50.0, heart_rate_before_bpm=60.0)) == ()


def test_signs_are_listed_in_declared_order() -> None:
    assert suspected(WakeSigns(5.0, 12.0, 0.5, 80.0, 60.0, True, True)) == tuple(Sign)
