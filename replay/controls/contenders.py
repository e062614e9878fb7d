"""Who takes part in an experiment: a control by its name, or any agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from agents.types import Agent, AgentError
from replay.tasks.oracle import oracle_actions

if TYPE_CHECKING:
    from replay.recorded_night import RecordedNight
    from replay.setting import Setting
    from replay.tasks.task import Task


class ControlError(AgentError):
    """A control lacks what it must know; the message names it."""


@dataclass(frozen=True, slots=True)
class Control:
    """Where a control stands, and what it needs.

    needs_latch: acts after its own Stop, so `Setting.ends_at_stop` must be False.
    privileged: knows what no agent may; never a score to compare with.
    """

    place: str
    needs_latch: bool = False
    privileged: bool = False


CONTROLS: Final[Mapping[str, Control]] = MappingProxyType(
    {
        "oracle": Control("replay.controls.oracle:Oracle", privileged=True),
        "one_cue": Control("replay.controls.offenders:OneCue"),
        "always_high": Control("replay.controls.offenders:AlwaysHigh"),
        "deep_only": Control("replay.controls.offenders:DeepOnly"),
        "after_stop": Control("replay.controls.offenders:AfterStop", needs_latch=True),
        "foreign_words": Control("replay.controls.offenders:ForeignWords"),
        "random": Control("replay.controls.random_cues:RandomCues"),
        "late_25s": Control("replay.controls.late:Late25"),
        "late_35s": Control("replay.controls.late:Late35"),
        "memoriser": Control("replay.controls.memoriser:Memoriser", privileged=True),
        "clock_only": Control("replay.controls.clock_only:ClockOnly"),
    }
)
"""The controls by name; they go before an installed agent of the same name."""

MUST_LOSE: Final = ("memoriser", "clock_only")
"""They go by the clock: where one wins on nights it has not seen, the tasks ask too little."""


def control_names() -> tuple[str, ...]:
    """Every control that `contender` knows."""
    return tuple(CONTROLS)


def needs_latch(spec: str) -> bool:
    """Whether this contender is tried with its stop as a latch only."""
    return spec in CONTROLS and CONTROLS[spec].needs_latch


def contender(
    spec: str,
    *,
    night: RecordedNight | None = None,
    task: Task | None = None,
    setting: Setting | None = None,
    development: Sequence[RecordedNight] = (),
) -> Agent:
    """A new agent: a control by name, else what `bedside.agent_loading.load_agent` finds.

    night, task, setting: what the oracle is built from. development: nights the memoriser learns.

    Raises:
        ControlError: the oracle has no task, or the memoriser no nights.
        AgentLoadError: no such agent; the message lists the controls too.
    """
    if spec == "oracle":
        return _oracle(night, task, setting)
    if spec == "memoriser":
        return _memoriser(development)
    if spec in CONTROLS:
        return cast("Agent", _class_of(spec)())
    from bedside.agent_loading import AgentLoadError, known_names, load_agent

    known = (*known_names(), *CONTROLS)
    if spec.isidentifier() and spec not in known:
        near = get_close_matches(spec, known, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise AgentLoadError(
            f"no agent {spec!r}{meant}; known: {', '.join(known)}, FILE.py:Class or cmd:COMMAND"
        )
    return load_agent(spec)


def contender_identity(spec: str, *, development: Sequence[RecordedNight] = ()) -> dict[str, Any]:
    """What a manifest says of a contender, also of an oracle that has no task yet: what it does
    follows from its source, the night and the task."""
    from bedside.agent_loading import identity

    if spec == "oracle":
        return identity(_class_of(spec)({}))
    return identity(contender(spec, development=development))


def _oracle(night: RecordedNight | None, task: Task | None, setting: Setting | None) -> Agent:
    if night is None or task is None or setting is None:
        raise ControlError("the oracle is built for one task: it needs its night and setting")
    actions = oracle_actions(
        night,
        task,
        setting.wake_table,
        dropout=setting.dropout,
        mode=setting.mode,
        latency=setting.latency,
    )
    return cast("Agent", _class_of("oracle")(dict(actions or ())))


def _memoriser(development: Sequence[RecordedNight]) -> Agent:
    if not development:
        raise ControlError("the memoriser has nothing to learn: give --development nights")
    from replay.controls.memoriser import learned

    return cast("Agent", _class_of("memoriser")([learned(night) for night in development]))


def _class_of(name: str) -> Any:
    module, _, found = CONTROLS[name].place.partition(":")
    return getattr(import_module(module), found)
