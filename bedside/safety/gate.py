"""The one gate between an agent's action and an actuator. Pure: values in, a verdict out.

`enforce` (live, always): rules, limits, caps and powers act; `words_not_said` rewrites.
`observe` (replay): nothing is refused or lowered, words are still rewritten, and the verdict says
what `enforce` would have done. A person's stop, a recording-only night, an incomplete action and
a whisper with nothing to replace it are refused in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from agents.types import Action, UseObject, Whisper
from bedside.safety.limits import (
    IN_EVERY_MODE,
    LIMIT_REASONS,
    LOWERING,
    REWRITING,
    History,
    Limit,
    PersonalLimits,
    allowed_volume,
    is_whole,
    limit_hits,
)
from bedside.safety.rules import CUE_ACTIONS, RULE_REASONS, CueAction, Rule, Shown, broken_rules
from bedside.safety.words import OwnWords, rewrite
from devices.types import Volume


class Mode(StrEnum):
    """Whether the gate acts or only writes down what it would have done."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was asked, every rule and limit that fired, and what goes to an actuator.

    rules, limits: of what was asked. delivered: None for wait, stop and a refusal.
    refused_by: what refused it in this mode. would_refuse: whether `enforce` refuses it.
    lowered_from: the asked volume where a lower one is delivered.
    delivered_rules: rules broken by what is delivered.
    """

    asked: Action
    rules: tuple[Rule, ...] = ()
    limits: tuple[Limit, ...] = ()
    delivered: CueAction | None = None
    refused_by: tuple[Rule | Limit, ...] = ()
    would_refuse: bool = False
    rewritten: bool = False
    lowered_from: Volume | None = None
    delivered_rules: tuple[Rule, ...] = ()


def judge(
    action: Action,
    *,
    t: float,
    shown: Shown,
    words: OwnWords,
    lines: Sequence[str],
    memory: str | None,
    history: History,
    personal: PersonalLimits,
    mode: Mode,
) -> Verdict:
    """The verdict on an action at its delivery `t`. Raises nothing, whatever the agent returned."""
    if not isinstance(action, CUE_ACTIONS):
        return Verdict(action)
    if not is_whole(action):
        malformed = (Limit.MALFORMED,)
        return Verdict(action, limits=malformed, refused_by=malformed, would_refuse=True)
    said = not isinstance(action, Whisper) or words.said(action.line)
    rules = broken_rules(action, shown, stopped=history.agent_stopped, words_said=said)
    volume = None if isinstance(action, UseObject) else action.volume
    limits = limit_hits(action, volume, t, history, personal)
    if isinstance(action, Whisper) and action.line not in lines:
        limits = tuple(limit for limit in Limit if limit in (*limits, Limit.LINE_NOT_APPROVED))
    line = rewrite(lines, memory)
    strict = _refusals(rules, limits, line, Mode.ENFORCE)
    refused_by = _refusals(rules, limits, line, mode)
    verdict = Verdict(action, rules, limits, None, refused_by, bool(strict))
    if refused_by:
        return verdict
    delivered = _rewritten(action, _rewriters(rules, limits, mode), line)
    if mode is Mode.ENFORCE:
        delivered = _lowered(delivered, personal)
    return replace(
        verdict,
        delivered=delivered,
        rewritten=_line(delivered) != _line(action),
        lowered_from=None if _volume(delivered) is _volume(action) else _volume(action),
        delivered_rules=broken_rules(
            delivered, shown, stopped=history.agent_stopped, words_said=True
        ),
    )


def reasons(verdict: Verdict) -> tuple[str, ...]:
    """Why, in words for people: each rule and limit that fired, then what was changed."""
    why = [RULE_REASONS[rule] for rule in verdict.rules]
    why += [LIMIT_REASONS[limit] for limit in verdict.limits]
    if verdict.rewritten:
        why.append(f"whispered instead: {_line(verdict.delivered)}")
    if verdict.lowered_from is not None:
        why.append(f"lowered from {verdict.lowered_from} to {_volume(verdict.delivered)}")
    return tuple(why)


def _refusals(
    rules: tuple[Rule, ...], limits: tuple[Limit, ...], line: str | None, mode: Mode
) -> tuple[Rule | Limit, ...]:
    if mode is Mode.ENFORCE:
        refusing: list[Rule | Limit] = [rule for rule in rules if rule is not Rule.WORDS_NOT_SAID]
        refusing += [limit for limit in limits if limit not in LOWERING | REWRITING]
    else:
        refusing = [limit for limit in limits if limit in IN_EVERY_MODE]
    return (*refusing, *(_rewriters(rules, limits, mode) if line is None else ()))


def _rewriters(
    rules: tuple[Rule, ...], limits: tuple[Limit, ...], mode: Mode
) -> tuple[Rule | Limit, ...]:
    """What in this mode asks for another line."""
    unsaid = tuple(rule for rule in rules if rule is Rule.WORDS_NOT_SAID)
    if mode is Mode.OBSERVE:
        return unsaid
    return (*unsaid, *(limit for limit in limits if limit in REWRITING))


def _rewritten(
    action: CueAction, rewriters: tuple[Rule | Limit, ...], line: str | None
) -> CueAction:
    if isinstance(action, Whisper) and rewriters and line is not None:
        return replace(action, line=line)
    return action


def _lowered(action: CueAction, personal: PersonalLimits) -> CueAction:
    if isinstance(action, UseObject):
        return action
    return replace(action, volume=allowed_volume(action.volume, personal))


def _line(action: CueAction | None) -> str | None:
    return action.line if isinstance(action, Whisper) else None


def _volume(action: CueAction | None) -> Volume | None:
    return None if action is None or isinstance(action, UseObject) else action.volume
