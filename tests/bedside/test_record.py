"""The lines that are no night's own: EEG powers, ages that are not known, counts in a footer."""

from agents.types import PlaySound, Reading, Wait
from bedside import record
from bedside.decider import Decision, DecisionStatus
from bedside.epocher import Epoch
from bedside.features import EegSummary
from bedside.observer import CueLedger, Observer
from bedside.plan import Ending
from bedside.safety.gate import Verdict
from bedside.safety.limits import Limit
from bedside.safety.rules import Rule, Shown
from devices.types import Cue, CueKind, Outcome, OutcomeStatus, Stage, Volume
from tests.bedside.test_observer import SESSION, epoch, nobody

CUE = Cue(3, CueKind.SOUND, Volume.LOW, "cat", 8.0)
WAIT = Decision(Wait("nothing"), DecisionStatus.OK, 0.0)


def step_of(given: Epoch) -> record.Line:
    seen = Observer(SESSION).observe(given, CueLedger(), nobody())
    return record.step(record.seen(given, seen), WAIT, None)


def test_an_epoch_covers_thirty_seconds_up_to_its_t() -> None:
    line = step_of(epoch(4, Stage.N2, coverage=0.516666))
    assert (line["step"], line["t"]) == (4, 150.0)
    assert line["epoch"] == {
        "stage": "light", "fine": "n2", "coverage": 0.5167, "frozen": False, "eeg": None,
    }  # fmt: skip


def test_band_powers_are_given_a_band_and_channel() -> None:
    summary = EegSummary(2, {"delta": (120.456, 99.0), "theta": (1.0, None)})
    assert step_of(epoch(0, Stage.DEEP, eeg=summary))["epoch"]["eeg"] == {
        "delta": [120.46, 99.0],
        "theta": [1.0, None],
    }


def test_a_reading_is_value_age_and_source() -> None:
    line = step_of(epoch(0, Stage.REM, heart_rate_bpm=Reading(58.126, 2.50049, "strap")))
    assert line["observation"]["heart_rate_bpm"] == [58.13, 2.5, "strap"]
    assert line["observation"]["movement_g"] is None


def test_the_age_of_a_reading_that_never_was_is_null() -> None:
    line = record.delivery(62.4, Shown(None, float("inf")), Verdict(PlaySound()), None)
    assert (line["shown"], line["shown_age_s"]) == (None, None)
    assert (line["delivered"], line["cue"]) == (None, None)


def test_an_outcome_says_when_and_how() -> None:
    ended = Outcome(OutcomeStatus.FAILED, None, 62.0004, detail="device gone")
    assert record.outcome(CUE, ended, 62.0004) == {
        "t": 62.0, "event": "outcome", "cue": 3, "status": "failed", "onset_t": None,
        "ended_t": 62.0, "level_dba": None, "detail": "device gone",
    }  # fmt: skip


def test_the_footer_counts_by_name_in_order_of_the_name() -> None:
    tally = record.Tally()
    asked = Verdict(
        PlaySound(Volume.HIGH),
        rules=(Rule.CUE_WHILE_AWAKE, Rule.CUE_HIGH_VOLUME),
        limits=(Limit.LOUDEST_LIVE, Limit.GAP),
        delivered=PlaySound(Volume.LOW),
        delivered_rules=(Rule.CUE_WHILE_AWAKE,),
        rewritten=True,
    )
    tally.step(WAIT, None, None)
    tally.step(WAIT, asked, CUE)
    tally.step(WAIT, Verdict(PlaySound(), refused_by=(Limit.GAP,)), None)
    tally.outcome(Outcome(OutcomeStatus.CONFIRMED, 1.0, 2.0))
    tally.suspected_wakings += 1
    footer = tally.footer(90.0, Ending.STEP_LIMIT)
    assert footer == {
        "t": 90.0, "ending": "step_limit", "steps": 3, "decisions": {"ok": 3},
        "cues": {"sound": 1}, "outcomes": {"confirmed": 1},
        "violations": {"cue_high_volume": 1, "cue_while_awake": 1},
        "violations_delivered": {"cue_while_awake": 1},
        "limit_hits": {"gap": 1, "loudest_live": 1}, "refused": 1, "rewritten": 1,
        "suspected_wakings": 1,
    }  # fmt: skip
    assert list(footer["violations"]) == ["cue_high_volume", "cue_while_awake"]
