"""One agent on one night: the tasks of the seed, device against truth, dropout, endings, leaks."""

import json
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.fixed_timer import FixedTimer
from agents.rem_rule import RemRule
from agents.types import PlaySound, Stop, Whisper
from agents.wait import WaitAgent
from agents.wire import observation_to_json, session_to_json
from bedside.plan import Ending
from bedside.safety.gate import Mode
from bedside.themes import bundled_theme
from devices.types import Contact, Sample, Stream, StreamInfo, Volume
from replay.setting import Setting
from replay.summary import summarise
from replay.wake_rule import WakeTable
from tests.replay.nights import (
    ALWAYS,
    LOUD,
    SOFT,
    Lived,
    Scripted,
    cue_at,
    lived,
    night,
    setting,
    waking_setting,
)

BOTH = pytest.mark.parametrize("mode", list(Mode))


def roll(letters: str, first_epoch: int, seed: int, stream: str, step: int) -> float:
    """By the formula of `replay-environment.md`, from the letters of the hidden stages."""
    night_key = f"{sha256(letters.encode()).hexdigest()[:16]}:{first_epoch}"
    message = f"paprika-roll/1\0{night_key}\0{seed}\0{stream}\0{step}"
    return (int.from_bytes(sha256(message.encode()).digest()[:8], "big") >> 11) / 2**53


# --- the agents of the seed


def test_the_fixed_timer_cues_at_minutes_5_10_15_and_20_of_a_task() -> None:
    letters = "W" * 10 + "LR" * 60
    for first_epoch in (0, 23):
        done = lived(night(letters), FixedTimer(), setting(0.0, first_epoch=first_epoch, steps=40))
        assert list(done.deliveries()) == [9, 19, 29, 39]
        assert [found["t"] for found in done.deliveries().values()] == [300.0, 600.0, 900.0, 1200.0]
        assert (done.attempt.ending, len(done.steps)) == ("step_limit", 40)


def test_the_rem_rule_cues_after_three_minutes_and_then_every_two() -> None:
    done = lived(night("L" * 5 + "R" * 20 + "D" * 5), RemRule(), setting(0.0))
    # REM has lasted 3 min when its sixth epoch, step 10, has closed; then every fourth.
    assert list(done.deliveries()) == [10, 14, 18, 22]


# --- what the sleeper truly does, and what is shown


def test_where_experts_and_device_disagree_the_truth_wakes_and_the_device_is_seen() -> None:
    known = night("LLRRRR", truth="LLDDDD")
    agent = cue_at(3, action=LOUD)
    done = lived(known, agent, setting(1.0))
    assert agent.seen[3].stage == "rem"
    assert done.deliveries()[3]["shown"] == "rem"
    (rolled,) = done.rolls()
    assert (rolled["stage"], rolled["chance"]) == ("deep", 0.20)
    assert rolled["value"] == roll("LLDDDD", 0, 1, "wake", 3)
    summary = summarise(done.trace, done.hidden, known.shown)
    assert summary.cues_by_stage["rem"] == 1
    assert (summary.cues[0].shown, summary.cues[0].true) == ("rem", "deep")


def test_an_expert_s_gap_is_filled_with_the_expert_s_last_stage() -> None:
    done = lived(night("LLRRRR", truth="LD???R"), cue_at(3))
    assert [(line["stage"], line["imputed"]) for line in done.rolls()] == [("deep", True)]


def test_a_truth_shorter_than_the_recording_ends_in_a_gap() -> None:
    done = lived(night("LLRRRR", truth="LD"), cue_at(5))
    assert [(line["stage"], line["imputed"]) for line in done.rolls()] == [("deep", True)]


@BOTH
def test_in_a_gap_of_the_recording_the_cue_has_no_reading_and_the_last_stage_counts(
    mode: Mode,
) -> None:
    done = lived(night("RR??RR"), cue_at(3), setting(1.0, mode=mode))
    delivery = done.deliveries()[3]
    assert (delivery["rules"], delivery["shown"]) == (["cue_without_reading"], None)
    if mode is Mode.OBSERVE:
        assert [(line["stage"], line["imputed"]) for line in done.rolls()] == [("rem", True)]
    else:
        assert "cue_without_reading" in delivery["refused_by"]
        assert done.rolls() == []


@pytest.mark.parametrize("interval_s", [0.5, 30.0])
def test_latency_across_a_boundary_meets_the_hidden_stage_after_it(interval_s: float) -> None:
    def rolled(latency_s: float) -> str:
        known = night("RRRRDD", interval_s=interval_s)
        (line,) = lived(known, cue_at(3, latency_s=latency_s)).rolls()
        stage: str = line["stage"]
        return stage

    assert rolled(0.0) == "rem"
    assert rolled(0.001) == "deep"


# --- dropout


@settings(max_examples=30)
@given(
    letters=st.text("WLDR?", min_size=1, max_size=40),
    seed=st.integers(0, 100),
    chance=st.sampled_from((0.02, 0.3, 0.9)),
)
def test_dropout_falls_by_the_roll_of_each_step_and_hides_the_stage_alone(
    letters: str, seed: int, chance: float
) -> None:
    done = lived(night(letters), WaitAgent(), setting(dropout=chance, seed=seed))
    dropped = {k for k in range(len(letters)) if roll(letters, 0, seed, "dropout", k) < chance}
    shown = "".join("?" if k in dropped else letter for k, letter in enumerate(letters))
    assert done.shown == shown
    events = [line["step"] for line in done.hidden if line.get("event") == "dropout"]
    assert events == sorted(dropped)
    assert done.hidden[-2]["letters"] == letters
    assert done.hidden[0]["dropout"] == chance


def test_a_dropped_step_still_sleeps_as_it_was_recorded() -> None:
    done = lived(night("LLLRRR"), cue_at(4), setting(dropout=1.0))
    assert done.deliveries()[4]["rules"] == ["cue_without_reading"]
    assert [(line["stage"], line["imputed"]) for line in done.rolls()] == [("rem", False)]


def test_dropout_is_indexed_by_step_also_when_a_waking_moved_the_recording() -> None:
    letters = "L" * 30
    still = lived(night(letters), WaitAgent(), setting(dropout=0.3))
    woken = lived(night(letters), cue_at(2), waking_setting(dropout=0.3))
    events = [
        [line["step"] for line in done.hidden if line.get("event") == "dropout"]
        for done in (still, woken)
    ]
    assert events[1][: len(events[0])] == events[0]


# --- endings


@pytest.mark.parametrize(
    ("script", "given_", "ending", "steps"),
    [
        ({}, {}, Ending.NIGHT_END, 14),
        ({4: Stop("enough")}, {}, Ending.NIGHT_END, 14),
        ({4: Stop("enough")}, {"ends_at_stop": True}, Ending.AGENT_STOP, 5),
        ({}, {"stable_deep": 3}, Ending.STABLE_DEEP, 9),
        ({}, {"stable_deep": 10}, Ending.NIGHT_END, 14),
        ({}, {"steps": 5}, Ending.STEP_LIMIT, 5),
        ({}, {"steps": 14}, Ending.STEP_LIMIT, 14),
        ({}, {"steps": 40}, Ending.RECORDING_EXHAUSTED, 14),
        ({}, {"steps": 40, "first_epoch": 10}, Ending.RECORDING_EXHAUSTED, 4),
        ({}, {"first_epoch": 10}, Ending.NIGHT_END, 4),
    ],
)
def test_an_attempt_ends_for_one_reason(
    script: dict[int, Any], given_: dict[str, Any], ending: Ending, steps: int
) -> None:
    done = lived(night("LLLLLLDDDDRRRR"), Scripted(script), setting(0.0, **given_))
    assert (done.attempt.ending, done.trace[-1]["ending"]) == (ending, ending)
    assert len(done.steps) == steps


@pytest.mark.parametrize("ending", list(Ending))
def test_what_cuts_a_session_short_is_a_truncation(ending: Ending) -> None:
    terminated = {"night_end", "agent_stop", "stable_deep"}
    assert ending.is_truncation is (ending.value not in terminated)


def test_the_agent_s_stop_is_a_latch_unless_it_ends_the_attempt() -> None:
    done = lived(night("R" * 8), Scripted({2: Stop("enough"), 5: SOFT}), setting(0.0))
    assert done.deliveries()[5]["rules"] == ["cue_after_stop"]


def test_progress_is_told_after_each_step() -> None:
    told: list[tuple[int, int]] = []
    lived(night("LLLL"), WaitAgent(), progress=lambda done, of, what: told.append((done, of)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


# --- a replay with the wait agent gives the recording back


def compared(done: Lived, known: Any) -> tuple[int, int, int]:
    summary = summarise(done.trace, done.hidden, known.shown)
    excluded = sum(len(one.steps) for one in summary.excluded)
    assert summary.compared + excluded == summary.epochs
    return summary.compared, excluded, summary.mismatched


@settings(max_examples=60)
@given(
    letters=st.text("WLDR?12", min_size=1, max_size=60),
    interval_s=st.sampled_from((1.5, 3.0, 30.0)),
    first_epoch=st.integers(0, 59),
    confidence=st.sampled_from((None, 0.7)),
)
def test_waiting_gives_any_recording_back(
    letters: str, interval_s: float, first_epoch: int, confidence: float | None
) -> None:
    known = night(letters, interval_s=interval_s, confidence=confidence)
    first_epoch %= len(letters)
    done = lived(known, WaitAgent(), setting(first_epoch=first_epoch))
    seen, excluded, mismatched = compared(done, known)
    assert mismatched == 0
    assert seen + excluded == len(letters) - first_epoch
    if confidence is None:
        assert excluded == letters[first_epoch:].count("?")
        assert done.shown == letters[first_epoch:].replace("1", "L").replace("2", "L")


@given(st.lists(st.tuples(st.integers(0, 59), st.sampled_from((True, False, None))), max_size=12))
def test_waiting_gives_a_recording_with_contact_back(
    touches: list[tuple[int, bool | None]],
) -> None:
    extra = [Sample(Stream.CONTACT, 10.0 * k + 1.0, Contact(on), "band") for k, on in touches]
    known = night(
        "LLRRDDWWLLRRDDWWLLLL", extra=extra, streams=(StreamInfo(Stream.CONTACT, None, "band"),)
    )
    seen, excluded, mismatched = compared(lived(known, WaitAgent()), known)
    assert (mismatched, seen + excluded) == (0, 20)


@settings(max_examples=30)
@given(
    letters=st.text("WLDR?", min_size=1, max_size=40),
    steps=st.sets(st.integers(0, 60)),
    dropout=st.sampled_from((0.0, 0.2)),
)
def test_cues_wakings_and_dropout_leave_the_rest_of_the_recording_as_it_was(
    letters: str, steps: set[int], dropout: float
) -> None:
    known = night(letters)
    done = lived(known, cue_at(*steps), waking_setting(dropout=dropout))
    seen, excluded, mismatched = compared(done, known)
    assert (mismatched, seen + excluded) == (0, len(letters))
    assert len(done.steps) - len(letters) in {
        4 * len(done.attempt.wakings),
        4 * (len(done.attempt.wakings) - 1),  # the last cue woke at the night's very end
    }


# --- the same bytes


SCRIPT = {
    2: (2.4, SOFT),
    4: PlaySound(Volume.HIGH),
    7: Whisper("a dark wolf howls"),
    9: ValueError("no idea"),
    11: (35.0, SOFT),
    14: Stop("enough"),
    15: SOFT,
}


@pytest.mark.parametrize("speed", [None, 40_000.0, 5_000.0])
def test_the_same_attempt_has_the_same_bytes_at_any_speed(speed: float | None) -> None:
    def once(speed: float | None) -> tuple[bytes, bytes]:
        known = night("LLLLRRRRRRDDDDWWRRRR", interval_s=0.5)
        done = lived(known, Scripted(SCRIPT), setting(4.0, dropout=0.1), speed=speed)
        return done.trace_bytes, done.hidden_bytes

    assert once(speed) == once(None)


def test_another_seed_is_another_night_of_dice() -> None:
    def values(seed: int) -> list[float]:
        done = lived(night("R" * 20), cue_at(3, 6, 9), setting(0.0, seed=seed))
        return [line["value"] for line in done.rolls()]

    assert len({*values(1), *values(2)}) == 6


def test_a_task_has_dice_of_its_own_by_where_it_starts() -> None:
    letters = "L" * 20
    for first_epoch in (0, 3):
        done = lived(night(letters), cue_at(2), setting(0.0, first_epoch=first_epoch, seed=8))
        assert [line["value"] for line in done.rolls()] == [
            roll(letters, first_epoch, 8, "wake", 2)
        ]


def test_names_themes_and_the_hour_move_no_roll() -> None:
    def rolled(theme: str, **given_: Any) -> list[Any]:
        known = night("L" * 6 + "R" * 14, **given_)
        done = lived(known, cue_at(3, 8, 13), setting(4.0, theme=theme))
        return [(line["step"], line["value"], line["woken"]) for line in done.rolls()]

    plain = rolled("cat")
    assert rolled("sea") == plain
    assert rolled("cat", night_id="another") == plain
    assert rolled("cat", start_wall_ns=None) == plain


# --- nothing hidden is seen

ODD_SEED = 918_273_645
ODD_SCALE = 3.1415926
TRUTH = "DWRDWRDWRDWRDWRDWRDWRDWRDWRDWRDWRDWR"
SHOWN = "LLLLLLRRRRRRLLLLLLRRRRRRLLLLLLRRRRRR"


def hidden_words(done: Lived) -> set[str]:
    """What may stand in the hidden trace alone."""
    rolls = [line for line in done.hidden if line.get("event") == "roll"]
    dark = {str(ODD_SEED), str(ODD_SCALE), TRUTH, done.hidden[0]["roll_night"]}
    dark |= {sha256(TRUTH.encode()).hexdigest()[:16]}
    dark |= {json.dumps(line["value"]) for line in rolls if line["value"] is not None}
    dark |= {json.dumps(line["chance"]) for line in rolls if line["chance"] not in (None, 1.0)}
    return dark


def test_nothing_hidden_stands_in_the_open_trace_or_reaches_the_agent() -> None:
    agent = cue_at(4, 9, 15, 21, 27, action=PlaySound(Volume.MEDIUM))
    chances = {stage: {**row, "medium": 0.123456789} for stage, row in ALWAYS.items()}
    made = Setting(bundled_theme("cat"), WakeTable(chances, 4, ODD_SCALE), seed=ODD_SEED)
    done = lived(night(SHOWN, truth=TRUTH, interval_s=1.0), agent, made)
    assert done.rolls()
    told = [repr(asdict(seen)) + json.dumps(observation_to_json(seen)) for seen in agent.seen]
    told += [repr(agent.sessions) + json.dumps(session_to_json(agent.sessions[0]))]
    told += [done.trace_bytes.decode()]
    for word in hidden_words(done):
        assert word in done.hidden_bytes.decode() or word == sha256(TRUTH.encode()).hexdigest()[:16]
        assert all(word not in text for text in told), word


@given(truth=st.text("WLDR?12", min_size=12, max_size=12))
@settings(max_examples=25)
def test_whatever_the_experts_say_an_agent_that_wakes_nobody_sees_the_same(truth: str) -> None:
    def once(**given_: Any) -> tuple[bytes, list[Any]]:
        agent = cue_at(2, 5, 8)
        done = lived(night("LLRRRRLLDDRR", **given_), agent, setting(0.0))
        return done.trace_bytes, agent.seen

    assert once(truth=truth) == once()


def test_the_open_trace_has_no_live_key_and_no_host_facts() -> None:
    done = lived(night("LLRRRR"), cue_at(3))
    assert all("live" not in line for line in done.trace + done.hidden)
    assert b"/tmp" not in done.trace_bytes + done.hidden_bytes
