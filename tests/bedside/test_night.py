"""The loop itself: what happens in which order, at which moment, and what it survives."""

import asyncio
import threading
from typing import Any

import pytest

from agents.types import (
    BedsideObject,
    GivenCue,
    PlaySound,
    SessionKind,
    Stop,
    UseObject,
    Wait,
)
from bedside.plan import Ending, Resumed
from bedside.safety.gate import Mode
from bedside.safety.limits import PastCue
from devices.types import (
    Cue,
    CueKind,
    CueSounded,
    PersonAct,
    Sample,
    Stream,
    Volume,
)
from tests.bedside.bells import BUTTON, AtBedside, Bell, Notebook, pressed
from tests.replay.nights import SOFT, Scripted, cue_at, deliveries_of, events_of, steps_of

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
