"""Episodes and sweeps: no agent can look better where there is no effect."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from agents.fixed_timer import FixedTimer
from agents.rem_rule import RemRule
from agents.wait import WaitAgent
from bedside.trace import MemorySink, Trace
from replay.simulation.nights import Swept, episode, gaps_at_zero, sweep
from replay.simulation.world import Simulation
from tests.replay.nights import setting
from tests.replay.simulation.asleep import HEALTHY, slept

AGENTS = {
    "wait": WaitAgent,
    "fixed_timer": FixedTimer,
    "rem_rule": RemRule,
}
SIMULATION = Simulation(HEALTHY, epochs=300)
NIGHTS = 3


@cache
def swept() -> dict[tuple[str, float], Swept]:
    made = sweep(SIMULATION, AGENTS, setting(), effects=(0.0, 0.2), nights=NIGHTS)
    return {(one.agent, one.effect): one for one in made}


def test_at_zero_effect_the_themes_of_all_agents_are_the_same_night_by_night() -> None:
    """Noise exactly 0, though the agents gave from none to hundreds of cues and woke people."""
    at_zero = [one for one in swept().values() if one.effect == 0.0]
    assert {one.themes for one in at_zero} == {swept()["wait", 0.0].themes}
    assert {one.told for one in at_zero} == {swept()["wait", 0.0].told}
    assert len({one.cues for one in at_zero}) == 3
    assert len({one.wakings for one in at_zero}) > 1
    assert gaps_at_zero(list(swept().values())) == dict.fromkeys(AGENTS, 0)


def test_a_gap_at_zero_effect_is_told_by_agent() -> None:
    wrong = replace(
        swept()["rem_rule", 0.0], themes=tuple(not t for t in swept()["wait", 0.0].themes)
    )
    assert gaps_at_zero([swept()["wait", 0.0], wrong]) == {"wait": 0, "rem_rule": NIGHTS}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_larger_effect_takes_no_theme_away(agent: str) -> None:
    """The same two rolls decide at every effect."""
    less, more = (swept()[agent, effect].themes for effect in (0.0, 0.2))
    assert all(a <= b for a, b in zip(less, more, strict=True))


def test_what_an_agent_did_is_the_same_at_every_effect() -> None:
    for agent in AGENTS:
        both = (swept()[agent, effect] for effect in (0.0, 0.2))
        assert len({(one.cues, one.wakings, one.presence) for one in both}) == 1


def test_only_heard_dreams_are_told() -> None:
    for one in swept().values():
        assert all(theme or not told for theme, told in zip(one.themes, one.told, strict=True))


def test_cues_in_true_rem_are_counted_from_the_hidden_traces() -> None:
    rem_rule = swept()["rem_rule", 0.0]
    assert 0 < rem_rule.rem_cues == rem_rule.cues
    assert 0 < swept()["fixed_timer", 0.0].rem_cues < swept()["fixed_timer", 0.0].cues
    assert swept()["wait", 0.0].cues == 0


def test_an_episode_carries_presence_and_counts_its_nights() -> None:
    nights = list(episode(SIMULATION, RemRule(), setting(), 3))
    assert [night.simulation.number for night in nights] == [1, 2, 3]
    assert nights[0].simulation.presence == 0.0
    for before, after in pairwise(nights):
        assert after.simulation.presence == before.presence > 0.0
    assert len({night.true for night in nights}) == 3


def test_a_night_of_an_episode_is_the_night_alone() -> None:
    kept: list[MemorySink] = []

    def traces(_: Simulation) -> tuple[str, Trace, Trace]:
        kept.append(MemorySink())
        return "0123456789abcdef", Trace(kept[-1]), Trace(MemorySink())

    first, second = episode(SIMULATION, RemRule(), setting(), 2, traces)
    alone = slept(RemRule(), epochs=300, number=2, presence=first.presence)
    assert alone.trace_bytes == kept[1].bytes()
    assert alone.night == second


def test_without_agents_at_zero_there_is_no_gap() -> None:
    assert gaps_at_zero([Swept("a", 0.5, (True,), (True,), 0.0, 0, 0, 0)]) == {}
