"""All checks in their order, and the running of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bedside.clock import real_s
from bedside.decider import told
from replay.progress import Report as Progress
from replay.recorded_night import RecordedNight
from replay.validation import (
    chance,
    contestants,
    fidelity,
    leaks,
    one_loop,
    repetition,
    stepping,
)
from replay.validation.endings import ending_checks
from replay.validation.environment import REAL, Environment
from replay.validation.findings import (
    Check,
    Checked,
    Finding,
    Report,
    Result,
    found,
    not_applicable,
)
from replay.validation.ground import Ground

WAIT: Final = "wait_is_never_cued"
ROLLS: Final = "rolls_are_seeded"
BYTES: Final = "same_bytes"

CHECKS: Final = (
    Check(WAIT, fidelity.wait_is_never_cued),
    Check("wait_replays_exactly", fidelity.wait_replays_exactly, (WAIT,)),
    Check("stage_shares", fidelity.stage_shares),
    Check(ROLLS, chance.rolls_are_seeded),
    Check(BYTES, repetition.same_bytes, (ROLLS,)),
    Check("same_bytes_in_another_process", repetition.same_bytes_in_another_process, (BYTES,)),
    Check("attempts_are_isolated", repetition.attempts_are_isolated, (BYTES,)),
    Check("wake_rule_is_ordered", chance.wake_rule_is_ordered, (ROLLS,)),
    Check("every_rule_fires", contestants.every_rule_fires),
    Check("oracle_passes", contestants.oracle_passes, (ROLLS, WAIT)),
    Check("wait_fails_cue_tasks", contestants.wait_fails_cue_tasks, (WAIT,)),
    *contestants.offender_checks(),
    Check(
        "late_25s_meets_deep_sleep",
        contestants.late_25s_meets_deep_sleep,
        (WAIT, "every_rule_fires"),
    ),
    Check("late_35s_never_cues", contestants.late_35s_never_cues),
    Check("theme_renamed", repetition.theme_renamed, (BYTES,)),
    Check("clock_shifted_a_day", repetition.clock_shifted_a_day, (BYTES,)),
    Check("ids_changed", repetition.ids_changed, (BYTES,)),
    Check("tasks_reordered", repetition.tasks_reordered, (BYTES,)),
    Check("concurrency_changed", repetition.concurrency_changed, (BYTES,)),
    *ending_checks(),
    Check("live_loop_is_replay_loop", one_loop.live_loop_is_replay_loop, (BYTES,)),
    Check("steps_give_the_same_trace", stepping.steps_give_the_same_trace, (BYTES,)),
    Check("gymnasium_checks_pass", stepping.gymnasium_checks_pass),
    Check("nothing_hidden_leaks", leaks.nothing_hidden_leaks),
)


def validate(
    night: RecordedNight,
    environment: Environment = REAL,
    *,
    file: Path | None = None,
    progress: Progress | None = None,
) -> Report:
    """Put an environment to the test on a night, check by check.

    file: the night's file, for other processes; without it the recording is handed to them.
    A check of which a ground did not hold is not asked. One that cannot be carried through failed.
    """
    ground, checked = Ground(night, environment, file), list[Checked]()
    for number, check in enumerate(CHECKS):
        if progress is not None:
            progress(number, len(CHECKS), check.name)
        started_s = real_s()
        finding = _asked(check, ground, checked)
        checked.append(Checked(check.name, finding, real_s() - started_s))
    if progress is not None:
        progress(len(CHECKS), len(CHECKS), "")
    return Report(night.info.night_id, night.epochs, tuple(checked))


def _asked(check: Check, ground: Ground, before: list[Checked]) -> Finding:
    held = {one.name for one in before if one.finding.result is Result.PASSED}
    missing = [name for name in check.needs if name not in held]
    if missing:
        return not_applicable(f"not asked: {', '.join(missing)} did not pass")
    try:
        return check.run(ground)
    except Exception as error:  # whatever a broken environment raises, the check names it
        return found(False, f"broke off: {told(error)}")
