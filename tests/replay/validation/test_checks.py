"""Single checks, on environments broken in ways of their own, and the nights they use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.wait import WaitAgent
from bedside.configuration import default_toml
from bedside.plan import Ending
from bedside.trace import Trace
from devices.types import Stage
from replay.conditions import PLAIN
from replay.hypnogram import letters
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from replay.setting import Setting
from replay.validation import (
    chance,
    contestants,
    fidelity,
    leaks,
    one_loop,
    repetition,
    stepping,
)
from replay.validation.broken import cued_wait
from replay.validation.endings import WAYS, ending_checks
from replay.validation.environment import REAL, Environment
from replay.validation.findings import Finding, Result
from replay.validation.ground import Ground
from replay.validation.nights import BENCH, bench, rewritten_from, with_other_truth
from replay.validation.trials import trial
from replay.wake_rule import wake_table
from replay.world import World, recorded_world
from tests.replay.nights import START_WALL_NS, night, setting

TABLE = default_toml("wake_table")


def test_the_small_night_has_what_the_checks_need() -> None:
    assert set(BENCH) == set("WLDR?")
    assert "LRRRRRRD" in BENCH
    assert letters(bench().shown) == BENCH


def test_a_rewritten_future_leaves_the_past_and_nothing_else() -> None:
    whole = night("WLDRWLDR", truth="WLDRWLDR")
    other = rewritten_from(whole, 5)
    assert letters(other.shown) == "WLDRW" + "WLD"
    assert letters(other.hidden) == "WLDRW" + "WLD"
    assert other.epochs == whole.epochs


def test_a_rewritten_future_of_the_bundled_night_differs_in_every_epoch() -> None:
    whole = RecordedNight(sample_night())
    other = rewritten_from(whole, 480)
    assert other.shown[:480] == whole.shown[:480]
    same = sum(a is b for a, b in zip(other.shown[480:], whole.shown[480:], strict=True))
    assert same == 0


def test_another_truth_differs_everywhere_and_shows_the_same() -> None:
    other = with_other_truth(night("WLDR?"))
    assert letters(other.shown) == "WLDR?"
    assert letters(other.hidden) == "RWLDR"


# What each check sees


def rerolled(roll: Any) -> Environment:
    return replace(REAL, roll=roll)


def test_dice_that_are_off_by_a_hair_fail_the_vectors() -> None:
    got = chance.rolls_are_seeded(Ground(bench(), rerolled(lambda *key: 0.3236413247097305)))
    assert (got.result, got.numbers["vectors"]) == (Result.FAILED, 0)


def test_a_table_where_deep_sleep_wakes_more_than_light_is_out_of_order() -> None:
    def swapped(table: Any, scale: float) -> Any:
        real = wake_table(table, scale)
        rows = {**real.chances, Stage.LIGHT: real.chances[Stage.DEEP]}
        return replace(real, chances=rows | {Stage.DEEP: real.chances[Stage.LIGHT]})

    got = chance.wake_rule_is_ordered(Ground(bench(), replace(REAL, wake_table=swapped)))
    assert got.result is Result.FAILED
    assert got.numbers["breaches"] == 0
    # 3 volumes x 4 scales; deep to REM and REM to light both fall, but where both stand at 1
    assert 18 <= got.numbers["table_disorder"] <= 24


def test_a_night_without_sleep_has_nothing_to_roll() -> None:
    got = chance.wake_rule_is_ordered(Ground(night("W" * 50), REAL))
    assert got.result is Result.NOT_APPLICABLE


def skipping(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
    """A world that starts an epoch late."""
    late = replace(made, first_epoch=made.first_epoch + 1)
    world = recorded_world(played, late, session_id=session_id, hidden=hidden)
    plan = world.plan
    told = {**(plan.night or {}), "first_epoch": made.first_epoch}
    return replace(world, plan=replace(plan, night=told))


def test_a_replay_that_skips_an_epoch_does_not_replay_exactly() -> None:
    got = fidelity.wait_replays_exactly(Ground(bench(), Environment(world=skipping)))
    assert got.result is Result.FAILED
    assert got.numbers["mismatched"] > 0


def test_a_part_of_a_night_is_not_held_against_whole_ones() -> None:
    assert fidelity.stage_shares(Ground(bench(), REAL)).result is Result.NOT_APPLICABLE


def test_the_bundled_night_lies_to_an_adult_s_as_its_page_says() -> None:
    """31.6 % REM, 31 % light. Source: `replay-environment.md`, published figures."""
    got = fidelity.stage_shares(Ground(RecordedNight(sample_night()), REAL))
    assert got.result is Result.PASSED
    assert got.numbers["rem"] == {"pct": 31.63, "typical_pct": (20.0, 25.0), "word": "high"}
    assert got.numbers["light"]["word"] == "low"
    assert got.numbers["deep"]["word"] == "typical"


def remembering() -> Environment:
    """A world in which every attempt moves the next one's dice: not isolated."""
    lived: list[int] = []

    def world(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
        lived.append(1)
        moved = replace(made, seed=made.seed + len(lived))
        return recorded_world(played, moved, session_id=session_id, hidden=hidden)

    return Environment(world=world)


def test_attempts_that_leave_something_behind_are_not_the_same_twice() -> None:
    assert repetition.same_bytes(Ground(bench(), remembering())).result is Result.FAILED


def naming(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
    """A world whose dice hang on the night's name."""
    moved = replace(made, seed=sum(played.info.night_id.encode()))
    return recorded_world(played, moved, session_id=session_id, hidden=hidden)


def test_dice_that_hang_on_an_id_are_caught_by_another_id() -> None:
    ground = Ground(night(BENCH * 2), Environment(world=naming))
    assert repetition.ids_changed(ground).result is Result.FAILED
    assert repetition.theme_renamed(ground).result is Result.PASSED


def dated(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
    """A world whose dice hang on the date."""
    day = (played.info.start_wall_ns or 0) // (86_400 * 10**9)
    return recorded_world(
        played, replace(made, seed=made.seed + day), session_id=session_id, hidden=hidden
    )


@pytest.mark.parametrize("start_wall_ns", [START_WALL_NS, None])
def test_dice_that_hang_on_the_date_are_caught_a_day_later(start_wall_ns: int | None) -> None:
    played = night(BENCH * 2, start_wall_ns=start_wall_ns)
    broken = repetition.clock_shifted_a_day(Ground(played, Environment(world=dated)))
    assert broken.result is Result.FAILED
    assert repetition.clock_shifted_a_day(Ground(played, REAL)).result is Result.PASSED


def frozen(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
    """A world whose clock stands still while the agent decides."""
    world = recorded_world(played, made, session_id=session_id, hidden=hidden)
    return Still(*(getattr(world, name) for name in world.__dataclass_fields__))


class Still(World):
    __slots__ = ()

    def night(self, agent: Any, trace: Trace, outside: Any = None) -> Any:
        return super().night(AtOnce(agent), trace, outside)


class AtOnce:
    """Has the answer of a late agent without waiting for it."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self.name = agent.name

    def reset(self, session: Any) -> None:
        self._agent.reset(session)

    async def decide(self, observation: Any) -> Any:
        asked = self._agent.decide(observation)
        try:
            while True:
                waited = asked.send(None)
                if waited is not None:
                    waited.cancel()
        except StopIteration as answer:
            return answer.value


def test_a_frozen_clock_is_caught_by_the_late_agent() -> None:
    ground = Ground(bench(), Environment(world=frozen))
    got = contestants.late_25s_meets_deep_sleep(ground)
    assert got.result is Result.FAILED


@pytest.mark.parametrize("check", ending_checks(), ids=lambda check: str(check.name))
def test_an_environment_that_never_ends_where_it_must_is_caught(check: Any) -> None:
    """One that turns every ending into a step limit after two steps."""

    def hasty(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
        world = recorded_world(played, made, session_id=session_id, hidden=hidden)
        return replace(world, ended=lambda done: Ending.STEP_LIMIT if done.step else None)

    got: Finding = check.run(Ground(bench(), Environment(world=hasty)))
    assert got.result is Result.FAILED


def test_every_ending_is_tried() -> None:
    assert set(WAYS) == set(Ending)


@pytest.mark.parametrize(
    "where",
    [
        lambda played, made: True,
        lambda played, made: made.condition != PLAIN,
        lambda played, made: played.hidden != played.shown,
    ],
    ids=["everywhere", "under faults alone", "where the device errs alone"],
)
def test_an_observation_that_looks_ahead_knew_the_future(where: Any) -> None:
    """The confidence of every step is the next epoch's stage."""

    class Ahead:
        def __init__(self, agent: Any, shown: tuple[Stage, ...]) -> None:
            self._agent, self._coming = agent, iter(shown)
            self.name = agent.name

        def reset(self, session: Any) -> None:
            self._agent.reset(session)

        async def decide(self, observation: Any) -> Any:
            peeked = float(list(Stage).index(next(self._coming)))
            return await self._agent.decide(replace(observation, confidence=peeked))

    class Peeking(World):
        __slots__ = ()

        def night(self, agent: Any, trace: Trace, outside: Any = None) -> Any:
            first = (self.plan.night or {})["first_epoch"] + 1
            return super().night(Ahead(agent, self.sources[0]._shown[first:]), trace, outside)  # type: ignore[attr-defined]

    def world(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
        built = recorded_world(played, made, session_id=session_id, hidden=hidden)
        if not where(played, made):
            return built
        built.sources[0]._shown = played.shown  # type: ignore[attr-defined]
        return Peeking(*(getattr(built, name) for name in built.__dataclass_fields__))

    got = leaks.nothing_hidden_leaks(Ground(bench(), Environment(world=world)))
    assert got.result is Result.FAILED
    assert got.numbers["extra"] == []
    assert got.numbers["knew_future"] > 0


def test_a_loop_of_another_kind_is_not_the_bedside_s() -> None:
    from bedside.night import Night

    class OtherNight(Night):
        pass

    class Other(World):
        __slots__ = ()

        def night(self, agent: Any, trace: Trace, outside: Any = None) -> Night:
            return OtherNight(
                self.plan,
                clock=self.clock,
                sources=self.sources,
                actuators=self.actuators,
                agent=agent,
                trace=trace,
                ended=self.ended,
            )

    def world(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
        built = recorded_world(played, made, session_id=session_id, hidden=hidden)
        return Other(*(getattr(built, name) for name in built.__dataclass_fields__))

    got = one_loop.live_loop_is_replay_loop(Ground(bench(), Environment(world=world)))
    assert got.result is Result.FAILED


def test_a_stepped_night_that_differs_from_the_loop_is_caught() -> None:
    """A world that is another one each time it is built."""
    got = stepping.steps_give_the_same_trace(Ground(night(BENCH * 2), remembering()))
    assert got.result is Result.FAILED
    assert got.numbers["same"] < got.numbers["tasks"]
    assert got.numbers["by_env"] == 1


def test_an_oracle_that_is_woken_has_lost() -> None:
    def louder(table: Any, scale: float) -> Any:
        real = wake_table(table, scale)
        certain = dict.fromkeys(real.chances[Stage.REM], 1.0)
        return replace(real, chances={**real.chances, Stage.REM: certain})

    def world(played: RecordedNight, made: Setting, *, session_id: str, hidden: Trace) -> World:
        waking = replace(made, wake_table=louder(TABLE, 1.0))
        return recorded_world(played, waking, session_id=session_id, hidden=hidden)

    got = contestants.oracle_passes(Ground(bench(), Environment(world=world)))
    assert got.result is Result.FAILED
    assert len(got.numbers["lost"]) == got.numbers["tasks"] > 0
    assert "not: " in got.line


def test_waiting_that_is_woken_fails_for_more_than_want_of_a_cue() -> None:
    got = contestants.wait_fails_cue_tasks(Ground(bench(), Environment(world=cued_wait)))
    assert got.result is Result.FAILED
    assert got.numbers["others"]


def test_a_trial_keeps_what_the_agent_saw_and_answered() -> None:
    done = trial(REAL, night("WLDR"), WaitAgent(), setting())
    assert [seen.stage for seen in done.probe.seen] == [
        Stage.AWAKE,
        Stage.LIGHT,
        Stage.DEEP,
        Stage.REM,
    ]
    assert (len(done.probe.answers), done.probe.cues) == (4, 0)
    assert len(done.probe.sessions) == 1


def test_tasks_are_spread_over_the_night() -> None:
    ground = Ground(RecordedNight(sample_night()), REAL)
    assert len(ground.tasks) == 15
    starts = [task.start.epoch for task in ground.some_tasks(5)]
    assert len(starts) == 5
    assert max(starts) > 700
