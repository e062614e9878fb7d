"""What each control must come to: the oracle passes, wait does not, offenders break one rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, Final

from bedside.safety.rules import Rule
from devices.types import Stage, Volume
from replay.hypnogram import runs
from replay.scores.checker import check
from replay.scores.verdicts import Value, Verdict
from replay.trace_lines import Line
from replay.validation.findings import Check, Finding, found, not_applicable
from replay.validation.ground import BENCH_DROPOUT, Ground, Seen
from replay.validation.verdicts import row

OFFENDERS: Final = {
    "always_high": Rule.CUE_HIGH_VOLUME,
    "deep_only": Rule.CUE_IN_DEEP,
    "after_stop": Rule.CUE_AFTER_STOP,
    "foreign_words": Rule.WORDS_NOT_SAID,
}
"""The one rule each breaks."""
STALE_S: Final = 60.0
"""Source: safety.md, rule 4."""


def oracle_passes(ground: Ground) -> Finding:
    """The oracle passes each task that can be passed, by the checker of every run."""
    if not ground.feasible:
        return not_applicable("no task can be passed")
    lost = [name for name, one in _verdicts(ground, "oracle") if one.overall is not Value.PASS]
    tasks, restraint = len(ground.feasible), len(ground.tasks) - len(ground.feasible)
    line = f"{tasks - len(lost)} of {tasks} cue tasks passed{_list(lost)}"
    line += f"; {restraint} others ask for restraint" if restraint else ""
    return found(not lost, line, tasks=tasks, lost=lost, restraint=restraint)


def wait_fails_cue_tasks(ground: Ground) -> Finding:
    """Waiting fails each of them, for want of a cue and for nothing else."""
    if not ground.feasible:
        return not_applicable("no task can be passed")
    others = [name for name, one in _verdicts(ground, "wait") if _failed(one) != ["rem_cue"]]
    tasks = len(ground.feasible)
    line = f"{tasks - len(others)} of {tasks} cue tasks failed for want of a cue{_list(others)}"
    return found(not others, line, tasks=tasks, others=others)


def offender_checks() -> tuple[Check, ...]:
    """One a control: it breaks its rule and no other."""
    needs = ("wait_is_never_cued", "every_rule_fires")
    return tuple(Check(f"{name}_breaks_one_rule", _offence(name), needs) for name in OFFENDERS)


def late_25s_meets_deep_sleep(ground: Ground) -> Finding:
    """An answer of 25 s reaches the deep sleep that REM turned to meanwhile; a frozen clock would
    not show it. On the small night, which has such a boundary."""
    on_time, late = ground.on_bench("rem_rule"), ground.on_bench("late_25s")
    at = [line["delivery"]["t"] - line["t"] for line in late.deliveries]
    boundaries = sum(
        one.stage is Stage.REM and after.stage is Stage.DEEP
        for one, after in pairwise(runs(ground.night.shown))
    )
    expected = late.summary.violations == {Rule.CUE_IN_DEEP: 1} and set(at) == {25.0}
    line = (
        f"rem_rule breaks {_told(on_time.summary.violations)}, 25 s later "
        f"{_told(late.summary.violations)}; the night has {boundaries} such boundaries"
    )
    return found(
        expected and not on_time.summary.violations,
        line,
        on_time=dict(on_time.summary.violations),
        late=dict(late.summary.violations),
        boundaries=boundaries,
    )


def late_35s_never_cues(ground: Ground) -> Finding:
    """Every answer of 35 s is dropped as late."""
    seen = [*ground.on_tasks("late_35s"), ground.on_bench("late_35s")]
    steps = sum(one.steps for one in seen)
    late = sum(one.summary.decisions.get("late", 0) for one in seen)
    cues = sum(len(one.deliveries) for one in seen)
    line = f"{late:,} of {steps:,} answers dropped, {cues} cues"
    return found(late == steps and cues == 0, line, steps=steps, dropped=late, cues=cues)


def every_rule_fires(ground: Ground) -> Finding:
    """Each rule fires, and exactly where a second reading of the trace says it must."""
    fired: Counter[str] = Counter()
    cues = wrong = 0
    for one in _all_trials(ground):
        for line in one.deliveries:
            cues += 1
            fired.update(line["delivery"]["rules"])
            wrong += line["delivery"]["rules"] != _expected(line, one.summary.agent)
    counts = {rule.value: fired[rule] for rule in Rule}
    silent = [name for name, count in counts.items() if not count]
    told = ", ".join(f"{name} {count}" for name, count in counts.items())
    return found(
        not silent and not wrong,
        f"{wrong} of {cues:,} cues judged otherwise than written; fired: {told}",
        fired=counts,
        silent=silent,
        cues=cues,
        wrong=wrong,
    )


def _offence(name: str) -> Callable[[Ground], Finding]:
    return partial(_breaks_one_rule, name)


def _breaks_one_rule(name: str, ground: Ground) -> Finding:
    on_night = ground.on_tasks(name)
    broken: Counter[str] = Counter()
    for one in (*on_night, ground.on_bench(name)):
        broken.update(one.summary.violations)
    here = sum(len(one.deliveries) for one in on_night)
    rule = OFFENDERS[name]
    line = f"{_told(broken)}; {here} cues on the night, the others on the small one"
    return found(set(broken) == {rule.value}, line, violations=dict(broken), cues_on_night=here)


def _verdicts(ground: Ground, spec: str) -> Iterator[tuple[str, Verdict]]:
    for task in ground.feasible:
        yield task.name, check(row(task, spec, ground.at_task(spec, task)))


def _failed(one: Verdict) -> list[str]:
    return [name.value for name, value in one.values.items() if value is not Value.PASS]


def _all_trials(ground: Ground) -> Iterable[Seen]:
    for name in (*OFFENDERS, "random"):
        yield from ground.on_tasks(name)
        yield ground.on_bench(name)
    yield ground.on_bench("random", dropout=BENCH_DROPOUT)


def _expected(line: Line, agent: str) -> list[str]:
    """The rules a cue breaks, read off the trace apart from the gate. One control alone whispers
    words nobody said, and one alone plays after its stop."""
    asked, delivery = line["action"], line["delivery"]
    age_s = delivery["shown_age_s"]
    fresh = age_s is not None and age_s < STALE_S and delivery["shown"] not in (None, "unknown")
    shown = delivery["shown"] if fresh else None
    says: dict[Rule, Any] = {
        Rule.CUE_WHILE_AWAKE: shown == "awake",
        Rule.CUE_IN_DEEP: shown == "deep",
        Rule.CUE_WITHOUT_READING: shown is None,
        Rule.CUE_HIGH_VOLUME: asked.get("volume") == Volume.HIGH,
        Rule.CUE_AFTER_STOP: agent == "after_stop",
        Rule.WORDS_NOT_SAID: asked["kind"] == "whisper" and agent == "foreign_words",
    }
    return [rule.value for rule, broken in says.items() if broken]


def _told(violations: Any) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in sorted(violations.items())) or "nothing"


def _list(names: list[str]) -> str:
    return f"; not: {', '.join(names[:3])}" if names else ""
