"""What is seen of a night, what a memory makes of it, and the agent that uses it."""

import json
from dataclasses import fields

import pytest

from agents.types import BedsideObject, PlaySound, Session, SessionKind, UseObject
from devices.types import Volume
from replay.episodes import (
    DigestRule,
    MorningReport,
    ScriptedMorning,
    SeenCue,
    SeenNight,
    WakingMemory,
)
from replay.episodes.seen import seen_night
from replay.rolls import Dice
from tests.replay.nights import Scripted, cue_at, lived, night, setting, waking_setting

NOTHING = MorningReport(None)


def session(*digest: str, cap: Volume = Volume.MEDIUM) -> Session:
    return Session(SessionKind.NIGHT, 0.0, "cat", None, (), cap, digest=digest)


def night_of(cues: int, awake: int, volume: str = "medium") -> SeenNight:
    made = (SeenCue(k, "sound", volume, True, k < awake) for k in range(cues))
    return SeenNight(1, 900, 200, tuple(made))


# --- seen


def test_what_is_seen_comes_from_the_decision_trace() -> None:
    script = {
        1: PlaySound(),
        3: PlaySound(Volume.HIGH),
        4: UseObject(BedsideObject.LIGHT),
        6: PlaySound(),
    }
    done = lived(night("LLRRRWRW"), Scripted(script), setting(0.0))
    seen = seen_night(3, done.trace)
    assert (seen.session, seen.steps, seen.rem_epochs) == (3, 8, 4)
    assert seen.cues == (
        SeenCue(1, "sound", "low", False, False),
        SeenCue(3, "sound", "high", True, True),  # wake two epochs later
        SeenCue(4, "light", None, False, True),
        SeenCue(6, "sound", "low", True, True),
    )


def test_a_waking_is_seen_because_the_device_shows_it() -> None:
    done = lived(night("RRRRRRRR"), cue_at(2), waking_setting())
    assert [cue.awake_after for cue in seen_night(1, done.trace).cues] == [True]


def test_a_cue_given_awake_is_no_sign() -> None:
    done = lived(night("LWWWW"), cue_at(2), setting(0.0))
    assert [cue.awake_after for cue in seen_night(1, done.trace).cues] == [False]


def test_the_truth_changes_nothing_of_what_is_seen() -> None:
    one, two = (
        lived(night("LLRRRR", truth=truth), cue_at(3), setting(0.0))
        for truth in ("LLRRRR", "WWDDDD")
    )
    assert seen_night(1, one.trace) == seen_night(1, two.trace)


def test_nothing_hidden_has_a_place_in_what_is_seen() -> None:
    names = {field.name for kind in (SeenNight, SeenCue) for field in fields(kind)}
    assert names == {"session", "steps", "rem_epochs", "cues"} | {
        "step",
        "kind",
        "volume",
        "in_rem",
        "awake_after",
    }


# --- memory


def test_memory_asks_for_low_volume_where_medium_woke_often() -> None:
    memory = WakingMemory()
    before = memory.before(1)
    assert before.lines == (
        "Play at medium volume.",
        "Play first after 3 min of REM.",
        "Then play every 2 min.",
    )
    memory.after(night_of(20, 3), NOTHING)
    assert memory.before(2).lines == (
        "After 3 of 20 cues at medium volume wake was shown.",
        "Play at low volume.",
        "Play first after 3 min of REM.",
        "Then play every 2 min.",
    )
    assert memory.before(2).sha256 != before.sha256


def test_memory_waits_for_enough_cues_and_allows_a_tenth() -> None:
    memory = WakingMemory()
    memory.after(night_of(9, 9), NOTHING)
    assert "Play at medium volume." in memory.before(2).lines
    memory = WakingMemory()
    memory.after(night_of(20, 2), NOTHING)
    assert "Play at medium volume." in memory.before(2).lines


def test_memory_sets_cues_apart_where_low_ones_woke_too() -> None:
    memory = WakingMemory(Volume.LOW)
    memory.after(night_of(10, 5, "low"), NOTHING)
    assert memory.before(2).lines[-2:] == (
        "Play first after 5 min of REM.",
        "Then play every 4 min.",
    )
    for _ in range(9):
        memory.after(night_of(10, 10, "low"), NOTHING)
    assert memory.before(11).lines[-1] == "Then play every 10 min."


def test_what_is_remembered_and_not_told_is_in_the_hash_too() -> None:
    silent, told = WakingMemory(), WakingMemory()
    silent.after(night_of(0, 0), MorningReport(None))
    told.after(night_of(0, 0), MorningReport(0.5))
    assert silent.before(2).lines == told.before(2).lines
    assert silent.before(2).sha256 != told.before(2).sha256


# --- the morning


def test_a_morning_is_rolled_and_labelled_synthetic() -> None:
    seen = night_of(5, 0)
    reports = [ScriptedMorning().report(seen, Dice(f"night-{k}:0", 1)) for k in range(400)]
    told = [report.theme for report in reports if report.theme is not None]
    assert 200 < len(told) < 280  # 240 of 400 expected, standard deviation 10
    assert all(0.0 <= theme <= 1.0 for theme in told)
    assert all(report.synthetic for report in reports)
    assert ScriptedMorning(recall=0.0).report(seen, Dice("n:0", 1)) == NOTHING


def test_without_an_assumed_effect_cues_do_not_move_the_report() -> None:
    dice = Dice("night-a:0", 1)
    always = ScriptedMorning(recall=1.0)
    assert always.report(night_of(40, 0), dice) == always.report(night_of(0, 0), dice)
    effect = ScriptedMorning(recall=1.0, per_cue=0.01)
    more, none = (effect.report(night_of(cues, 0), dice).theme for cues in (10, 0))
    assert more is not None
    assert none is not None
    assert more == pytest.approx(min(1.0, none + 0.1))


# --- the agent


@pytest.mark.parametrize(
    ("digest", "steps", "volume"),
    [
        ((), [7, 11, 15, 19], "medium"),
        (("Play at low volume.",), [7, 11, 15, 19], "low"),
        (("Play first after 5 min of REM.", "Then play every 4 min."), [11, 19], "medium"),
        (("Play at high volume.",), [7, 11, 15, 19], "medium"),  # the cap
        (("Play at low volume.", "Play at medium volume."), [7, 11, 15, 19], "medium"),
        (("Play at deafening volume.", "Then play every 1e9 min."), [7, 11, 15, 19], "medium"),
        (("After 3 of 20 cues at low volume wake was shown.",), [7, 11, 15, 19], "medium"),
    ],
)
def test_the_rule_plays_as_the_digest_says(
    digest: tuple[str, ...], steps: list[int], volume: str
) -> None:
    # REM from step 2 on has lasted 3 min when step 7 has closed, 5 min at step 11.
    done = lived(night("LL" + "R" * 20), DigestRule(), setting(0.0, digest=digest))
    assert list(done.deliveries()) == steps
    given = {line["delivered"]["volume"] for line in done.deliveries().values()}
    assert given == {volume}


def test_nothing_of_one_session_is_left_in_the_next() -> None:
    agent = DigestRule()
    agent.reset(session("Play at low volume."))
    done = lived(night("LL" + "R" * 20), agent, setting(0.0))
    assert done.deliveries()[7]["delivered"]["volume"] == "medium"


def test_the_digest_stands_in_the_header() -> None:
    done = lived(night("LLRR"), DigestRule(), setting(0.0, digest=("Play at low volume.",)))
    assert json.loads(done.trace_bytes.splitlines()[0])["digest"] == ["Play at low volume."]
