"""Suspected waking: signs that a cue woke the sleeper, as far as sensors can tell.

Source: safety.md 13; every figure there is a proposal of the design. Signs count within 60 s of a
cue's start, [start, start + 60); what cannot be told does not count as a sign.
The same signs *during* a cue end it (`Actuator.fade_out`); at moments without a cue they measure
the false-alarm rate, with `since_cue_s` taken from that moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

WATCH_S: Final = 60.0
BASELINE_S: Final = 60.0
"""Heart rate before a cue is the mean of this long before its start."""
AWAKE_LABELS_S: Final = 10.0
HEART_RATE_RISE_BPM: Final = 8.0
MOVEMENT_G: Final = 0.1
"""Assumed: turning over moves a headband by several tenths of g, breath and pulse by hundredths."""


class Sign(StrEnum):
    """The signs, in the order in which they are always listed."""

    AWAKE_LABELS = "awake_labels"
    MOVEMENT = "movement"
    HEART_RATE = "heart_rate"
    CONTACT_LOST = "contact_lost"
    TOUCH = "touch"


@dataclass(frozen=True, slots=True)
class WakeSigns:
    """What was seen since a cue started; None where no sensor tells.

    since_cue_s: time since the cue's start. awake_s: seconds of AWAKE labels in it.
    movement_g: largest movement in it. heart_rate_bpm: highest in it; heart_rate_before_bpm:
    mean of the minute before the cue. touched: button or page.
    """

    since_cue_s: float
    awake_s: float = 0.0
    movement_g: float | None = None
    heart_rate_bpm: float | None = None
    heart_rate_before_bpm: float | None = None
    contact_lost: bool = False
    touched: bool = False


def suspected(signs: WakeSigns) -> tuple[Sign, ...]:
    """The signs that speak for a waking; any one makes it suspected, none: ()."""
    if signs.since_cue_s < 0.0 or signs.since_cue_s >= WATCH_S:
        return ()
    seen = {
        Sign.AWAKE_LABELS: signs.awake_s >= AWAKE_LABELS_S,
        Sign.MOVEMENT: signs.movement_g is not None and signs.movement_g > MOVEMENT_G,
        Sign.HEART_RATE: _rose(signs.heart_rate_bpm, signs.heart_rate_before_bpm),
        Sign.CONTACT_LOST: signs.contact_lost,
        Sign.TOUCH: signs.touched,
    }
    return tuple(sign for sign, is_seen in seen.items() if is_seen)


def _rose(now_bpm: float | None, before_bpm: float | None) -> bool:
    if now_bpm is None or before_bpm is None:
        return False
    return now_bpm - before_bpm > HEART_RATE_RISE_BPM
