"""Environments broken on purpose, one a promise, to show that validation names what is broken.

`python -m replay.validation.broken NAME` prints the checks on the bundled night.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final

from agents.types import Action, Agent, Observation, Outside, PlaySound, Session, Wait
from bedside.night import Night
from bedside.safety.rules import Rule
from bedside.trace import Trace
from devices.types import Stage, Volume
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.validation.environment import Environment
from replay.wake_rule import WakeTable, wake_table
from replay.world import World, recorded_world


@dataclass(frozen=True, slots=True)
class Broken:
    """A breakage, and the check that must name it."""

    environment: Environment
    caught_by: str
    what: str


@dataclass(frozen=True, slots=True)
class KnowingObservation(Observation):
    """An observation with the true stage in it."""

    true_stage: Stage = Stage.UNKNOWN


class _Between:
    """An agent behind something that alters what passes."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.name = agent.name

    def reset(self, session: Session) -> None:
        self._agent.reset(session)

    async def decide(self, observation: Observation) -> Action:
        return await self._agent.decide(observation)


class _Told(_Between):
    """Tells the agent the true stage of every step."""

    def __init__(self, agent: Agent, hidden: tuple[Stage, ...]) -> None:
        super().__init__(agent)
        self._hidden = iter(hidden)

    async def decide(self, observation: Observation) -> Action:
        seen = {one.name: getattr(observation, one.name) for one in fields(observation)}
        true_stage = next(self._hidden, Stage.UNKNOWN)
        return await self._agent.decide(KnowingObservation(**seen, true_stage=true_stage))


class _Restless(_Between):
    """Plays a sound in light sleep where the agent waits."""

    async def decide(self, observation: Observation) -> Action:
        action = await super().decide(observation)
        waits = isinstance(action, Wait) and observation.stage is Stage.LIGHT
        return PlaySound(Volume.LOW, "a wait that is cued") if waits else action


class _Forgetful(Trace):
    """A trace in which a rule is never written."""

    def __init__(self, trace: Trace, rule: Rule) -> None:
        self._trace = trace
        self._rule = rule

    def line(self, kind: str, fields: Mapping[str, Any]) -> None:
        self._trace.line(kind, _without(fields, self._rule))

    async def settle(self, limit_s: float) -> bool:
        return await self._trace.settle(limit_s)


@dataclass(frozen=True, slots=True)
class _AlteredWorld(World):
    """A world whose night is played by another agent, or written into another trace."""

    agent: Callable[[Agent], Agent] = lambda agent: agent
    trace: Callable[[Trace], Trace] = lambda trace: trace

    def night(self, agent: Agent, trace: Trace, outside: Outside | None = None) -> Night:
        return World.night(self, self.agent(agent), self.trace(trace), outside)


def leaked_field(
    night: RecordedNight, setting: Setting, *, session_id: str, hidden: Trace
) -> World:
    """A world that adds the true stage to what the agent sees."""
    world = recorded_world(night, setting, session_id=session_id, hidden=hidden)
    truth = night.hidden[setting.first_epoch :]
    return _altered(world, agent=lambda agent: _Told(agent, truth))


def unseeded_roll(
    night: RecordedNight, setting: Setting, *, session_id: str, hidden: Trace
) -> World:
    """A world with dice of its own, new in every attempt."""
    thrown = replace(setting, seed=int.from_bytes(os.urandom(4), "big"))
    return recorded_world(night, thrown, session_id=session_id, hidden=hidden)


def cued_wait(night: RecordedNight, setting: Setting, *, session_id: str, hidden: Trace) -> World:
    """A world that plays where the agent waits."""
    world = recorded_world(night, setting, session_id=session_id, hidden=hidden)
    return _altered(world, agent=_Restless)


def silent_rule(night: RecordedNight, setting: Setting, *, session_id: str, hidden: Trace) -> World:
    """A world in which a cue without a reading breaks no rule."""
    world = recorded_world(night, setting, session_id=session_id, hidden=hidden)
    return _altered(world, trace=lambda trace: _Forgetful(trace, Rule.CUE_WITHOUT_READING))


def upside_down(table: Mapping[str, Any], scale: float) -> WakeTable:
    """A wake table in which the softest sound wakes most."""
    real = wake_table(table, scale)
    turned = {Volume.LOW: Volume.HIGH, Volume.MEDIUM: Volume.MEDIUM, Volume.HIGH: Volume.LOW}
    chances = {
        stage: {**row, **{to.value: row[of.value] for of, to in turned.items()}}
        for stage, row in real.chances.items()
    }
    return replace(real, chances=chances)


BROKEN: Final[Mapping[str, Broken]] = MappingProxyType(
    {
        "leaked_field": Broken(
            Environment(world=leaked_field),
            "nothing_hidden_leaks",
            "the true stage stands in every observation",
        ),
        "unseeded_roll": Broken(
            Environment(world=unseeded_roll),
            "rolls_are_seeded",
            "whether a cue wakes is thrown anew in every attempt",
        ),
        "wake_rule_upside_down": Broken(
            Environment(wake_table=upside_down),
            "wake_rule_is_ordered",
            "the softest sound wakes most",
        ),
        "cued_wait": Broken(
            Environment(world=cued_wait),
            "wait_is_never_cued",
            "a sound is played in light sleep where the agent waits",
        ),
        "silent_rule": Broken(
            Environment(world=silent_rule),
            "every_rule_fires",
            "a cue without a reading breaks no rule",
        ),
    }
)
"""By name."""


def _altered(world: World, **alterations: Any) -> World:
    kept = {one.name: getattr(world, one.name) for one in fields(world)}
    return _AlteredWorld(**kept, **alterations)


def _without(written: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    """The fields of a line, without a rule wherever rules stand."""
    kept = dict(written)
    delivery = kept.get("delivery")
    if delivery is not None:
        rules = {
            key: [one for one in delivery[key] if one != rule]
            for key in ("rules", "rules_delivered")
        }
        kept["delivery"] = {**delivery, **rules}
    for key in ("violations", "violations_delivered"):
        if key in kept:
            kept[key] = {name: count for name, count in kept[key].items() if name != rule}
    return kept


def main(names: list[str]) -> int:
    """Print the report on each named breakage; exit code 1 when a check failed, as it must."""
    from replay.sample_night import sample_night
    from replay.validation.checks import validate
    from replay.validation.terminal import print_report

    unknown = [name for name in names if name not in BROKEN]
    if unknown or not names:
        print(f"give one or more of: {', '.join(BROKEN)}", file=sys.stderr)
        return 2
    night = RecordedNight(sample_night())
    reports = []
    for name in names:
        print(f"{name}: {BROKEN[name].what}")
        reports.append(validate(night, BROKEN[name].environment))
        print_report(reports[-1])
    return 0 if all(report.passed for report in reports) else 1


if __name__ == "__main__":
    from replay.validation import broken  # by its real name, so that other processes find it

    sys.exit(broken.main(sys.argv[1:]))
