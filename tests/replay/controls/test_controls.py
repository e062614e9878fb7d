"""Each control does what it is a control for, on nights small enough to say what must come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.testing import check_agent
from agents.types import Agent, Stop
from bedside.agent_loading import AgentLoadError, identity
from bedside.safety.gate import Mode
from replay.controls.contenders import (
    CONTROLS,
    MUST_LOSE,
    ControlError,
    contender,
    contender_identity,
    control_names,
    needs_latch,
)
from replay.controls.memoriser import Learned, Memoriser, learned
from replay.controls.oracle import Oracle
from replay.controls.random_cues import RandomCues
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from replay.tasks.task_set import make_tasks, task_setting
from tests.replay.nights import (
    NEVER,
    SOFT,
    START_CLOCK_S,
    Lived,
    lived,
    night,
    setting,
    waking_setting,
)

EVERY_STAGE = "WW?LLLDDDDLLRRRRRRRR?WWLLDDRRRRRR"
FREE = tuple(name for name, control in CONTROLS.items() if not control.privileged)


def violations(done: Lived) -> dict[str, int]:
    found: dict[str, int] = done.trace[-1]["violations"]
    return found


def cued(done: Lived) -> list[int]:
    return list(done.deliveries())


@pytest.mark.parametrize("name", [name for name in FREE if not name.startswith("late")])
async def test_controls_keep_what_an_agent_promises(name: str) -> None:
    """The late ones take their time on purpose."""
    await check_agent(lambda: contender(name), own_lines=name != "foreign_words")


def test_the_names_are_those_of_the_issue() -> None:
    assert set(control_names()) == {
        *("oracle", "one_cue", "always_high", "deep_only", "after_stop", "foreign_words"),
        *("random", "late_25s", "late_35s", "memoriser", "clock_only"),
    }


def test_one_cue_is_one_low_sound_at_the_first_rem_reading() -> None:
    done = lived(night(EVERY_STAGE), contender("one_cue"))
    assert cued(done) == [EVERY_STAGE.index("R")]
    assert done.deliveries()[12]["delivered"]["volume"] == "low"
    assert violations(done) == {}


@pytest.mark.parametrize(
    ("name", "letter", "rule"),
    [
        ("always_high", "R", "cue_high_volume"),
        ("deep_only", "D", "cue_in_deep"),
        ("foreign_words", "R", "words_not_said"),
    ],
)
@pytest.mark.parametrize("woken", [False, True])
def test_an_offender_breaks_its_rule_at_every_such_reading_and_no_other(
    name: str, letter: str, rule: str, woken: bool
) -> None:
    made = waking_setting() if woken else setting(NEVER)
    done = lived(night(EVERY_STAGE), contender(name), made)
    assert violations(done) == {rule: done.shown.count(letter)}
    assert [done.shown[step] for step in cued(done)] == [letter] * done.shown.count(letter)


def test_after_stop_breaks_its_rule_where_the_stop_is_a_latch() -> None:
    done = lived(night(EVERY_STAGE), contender("after_stop"), setting(NEVER))
    assert violations(done) == {"cue_after_stop": EVERY_STAGE.count("R")}
    assert needs_latch("after_stop")


def test_after_stop_ends_where_the_stop_ends_the_attempt() -> None:
    done = lived(night(EVERY_STAGE), contender("after_stop"), setting(NEVER, ends_at_stop=True))
    assert (len(done.steps), violations(done)) == (1, {})


@pytest.mark.parametrize("name", [name for name in FREE if name != "after_stop"])
def test_no_other_control_needs_the_latch(name: str) -> None:
    assert not needs_latch(name)


SIX_OF_REM = "LLLLRRRRRRDDDD"
"""rem_rule plays once at the sixth REM epoch, the last before deep sleep."""


def test_late_25s_reaches_the_deep_sleep_that_came_meanwhile() -> None:
    on_time = lived(night(SIX_OF_REM), contender("rem_rule"))
    late = lived(night(SIX_OF_REM), contender("late_25s"))
    assert (cued(on_time), violations(on_time)) == ([9], {})
    assert (cued(late), violations(late)) == ([9], {"cue_in_deep": 1})
    assert late.deliveries()[9]["t"] == 10 * 30 + 25.0


def test_late_35s_never_cues() -> None:
    done = lived(night(EVERY_STAGE * 2), contender("late_35s"))
    assert cued(done) == []
    assert done.trace[-1]["decisions"] == {"late": len(done.steps)}


def test_random_does_the_same_in_every_run_and_uses_everything_it_may() -> None:
    done = lived(night("LLRRDDWW" * 30), contender("random"))
    again = lived(night("LLRRDDWW" * 30), contender("random"))
    assert done.trace_bytes == again.trace_bytes
    asked = [step["action"] for step in done.steps]
    kinds = {(action["kind"], action.get("volume")) for action in asked}
    volumes = ("low", "medium", "high")
    heard = {(kind, volume) for kind in ("sound", "whisper") for volume in volumes}
    assert kinds == heard | {("wait", None), ("object", None)}
    assert 30 <= len(cued(done)) <= 90  # one in four of 240, within five standard deviations


def test_another_seed_of_random_acts_otherwise() -> None:
    done, other = (lived(night("LR" * 50), RandomCues(seed=seed)) for seed in (1, 2))
    assert cued(done) != cued(other)


def test_clock_only_cues_in_the_last_twenty_minutes_of_each_ninety() -> None:
    """Awake 10 epochs, then sleep: onset is epoch 10; 70 minutes later is the end of epoch 149."""
    done = lived(night("W" * 10 + "L" * 400), contender("clock_only"))
    first_cycle = list(range(149, 186, 4))
    second_cycle = [step + 180 for step in first_cycle]
    assert cued(done) == first_cycle + second_cycle


def test_clock_only_looks_at_no_stage() -> None:
    light, deep = (lived(night("L" * 10 + one * 390), contender("clock_only")) for one in "LD")
    assert cued(light) == cued(deep)


BY_HEART = "LL" + "R" * 12 + "LLL" + "DD" + "RRRR"


def test_the_memoriser_plays_a_night_it_knows_from_memory() -> None:
    known = night(BY_HEART)
    agent = contender("memoriser", development=[night("D" * len(BY_HEART)), known])
    done = lived(known, agent)
    assert cued(done) == [2, 6, 10, 19]
    assert {BY_HEART[step] for step in cued(done)} == {"R"}


def test_on_a_night_it_has_not_seen_the_memoriser_cues_outside_rem() -> None:
    agent = contender("memoriser", development=[night(BY_HEART)])
    unseen = night("D" * len(BY_HEART))
    assert violations(lived(unseen, agent)) == {"cue_in_deep": 4}


def test_where_no_night_fits_the_memoriser_goes_by_what_half_of_them_had() -> None:
    nights = [Learned(START_CLOCK_S, letters) for letters in ("LRRL", "LRLL", "LLLR")]
    done = lived(night("DDDD"), Memoriser(nights))
    assert cued(done) == [1]


def test_the_memoriser_is_known_by_what_it_has_learned() -> None:
    one, other = (
        contender_identity("memoriser", development=[night(letters)]) for letters in ("LR", "RL")
    )
    assert one["settings"] != other["settings"]
    assert one["source_sha256"] == other["source_sha256"]


def test_what_a_night_teaches_is_its_start_and_its_shown_stages() -> None:
    assert learned(night("W?LR")) == Learned(START_CLOCK_S, "W?LR")


def test_the_oracle_does_as_it_is_told() -> None:
    told: dict[int, Any] = {1: SOFT, 3: Stop("enough")}
    done = lived(night("RRRRRR"), Oracle(told), setting(NEVER, ends_at_stop=True))
    assert [step["action"]["kind"] for step in done.steps] == ["wait", "sound", "wait", "stop"]


def test_the_oracle_of_a_task_cues_in_rem_and_wakes_nobody() -> None:
    played = RecordedNight(sample_night())
    task = next(one for one in make_tasks(played, seeds=(1,)) if one.start.kind == "rem_onset")
    table = setting(1.0).wake_table
    made = task_setting(task, played, wake_table=table, mode=Mode.OBSERVE, dropout=0.0)
    done = lived(played, contender("oracle", night=played, task=task, setting=made), made)
    assert cued(done)
    assert {done.deliveries()[step]["shown"] for step in cued(done)} == {"rem"}
    assert (violations(done), done.attempt.wakings) == ({}, ())


def test_an_oracle_without_a_task_and_a_memoriser_without_nights_say_what_they_lack() -> None:
    with pytest.raises(ControlError, match="one task"):
        contender("oracle")
    with pytest.raises(ControlError, match="--development"):
        contender("memoriser")


def test_other_names_are_looked_for_among_the_agents() -> None:
    assert contender("rem_rule").name == "rem_rule"
    with pytest.raises(AgentLoadError, match=r"no agent 'rem_rul' \(did you mean rem_rule\?\)"):
        contender("rem_rul")
    with pytest.raises(AgentLoadError, match=r"late_25s\?.*rem_rule.*oracle.*clock_only"):
        contender("late_25")


def test_those_that_must_lose_are_controls() -> None:
    assert set(MUST_LOSE) == {"memoriser", "clock_only"} <= set(control_names())


@pytest.mark.parametrize("name", control_names())
def test_every_control_is_told_from_every_other(name: str) -> None:
    known = [night("LRLR")]
    mine = contender_identity(name, development=known)
    others = [contender_identity(n, development=known) for n in control_names() if n != name]
    assert mine["name"] == name
    assert mine not in others
    assert len(mine["source_sha256"]) == 64


def test_identity_does_not_change_with_what_was_lived() -> None:
    makes: list[Callable[[], Agent]] = [lambda: Oracle({1: SOFT}), lambda: contender("random")]
    for make in makes:
        before = identity(make())
        agent = make()
        lived(night("RRRR"), agent)
        assert identity(agent)["source_sha256"] == before["source_sha256"]
