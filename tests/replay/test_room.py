"""The silent room takes the time that a real one would, and tells nobody but the sleeper."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from bedside.clock import SessionClock, SessionStart
from bedside.trace import MemorySink, Trace
from devices.ports import Actuator
from devices.testing import check_actuator
from devices.types import Cue, CueKind, Outcome, OutcomeStatus, Stage, Volume
from replay.clock import run_virtual
from replay.rolls import Dice
from replay.room import SilentRoom
from replay.sleeper import Sleeper
from replay.wake_rule import WakeTable
from tests.replay.nights import ALWAYS


def sleeper() -> Sleeper:
    return Sleeper(
        [Stage.REM] * 100,
        first_epoch=0,
        dice=Dice("a", 1),
        table=WakeTable(ALWAYS, 4),
        trace=Trace(MemorySink()),
    )


def cue(number: int = 1, kind: CueKind = CueKind.SOUND, duration_s: float = 8.0) -> Cue:
    return Cue(number, kind, Volume.LOW, "cat", duration_s)


def in_room(act: Callable[[SilentRoom], Awaitable[list[Outcome]]]) -> list[Outcome]:
    async def spend() -> list[Outcome]:
        room, clock = SilentRoom(sleeper()), SessionClock(SessionStart(None))
        async with room.ready(clock):
            await clock.until(60.0)
            return await act(room)

    return run_virtual(spend())


async def ended(*cues: asyncio.Task[Outcome]) -> list[Outcome]:
    return [await one for one in cues]


def test_it_keeps_the_promises_of_an_actuator() -> None:
    room = SilentRoom(sleeper())
    assert isinstance(room, Actuator)
    assert room.kinds == frozenset(CueKind)
    asyncio.run(check_actuator(lambda: SilentRoom(sleeper()), duration_s=0.1))


@pytest.mark.parametrize("kind", list(CueKind))
def test_a_cue_takes_its_own_time_and_is_confirmed(kind: CueKind) -> None:
    async def act(room: SilentRoom) -> list[Outcome]:
        return [await room.perform(cue(1, kind, 12.5))]

    assert in_room(act) == [Outcome(OutcomeStatus.CONFIRMED, 60.0, 72.5)]


def test_the_sleeper_hears_a_cue_when_it_begins() -> None:
    hearing = sleeper()

    async def spend() -> None:
        room, clock = SilentRoom(hearing), SessionClock(SessionStart(None))
        async with room.ready(clock):
            await clock.until(62.4)
            await room.perform(cue())

    run_virtual(spend())
    assert [waking.t for waking in hearing.wakings] == [62.4]


@pytest.mark.parametrize("how", ["fade_out", "silence"])
def test_what_sounds_ends_when_it_is_told_to(how: str) -> None:
    async def act(room: SilentRoom) -> list[Outcome]:
        sounding = [asyncio.create_task(room.perform(cue(n))) for n in (1, 2)]
        await asyncio.sleep(3.0)
        getattr(room, how)()
        getattr(room, how)()
        return await ended(*sounding)

    assert in_room(act) == [Outcome(OutcomeStatus.SILENCED, 60.0, 63.0)] * 2


def test_it_is_silenced_from_another_thread() -> None:
    async def act(room: SilentRoom) -> list[Outcome]:
        sounding = asyncio.create_task(room.perform(cue(1, duration_s=1e6)))
        await asyncio.sleep(1.0)
        thread = threading.Thread(target=room.silence)
        thread.start()
        thread.join()
        return await ended(sounding)

    (outcome,) = in_room(act)
    assert outcome.status == "silenced"


def test_after_a_silence_nothing_sounds_until_it_is_armed_again() -> None:
    async def act(room: SilentRoom) -> list[Outcome]:
        room.silence()
        await asyncio.sleep(0.5)
        kept_silent = await room.perform(cue(1))
        room.rearm()
        return [kept_silent, await room.perform(cue(2))]

    silent, heard = in_room(act)
    assert (silent.status, silent.onset_t, silent.ended_t) == ("silenced", None, 60.5)
    assert heard == Outcome(OutcomeStatus.CONFIRMED, 60.5, 68.5)


def test_a_silent_room_reaches_no_sleeper() -> None:
    hearing = sleeper()

    async def spend() -> None:
        room, clock = SilentRoom(hearing), SessionClock(SessionStart(None))
        room.silence()
        async with room.ready(clock):
            await clock.until(62.4)
            await room.perform(cue())

    run_virtual(spend())
    assert hearing.wakings == []


def test_fading_out_is_over_with_the_cue() -> None:
    async def act(room: SilentRoom) -> list[Outcome]:
        room.fade_out()
        await asyncio.sleep(0.5)
        return [await room.perform(cue())]

    assert in_room(act)[0].status == "confirmed"
