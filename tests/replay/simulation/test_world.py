"""A simulated night in the loop: labelled, repeatable, the same until somebody does something."""

import asyncio
from dataclasses import replace
from itertools import takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.fixed_timer import FixedTimer
from agents.rem_rule import RemRule
from agents.wait import WaitAgent
from bedside.configuration import default_toml
from bedside.plan import Ending
from bedside.trace import MemorySink, Trace
from devices.types import Stage, Volume
from replay.conditions import Condition, SignalFault
from replay.overlays import overlay_named
from replay.player import PlayerError
from replay.simulation.answers import Answers, ThemeModel, bundled_answers
from replay.simulation.sleep import hypnogram
from replay.simulation.world import Simulation, SimulationError, simulated_world
from replay.wake_rule import wake_table
from tests.replay.nights import LOUD, SOFT, cue_at, setting, waking_setting
from tests.replay.overlays.devices import L as LIGHT
from tests.replay.overlays.devices import W as AWAKE
from tests.replay.overlays.devices import always
from tests.replay.simulation.asleep import (
    HEALTHY,
    NO_ANSWERS,
    STEADY,
    D,
    L,
    R,
    flat,
    slept,
)

QUIET = "".join(stage.letter for stage in slept(WaitAgent()).night.true)


def test_without_a_cue_the_night_is_the_process_s_own() -> None:
    simulation = Simulation(HEALTHY, epochs=240)
    undisturbed = hypnogram(HEALTHY, 240, night=simulation.key, seed=1)
    assert slept(WaitAgent()).night.true == undisturbed


def test_it_is_labelled_a_simulation_wherever_one_looks() -> None:
    night = slept(WaitAgent())
    head = night.trace[0]
    assert head["night"] == {
        "id": "simulated-healthy-1", "kind": "simulation", "origin": "simulation",
        "synthetic": True, "first_epoch": 0,
    }  # fmt: skip
    assert [stream["simulated"] for stream in head["streams"]] == [True]
    told = night.hidden[0]["simulation"]
    assert told["note"] == "SIMULATION: no person slept this night"
    assert told["theme_model"]["gain"] == 0.0
    (dream,) = night.events("synthetic_dream")
    assert dream["synthetic"] is True
    assert dream["report"].startswith("[synthetic report]")


def test_the_agent_sees_nothing_hidden() -> None:
    agent = cue_at(50)
    night = slept(agent)
    for word in (b"presence", b'healthy"', b"seed", b"gain", b"truth"):
        assert word not in night.trace_bytes
    assert agent.seen


@pytest.mark.parametrize("agent", [WaitAgent, FixedTimer, RemRule])
def test_the_same_sleeper_agent_and_seed_give_the_same_bytes(agent: type) -> None:
    one, two = slept(agent()), slept(agent())
    assert (one.trace_bytes, one.hidden_bytes) == (two.trace_bytes, two.hidden_bytes)


def test_another_seed_or_number_is_another_night() -> None:
    nights = {
        slept(WaitAgent(), setting(seed=seed), number=number).true
        for seed in (1, 2)
        for number in (1, 2)
    }
    assert len(nights) == 4


def first_difference(a: str, b: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=True)))


@settings(max_examples=8, deadline=None)
@given(st.sets(st.integers(30, 230), min_size=1, max_size=6), st.integers(1, 5))
def test_until_a_cue_is_answered_the_night_is_the_same(steps: set[int], seed: int) -> None:
    quiet = slept(WaitAgent(), setting(seed=seed))
    cued = slept(cue_at(*steps, action=LOUD), setting(seed=seed))
    answered = cued.events("waking", "stage_change", "onset_delay")
    first = 240 if not answered else int(answered[0]["t"] // 30)
    assert first_difference(quiet.true, cued.true) >= first
    if not answered:
        assert cued.true == quiet.true


def test_a_cue_without_an_answer_changes_nothing_at_all() -> None:
    cued = slept(cue_at(*range(10, 230, 5)), setting(0.0))
    assert cued.events("roll")
    assert cued.true == QUIET


def test_a_waking_is_four_epochs_awake_and_then_sleep_finds_its_own_way() -> None:
    """STEADY sleeps for minutes in one stage: awake from the epoch after the cue on."""
    step = 120
    cued = slept(cue_at(step), waking_setting(), profile=STEADY, answers=NO_ANSWERS)
    quiet = slept(WaitAgent(), profile=STEADY)
    (waking,) = cued.events("waking")
    assert (waking["from_t"], waking["until_t"]) == (30.0 * (step + 1), 30.0 * (step + 5))
    assert cued.true[: step + 1] == quiet.true[: step + 1]
    assert cued.true[step + 1 : step + 5] == "WWWW"
    assert quiet.true[step] != "W"
    assert [one.t for one in cued.night.wakings] == [waking["t"]]
    assert cued.hidden[-1]["wakings"] == 1
    assert cued.hidden[-1]["inserted_epochs"] == 0
    assert len(cued.true) == 240


def test_a_cue_while_kept_awake_rolls_nothing() -> None:
    cued = slept(cue_at(120, 122), waking_setting(), profile=STEADY, answers=NO_ANSWERS)
    assert [line["event"] for line in cued.events("roll", "awake_already")] == [
        "roll", "awake_already",
    ]  # fmt: skip


def test_an_answer_under_a_waking_turns_rem_to_light() -> None:
    """Every roll lies over a chance of 0 and under what 1e9 times a tiny chance comes to."""
    easily = Answers(stage_change=1e9, arousal=1e9)
    rem = flat({Stage.AWAKE: 1.0, L: 1.0, D: 0.0, R: 0.0}, {Stage.AWAKE: L, L: R, D: L, R: L})
    cued = slept(cue_at(60), setting(1e-6), profile=rem, answers=easily)
    (change,) = cued.events("stage_change")
    assert change["from_t"] == 30.0 * 61
    assert cued.true[:64] == "WL" + "R" * 59 + "LRR"


def test_an_arousal_changes_no_stage() -> None:
    easily = Answers(stage_change=1.0, arousal=1e9)
    cued = slept(cue_at(100, 110), setting(1e-6), answers=easily)
    assert len(cued.events("arousal")) == 2
    assert cued.true == QUIET


def test_a_cue_before_sustained_sleep_may_keep_awake() -> None:
    """Cued at every second step with every chance 1 it never sleeps for long; else it does."""
    delay = wake_table(default_toml("wake_table"), options=("onset_delay",)).onset_delay
    assert delay is not None
    sure = replace(delay, chances=dict.fromkeys(delay.chances, 1.0))
    cues = cue_at(*range(0, 240, 2))
    kept = slept(cues, setting(), answers=Answers(1.0, 1.0, sure))
    assert max(map(len, kept.true.split("W"))) <= 2
    assert len(kept.events("onset_delay")) > 20
    assert max(map(len, slept(cues, setting(0.0), answers=NO_ANSWERS).true.split("W"))) > 20


def test_after_sustained_sleep_nothing_is_delayed() -> None:
    cued = slept(cue_at(*range(60, 240)), setting(0.0), answers=bundled_answers())
    assert QUIET[:60].count("L") > 10
    assert cued.events("onset_delay") == []


def test_the_truth_at_the_end_is_what_was_slept() -> None:
    night = slept(RemRule())
    (truth,) = night.events("truth")
    assert truth["letters"] == night.true
    assert [line["stage"] for line in night.events("roll")] == [
        {"W": "awake", "L": "light", "D": "deep", "R": "rem"}[night.true[line["step"]]]
        for line in night.events("roll")
    ]


def test_a_device_may_show_other_stages_than_were_slept() -> None:
    blind = always({AWAKE: LIGHT})
    night = slept(WaitAgent(), overlay=blind)
    assert night.true == QUIET
    assert night.shown == QUIET.replace("W", "L")
    late = slept(WaitAgent(), overlay=overlay_named("consumer"))
    assert late.true == QUIET
    assert late.shown[0] == "?"
    steps = [line["epoch"]["stage"] for line in late.trace if line["kind"] == "step"]
    assert "".join(Stage(stage).letter for stage in steps) == late.shown


def test_dropout_takes_readings_and_no_sleep() -> None:
    night = slept(WaitAgent(), setting(dropout=0.25))
    dropped = {line["step"] for line in night.events("dropout")}
    steps = [line for line in night.trace if line["kind"] == "step"]
    unread = {line["step"] for line in steps if not line["observation"]["has_reading"]}
    assert 30 < len(dropped) < 90
    assert unread == dropped
    assert night.true == QUIET


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        ({}, Ending.NIGHT_END),
        ({"steps": 40}, Ending.STEP_LIMIT),
        ({"steps": 240}, Ending.STEP_LIMIT),
        ({"stable_deep": 10}, Ending.STABLE_DEEP),
    ],
)
def test_every_ending(given: dict[str, int], ending: Ending) -> None:
    assert "D" * 10 in QUIET
    assert slept(WaitAgent(), setting(**given)).night.ending is ending


@pytest.mark.parametrize(
    "made",
    [{"first_epoch": 5}, {"condition": Condition(signal=SignalFault.FLICKER)}],
)
def test_what_a_simulated_night_cannot_have_is_refused(made: dict[str, object]) -> None:
    with pytest.raises(SimulationError, match="from its start and without faults"):
        slept(WaitAgent(), setting(**made))


def test_presence_is_of_heard_cues_in_rem_sleep_and_is_carried_over() -> None:
    """One cue as REM goes on for good: mean over its epochs of a value that halves in 2 h."""
    rem = flat({Stage.AWAKE: 1.0, L: 1.0, D: 0.0, R: 0.0}, {Stage.AWAKE: L, L: R, D: L, R: L})
    model = ThemeModel(0.0, 1.0, 2.0, 0.5, 0.0, 0.0, 1.0)
    night = slept(cue_at(99), setting(0.0), profile=rem, theme=model).night
    epochs = [30.0 * k + 15.0 for k in range(2, 240)]
    presence = sum(0.5 ** ((t - 3000.0) / 7200.0) for t in epochs if t >= 3000.0) / len(epochs)
    assert night.dream.presence == pytest.approx(presence, abs=1e-6)
    assert night.presence == pytest.approx(0.5 * 0.5 ** ((7200.0 - 3000.0) / 7200.0))
    assert night.next_evening().presence == night.presence
    assert night.next_evening().number == 2


def test_a_louder_volume_is_rolled_on_the_same_number() -> None:
    soft = slept(cue_at(100, action=SOFT)).events("roll")[0]
    loud = slept(cue_at(100, action=LOUD)).events("roll")[0]
    assert soft["value"] == loud["value"]
    assert soft["chance"] < loud["chance"]
    assert LOUD.volume is Volume.HIGH


def test_the_headband_needs_virtual_time() -> None:
    simulation = Simulation(HEALTHY, epochs=10)

    async def on_a_real_clock() -> None:
        built = simulated_world(
            simulation, setting(), session_id="0" * 16, hidden=Trace(MemorySink())
        )
        async with built.headband.pushing(lambda sample: None, built.world.clock):
            pass

    with pytest.raises(PlayerError, match="VirtualTimeLoop only"):
        asyncio.run(on_a_real_clock())
