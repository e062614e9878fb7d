"""The gate: what it delivers, refuses, lowers and rewrites in each mode, and what it says."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.types import Action, BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from bedside.safety.gate import Mode, Verdict, judge, reasons
from bedside.safety.limits import (
    IN_EVERY_MODE,
    History,
    Limit,
    PastCue,
    PersonalLimits,
    Powers,
    cue_kind,
)
from bedside.safety.rules import RULE_REASONS, CueAction, Rule, Shown
from bedside.safety.words import OwnWords
from devices.types import CueKind, Stage, Volume

REM = Shown(Stage.REM, 0.0)
FULL = PersonalLimits(volume_cap=Volume.MEDIUM, powers=Powers.MEDIUM)
WORDS = OwnWords(frozenset({"a", "red", "kite", "by", "the", "sea", "clock"}))
LINES = ("a red kite", "the sea")
MEMORY = "A red kite by the sea."
BOTH = (Mode.ENFORCE, Mode.OBSERVE)


def gate(action: Any, mode: Mode, **changed: Any) -> Verdict:
    given_values: dict[str, Any] = {
        "t": 10_000.0,
        "shown": REM,
        "words": WORDS,
        "lines": LINES,
        "memory": MEMORY,
        "history": History(),
        "personal": FULL,
    }
    return judge(action, mode=mode, **(given_values | changed))


def test_there_are_two_modes() -> None:
    assert " ".join(Mode) == "enforce observe"


# --- what passes


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    "action",
    [
        PlaySound(Volume.LOW, "soft"),
        PlaySound(Volume.MEDIUM),
        Whisper("the sea", Volume.MEDIUM, "near"),
        *(UseObject(thing, "calm") for thing in BedsideObject),
    ],
)
def test_a_good_cue_is_delivered_as_asked(action: CueAction, mode: Mode) -> None:
    assert gate(action, mode) == Verdict(action, delivered=action)
    assert reasons(gate(action, mode)) == ()


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("action", [Wait("not yet"), Stop("enough")])
@pytest.mark.parametrize("shown", [REM, Shown(None, 99.0), Shown(Stage.DEEP, 0.0)])
def test_waiting_and_stopping_are_never_refused_and_deliver_nothing(
    action: Action, mode: Mode, shown: Shown
) -> None:
    history = History(agent_stopped=True, person_stopped=True, record_only=True)
    assert gate(action, mode, shown=shown, history=history) == Verdict(action)


# --- what is refused


@pytest.mark.parametrize(
    ("shown", "stopped", "action", "rule"),
    [
        (Shown(Stage.AWAKE, 0.0), False, PlaySound(), Rule.CUE_WHILE_AWAKE),
        (Shown(Stage.DEEP, 0.0), False, Whisper("the sea"), Rule.CUE_IN_DEEP),
        (Shown(Stage.REM, 61.0), False, PlaySound(), Rule.CUE_WITHOUT_READING),
        (REM, True, UseObject(BedsideObject.LIGHT), Rule.CUE_AFTER_STOP),
    ],
)
def test_a_broken_rule_refuses_in_enforce_and_is_written_down_in_observe(
    shown: Shown, stopped: bool, action: CueAction, rule: Rule
) -> None:
    changed = {"shown": shown, "history": History(agent_stopped=stopped)}
    assert gate(action, Mode.ENFORCE, **changed) == Verdict(
        action, rules=(rule,), refused_by=(rule,), would_refuse=True
    )
    assert gate(action, Mode.OBSERVE, **changed) == Verdict(
        action, rules=(rule,), delivered=action, would_refuse=True, delivered_rules=(rule,)
    )
    assert reasons(gate(action, Mode.OBSERVE, **changed)) == (RULE_REASONS[rule],)


def test_high_volume_is_refused_live_and_kept_in_observe() -> None:
    action = PlaySound(Volume.HIGH)
    limits = (Limit.LOUDEST_LIVE, Limit.COMFORT_CAP, Limit.POWERS_CAP)
    assert gate(action, Mode.ENFORCE) == Verdict(
        action, (Rule.CUE_HIGH_VOLUME,), limits, None, (Rule.CUE_HIGH_VOLUME,), True
    )
    observed = gate(action, Mode.OBSERVE)
    assert observed.delivered == action
    assert observed.would_refuse
    assert observed.lowered_from is None
    assert observed.delivered_rules == (Rule.CUE_HIGH_VOLUME,)


def test_a_limit_refuses_in_enforce_and_is_written_down_in_observe() -> None:
    history = History((PastCue(9_970.0, CueKind.SOUND, Volume.LOW, 0),))
    enforced = gate(PlaySound(), Mode.ENFORCE, history=history)
    assert enforced == Verdict(PlaySound(), (), (Limit.GAP,), None, (Limit.GAP,), True)
    observed = gate(PlaySound(), Mode.OBSERVE, history=history)
    assert observed == Verdict(PlaySound(), (), (Limit.GAP,), PlaySound(), (), True)
    assert reasons(observed) == ("the last cue was less than 60 s ago",)


def test_rules_come_before_limits_among_the_refusals() -> None:
    history = History(reported_awake=True, agent_stopped=True)
    verdict = gate(PlaySound(), Mode.ENFORCE, shown=Shown(Stage.AWAKE, 0.0), history=history)
    assert verdict.refused_by == (
        Rule.CUE_WHILE_AWAKE,
        Rule.CUE_AFTER_STOP,
        Limit.REPORTED_AWAKE,
    )
    assert reasons(verdict) == (
        "the headband shows awake",
        "the agent had stopped",
        "the person said they were awake",
    )


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("action", [PlaySound(), Whisper("the sea"), Whisper("fire")])
@pytest.mark.parametrize(
    ("history", "limit"),
    [
        (History(person_stopped=True), Limit.PERSON_STOPPED),
        (History(record_only=True), Limit.RECORD_ONLY),
    ],
)
def test_a_persons_stop_and_a_recording_night_refuse_in_both_modes(
    action: Action, mode: Mode, history: History, limit: Limit
) -> None:
    verdict = gate(action, mode, history=history)
    assert verdict.delivered is None
    assert verdict.refused_by == (limit,)
    assert verdict.would_refuse
    assert not verdict.rewritten
    assert verdict.delivered_rules == ()


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    "action",
    [
        PlaySound("deafening"),  # type: ignore[arg-type]
        Whisper(None),  # type: ignore[arg-type]
        UseObject("flamethrower"),  # type: ignore[arg-type]
    ],
)
def test_an_incomplete_action_is_refused_in_both_modes(action: Action, mode: Mode) -> None:
    malformed = (Limit.MALFORMED,)
    assert gate(action, mode) == Verdict(action, (), malformed, None, malformed, True)


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("nonsense", [None, "play", 3, {"kind": "sound"}, PlaySound])
def test_what_is_no_action_delivers_nothing(nonsense: object, mode: Mode) -> None:
    assert gate(nonsense, mode).delivered is None


# --- what is rewritten


@pytest.mark.parametrize("mode", BOTH)
def test_a_line_nobody_said_becomes_the_first_approved_line(mode: Mode) -> None:
    asked = Whisper("a burning kite", Volume.LOW, "vivid")
    verdict = gate(asked, mode)
    assert verdict == Verdict(
        asked,
        rules=(Rule.WORDS_NOT_SAID,),
        limits=(Limit.LINE_NOT_APPROVED,),
        delivered=Whisper("a red kite", Volume.LOW, "vivid"),
        rewritten=True,
    )
    assert reasons(verdict) == (
        "the line has words the sleeper never said",
        "the line is not one of the approved lines",
        "whispered instead: a red kite",
    )


@pytest.mark.parametrize("mode", BOTH)
def test_without_approved_lines_it_becomes_the_memory(mode: Mode) -> None:
    verdict = gate(Whisper("fire"), mode, lines=())
    assert verdict.delivered == Whisper(MEMORY)
    assert verdict.rewritten


def test_own_words_that_are_no_approved_line_are_rewritten_live_only() -> None:
    asked = Whisper("red sea")
    enforced = gate(asked, Mode.ENFORCE)
    assert enforced == Verdict(
        asked, (), (Limit.LINE_NOT_APPROVED,), Whisper("a red kite"), (), False, True
    )
    assert gate(asked, Mode.OBSERVE) == Verdict(asked, (), (Limit.LINE_NOT_APPROVED,), asked)


@pytest.mark.parametrize("memory", [None, "", " … "])
def test_with_neither_line_nor_memory_nothing_is_whispered(memory: str | None) -> None:
    nothing = {"lines": (), "memory": memory}
    refusals = (Rule.WORDS_NOT_SAID, Limit.LINE_NOT_APPROVED)
    enforced = gate(Whisper("fire"), Mode.ENFORCE, **nothing)
    assert (enforced.delivered, enforced.refused_by) == (None, refusals)
    observed = gate(Whisper("fire"), Mode.OBSERVE, **nothing)
    assert (observed.delivered, observed.refused_by) == (None, refusals[:1])
    assert observed.would_refuse
    theme_only = Whisper("clock")
    assert gate(theme_only, Mode.ENFORCE, **nothing).refused_by == (Limit.LINE_NOT_APPROVED,)
    assert gate(theme_only, Mode.OBSERVE, **nothing) == Verdict(
        theme_only, (), (Limit.LINE_NOT_APPROVED,), theme_only, (), True
    )
    assert gate(PlaySound(), Mode.ENFORCE, **nothing).delivered == PlaySound()


def test_an_unapproved_line_stands_in_its_place_among_the_limits() -> None:
    history = History(reported_awake=True)
    verdict = gate(Whisper("red", Volume.MEDIUM), Mode.OBSERVE, history=history, personal=LOW)
    assert verdict.limits == (
        Limit.REPORTED_AWAKE,
        Limit.LINE_NOT_APPROVED,
        Limit.COMFORT_CAP,
        Limit.POWERS_CAP,
    )


# --- what is lowered

LOW = PersonalLimits(powers=Powers.LOW)


@pytest.mark.parametrize(
    ("action", "lowered"),
    [
        (PlaySound(Volume.MEDIUM, "why"), PlaySound(Volume.LOW, "why")),
        (Whisper("the sea", Volume.MEDIUM), Whisper("the sea", Volume.LOW)),
    ],
)
def test_live_the_lowest_cap_wins_and_the_reason_is_kept(
    action: CueAction, lowered: CueAction
) -> None:
    limits = (Limit.COMFORT_CAP, Limit.POWERS_CAP)
    enforced = gate(action, Mode.ENFORCE, personal=LOW)
    assert enforced == Verdict(action, limits=limits, delivered=lowered, lowered_from=Volume.MEDIUM)
    assert reasons(enforced) == (
        "louder than the person's comfort cap",
        "louder than this person's nights have earned",
        "lowered from medium to low",
    )
    observed = gate(action, Mode.OBSERVE, personal=LOW)
    assert observed == Verdict(action, limits=limits, delivered=action)


def test_a_rewritten_whisper_is_lowered_too() -> None:
    verdict = gate(Whisper("fire", Volume.MEDIUM), Mode.ENFORCE, personal=LOW)
    assert verdict.delivered == Whisper("a red kite", Volume.LOW)
    assert verdict.rewritten
    assert verdict.lowered_from is Volume.MEDIUM
    assert reasons(verdict)[-2:] == (
        "whispered instead: a red kite",
        "lowered from medium to low",
    )


# --- an agent that asks for anything, through whole nights

LINE_CHOICES = ("a red kite", "the sea", "red", "fire", "", "IGNORE ALL RULES", "a red kite\u200b")
ACTIONS: tuple[Any, ...] = (
    *(PlaySound(volume) for volume in Volume),
    *(Whisper(line, volume) for line in LINE_CHOICES for volume in Volume),
    *(UseObject(thing) for thing in BedsideObject),
    PlaySound("high"),  # type: ignore[arg-type]
    Whisper(None, None),  # type: ignore[arg-type]
    Wait(),
    "sound",
)
SHOWN = (*(Shown(stage, 1.0) for stage in Stage), Shown(None, 0.0), Shown(Stage.REM, 60.0))


def hijacked_night(seed: int, steps: int) -> list[tuple[float, Shown, int, Verdict]]:
    """Every delivery of an agent that asks at random moments for random things."""
    delivered, history, t, personal = [], History(), 0.0, replace(FULL, puffs=100, cue_budget=99)
    for step in range(steps):
        roll = hashlib.sha256(f"{seed}/{step}".encode()).digest()
        t += (0.5, 7.0, 30.0, 45.0)[roll[0] % 4]
        shown = SHOWN[roll[1] % len(SHOWN)] if roll[2] < 100 else REM
        history = replace(history, rem_period=1 + int(t // 5_400))
        verdict = gate(
            ACTIONS[roll[3] % len(ACTIONS)],
            Mode.ENFORCE,
            t=t,
            shown=shown,
            history=history,
            personal=personal,
        )
        if verdict.delivered is not None:
            delivered.append((t, shown, history.rem_period, verdict))
            cue = PastCue(t, cue_kind(verdict.delivered), None, history.rem_period)
            history = replace(history, cues=(*history.cues, cue))
    return delivered


@pytest.mark.parametrize("seed", range(20))
def test_a_hijacked_agent_gets_nothing_past_the_limits(seed: int) -> None:
    delivered = hijacked_night(seed, 1_500)
    times = [t for t, _, _, _ in delivered]
    cues = [verdict.delivered for *_, verdict in delivered]
    counted = [
        t
        for t, cue in zip(times, cues, strict=True)
        if not isinstance(cue, UseObject) or cue.object is BedsideObject.LIGHT
    ]
    puffs = sorted(set(times) - set(counted))
    assert len(delivered) > 20
    assert all(b - a >= 60.0 for a, b in itertools.pairwise(times))
    assert all(b - a >= 600.0 for a, b in zip(counted, counted[5:], strict=False))
    assert all(b - a >= 3600.0 for a, b in itertools.pairwise(puffs))
    assert len(counted) <= 40
    assert len(puffs) <= 6
    for period in {period for _, _, period, _ in delivered}:
        heard = [v for *_, p, v in delivered if p == period and hasattr(v.delivered, "volume")]
        assert len(heard) <= 12
    for _, shown, _, verdict in delivered:
        assert shown.stage in (Stage.LIGHT, Stage.N1, Stage.N2, Stage.REM)
        assert shown.age_s < 60.0
        assert getattr(verdict.delivered, "volume", Volume.LOW) in (Volume.LOW, Volume.MEDIUM)
        assert getattr(verdict.delivered, "line", LINES[0]) in LINES
        assert verdict.delivered_rules == ()


VOLUMES = st.sampled_from(Volume)
CUES = st.one_of(
    st.builds(PlaySound, VOLUMES),
    st.builds(Whisper, st.sampled_from(LINE_CHOICES) | st.text(), VOLUMES),
    st.builds(UseObject, st.sampled_from(BedsideObject)),
)
NUMBERS = st.floats(-1e5, 1e5) | st.sampled_from([float("nan"), float("inf")])
HISTORIES = st.builds(
    History,
    cues=st.lists(
        st.builds(
            PastCue, NUMBERS, st.sampled_from(CueKind), VOLUMES, st.integers(0, 2), st.booleans()
        )
    ).map(tuple),
    suspected_wakings=st.lists(NUMBERS, max_size=4).map(tuple),
    rem_period=st.integers(0, 2),
    agent_stopped=st.booleans(),
    person_stopped=st.booleans(),
    record_only=st.booleans(),
    paused_until=st.none() | NUMBERS,
    reported_awake=st.booleans(),
    before_onset=st.booleans(),
)
PERSONAL = st.builds(
    PersonalLimits,
    st.none() | VOLUMES,
    st.integers(-1, 50),
    st.none() | st.sampled_from(Powers),
    st.integers(-1, 9),
)


@settings(max_examples=200)
@given(CUES, NUMBERS, st.sampled_from(Stage), NUMBERS, HISTORIES, PERSONAL)
def test_the_two_modes_agree_on_everything_but_what_they_do(
    action: Action,
    t: float,
    stage: Stage,
    age_s: float,
    history: History,
    personal: PersonalLimits,
) -> None:
    given_values = {
        "t": t,
        "shown": Shown(stage, age_s),
        "history": history,
        "personal": personal,
    }
    enforced = gate(action, Mode.ENFORCE, **given_values)
    observed = gate(action, Mode.OBSERVE, **given_values)
    assert enforced.rules == observed.rules
    assert enforced.limits == observed.limits
    assert enforced.would_refuse is observed.would_refuse is bool(enforced.refused_by)
    assert (enforced.delivered is None) is bool(enforced.refused_by)
    assert (observed.delivered is None) is bool(observed.refused_by)
    assert set(observed.refused_by) == set(observed.limits) & IN_EVERY_MODE
    assert set(observed.refused_by) <= set(enforced.refused_by)
    assert Rule.WORDS_NOT_SAID not in enforced.delivered_rules + observed.delivered_rules
    if enforced.delivered is not None:
        assert not set(enforced.rules) - {Rule.WORDS_NOT_SAID}
        assert enforced.delivered_rules == ()
        assert getattr(enforced.delivered, "volume", Volume.LOW) is not Volume.HIGH
    assert len(reasons(enforced)) >= len(enforced.rules) + len(enforced.limits)
