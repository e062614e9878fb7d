"""Every limit: the last moment at which it refuses, and the first at which it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.types import Action, BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from bedside.safety import limits
from bedside.safety.limits import (
    IN_EVERY_MODE,
    LIMIT_REASONS,
    LOWERING,
    REWRITING,
    History,
    Limit,
    PastCue,
    PersonalLimits,
    Powers,
    allowed_volume,
    cue_kind,
    is_whole,
    limit_hits,
)
from devices.types import CueKind, Volume

SOUND, WHISPER = PlaySound(), Whisper("cat")
SCENT, LIGHT, DIFFUSER = (UseObject(thing) for thing in BedsideObject)
EVERY_CUE = (SOUND, WHISPER, SCENT, LIGHT, DIFFUSER)
FULL = PersonalLimits(volume_cap=Volume.HIGH, powers=Powers.MEDIUM)
T = 20_000.0


def past(
    *ago_s: float, kind: CueKind = CueKind.SOUND, rem: int = 0, failed: bool = False
) -> tuple[PastCue, ...]:
    return tuple(PastCue(T - ago, kind, Volume.LOW, rem, failed) for ago in ago_s)


def hits(
    action: Action,
    history: History | None = None,
    personal: PersonalLimits = FULL,
    volume: Volume | None = Volume.LOW,
    t: float = T,
) -> tuple[Limit, ...]:
    heard = volume if isinstance(action, (PlaySound, Whisper)) else None
    return limit_hits(action, heard, t, history or History(), personal)


def test_the_figures_are_those_of_the_safety_document() -> None:
    assert limits.GAP_S == 60.0
    assert limits.CUES_IN_TEN_MINUTES == 5
    assert limits.TEN_MINUTES_S == 600
    assert (limits.CUES_IN_REM_PERIOD, limits.CUES_A_NIGHT) == (12, 40)
    assert (limits.WAKING_SILENCE_S, limits.WAKINGS_A_NIGHT) == (600.0, 3)
    assert (limits.PUFF_GAP_S, limits.PUFFS_DEFAULT, limits.PUFFS_AT_MOST) == (3600.0, 2, 6)
    assert limits.LOUDEST_LIVE is Volume.MEDIUM
    assert {CueKind.SCENT, CueKind.DIFFUSER} == limits.PUFF_KINDS
    assert PersonalLimits() == PersonalLimits(None, 40, None, 2)
    assert History() == History((), (), 0, False, False, False, None, False)


def test_three_limits_hold_in_every_mode_three_lower_and_one_rewrites() -> None:
    assert " ".join(sorted(IN_EVERY_MODE)) == "malformed person_stopped record_only"
    assert " ".join(sorted(LOWERING)) == "comfort_cap loudest_live powers_cap"
    assert " ".join(REWRITING) == "line_not_approved"


def test_a_first_cue_meets_no_limit() -> None:
    for action in EVERY_CUE:
        assert hits(action) == ()


@pytest.mark.parametrize("action", [Wait(), Stop()])
def test_waiting_and_stopping_meet_no_limit(action: Action) -> None:
    history = History(past(1.0), (T,) * 3, 1, True, True, True, T + 1, True)
    assert limit_hits(action, Volume.HIGH, T, history, PersonalLimits()) == ()


def test_every_limit_has_a_reason_of_its_own() -> None:
    assert set(LIMIT_REASONS) == set(Limit)
    assert len(set(LIMIT_REASONS.values())) == len(Limit)


def test_the_ids_in_a_trace_are_those_of_the_reference_in_its_order() -> None:
    assert " ".join(Limit) == (
        "malformed person_stopped record_only paused reported_awake before_onset no_powers gap "
        "failed_repeat ten_minutes rem_period night budget waking_silence wakings puff_gap puffs "
        "line_not_approved loudest_live comfort_cap powers_cap"
    )
    assert " ".join(Powers) == "record_only low medium"


# --- the person and the night


@pytest.mark.parametrize("action", EVERY_CUE)
@pytest.mark.parametrize(
    ("history", "limit"),
    [
        (History(person_stopped=True), Limit.PERSON_STOPPED),
        (History(record_only=True), Limit.RECORD_ONLY),
        (History(reported_awake=True), Limit.REPORTED_AWAKE),
        (History(before_onset=True), Limit.BEFORE_ONSET),
        (History(paused_until=T + 0.001), Limit.PAUSED),
        (History(paused_until=float("nan")), Limit.PAUSED),
    ],
)
def test_a_person_who_stops_pauses_or_lies_awake_gets_no_cue(
    action: Action, history: History, limit: Limit
) -> None:
    assert hits(action, history) == (limit,)


def test_a_pause_ends_on_the_dot() -> None:
    assert hits(SOUND, History(paused_until=T)) == ()
    assert hits(SOUND, History(paused_until=0.0)) == ()


@pytest.mark.parametrize("action", EVERY_CUE)
@pytest.mark.parametrize("powers", [None, Powers.RECORD_ONLY])
def test_without_powers_there_is_no_cue(action: Action, powers: Powers | None) -> None:
    assert hits(action, personal=replace(FULL, powers=powers)) == (Limit.NO_POWERS,)


def test_low_powers_allow_a_low_cue() -> None:
    assert hits(SOUND, personal=replace(FULL, powers=Powers.LOW)) == ()


def test_the_agents_own_stop_is_a_rule_and_no_limit() -> None:
    assert hits(SOUND, History(agent_stopped=True)) == ()


# --- spacing


@pytest.mark.parametrize("action", EVERY_CUE)
@pytest.mark.parametrize("kind", CueKind)
@pytest.mark.parametrize(("failed", "limit"), [(False, Limit.GAP), (True, Limit.FAILED_REPEAT)])
def test_any_two_cues_are_sixty_seconds_apart_and_a_failed_one_is_not_repeated_at_once(
    action: Action, kind: CueKind, failed: bool, limit: Limit
) -> None:
    for ago, near in ((0.0, True), (59.999, True), (60.0, False), (61.0, False), (-1.0, False)):
        found = hits(action, History(past(ago, kind=kind, failed=failed)))
        assert (limit in found) is near
        assert found[0] is limit if near else not {Limit.GAP, Limit.FAILED_REPEAT} & set(found)


def test_a_failed_and_a_played_cue_close_by_are_both_named() -> None:
    history = History(past(50.0) + past(20.0, failed=True))
    assert hits(SOUND, history) == (Limit.GAP, Limit.FAILED_REPEAT)


@pytest.mark.parametrize("action", [SOUND, WHISPER, LIGHT])
@pytest.mark.parametrize("kind", [CueKind.SOUND, CueKind.WHISPER, CueKind.LIGHT])
@pytest.mark.parametrize("failed", [False, True])
def test_five_cues_in_ten_minutes_are_enough(action: Action, kind: CueKind, failed: bool) -> None:
    four = past(100.0, 200.0, 300.0, 400.0, kind=kind)
    assert hits(action, History(four)) == ()
    last = past(599.999, kind=kind, failed=failed)
    assert hits(action, History(four + last)) == (Limit.TEN_MINUTES,)
    assert hits(action, History(four + past(600.0, kind=kind, failed=failed))) == ()


def test_scent_and_mist_count_apart_from_other_cues() -> None:
    puffs = past(100.0, 200.0, 300.0, 400.0, 500.0, kind=CueKind.SCENT)
    assert hits(SOUND, History(puffs)) == ()
    cues = past(100.0, 200.0, 300.0, 400.0, 500.0)
    assert hits(SCENT, History(cues)) == hits(DIFFUSER, History(cues)) == ()


# --- doses


@pytest.mark.parametrize("action", [SOUND, WHISPER])
@pytest.mark.parametrize("kind", [CueKind.SOUND, CueKind.WHISPER])
def test_twelve_heard_cues_are_enough_for_a_rem_period(action: Action, kind: CueKind) -> None:
    eleven = past(*range(700, 1800, 100), kind=kind, rem=2)
    assert hits(action, History(eleven, rem_period=2)) == ()
    twelve = eleven + past(1900.0, kind=kind, rem=2)
    assert hits(action, History(twelve, rem_period=2)) == (Limit.REM_PERIOD,)
    assert hits(action, History(twelve, rem_period=3)) == ()
    assert hits(action, History(eleven + past(1900.0, rem=1), rem_period=2)) == ()
    assert hits(action, History(eleven + past(1900.0, rem=2, failed=True), rem_period=2)) == ()
    assert hits(action, History(eleven + past(1900.0, kind=CueKind.LIGHT, rem=2), (), 2)) == ()


def test_the_limit_of_a_rem_period_holds_in_the_first_and_not_before_it() -> None:
    first = past(*range(700, 1900, 100), rem=1)
    assert hits(SOUND, History(first, rem_period=1)) == (Limit.REM_PERIOD,)
    before = past(*range(700, 1900, 100), rem=0)
    assert hits(SOUND, History(before, rem_period=0)) == ()


def test_objects_are_no_cues_of_a_rem_period() -> None:
    twelve = past(*range(700, 1900, 100), rem=2)
    for action in (SCENT, LIGHT, DIFFUSER):
        assert hits(action, History(twelve, rem_period=2)) == ()


@pytest.mark.parametrize("action", [SOUND, WHISPER, LIGHT])
def test_forty_cues_are_enough_for_a_night(action: Action) -> None:
    generous = replace(FULL, cue_budget=1000)
    most = past(*range(700, 4600, 100))
    assert len(most) == 39
    assert hits(action, History(most), generous) == ()
    assert hits(action, History(most + past(5000.0)), generous) == (Limit.NIGHT,)
    assert hits(action, History(most + past(5000.0, failed=True)), generous) == ()
    assert hits(action, History(most + past(5000.0, kind=CueKind.SCENT)), generous) == ()


@pytest.mark.parametrize("budget", [-1, 0, 1, 3])
def test_the_persons_own_budget_is_kept(budget: int) -> None:
    personal = replace(FULL, cue_budget=budget)
    used = past(*(700.0 + 100.0 * n for n in range(budget)))
    assert hits(LIGHT, History(used), personal) == (Limit.BUDGET,)
    if budget > 0:
        assert hits(LIGHT, History(used[1:]), personal) == ()
    assert hits(SCENT, History(used), personal) == ()


# --- after a waking


@pytest.mark.parametrize("action", EVERY_CUE)
def test_a_suspected_waking_brings_ten_minutes_of_silence(action: Action) -> None:
    for ago, silent in ((0.0, True), (599.999, True), (600.0, False), (-1.0, False)):
        found = hits(action, History(suspected_wakings=(T - ago,)))
        assert found == ((Limit.WAKING_SILENCE,) if silent else ())


@pytest.mark.parametrize("action", EVERY_CUE)
def test_three_suspected_wakings_silence_the_night(action: Action) -> None:
    assert hits(action, History(suspected_wakings=(10.0, 2000.0))) == ()
    assert hits(action, History(suspected_wakings=(10.0, 2000.0, 4000.0))) == (Limit.WAKINGS,)


# --- scent and mist


@pytest.mark.parametrize("action", [SCENT, DIFFUSER])
@pytest.mark.parametrize("kind", [CueKind.SCENT, CueKind.DIFFUSER])
@pytest.mark.parametrize("failed", [False, True])
def test_puffs_are_an_hour_apart_even_after_one_that_failed(
    action: Action, kind: CueKind, failed: bool
) -> None:
    for ago, near in ((3599.999, True), (3600.0, False)):
        found = hits(action, History(past(ago, kind=kind, failed=failed)))
        assert found == ((Limit.PUFF_GAP,) if near else ())
    assert hits(SOUND, History(past(3599.0, kind=kind, failed=failed))) == ()


@pytest.mark.parametrize("action", [SCENT, DIFFUSER])
@pytest.mark.parametrize(("puffs", "most"), [(2, 2), (1, 1), (0, 0), (6, 6), (7, 6), (100, 6)])
def test_puffs_of_a_night_are_the_persons_number_but_six_at_most(
    action: Action, puffs: int, most: int
) -> None:
    personal = replace(FULL, puffs=puffs)
    given = past(*(3600.0 * n for n in range(1, most + 1)), kind=CueKind.SCENT)
    assert hits(action, History(given), personal) == (Limit.PUFFS,)
    if most > 0:
        assert hits(action, History(given[1:] + past(4000.0)), personal) == ()


# --- volume


@pytest.mark.parametrize("action", [SOUND, WHISPER])
@pytest.mark.parametrize("volume", Volume)
@pytest.mark.parametrize("cap", [None, *Volume])
@pytest.mark.parametrize("powers", [None, *Powers])
def test_the_lowest_cap_wins_and_every_cap_exceeded_is_named(
    action: Action, volume: Volume, cap: Volume | None, powers: Powers | None
) -> None:
    ranks = {"low": 0, "medium": 1, "high": 2}
    comfort = ranks[cap] if cap else 0
    earned = 1 if powers == "medium" else 0
    personal = PersonalLimits(volume_cap=cap, powers=powers)
    expected = {
        Limit.LOUDEST_LIVE: ranks[volume] > 1,
        Limit.COMFORT_CAP: ranks[volume] > comfort,
        Limit.POWERS_CAP: ranks[volume] > earned,
    }
    found = hits(action, personal=personal, volume=volume)
    assert tuple(limit for limit in found if limit in LOWERING) == tuple(
        limit for limit, hit in expected.items() if hit
    )
    assert ranks[allowed_volume(volume, personal)] == min(ranks[volume], 1, comfort, earned)


def test_objects_have_no_volume_to_lower() -> None:
    for action in (SCENT, LIGHT, DIFFUSER):
        assert hits(action, personal=PersonalLimits(powers=Powers.LOW)) == ()


# --- all together


def test_limits_are_listed_in_declared_order() -> None:
    history = History(
        past(10.0, *range(100, 4100, 100), rem=2) + past(20.0, rem=2, failed=True),
        (T - 100.0,) * 3,
        rem_period=2,
        person_stopped=True,
        record_only=True,
        paused_until=T + 60,
        reported_awake=True,
        before_onset=True,
    )
    assert hits(WHISPER, history, PersonalLimits(), Volume.HIGH) == (
        Limit.PERSON_STOPPED,
        Limit.RECORD_ONLY,
        Limit.PAUSED,
        Limit.REPORTED_AWAKE,
        Limit.BEFORE_ONSET,
        Limit.NO_POWERS,
        Limit.GAP,
        Limit.FAILED_REPEAT,
        Limit.TEN_MINUTES,
        Limit.REM_PERIOD,
        Limit.NIGHT,
        Limit.BUDGET,
        Limit.WAKING_SILENCE,
        Limit.WAKINGS,
        Limit.LOUDEST_LIVE,
        Limit.COMFORT_CAP,
        Limit.POWERS_CAP,
    )
    puffed = replace(history, cues=past(30.0, 90.0, kind=CueKind.DIFFUSER))
    assert hits(SCENT, puffed)[-4:] == (
        Limit.WAKING_SILENCE,
        Limit.WAKINGS,
        Limit.PUFF_GAP,
        Limit.PUFFS,
    )


def test_a_time_that_is_not_a_number_refuses() -> None:
    nan = float("nan")
    history = History(past(*range(700, 1200, 100)), (0.0,), paused_until=1.0)
    assert hits(SOUND, history, t=nan) == (
        Limit.PAUSED,
        Limit.GAP,
        Limit.TEN_MINUTES,
        Limit.WAKING_SILENCE,
    )
    scented = History((PastCue(nan, CueKind.SCENT, None, 0),))
    assert hits(SCENT, scented) == (Limit.GAP, Limit.PUFF_GAP)


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        (SOUND, "sound"),
        (WHISPER, "whisper"),
        (SCENT, "scent"),
        (LIGHT, "light"),
        (DIFFUSER, "diffuser"),
    ],
)
def test_an_action_says_what_its_cue_is_made_of(
    action: PlaySound | Whisper | UseObject, kind: str
) -> None:
    assert cue_kind(action) is CueKind(kind)


def test_an_action_with_a_field_of_another_type_is_not_whole() -> None:
    for action in (*EVERY_CUE, Wait(), Stop(), PlaySound(Volume.HIGH)):
        assert is_whole(action)
    assert not is_whole(PlaySound("low"))  # type: ignore[arg-type]
    assert not is_whole(PlaySound(None))  # type: ignore[arg-type]
    assert not is_whole(Whisper("cat", 2))  # type: ignore[arg-type]
    assert not is_whole(Whisper(None))  # type: ignore[arg-type]
    assert not is_whole(Whisper(b"cat"))  # type: ignore[arg-type]
    assert not is_whole(UseObject("scent"))  # type: ignore[arg-type]
