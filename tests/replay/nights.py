"""Small nights written as letters, and agents that follow a script, to run the core on."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from agents.types import Action, Observation, PlaySound, Session, Wait
from bedside.configuration import default_toml
from bedside.recording import MemoryRecording, RecordingInfo
from bedside.themes import bundled_theme
from bedside.trace import MemorySink, Trace
from devices.types import (
    EPOCH_S,
    Sample,
    Stage,
    StageReading,
    Stream,
    StreamInfo,
    Truth,
    Volume,
)
from replay.attempt import Attempt, attempt
from replay.recorded_night import RecordedNight
from replay.setting import Setting
from replay.wake_rule import WakeTable, wake_table

STAGES = {
    "W": Stage.AWAKE,
    "1": Stage.N1,
    "2": Stage.N2,
    "L": Stage.LIGHT,
    "D": Stage.DEEP,
    "R": Stage.REM,
    "?": Stage.UNKNOWN,
}
BAND = "band"
START_WALL_NS = 1_790_031_600_000_000_000
"""23:00 UTC on 21 September 2026: 39,600 s after noon."""
START_CLOCK_S = 39_600.0

Line = dict[str, Any]


def recording(
    letters: str,
    *,
    interval_s: float = EPOCH_S,
    truth: str = "",
    extra: Iterable[Sample] = (),
    streams: Sequence[StreamInfo] = (),
    night_id: str = "night-a",
    start_wall_ns: int | None = START_WALL_NS,
    confidence: float | None = None,
) -> MemoryRecording:
    """One letter an epoch, as labels every `interval_s` in the middle of their interval."""
    per_epoch = round(EPOCH_S / interval_s)
    labels = [
        Sample(
            Stream.STAGE,
            epoch * EPOCH_S + (number + 0.5) * interval_s,
            StageReading(STAGES[letter], confidence),
            BAND,
        )
        for epoch, letter in enumerate(letters)
        for number in range(per_epoch)
    ]
    info = RecordingInfo(
        night_id=night_id,
        kind="headband_4stage",
        origin=f"{night_id}.csv",
        epochs=len(letters),
        streams=(StreamInfo(Stream.STAGE, interval_s, BAND), *streams),
        start_wall_ns=start_wall_ns,
        utc_offset_s=0,
        truth_origin="a hand" if truth else None,
    )
    truths = (Truth(k * EPOCH_S + 15.0, STAGES[letter]) for k, letter in enumerate(truth))
    samples = sorted((*labels, *extra), key=lambda sample: sample.t)
    return MemoryRecording(info, tuple(samples), tuple(truths))


def night(letters: str, **given: Any) -> RecordedNight:
    return RecordedNight(recording(letters, **given))


def setting(scale: float = 1.0, *, theme: str = "cat", **given: Any) -> Setting:
    return Setting(_theme(theme), wake_table(_table(), scale), **given)


_theme, _table = cache(bundled_theme), cache(partial(default_toml, "wake_table"))

ALWAYS = {
    stage: dict.fromkeys(("low", "medium", "high", "object"), 1.0)
    for stage in (Stage.LIGHT, Stage.REM, Stage.DEEP)
}
NEVER = 0.0
"""A wake scale at which no cue wakes."""


def waking_setting(**given: Any) -> Setting:
    """Every cue that is rolled for wakes."""
    return Setting(_theme("cat"), WakeTable(ALWAYS, 4), **given)


Move = Action | tuple[float, Action] | Exception | Callable[[Observation], Any]


class Scripted:
    """Plays its script by step; waits where it has none. A pair is latency and action.

    seen: every observation, in order.
    """

    name = "scripted"

    def __init__(self, script: Mapping[int, Any] | Callable[[int], Any]) -> None:
        self._script = script
        self.seen: list[Observation] = []
        self.sessions: list[Session] = []

    def reset(self, session: Session) -> None:
        self.sessions.append(session)

    async def decide(self, observation: Observation) -> Action:
        self.seen.append(observation)
        step = round((observation.clock_s - self.sessions[-1].start_clock_s) / EPOCH_S) - 1
        script = self._script
        move = script(step) if callable(script) else script.get(step, Wait())
        latency_s, answer = move if isinstance(move, tuple) else (0.0, move)
        if latency_s:
            await asyncio.sleep(latency_s)
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]


SOFT = PlaySound(Volume.LOW, "now")
LOUD = PlaySound(Volume.HIGH, "now")


def cue_at(*steps: int, action: Action = SOFT, latency_s: float = 0.0) -> Scripted:
    """The same action at each of these steps."""
    return Scripted(dict.fromkeys(steps, (latency_s, action)))


@dataclass
class Lived:
    """An attempt with its two traces as lines and bytes."""

    attempt: Attempt
    trace_bytes: bytes
    hidden_bytes: bytes
    trace: list[Line] = field(default_factory=list)
    hidden: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.trace, self.hidden = lines_of(self.trace_bytes), lines_of(self.hidden_bytes)

    @property
    def steps(self) -> list[Line]:
        return steps_of(self.trace)

    @property
    def shown(self) -> str:
        """The stages of all steps as letters."""
        return letters_of(self.steps)

    def deliveries(self) -> dict[int, Line]:
        return deliveries_of(self.trace)

    def rolls(self) -> list[Line]:
        return [line for line in self.hidden if line.get("event") == "roll"]


def lived(played: RecordedNight, agent: Any, made: Setting | None = None, **given: Any) -> Lived:
    """Run one attempt in memory."""
    trace, hidden = MemorySink(), MemorySink()
    done = attempt(
        played,
        agent,
        made or setting(NEVER),
        session_id="0123456789abcdef",
        trace=Trace(trace),
        hidden=Trace(hidden),
        **given,
    )
    return Lived(done, trace.bytes(), hidden.bytes())


def lines_of(written: bytes) -> list[Line]:
    return [json.loads(line) for line in written.splitlines()]


def steps_of(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if line["kind"] == "step"]


def deliveries_of(lines: Iterable[Line]) -> dict[int, Line]:
    """What came of each asked cue, by step."""
    return {line["step"]: line["delivery"] for line in steps_of(lines) if line["delivery"]}


def events_of(lines: Iterable[Line], name: str) -> list[Line]:
    return [line for line in lines if line.get("event") == name]


def letters_of(steps: Iterable[Line]) -> str:
    return "".join(Stage(step["epoch"]["stage"]).letter for step in steps)


@contextmanager
def files_at_most(size: int) -> Iterator[None]:
    """The system refuses to let any file grow over `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
