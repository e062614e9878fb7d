"""The loop itself: what happens in which order, at which moment, and what it survives."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from agents.types import (
    AgentError,
    BedsideObject,
    GivenCue,
    PlaySound,
    Reply,
    Request,
    SessionKind,
    Stop,
    UseObject,
    Wait,
    Whisper,
)
from bedside.plan import Ending, Resumed
from bedside.safety.gate import Mode
from bedside.safety.limits import PastCue, PersonalLimits, Powers
from devices.types import (
    Contact,
    Cue,
    CueKind,
    CueSounded,
    HeartRate,
    Movement,
    Outcome,
    OutcomeStatus,
    PersonAct,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Volume,
)
from tests.bedside.bells import BUTTON, LINES, AtBedside, Bell, Notebook, pressed
from tests.replay.nights import LOUD, SOFT, Scripted, cue_at, deliveries_of, events_of, steps_of

BOTH = pytest.mark.parametrize("mode", list(Mode))
MEDIUM = PlaySound(Volume.MEDIUM, "now")


# --- one step after the other


def test_a_trace_opens_with_the_header_has_a_step_an_epoch_and_ends_with_the_footer() -> None:
    lines = AtBedside("WLDR?", Scripted({})).spend()
    assert [line["kind"] for line in lines] == ["header", *["step"] * 5, "footer"]
    assert [(line["step"], line["t"]) for line in steps_of(lines)] == [
        (0, 30.0), (1, 60.0), (2, 90.0), (3, 120.0), (4, 150.0),
    ]  # fmt: skip
    stages = ["awake", "light", "deep", "rem", "unknown"]
    assert [line["epoch"]["stage"] for line in steps_of(lines)] == stages


def test_the_agent_sees_each_epoch_when_it_has_closed_and_is_begun_once() -> None:
    agent = Scripted({})
    AtBedside("WLD", agent).spend()
    assert [seen.clock_s for seen in agent.seen] == [39_630.0, 39_660.0, 39_690.0]
    assert [seen.stage for seen in agent.seen] == ["awake", "light", "deep"]
    assert len(agent.sessions) == 1


def test_the_intent_is_written_and_safe_before_the_actuator_begins() -> None:
    found: list[tuple[Any, int]] = []

    def begins(cue: Cue) -> None:
        last = night.sink.lines[-1]
        found.append((last, night.sink.settled[-1]))

    night = AtBedside("RRRR", cue_at(2), actuators=(Bell(begins=begins),))
    night.spend()
    ((intent, safe_lines),) = found
    assert (intent["kind"], intent["step"], intent["delivery"]["cue"]) == ("step", 2, 1)
    assert night.sink.lines[safe_lines - 1] == intent


def test_the_outcome_is_an_event_and_a_sample_after_the_cue_has_ended() -> None:
    night = AtBedside("RRRR", cue_at(1), plan={"sound_s": 12.0})
    (outcome,) = events_of(night.spend(), "outcome")
    assert outcome == {
        "kind": "event", "t": 72.0, "event": "outcome", "cue": 1, "status": "confirmed",
        "onset_t": 60.0, "ended_t": 72.0, "level_dba": 33.0, "detail": "",
    }  # fmt: skip
    (sounded,) = [sample for sample in night.heard if sample.stream is Stream.CUE]
    assert isinstance(sounded.value, CueSounded)
    assert (sounded.t, sounded.value.cue.number) == (72.0, 1)


def test_sleep_goes_on_while_a_cue_sounds() -> None:
    night = AtBedside("RRRRR", cue_at(1), plan={"object_s": 60.0}, interval_s=0.5)
    night.agent = cue_at(1, action=UseObject(BedsideObject.SCENT))
    lines = night.spend()
    (outcome,) = events_of(lines, "outcome")
    assert (outcome["onset_t"], outcome["ended_t"]) == (60.0, 120.0)
    assert [line["step"] for line in steps_of(lines)] == [0, 1, 2, 3, 4]
    assert lines.index(outcome) > lines.index(steps_of(lines)[2])


def test_the_night_waits_for_a_cue_that_still_sounds_at_its_end() -> None:
    lines = AtBedside("RR", cue_at(1)).spend()
    assert [line["kind"] for line in lines[-2:]] == ["event", "footer"]
    assert (lines[-2]["status"], lines[-1]["t"]) == ("confirmed", 68.0)


def test_a_night_ends_as_it_is_told_and_says_how() -> None:
    night = AtBedside(
        "LLLLLLLL", Scripted({}), ends=lambda done: Ending.TIME_LIMIT if done.step == 2 else None
    )
    lines = night.spend()
    assert night.ending is Ending.TIME_LIMIT
    assert (lines[-1]["ending"], lines[-1]["steps"], lines[-1]["t"]) == ("time_limit", 3, 90.0)


# --- time that a decision takes


def test_a_decision_of_2_4_seconds_lands_2_4_seconds_later_amid_the_samples_of_that_time() -> None:
    heard: list[float] = []
    night = AtBedside(
        "RRRR",
        cue_at(1, latency_s=2.4),
        interval_s=0.5,
        actuators=(Bell(begins=lambda cue: heard.append(night.heard[-1].t)),),
    )
    lines = night.spend()
    assert night.bell.said("ring 1") == [62.4]
    assert heard == [62.25]  # labels lie in the middle of their half seconds
    delivery = deliveries_of(lines)[1]
    assert (delivery["t"], delivery["shown"], delivery["shown_age_s"]) == (62.4, "rem", 0.15)
    assert steps_of(lines)[1]["decision"] == {"status": "ok", "latency_s": 2.4, "error": None}
    assert steps_of(lines)[1]["t"] == 60.0
    assert [step["t"] for step in steps_of(lines)] == [30.0, 60.0, 90.0, 120.0]


@pytest.mark.parametrize("interval_s", [0.5, 1.0, 30.0])
def test_25_seconds_of_thought_across_rem_into_deep_break_cue_in_deep(interval_s: float) -> None:
    def rules(latency_s: float) -> tuple[str, list[str]]:
        night = AtBedside("RRRRDDD", cue_at(3, latency_s=latency_s), interval_s=interval_s)
        delivery = deliveries_of(night.spend())[3]
        return delivery["shown"], delivery["rules"]

    assert rules(0.0) == ("rem", [])
    assert rules(25.0) == ("deep", ["cue_in_deep"])


def test_the_shown_stage_covers_thirty_seconds_up_to_the_delivery_and_not_its_instant() -> None:
    # [d - 30, d): at d = 120 + 14 there are 16 s of REM and 14 s of DEEP, at 15 s a tie.
    def shown(latency_s: float) -> str:
        night = AtBedside("RRRRDDD", cue_at(3, latency_s=latency_s), interval_s=1.0)
        stage: str = deliveries_of(night.spend())[3]["shown"]
        return stage

    assert [shown(s) for s in (14.0, 15.0, 16.0)] == ["rem", "deep", "deep"]


@pytest.mark.parametrize(("latency_s", "cues"), [(29.9, 1), (30.0, 0), (35.0, 0), (1e5, 0)])
def test_an_answer_that_takes_an_epoch_is_dropped(latency_s: float, cues: int) -> None:
    night = AtBedside("RRRRRR", cue_at(2, latency_s=latency_s))
    lines = night.spend()
    assert len(night.bell.cues) == cues
    assert lines[-1]["decisions"] == ({"ok": 6} if cues else {"late": 1, "ok": 5})
    assert [line["t"] for line in steps_of(lines)] == [30.0 * k for k in range(1, 7)]
    if not cues:
        step = steps_of(lines)[2]
        assert step["delivery"] is None
        assert step["action"]["kind"] == "wait"
        assert step["decision"]["status"] == "late"
        assert step["decision"]["latency_s"] == 30.0


def test_while_an_agent_does_not_let_go_it_is_not_asked_again() -> None:
    class Stubborn(Scripted):
        async def decide(self, observation: Any) -> Any:
            self.seen.append(observation)
            until = observation.clock_s + 100.0
            while night.clock.t() + 39_600.0 < until:
                try:
                    await asyncio.sleep(until - 39_600.0 - night.clock.t())
                except asyncio.CancelledError:
                    continue
            return SOFT

    agent = Stubborn({})
    night = AtBedside("RRRRRRRR", agent)
    lines = night.spend()
    statuses = [line["decision"]["status"] for line in steps_of(lines)]
    assert statuses == ["late", "busy", "busy", "busy", "late", "busy", "busy", "busy"]
    assert len(agent.seen) == 2
    assert night.bell.cues == []
    assert [line["t"] for line in steps_of(lines)] == [30.0 * k for k in range(1, 9)]


# --- the latches


def test_after_the_agent_s_stop_epochs_go_on_and_a_later_cue_breaks_its_rule() -> None:
    night = AtBedside("RRRRRR", Scripted({1: Stop("enough"), 3: SOFT, 4: Stop("still")}))
    lines = night.spend()
    assert len(steps_of(lines)) == 6
    assert steps_of(lines)[1]["delivery"] is None
    assert deliveries_of(lines)[3]["rules"] == ["cue_after_stop"]
    assert len(night.bell.cues) == 1
    assert lines[-1]["violations"] == {"cue_after_stop": 1}
    assert lines[-1]["violations_delivered"] == {"cue_after_stop": 1}


def test_under_enforce_a_cue_after_the_agent_s_stop_is_refused() -> None:
    night = AtBedside("RRRRRR", Scripted({1: Stop("enough"), 3: SOFT}), mode=Mode.ENFORCE)
    lines = night.spend()
    assert deliveries_of(lines)[3]["refused_by"] == ["cue_after_stop"]
    assert night.bell.cues == []
    footer = lines[-1]
    assert (footer["refused"], footer["violations_delivered"], footer["cues"]) == (1, {}, {})


@BOTH
def test_a_person_s_stop_silences_at_once_and_refuses_in_both_modes(mode: Mode) -> None:
    night = AtBedside(
        "RRRRRRRR",
        cue_at(1, 4),
        mode=mode,
        streams=(BUTTON,),
        extra=(pressed(62.5, PersonAct.STOP),),
    )
    lines = night.spend()
    assert night.bell.said("silence") == [62.5]
    assert night.bell.said("end 1") == [62.5]
    (outcome,) = events_of(lines, "outcome")
    assert outcome["status"] == "silenced"
    assert "person_stopped" in deliveries_of(lines)[4]["refused_by"]
    assert deliveries_of(lines)[4]["delivered"] is None
    assert len(night.bell.cues) == 1
    assert len(steps_of(lines)) == 8


def test_a_person_s_stop_is_theirs_to_lift() -> None:
    presses = (pressed(40.0, PersonAct.STOP), pressed(130.0, PersonAct.CLEAR_STOP))
    night = AtBedside("RRRRRR", cue_at(2, 4), streams=(BUTTON,), extra=presses)
    lines = night.spend()
    assert deliveries_of(lines)[2]["refused_by"] == ["person_stopped"]
    assert deliveries_of(lines)[4]["cue"] == 1
    assert [(line["t"], line["act"]) for line in events_of(lines, "person")] == [
        (40.0, "stop"),
        (130.0, "clear_stop"),
    ]


@BOTH
def test_stop_pressed_while_the_intent_is_made_safe_comes_before_the_cue(mode: Mode) -> None:
    night = AtBedside(
        "RRRR",
        cue_at(1),
        mode=mode,
        streams=(BUTTON,),
        extra=(pressed(60.4, PersonAct.STOP),),
        sink=Notebook([0.8]),
    )
    (outcome,) = events_of(night.spend(), "outcome")
    assert night.bell.cues == []
    assert outcome["status"] in ("failed", "silenced")
    assert outcome["onset_t"] is None


def test_stop_pressed_while_the_agent_thinks_refuses_its_answer() -> None:
    night = AtBedside(
        "RRRR",
        cue_at(1, latency_s=5.0),
        streams=(BUTTON,),
        extra=(pressed(61.0, PersonAct.STOP),),
    )
    assert deliveries_of(night.spend())[1]["refused_by"] == ["person_stopped"]


@pytest.mark.parametrize(
    ("act", "minutes", "limit", "refused"),
    [
        (PersonAct.PAUSE, 1.0, "paused", {2}),
        (PersonAct.PAUSE, None, "paused", {2, 5, 20}),
        (PersonAct.TELL_DREAM, None, "paused", {2, 5, 20}),
        (PersonAct.STILL_AWAKE, None, "reported_awake", {2, 5}),
        (PersonAct.GOT_UP, None, "reported_awake", {2, 5}),
        (PersonAct.TOUCH, None, None, set()),
    ],
)
def test_what_the_person_says_pauses_cues_under_enforce_and_is_noted_under_observe(
    act: PersonAct, minutes: float | None, limit: str | None, refused: set[int]
) -> None:
    # The press comes at 70 s; steps 2, 5, 20 and 40 close at 90, 180, 630 and 1,230 s.
    asked = (2, 5, 20, 40)
    for mode in Mode:
        night = AtBedside(
            "R" * 42,
            cue_at(*asked),
            mode=mode,
            streams=(BUTTON,),
            extra=(pressed(70.0, act, minutes),),
        )
        found = deliveries_of(night.spend())
        hit = {step for step in asked if limit in found[step]["limits"]}
        assert hit == refused
        kept_back = refused if mode is Mode.ENFORCE else set()
        assert {step for step in asked if found[step]["cue"] is None} == kept_back
        assert len(night.bell.cues) == len(asked) - len(kept_back)


def test_resume_ends_a_pause() -> None:
    presses = (pressed(40.0, PersonAct.PAUSE, 30.0), pressed(100.0, PersonAct.RESUME))
    agent = cue_at(2, 4)
    night = AtBedside("RRRRRR", agent, mode=Mode.ENFORCE, streams=(BUTTON,), extra=presses)
    found = deliveries_of(night.spend())
    assert (found[2]["refused_by"], found[4]["cue"]) == (["paused"], 1)
    assert [seen.paused_until_clock_s for seen in agent.seen[:4]] == [
        None,
        39_600.0 + 40.0 + 1_800.0,
        39_600.0 + 40.0 + 1_800.0,
        None,
    ]


def test_a_person_who_says_they_are_awake_counts_as_awake_while_the_headband_shows_sleep() -> None:
    # Ten epochs of sleep lie before the press at 370 s; they say nothing about what came after.
    night = AtBedside(
        "R" * 40,
        cue_at(13, 30),
        mode=Mode.ENFORCE,
        streams=(BUTTON,),
        extra=(pressed(370.0, PersonAct.STILL_AWAKE),),
    )
    found = deliveries_of(night.spend())
    assert found[13]["refused_by"] == ["reported_awake"]
    assert found[30]["cue"] == 1


def test_a_pause_asked_for_while_the_intent_is_made_safe_comes_before_the_cue() -> None:
    for act in (PersonAct.PAUSE, PersonAct.STILL_AWAKE, PersonAct.TELL_DREAM):
        night = AtBedside(
            "RRRR",
            cue_at(1),
            mode=Mode.ENFORCE,
            streams=(BUTTON,),
            extra=(pressed(60.4, act),),
            sink=Notebook([0.8]),
        )
        (outcome,) = events_of(night.spend(), "outcome")
        assert (outcome["status"], night.bell.cues) == ("failed", [])


def test_stop_works_from_another_thread_while_the_loop_is_blocked() -> None:
    def blocked(step: int) -> Any:
        if step == 2:
            presses = threading.Thread(target=night.night.stop)
            presses.start()
            presses.join()  # the loop stands still; the bell is silent all the same
            assert night.bell.log[-1][1] == "silence"
        return SOFT if step in (2, 4) else Wait()

    night = AtBedside("RRRRRR", Scripted(blocked))
    found = deliveries_of(night.spend())
    assert [found[step]["refused_by"] for step in (2, 4)] == [["person_stopped"]] * 2
    assert night.bell.cues == []


def test_clearing_a_stop_arms_the_devices_again() -> None:
    presses = (pressed(40.0, PersonAct.STOP), pressed(50.0, PersonAct.CLEAR_STOP))
    night = AtBedside("RRRR", cue_at(2), streams=(BUTTON,), extra=presses)
    night.spend()
    assert (night.bell.said("rearm"), night.bell.said("ring 1")) == ([50.0], [90.0])


# --- powers and onset


@BOTH
def test_a_night_that_only_records_plays_nothing(mode: Mode) -> None:
    night = AtBedside("RRRR", cue_at(1), mode=mode, plan={"record_only": True})
    assert deliveries_of(night.spend())[1]["refused_by"] == ["record_only"]
    assert night.bell.cues == []


def test_before_sleep_has_lasted_ten_epochs_a_live_night_gives_no_cue() -> None:
    night = AtBedside("WLLLLLLLLLLLLL", cue_at(9, 10), mode=Mode.ENFORCE, asleep_for=0)
    found = deliveries_of(night.spend())
    assert found[9]["refused_by"] == ["before_onset"]
    assert found[10]["cue"] == 1  # epochs 1 to 10 are the ten


@pytest.mark.parametrize("kind", [SessionKind.SLEEP_ONSET, SessionKind.TDI])
def test_a_session_about_sleep_onset_waits_for_its_first_epoch_alone(kind: SessionKind) -> None:
    night = AtBedside(
        "WWLLLL", cue_at(1, 2), mode=Mode.ENFORCE, asleep_for=0, session={"kind": kind}
    )
    found = deliveries_of(night.spend())
    assert "before_onset" in found[1]["refused_by"]
    assert found[2]["cue"] == 1


def test_the_twelve_cues_of_a_rem_period_are_counted_by_the_night() -> None:
    night = AtBedside("R" * 14 + "L" * 31 + "R" * 2, cue_at(*range(14), 46))
    found = deliveries_of(night.spend())
    full = {step for step, delivery in found.items() if "rem_period" in delivery["limits"]}
    assert full == {12, 13}


# --- ends and beginnings


def test_a_night_that_is_told_to_end_ends_at_once_and_whole() -> None:
    night = AtBedside("R" * 10, cue_at(1))

    def end(sample: Sample) -> None:
        night.night.end(Ending.TIME_LIMIT)

    night.listens = (end, Stream.PERSON)
    night.streams, night.extra = (BUTTON,), (pressed(64.0, PersonAct.TOUCH),)
    lines = night.spend()
    assert night.ending is Ending.TIME_LIMIT
    (outcome,) = events_of(lines, "outcome")
    assert (outcome["status"], outcome["t"]) == ("silenced", 64.0)
    assert (lines[-1]["ending"], lines[-1]["t"], lines[-1]["steps"]) == ("time_limit", 64.0, 2)


def test_a_night_that_is_cancelled_says_so_in_its_footer() -> None:
    night = AtBedside("R" * 10, Scripted({2: asyncio.CancelledError()}))

    def cancel(sample: Sample) -> None:
        night.task.cancel()

    night.listens = (cancel, Stream.PERSON)
    night.streams, night.extra = (BUTTON,), (pressed(100.0, PersonAct.TOUCH),)
    with pytest.raises(asyncio.CancelledError):
        night.spend()
    footer = night.sink.lines[-1]
    assert (footer["kind"], footer["ending"], footer["t"]) == ("footer", "cancelled", 100.0)


def test_after_a_crash_a_night_goes_on_with_what_it_knew() -> None:
    past = PastCue(100.0, CueKind.SOUND, Volume.LOW, 1)
    given = GivenCue(39_700.0, CueKind.SOUND, Volume.LOW)
    resumed = Resumed(4, (past,), (given,), suspected_wakings=(101.0,))
    agent = cue_at(5)
    night = AtBedside("R" * 8, agent, mode=Mode.ENFORCE, plan={"resumed": resumed})
    lines = night.spend()
    assert [line["step"] for line in steps_of(lines)] == [4, 5, 6, 7]
    assert deliveries_of(lines)[5]["refused_by"] == ["waking_silence"]
    assert agent.seen[0].budget_left == 39
    assert agent.seen[0].minutes_since_cue == pytest.approx((150.0 - 100.0) / 60)


@pytest.mark.parametrize("latch", ["agent_stopped", "person_stopped"])
def test_a_stop_from_before_a_crash_still_holds(latch: str) -> None:
    resumed = Resumed(1, **{latch: True})  # type: ignore[arg-type]
    night = AtBedside("RRRR", cue_at(2), mode=Mode.ENFORCE, plan={"resumed": resumed})
    assert len(deliveries_of(night.spend())[2]["refused_by"]) == 1
    assert night.bell.cues == []


# --- what an actuator or a disk may do wrong


def test_a_cue_whose_intent_is_not_safe_in_a_second_is_dropped() -> None:
    night = AtBedside("RRRRRR", cue_at(1, 4), sink=Notebook([3.0, 0.0]))
    lines = night.spend()
    first, second = events_of(lines, "outcome")
    assert (first["cue"], first["status"], first["onset_t"]) == (1, "failed", None)
    assert first["t"] == 61.0
    assert first["detail"]
    assert (second["cue"], second["status"]) == (2, "confirmed")
    assert [cue.number for cue in night.bell.cues] == [2]
    assert lines[-1]["outcomes"] == {"confirmed": 1, "failed": 1}


def test_a_slow_disk_that_is_fast_enough_delays_the_cue() -> None:
    night = AtBedside("RRRR", cue_at(1), sink=Notebook([0.8]))
    night.spend()
    assert night.bell.said("ring 1") == [60.8]


def raises(error: Exception) -> Callable[[Cue], object]:
    def begins(cue: Cue) -> object:
        raise error

    return begins


@pytest.mark.parametrize(
    ("bell", "told"),
    [
        (Bell(begins=raises(OSError(5, "device gone"))), "OSError"),
        (Bell(begins=lambda cue: asyncio.sleep(1e9)), "did not return"),
        (Bell(begins=lambda cue: "played"), "str"),
        (Bell(kinds=[CueKind.WHISPER]), "no device performs sound"),
    ],
    ids=["raises", "hangs", "returns nonsense", "has no such kind"],
)
def test_an_actuator_that_fails_is_written_down_and_the_night_goes_on(
    bell: Bell, told: str
) -> None:
    night = AtBedside("R" * 12, cue_at(1, 5), actuators=(bell,), plan={"sound_s": 8.0})
    agent = night.agent
    lines = night.spend()
    assert len(steps_of(lines)) == 12
    outcomes = events_of(lines, "outcome")
    assert [line["status"] for line in outcomes] == ["failed", "failed"]
    assert all(told in line["detail"] for line in outcomes)
    assert isinstance(agent, Scripted)
    assert agent.seen[-1].last_outcome is OutcomeStatus.FAILED
    assert lines[-1]["outcomes"] == {"failed": 2}


def test_an_actuator_that_hangs_is_silenced_when_its_time_is_over() -> None:
    night = AtBedside("R" * 6, cue_at(1), actuators=(Bell(begins=lambda cue: asyncio.sleep(1e9)),))
    (outcome,) = events_of(night.spend(), "outcome")
    assert outcome["t"] == 60.0 + 2.0 + 8.0 + 5.0  # deadline, cue, and the grace of 5 s
    assert night.bell.said("silence") == night.bell.said("rearm") == [75.0]


def test_a_device_that_does_not_behave_stays_silent_after_a_person_s_stop() -> None:
    bell = Bell(begins=lambda cue: asyncio.sleep(1e9))
    press = (pressed(70.0, PersonAct.STOP),)
    night = AtBedside("R" * 6, cue_at(1), actuators=(bell,), streams=(BUTTON,), extra=press)
    night.spend()
    assert bell.said("rearm") == []


def test_a_failed_cue_is_not_repeated_at_once() -> None:
    bell = Bell(begins=raises(OSError("gone")))
    night = AtBedside("R" * 6, cue_at(1, 2, 4), actuators=(bell,), mode=Mode.ENFORCE)
    found = deliveries_of(night.spend())
    assert found[2]["refused_by"] == ["failed_repeat"]
    assert found[4]["cue"] == 2


def test_the_first_actuator_that_has_the_kind_performs() -> None:
    whispers, all_kinds = Bell(kinds=[CueKind.WHISPER]), Bell()
    script = {1: Whisper(LINES[1]), 3: SOFT}
    night = AtBedside("RRRRRR", Scripted(script), actuators=(whispers, all_kinds))
    night.spend()
    assert [cue.kind for cue in whispers.cues] == ["whisper"]
    assert [cue.kind for cue in all_kinds.cues] == ["sound"]


def test_an_outcome_with_numbers_that_are_none_is_written_as_null() -> None:
    nan = float("nan")
    bell = Bell(begins=lambda cue: Outcome(OutcomeStatus.UNCONFIRMED, nan, 61.0, nan))
    (outcome,) = events_of(AtBedside("RRR", cue_at(1), actuators=(bell,)).spend(), "outcome")
    assert (outcome["onset_t"], outcome["level_dba"]) == (None, None)


def test_samples_that_are_no_numbers_do_not_end_the_night() -> None:
    nan = float("nan")
    extra = (
        Sample(Stream.HEART_RATE, 10.0, HeartRate(nan), "strap"),
        Sample(Stream.HEART_RATE, 40.0, HeartRate(1.7e308), "strap"),
        Sample(Stream.HEART_RATE, 41.0, HeartRate(1.7e308), "strap"),
        Sample(Stream.STAGE, 5.0, StageReading(Stage.REM, float("inf")), "band"),
        Sample(Stream.STAGE, 6.0, StageReading(Stage.REM, float("-inf")), "band"),
        Sample(Stream.MOVEMENT, 11.0, Movement(nan), "strap"),
        Sample(Stream.MOVEMENT, 70.0, Movement(float("inf")), "strap"),
    )
    infos = (StreamInfo(Stream.HEART_RATE, 1.0, "strap"), StreamInfo(Stream.MOVEMENT, 1.0, "strap"))
    lines = AtBedside("RRRR", cue_at(1), extra=extra, streams=infos).spend()
    assert len(steps_of(lines)) == 4


# --- what is played


@pytest.mark.parametrize(
    ("action", "asked", "lasts_s"),
    [
        (SOFT, {"sound_s": 12.0}, 12.0),
        (SOFT, {"sound_s": 30.0}, 20.0),
        (Whisper(LINES[0]), {"whisper_s": 30.0}, 8.0),
        (UseObject(BedsideObject.SCENT), {"object_s": 600.0}, 60.0),
        (UseObject(BedsideObject.DIFFUSER), {"object_s": 600.0}, 60.0),
        (UseObject(BedsideObject.LIGHT), {"object_s": 600.0}, 20.0),
        (SOFT, {"sound_s": float("nan")}, 0.0),
    ],
)
def test_a_cue_lasts_no_longer_than_its_kind_may(
    action: Any, asked: dict[str, float], lasts_s: float
) -> None:
    night = AtBedside("RRRRRR", cue_at(1, action=action), plan=asked)
    night.spend()
    assert [cue.duration_s for cue in night.bell.cues] == [lasts_s]


def test_cues_carry_number_kind_volume_theme_and_line() -> None:
    script = {1: MEDIUM, 4: Whisper(LINES[1], Volume.LOW), 7: UseObject(BedsideObject.LIGHT)}
    night = AtBedside("R" * 10, Scripted(script))
    night.spend()
    assert [(c.number, c.kind, c.volume, c.theme, c.line) for c in night.bell.cues] == [
        (1, "sound", "medium", "cat", None),
        (2, "whisper", "low", "cat", LINES[1]),
        (3, "light", "low", "cat", None),
    ]


@BOTH
def test_words_the_sleeper_never_said_become_the_first_of_the_lines(mode: Mode) -> None:
    night = AtBedside("RRRR", cue_at(1, action=Whisper("a dark wolf howls")), mode=mode)
    lines = night.spend()
    assert [cue.line for cue in night.bell.cues] == [LINES[0]]
    delivery = deliveries_of(lines)[1]
    assert (delivery["rules"], delivery["rules_delivered"]) == (["words_not_said"], [])
    assert (delivery["rewritten"], delivery["delivered"]["line"]) == (True, LINES[0])
    footer = lines[-1]
    assert (footer["violations"], footer["violations_delivered"]) == ({"words_not_said": 1}, {})
    assert footer["rewritten"] == 1


def test_observe_delivers_what_was_asked_and_says_what_enforce_would_do() -> None:
    night = AtBedside("RRRR", cue_at(1, action=LOUD))
    delivery = deliveries_of(night.spend())[1]
    assert delivery["rules"] == delivery["rules_delivered"] == ["cue_high_volume"]
    assert delivery["would_refuse"] is True
    assert (delivery["refused_by"], delivery["lowered_from"]) == ([], None)
    assert [cue.volume for cue in night.bell.cues] == ["high"]


def test_enforce_refuses_what_breaks_a_rule_and_lowers_what_is_over_a_cap() -> None:
    personal = PersonalLimits(Volume.MEDIUM, powers=Powers.LOW)
    night = AtBedside(
        "RRRRRR", Scripted({1: LOUD, 3: MEDIUM}), mode=Mode.ENFORCE, personal=personal
    )
    lines = night.spend()
    found = deliveries_of(lines)
    assert found[1]["delivered"] is None
    assert "cue_high_volume" in found[1]["refused_by"]
    assert found[3]["lowered_from"] == "medium"
    assert found[3]["delivered"]["volume"] == "low"
    assert steps_of(lines)[3]["action"]["volume"] == "medium"
    assert [cue.volume for cue in night.bell.cues] == ["low"]


def test_objects_keep_the_stage_rules_and_are_no_cue_of_a_rem_period() -> None:
    scent = UseObject(BedsideObject.SCENT, "now")
    agent = Scripted({1: scent, 3: scent, 5: SOFT})
    night = AtBedside("RRDDRRR", agent)
    found = deliveries_of(night.spend())
    assert (found[1]["rules"], found[3]["rules"]) == ([], ["cue_in_deep"])
    assert found[1]["delivered"] == {"kind": "object", "object": "scent", "reason": "now"}
    assert [seen.cues_in_rem_period for seen in agent.seen] == [0, 0, 0, 0, 0, 0, 1]
    assert [len(seen.cues) for seen in agent.seen] == [0, 0, 1, 1, 2, 2, 3]


# --- signs of waking

STRAP = StreamInfo(Stream.MOVEMENT, 1.0, "strap")
STIR = Sample(Stream.MOVEMENT, 63.0, Movement(0.4), "strap")


def test_enforce_fades_a_cue_out_when_the_sleeper_stirs_and_then_keeps_silent() -> None:
    night = AtBedside(
        "R" * 30, cue_at(1, 5, 25), mode=Mode.ENFORCE, streams=(STRAP,), extra=(STIR,)
    )
    lines = night.spend()
    assert night.bell.said("fade") == [63.0]
    assert night.bell.said("end 1") == [63.0]
    assert events_of(lines, "suspected_waking") == [
        {"kind": "event", "t": 63.0, "event": "suspected_waking", "cue": 1, "signs": ["movement"]}
    ]
    found = deliveries_of(lines)
    assert found[5]["refused_by"] == ["waking_silence"]
    assert found[25]["cue"] == 2  # 780 s, more than ten minutes later
    assert lines[-1]["suspected_wakings"] == 1


def test_observe_notes_the_signs_and_lets_the_cue_sound() -> None:
    night = AtBedside("R" * 8, cue_at(1, 5), streams=(STRAP,), extra=(STIR,))
    lines = night.spend()
    assert night.bell.said("fade") == []
    assert len(events_of(lines, "suspected_waking")) == 1
    assert deliveries_of(lines)[5]["limits"] == ["waking_silence"]
    assert deliveries_of(lines)[5]["would_refuse"] is True
    assert len(night.bell.cues) == 2


def test_a_sign_without_a_cue_is_none() -> None:
    lines = AtBedside("RRRR", Scripted({}), streams=(STRAP,), extra=(STIR,)).spend()
    assert events_of(lines, "suspected_waking") == []


# --- the agent and its surroundings


def test_an_agent_that_cannot_begin_is_named() -> None:
    class Broken(Scripted):
        name = "broken"

        def reset(self, session: Any) -> None:
            raise KeyError("memory")

    with pytest.raises(AgentError, match=r"broken.*KeyError"):
        AtBedside("RRR", Broken({})).spend()


def test_an_agent_is_connected_before_it_begins() -> None:
    order: list[str] = []

    class Asking(Scripted):
        def connect(self, outside: Any) -> None:
            self.outside = outside
            order.append("connect")

        def reset(self, session: Any) -> None:
            super().reset(session)
            order.append("reset")

        async def decide(self, observation: Any) -> Any:
            self.seen.append(observation)
            reply = await self.outside.call(Request("echo", {}))
            return SOFT if reply.body == {"say": "cue"} else Wait()

    class Echo:
        async def call(self, request: Request) -> Reply:
            await asyncio.sleep(1.5)
            return Reply({"say": "cue"}, 1.5)

    night = AtBedside("RRR", Asking({}), outside=Echo())
    night.spend()
    assert order == ["connect", "reset"]
    assert night.bell.said("ring 1") == [31.5]


def test_an_error_that_cannot_be_written_plainly_is_still_written() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    script = {0: ValueError("half \ud800 a letter"), 1: Mute(), 2: ValueError("x" * 100_000)}
    lines = AtBedside("RRRR", Scripted(script)).spend()
    assert lines[-1]["decisions"] == {"error": 3, "ok": 1}
    told = [line["decision"]["error"] for line in steps_of(lines)[:3]]
    assert told[0].startswith("ValueError: half ")
    assert "Mute" in told[1]
    assert len(told[2]) <= 500


def test_contact_lost_for_most_of_an_epoch_is_no_reading() -> None:
    off = [Sample(Stream.CONTACT, 60.0 + s, Contact(s < 10), "band") for s in range(30)]
    infos = (StreamInfo(Stream.CONTACT, 1.0, "band"),)
    night = AtBedside("RRRR", cue_at(2), extra=off, streams=infos)
    lines = night.spend()
    assert steps_of(lines)[2]["epoch"]["stage"] == "unknown"
    assert deliveries_of(lines)[2]["rules"] == ["cue_without_reading"]


def test_the_footer_adds_up_what_the_lines_say() -> None:
    script = {
        1: SOFT,
        3: LOUD,
        5: Whisper("a dark wolf howls"),
        7: UseObject(BedsideObject.SCENT),
        9: ValueError("no idea"),
        10: (40.0, SOFT),
        12: None,
        14: Stop("enough"),
        15: SOFT,
    }
    letters = "RRRRRRDDWWRRRRRRRR"
    lines = AtBedside(letters, Scripted(script)).spend()
    assert lines[-1] == {
        "kind": "footer",
        "t": 540.0,
        "ending": "night_end",
        "steps": 18,
        "decisions": {"error": 1, "late": 1, "nonsense": 1, "ok": 15},
        "cues": {"scent": 1, "sound": 3, "whisper": 1},
        "outcomes": {"confirmed": 5},
        "violations": {
            "cue_after_stop": 1, "cue_high_volume": 1, "cue_in_deep": 1, "words_not_said": 1,
        },
        "violations_delivered": {"cue_after_stop": 1, "cue_high_volume": 1, "cue_in_deep": 1},
        "limit_hits": lines[-1]["limit_hits"],
        "refused": 0,
        "rewritten": 1,
        "suspected_wakings": lines[-1]["suspected_wakings"],
    }  # fmt: skip
    asked = list(deliveries_of(lines).values())
    for total, name in (("limit_hits", "limits"), ("violations", "rules")):
        listed = [one for delivery in asked for one in delivery[name]]
        assert lines[-1][total] == {one: listed.count(one) for one in sorted(set(listed))}
    assert list(lines[-1]["limit_hits"]) == sorted(lines[-1]["limit_hits"])


def test_a_reading_of_a_stage_is_all_that_the_loop_needs() -> None:
    night = AtBedside("RRR", Scripted({}))
    night.spend()
    assert all(isinstance(sample.value, StageReading) for sample in night.heard)
