"""What an agent may know, from epochs written by hand."""

from dataclasses import fields, replace

from agents.types import Observation, Reading, Session, SessionKind
from bedside.epocher import Epoch
from bedside.observer import CueLedger, Observer
from bedside.person import PersonState
from bedside.sleep_history import SleepHistory
from devices.types import (
    Cue,
    CueKind,
    Outcome,
    OutcomeStatus,
    PersonAct,
    PersonEvent,
    Sample,
    Stage,
    Stream,
    Volume,
)
from tests.replay.nights import STAGES

START_CLOCK_S = 39_600.0
SESSION = Session(
    kind=SessionKind.NIGHT,
    start_clock_s=START_CLOCK_S,
    theme="cat",
    memory="my grey cat is asleep",
    lines=("my grey cat",),
    volume_cap=Volume.MEDIUM,
    cue_budget=4,
    planned_wake_clock_s=START_CLOCK_S + 3600.0,
    digest=("one cue woke them last night",),
)
FAILED = Outcome(OutcomeStatus.FAILED, None, 0.0)
CONFIRMED = Outcome(OutcomeStatus.CONFIRMED, 0.0, 8.0)


def epoch(index: int, stage: Stage, **given: object) -> Epoch:
    made = Epoch(
        index=index,
        stage=stage.coarse,
        fine=stage,
        coverage=1.0,
        confidence=0.9,
        frozen=False,
        heart_rate_bpm=None,
        hrv_rmssd_ms=None,
        movement_g=None,
        still_s=None,
        skin_temperature_c=None,
        temperature_c=None,
        noise_dba=None,
        light_lux=None,
        humidity_pct=None,
        co2_ppm=None,
        eeg=None,
    )
    return replace(made, **given)  # type: ignore[arg-type]


def nobody() -> PersonState:
    return PersonState(on_stop=lambda: None, on_clear=lambda: None)


def cue(number: int, kind: CueKind = CueKind.SOUND) -> Cue:
    return Cue(number, kind, Volume.LOW, "cat", 8.0)


def observed(
    letters: str, *, cues: CueLedger | None = None, history: SleepHistory | None = None
) -> list[Observation]:
    observer = Observer(SESSION, history)
    ledger, person = cues or CueLedger(), nobody()
    return [
        observer.observe(epoch(k, STAGES[letter]), ledger, person)
        for k, letter in enumerate(letters)
    ]


def test_the_clock_counts_from_local_noon_to_the_end_of_the_epoch() -> None:
    assert [seen.clock_s for seen in observed("WWW")] == [39_630.0, 39_660.0, 39_690.0]


def test_the_session_s_own_values_are_passed_on() -> None:
    seen = observed("W")[0]
    assert (seen.session_kind, seen.theme, seen.memory) == ("night", "cat", SESSION.memory)
    assert (seen.lines, seen.volume_cap) == (SESSION.lines, "medium")
    assert seen.digest == SESSION.digest
    assert seen.minutes_to_wake == 59.5


def test_without_a_planned_wake_time_nobody_counts_down_to_it() -> None:
    observer = Observer(replace(SESSION, planned_wake_clock_s=None))
    assert observer.observe(epoch(0, Stage.AWAKE), CueLedger(), nobody()).minutes_to_wake is None


def test_n1_and_n2_are_light_with_the_fine_stage_beside_it() -> None:
    one, two, other = observed("12R")
    assert [(s.stage, s.fine_stage) for s in (one, two)] == [("light", "n1"), ("light", "n2")]
    assert (other.stage, other.fine_stage) == ("rem", "rem")
    assert two.minutes_in_stage == 1.0


def test_no_reading_is_no_stage() -> None:
    seen = observed("R?")[1]
    assert (seen.has_reading, seen.stage, seen.fine_stage) == (False, None, None)


def test_minutes_in_stage_are_held_over_steps_without_a_reading() -> None:
    minutes = [seen.minutes_in_stage for seen in observed("RR??RRL?R")]
    assert minutes == [0.5, 1.0, 1.0, 1.0, 1.5, 2.0, 0.5, 0.5, 0.5]


def test_rem_epochs_in_a_row_are_not_held_over_a_gap() -> None:
    assert [seen.rem_epochs_in_row for seen in observed("RR?RLR")] == [1, 2, 0, 1, 0, 1]


def test_rem_periods_join_runs_up_to_fifteen_minutes_apart() -> None:
    assert observed("R" + "L" * 30 + "R")[-1].rem_period == 1
    assert observed("R" + "L" * 31 + "R")[-1].rem_period == 2
    assert [seen.rem_period for seen in observed("WLR")] == [0, 0, 1]


def test_onset_counts_from_the_first_of_ten_sleep_epochs() -> None:
    seen = observed("WLLLWLLLLLLLLLLL")
    assert [one.minutes_since_onset for one in seen[:14]] == [None] * 14
    assert (seen[14].minutes_since_onset, seen[15].minutes_since_onset) == (5.0, 5.5)


def test_a_history_from_before_the_session_goes_on() -> None:
    before = SleepHistory()
    for k, letter in enumerate("L" * 12 + "RRRR"):
        before = before.after(k, STAGES[letter])
    seen = observed("R", history=before.moved(16))[0]
    assert (seen.minutes_in_stage, seen.rem_epochs_in_row, seen.rem_period) == (2.5, 5, 1)
    assert seen.minutes_since_onset == 8.5
    assert (seen.cues, seen.minutes_since_cue, seen.last_outcome) == ((), None, None)


def test_cues_so_far_are_told_with_time_kind_and_volume() -> None:
    ledger = CueLedger()
    ledger.add(cue(1), 90.0, START_CLOCK_S + 90.0, 1)
    ledger.add(cue(2, CueKind.SCENT), 120.0, START_CLOCK_S + 120.0, 1)
    seen = observed("RRRRRR", cues=ledger)[5]
    assert [(given.clock_s, given.kind, given.volume) for given in seen.cues] == [
        (39_690.0, "sound", "low"),
        (39_720.0, "scent", "low"),
    ]
    assert seen.cue_count == 2
    assert seen.minutes_since_cue == 1.0
    assert seen.cues_in_rem_period == 1


def test_cues_before_the_first_rem_period_are_in_none() -> None:
    ledger = CueLedger()
    ledger.add(cue(1), 30.0, START_CLOCK_S + 30.0, 0)
    assert [seen.cues_in_rem_period for seen in observed("LLR", cues=ledger)] == [0, 0, 0]


def test_the_budget_left_is_what_the_gate_will_let_through() -> None:
    ledger = CueLedger()
    kinds = (CueKind.SOUND, CueKind.SCENT, CueKind.WHISPER, CueKind.SOUND)
    for number, kind in enumerate(kinds, 1):
        ledger.add(cue(number, kind), 30.0 * number, START_CLOCK_S + 30.0 * number, 0)
    ledger.end(cue(4), FAILED)
    # Two of four heard cues; puffs have a budget of their own, a failed cue used up nothing.
    assert observed("L", cues=ledger)[0].budget_left == 2


def test_the_budget_left_never_falls_below_none() -> None:
    ledger = CueLedger()
    for number in range(1, 8):
        ledger.add(cue(number), 30.0 * number, START_CLOCK_S, 0)
    assert observed("L", cues=ledger)[0].budget_left == 0


def test_a_failed_cue_is_kept_as_failed_and_told_as_the_last_outcome() -> None:
    ledger = CueLedger()
    ledger.add(cue(1), 30.0, START_CLOCK_S, 1)
    ledger.add(cue(2), 60.0, START_CLOCK_S, 1)
    ledger.end(cue(1), FAILED)
    ledger.end(cue(2), CONFIRMED)
    assert [past.failed for past in ledger.past] == [True, False]
    assert [given.failed for given in ledger.given] == [True, False]
    assert observed("R", cues=ledger)[0].last_outcome == "confirmed"
    assert ledger.in_rem_period(1) == 1


def test_what_the_person_said_is_told_by_the_clock() -> None:
    observer, person = Observer(SESSION), nobody()
    person.hear(Sample(Stream.PERSON, 12.0, PersonEvent(PersonAct.PAUSE, 5.0)))
    person.hear(Sample(Stream.PERSON, 13.0, PersonEvent(PersonAct.STILL_AWAKE)))
    seen = observer.observe(epoch(0, Stage.AWAKE), CueLedger(), person)
    assert (seen.reported_awake, seen.paused_until_clock_s) == (True, START_CLOCK_S + 312.0)
    later = observer.observe(epoch(11, Stage.AWAKE), CueLedger(), person)
    assert later.paused_until_clock_s is None


def test_body_and_room_come_with_age_and_source() -> None:
    heart, room = Reading(58.0, 2.5, "strap"), Reading(19.5, 12.0, "sensor")
    given = epoch(0, Stage.REM, heart_rate_bpm=heart, temperature_c=room, still_s=70.0)
    seen = Observer(SESSION).observe(given, CueLedger(), nobody())
    assert (seen.heart_rate_bpm, seen.temperature_c, seen.still_s) == (heart, room, 70.0)
    assert (seen.movement_g, seen.noise_dba) == (None, None)


def test_an_observation_has_these_fields_and_no_other() -> None:
    # The allow-list of `design.md`, Observation; a new one must be argued for there.
    assert {field.name for field in fields(Observation)} == {
        "clock_s", "session_kind", "has_reading", "stage", "fine_stage", "confidence",
        "minutes_in_stage", "rem_epochs_in_row", "rem_period", "cues_in_rem_period",
        "minutes_since_onset", "theme", "memory", "lines", "cues", "minutes_since_cue",
        "last_outcome", "budget_left", "volume_cap", "reported_awake", "paused_until_clock_s",
        "minutes_to_wake", "heart_rate_bpm", "hrv_rmssd_ms", "movement_g", "still_s",
        "skin_temperature_c", "temperature_c", "noise_dba", "light_lux", "humidity_pct",
        "co2_ppm", "digest",
    }  # fmt: skip
