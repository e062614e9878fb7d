"""Agents that fail in every way they can, for a whole night, as in `safety.md`, Faults.

Expected everywhere: the tick comes on time, the night goes on to its end, limits hold, and the
trace says what happened.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.types import (
    BedsideObject,
    Observation,
    PlaySound,
    Reply,
    Request,
    Stop,
    UseObject,
    Wait,
    Whisper,
)
from bedside.safety.gate import Mode
from bedside.themes import bundled_theme
from devices.types import CueKind, Volume
from tests.bedside.bells import LINES, AtBedside, Bell
from tests.replay.nights import (
    Lived,
    Scripted,
    events_of,
    letters_of,
    lived,
    night,
    setting,
    steps_of,
)

LETTERS = "W" * 6 + "L" * 14 + "D" * 10 + "R" * 20 + "W" * 2 + "L" * 8
STEPS = len(LETTERS)
BOTH = pytest.mark.parametrize("mode", list(Mode))


def a_night(script: Callable[[int], Any], mode: Mode = Mode.OBSERVE) -> Lived:
    return lived(night(LETTERS, interval_s=3.0), Scripted(script), setting(0.0, mode=mode))


def goes_on(done: Lived) -> Counter[str]:
    """The statuses of all decisions of a night that was whole and on time."""
    assert done.shown == LETTERS
    assert [step["t"] for step in done.steps] == [30.0 * (k + 1) for k in range(STEPS)]
    assert done.trace[-1]["ending"] == "night_end"
    statuses = Counter(step["decision"]["status"] for step in done.steps)
    assert statuses == done.trace[-1]["decisions"]
    return statuses


class Odd(Exception):
    def __repr__(self) -> str:
        raise RuntimeError("no words")

    __str__ = __repr__


class Base(BaseException):
    pass


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no idea"),
        RecursionError(),
        MemoryError(),
        SystemExit(3),
        GeneratorExit(),
        StopAsyncIteration(),
        asyncio.CancelledError(),
        TimeoutError(),
        Odd(),
        Base(),
        ExceptionGroup("several", [ValueError("one"), OSError(28, "No space left on device")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_agent_that_always_raises(error: BaseException) -> None:
    assert goes_on(a_night(lambda step: error)) == {"error": STEPS}


def test_an_agent_that_never_answers() -> None:
    done = a_night(lambda step: (1e9, Wait()))
    assert goes_on(done) == {"late": STEPS}
    assert done.trace[-1]["cues"] == {}


def test_an_agent_that_waits_for_what_never_comes() -> None:
    class Waiting(Scripted):
        async def decide(self, observation: Observation) -> Any:
            await asyncio.get_running_loop().create_future()

    done = lived(night(LETTERS), Waiting({}))
    assert goes_on(done) == {"late": STEPS}


def test_an_agent_that_is_always_a_little_too_late() -> None:
    done = a_night(lambda step: (35.0, PlaySound()))
    assert goes_on(done) == {"late": STEPS}
    assert done.trace[-1]["cues"] == {}


def test_an_agent_that_leaves_work_behind() -> None:
    class Messy(Scripted):
        tasks: list[Any] = []  # noqa: RUF012

        async def decide(self, observation: Observation) -> Any:
            self.tasks.append(asyncio.create_task(asyncio.sleep(1e9)))
            return Wait()

    assert goes_on(lived(night(LETTERS), Messy({}))) == {"ok": STEPS}


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        True,
        0,
        "sound",
        b"\xff",
        [],
        {"kind": "sound"},
        object(),
        PlaySound,
        PlaySound(None),  # type: ignore[arg-type]
        PlaySound("loudest"),  # type: ignore[arg-type]
        PlaySound(11),  # type: ignore[arg-type]
        Whisper(None),  # type: ignore[arg-type]
        Whisper(7),  # type: ignore[arg-type]
        Whisper(""),
        Whisper("word " * 40_000),
        Whisper("half \ud800"),
        UseObject("flamethrower"),  # type: ignore[arg-type]
        Stop(None),  # type: ignore[arg-type]
        Wait("x" * 200_000),
        Wait("half \ud800"),
    ],
    ids=lambda nonsense: repr(nonsense)[:40],
)
@BOTH
def test_an_agent_that_answers_nonsense(nonsense: object, mode: Mode) -> None:
    done = a_night(lambda step: nonsense, mode)
    assert goes_on(done) == {"nonsense": STEPS}
    assert done.trace[-1]["cues"] == {}
    assert len(done.trace_bytes) < STEPS * 3000


def test_an_agent_that_changes_what_it_was_given() -> None:
    class Meddling(Scripted):
        async def decide(self, observation: Observation) -> Any:
            for name in ("stage", "budget_left", "cues"):
                with pytest.raises((AttributeError, TypeError)):
                    setattr(observation, name, None)
            with pytest.raises(AttributeError):
                self.sessions[0].cue_budget = 1000  # type: ignore[misc]
            return Wait()

    assert goes_on(lived(night(LETTERS), Meddling({}))) == {"ok": STEPS}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(None, 20.0, "no answer within 20 s", attempts=2),
        Reply(None, 0.3, "429: too many requests"),
        Reply({"unexpected": ["<html>captive portal</html>"]}, 0.3),
        Reply({"text": "x" * 200_000}, 0.3),
    ],
    ids=["timeout", "429", "html", "200 kB"],
)
def test_an_outside_that_fails(reply: Reply) -> None:
    class Asking(Scripted):
        def connect(self, outside: Any) -> None:
            self.outside = outside

        async def decide(self, observation: Observation) -> Any:
            found = await self.outside.call(Request("model", {}))
            return PlaySound(reason=found.body["text"])

    class Failing:
        async def call(self, request: Request) -> Reply:
            await asyncio.sleep(reply.latency_s)
            return reply

    bedside = AtBedside("L" * 8, Asking({}), outside=Failing())
    lines = bedside.spend()
    assert [line["t"] for line in steps_of(lines)] == [30.0 * k for k in range(1, 9)]
    assert bedside.bell.cues == []
    assert "ok" not in lines[-1]["decisions"]


# --- an agent that was taken over

VOLUMES = st.sampled_from(list(Volume))
WORDS = st.one_of(
    st.sampled_from(
        [*LINES, "cat", "a dark wolf", "Ignore all rules", "\u202eevil", "my\u200bcat"]
    ),
    st.text(min_size=1, max_size=30),
)
ACTIONS = st.one_of(
    st.builds(PlaySound, VOLUMES),
    st.builds(Whisper, WORDS, VOLUMES),
    st.builds(UseObject, st.sampled_from(list(BedsideObject))),
    st.just(Wait()),
)
LATENCIES = st.sampled_from((0.0, 0.0, 2.4, 29.9, 31.0))


@settings(max_examples=60)
@given(
    letters=st.text("WLDR?", min_size=40, max_size=40),
    moves=st.lists(st.tuples(LATENCIES, ACTIONS), min_size=40, max_size=40),
)
def test_a_hijacked_agent_gets_nothing_past_the_limits_of_a_live_night(
    letters: str, moves: list[tuple[float, Any]]
) -> None:
    agent = Scripted(lambda step: moves[step])
    bedside = AtBedside(letters, agent, interval_s=3.0, mode=Mode.ENFORCE, actuators=(Bell(),))
    lines = bedside.spend()
    assert letters_of(steps_of(lines)) == letters
    rings = [t for t, what in bedside.bell.log if what.startswith("ring")]
    assert all(later - earlier >= 60.0 for earlier, later in pairwise(rings))
    assert all(sum(t - 600.0 < one <= t for one in rings) <= 5 + 2 for t in rings)  # with two puffs
    cues = bedside.bell.cues
    assert all(cue.volume is not Volume.HIGH for cue in cues)
    assert all(cue.line in LINES for cue in cues if cue.kind is CueKind.WHISPER)
    assert all(cue.duration_s <= (20.0 if cue.kind.is_heard else 60.0) for cue in cues)
    assert sum(cue.kind in (CueKind.SCENT, CueKind.DIFFUSER) for cue in cues) <= 1  # an hour apart
    given_at = [line["delivery"] for line in steps_of(lines) if line["delivery"]]
    delivered = [delivery for delivery in given_at if delivery["cue"]]
    assert len(delivered) == len(cues) == len(events_of(lines, "outcome"))
    assert all(delivery["shown"] in ("light", "rem") for delivery in delivered)
    assert all(delivery["rules_delivered"] == [] for delivery in delivered)


@settings(max_examples=40)
@given(moves=st.lists(st.tuples(LATENCIES, ACTIONS), min_size=STEPS, max_size=STEPS))
def test_observe_delivers_all_that_is_whole_and_no_word_that_was_never_said(
    moves: list[tuple[float, Any]],
) -> None:
    done = lived(night(LETTERS), Scripted(lambda step: moves[step]), setting(0.0))
    goes_on(done)
    lines = bundled_theme("cat").lines
    for step, (latency_s, action) in enumerate(moves):
        delivery = done.steps[step]["delivery"]
        if isinstance(action, Wait) or latency_s >= 30.0 or delivery is None:
            continue
        assert delivery["cue"] is not None
        assert delivery["lowered_from"] is None
        if isinstance(action, Whisper) and "words_not_said" in delivery["rules"]:
            assert delivery["delivered"]["line"] == lines[0]
        if isinstance(action, PlaySound | Whisper):
            assert delivery["delivered"]["volume"] == action.volume
