"""Validation passes the real environment, and names what is broken in a broken one."""

from __future__ import annotations

from functools import cache

import pytest

from replay.validation.broken import BROKEN, main
from replay.validation.checks import CHECKS, validate
from replay.validation.environment import REAL, Environment
from replay.validation.findings import Report, Result
from tests.replay.nights import Line, night

E12 = (
    *("wait_is_never_cued", "wait_replays_exactly", "stage_shares", "rolls_are_seeded"),
    *("same_bytes", "same_bytes_in_another_process", "attempts_are_isolated"),
    *("wake_rule_is_ordered", "every_rule_fires", "oracle_passes", "wait_fails_cue_tasks"),
    *("always_high_breaks_one_rule", "deep_only_breaks_one_rule", "after_stop_breaks_one_rule"),
    *("foreign_words_breaks_one_rule", "late_25s_meets_deep_sleep", "late_35s_never_cues"),
    *("theme_renamed", "clock_shifted_a_day", "ids_changed", "tasks_reordered"),
    *("concurrency_changed", "ends_by_night_end", "ends_by_agent_stop", "ends_by_stable_deep"),
    *("ends_by_step_limit", "ends_by_recording_exhausted", "ends_by_time_limit"),
    *("ends_by_cancelled", "live_loop_is_replay_loop", "steps_give_the_same_trace"),
    *("gymnasium_checks_pass", "nothing_hidden_leaks"),
)
"""What requirement E12 asks for, by our names."""
BREAKAGES = {
    "leaked_field": "nothing_hidden_leaks",
    "unseeded_roll": "rolls_are_seeded",
    "wake_rule_upside_down": "wake_rule_is_ordered",
    "cued_wait": "wait_is_never_cued",
    "silent_rule": "every_rule_fires",
}


SMALL = "WLRRRRRRRRLLLLDDDDDDDDDD?RRRRRRRRRRLLLLLLLLLLW"
"""Two tasks fit."""


@cache
def report(name: str = "") -> Report:
    return validate(night(SMALL), BROKEN[name].environment if name else REAL)


def numbers(name: str, of: Report) -> Line:
    return next(dict(one.finding.numbers) for one in of.checks if one.name == name)


def line(name: str, of: Report) -> str:
    return next(one.finding.line for one in of.checks if one.name == name)


def test_every_check_of_the_requirement_is_there() -> None:
    assert set(E12) <= {check.name for check in CHECKS}


def test_a_check_needs_only_checks_that_were_made_before_it() -> None:
    before: set[str] = set()
    for check in CHECKS:
        assert set(check.needs) <= before, check.name
        before.add(check.name)


def test_the_real_environment_passes_on_a_small_night() -> None:
    told = report()
    assert told.named(Result.FAILED) == ()
    assert told.named(Result.NOT_APPLICABLE) == ("stage_shares",)
    assert (told.passed, told.epochs) == (True, len(SMALL))


def test_the_gaps_of_the_night_are_counted_and_named() -> None:
    gaps = [step for step, letter in enumerate(SMALL) if letter == "?"]
    told = numbers("wait_replays_exactly", report())
    assert told["compared"] == len(SMALL) - len(gaps)
    assert told["excluded"] == {"no reading in the recording": gaps}
    assert line("wait_replays_exactly", report()).startswith(
        f"{len(SMALL) - len(gaps)} of {len(SMALL) - len(gaps)} epochs match, {len(gaps)} of"
    )


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_breakage_is_caught_by_the_check_that_names_it_and_by_no_other(name: str) -> None:
    told = report(name)
    assert told.named(Result.FAILED) == (BREAKAGES[name],)
    assert not told.passed
    assert BROKEN[name].caught_by == BREAKAGES[name]


def test_every_breakage_is_known_by_name() -> None:
    assert list(BROKEN) == list(BREAKAGES)


def test_the_leaked_field_is_named() -> None:
    told = numbers("nothing_hidden_leaks", report("leaked_field"))
    assert told["extra"] == ["true_stage"]
    assert told["knew_truth"] == told["observations"]


def test_the_rule_that_never_fires_is_named() -> None:
    told = numbers("every_rule_fires", report("silent_rule"))
    assert told["silent"] == ["cue_without_reading"]
    assert told["wrong"] > 0


def test_dice_thrown_anew_keep_the_vectors_and_not_the_rolls() -> None:
    told = numbers("rolls_are_seeded", report("unseeded_roll"))
    assert told["vectors"] == 4
    assert told["same"] < told["rolls"]


def test_what_rests_on_a_broken_ground_is_not_asked() -> None:
    told = report("unseeded_roll")
    assert "same_bytes" in told.named(Result.NOT_APPLICABLE)
    assert line("same_bytes", told) == "not asked: rolls_are_seeded did not pass"


def test_whatever_an_environment_raises_is_a_failed_check() -> None:
    def lost(*given: object, **named: object) -> None:
        raise KeyError("the table is lost")

    told = validate(night("LLRR"), Environment(wake_table=lost))  # type: ignore[arg-type]
    assert "wait_is_never_cued" in told.named(Result.FAILED)
    assert line("wait_is_never_cued", told) == "broke off: KeyError: 'the table is lost'"
    assert not told.passed


def test_the_script_of_breakages_asks_for_a_name_it_knows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["nothing"]) == 2
    assert main([]) == 2
    assert "leaked_field" in capsys.readouterr().err
