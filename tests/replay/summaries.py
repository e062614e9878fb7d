"""Summaries made by hand: what a person would see of nights that are easy to count."""

from __future__ import annotations

from dataclasses import replace

from replay.summary import CueDone, Excluded, Summary

NAMES = {"W": "awake", "L": "light", "D": "deep", "R": "rem", "?": "none"}

LETTERS = "W" * 20 + "?" + "L" * 40 + "D" * 30 + "R" * 20 + "WWWW" + "R" * 10 + "L" * 5
"""130 epochs: 24 awake of which 4 inserted (steps 111-114), 45 light, 30 deep, 30 REM, 1 gap."""


def cue(number: int, step: int, **changes: object) -> CueDone:
    """A soft sound in REM right after `step` has closed; nobody woke."""
    usual = CueDone(
        number=number,
        step=step,
        t=30.0 * (step + 1),
        kind="sound",
        volume="low",
        shown="rem",
        true="rem",
        woke=False,
        rules=(),
        reason="REM for 3.0 min",
    )
    return replace(usual, **changes)


def summary(letters: str = LETTERS, **changes: object) -> Summary:
    """A night from 23:30 on without cues; `changes` replace its fields."""
    gaps = tuple(step for step, letter in enumerate(letters) if letter == "?")
    usual = Summary(
        session="0123456789abcdef",
        night={
            "id": "night-7",
            "kind": "headband_4stage",
            "origin": "night-7.csv",
            "synthetic": False,
            "first_epoch": 0,
        },
        agent="rem_rule",
        mode="observe",
        seed=3,
        wake_scale=1.0,
        start_clock_s=41_400.0,
        start_assumed=False,
        theme="forest",
        ending="night_end",
        stages=tuple(NAMES[letter] for letter in letters),
        inserted=(),
        compared=len(letters) - len(gaps),
        mismatched=0,
        excluded=(Excluded("no reading in the recording", gaps),) if gaps else (),
        cues=(),
        wakings=(),
        asked=0,
        refused=0,
        rewritten=0,
        violations={},
        violations_delivered={},
        limit_hits={},
        suspected_wakings=0,
        decisions={"ok": len(letters)},
    )
    return replace(usual, **changes)


def cued_night() -> Summary:
    """`LETTERS` with three cues: one soft in REM, one that woke (step 110), one in deep sleep."""
    cues = (
        cue(1, 70, shown="deep", true="deep", rules=("cue_in_deep",), reason="testing deep"),
        cue(2, 98),
        cue(3, 110, kind="whisper", volume="medium", woke=True, reason="REM for 9.0 min"),
    )
    return summary(
        night={**summary().night, "synthetic": True},
        cues=cues,
        inserted=(111, 112, 113, 114),
        compared=125,
        wakings=(3330.0,),
        asked=5,
        refused=2,
        rewritten=1,
        violations={"cue_in_deep": 2, "words_not_said": 1},
        violations_delivered={"cue_in_deep": 1},
        limit_hits={"gap": 17},
        suspected_wakings=6,
        decisions={"ok": 128, "late": 2},
    )
