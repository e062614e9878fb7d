"""The night's clock and the wall beside it; expected values are counted by hand."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.clock import (
    SessionClock,
    SessionStart,
    WallReading,
    WallWatch,
    clock_s,
    wall_now_ns,
    wall_step_s,
)
from devices.ports import Clock
from replay.clock import run_virtual

NS = 1_000_000_000
UNKNOWN = SessionStart(None, 0)


def local(hour: int, minute: int, utc_offset_h: float = 0.0) -> SessionStart:
    """A start at a local time of day, on 30 November 2026."""
    offset = timedelta(hours=utc_offset_h)
    when = datetime(2026, 11, 30, hour, minute, tzinfo=timezone(offset))
    seconds = (when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    return SessionStart(int(seconds) * NS, int(offset.total_seconds()))


# The time of day


@pytest.mark.parametrize("utc_offset_h", [-9.5, 0.0, 1.0, 5.75, 13.0])
@pytest.mark.parametrize(
    ("hour", "minute", "seconds_after_noon"),
    [
        (12, 0, 0),
        (13, 0, 3_600),
        (23, 0, 39_600),
        (0, 0, 43_200),
        (0, 30, 45_000),
        (4, 50, 60_600),
        (11, 59, 86_340),
    ],
)
def test_the_start_is_counted_from_the_noon_before_it(
    hour: int, minute: int, seconds_after_noon: int, utc_offset_h: float
) -> None:
    assert clock_s(local(hour, minute, utc_offset_h)) == seconds_after_noon


def test_an_unknown_start_is_taken_as_eleven_in_the_evening_and_says_so() -> None:
    assert clock_s(UNKNOWN) == 39_600
    assert UNKNOWN.assumed


def test_a_known_start_is_no_assumption() -> None:
    assert not local(23, 0).assumed


def test_a_start_at_the_unix_epoch_is_known() -> None:
    start = SessionStart(0, 0)
    assert (clock_s(start), start.assumed) == (43_200, False)


def test_a_start_keeps_its_fraction_of_a_second() -> None:
    noon = local(12, 0)
    assert noon.wall_ns is not None
    assert clock_s(SessionStart(noon.wall_ns + 250_000_000, 0)) == 0.25


@given(st.integers(-(2**62), 2**62), st.integers(-50_400, 50_400))
def test_any_start_lies_within_a_day_after_a_noon(wall_ns: int, utc_offset_s: int) -> None:
    assert 0 <= clock_s(SessionStart(wall_ns, utc_offset_s)) <= 86_400


# The clock


def test_it_is_the_clock_that_devices_ask_for() -> None:
    async def main() -> float:
        clock: Clock = SessionClock(UNKNOWN)
        await asyncio.sleep(12.5)
        return clock.t()

    assert run_virtual(main()) == 12.5


def test_a_session_begins_at_zero_whenever_the_loop_began() -> None:
    async def main() -> list[float]:
        await asyncio.sleep(1000.0)
        clock = SessionClock(UNKNOWN)
        begun = clock.t()
        await asyncio.sleep(30.0)
        return [begun, clock.t()]

    assert run_virtual(main()) == [0.0, 30.0]


def test_after_a_crash_the_session_goes_on_at_the_time_it_is_given() -> None:
    async def main() -> list[float]:
        clock = SessionClock(UNKNOWN, t=3600.0)
        resumed = clock.t()
        await clock.until(3630.0)
        return [resumed, clock.t(), asyncio.get_running_loop().time()]

    assert run_virtual(main()) == [3600.0, 3630.0, 30.0]


def test_times_are_whole_milliseconds() -> None:
    async def main() -> list[float]:
        clock, seen = SessionClock(UNKNOWN), []
        for _ in range(10):
            await asyncio.sleep(0.1)
            seen.append(clock.t())
        await asyncio.sleep(1e-10)
        return [*seen, clock.t()]

    # Ten sleeps of 0.1 s add up to 0.9999999999999999 in floats; the clock says 1.0.
    tenths = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert run_virtual(main()) == [*tenths, 1.0]


def test_until_ends_at_that_very_instant_on_virtual_time() -> None:
    async def main() -> list[float]:
        clock, ends = SessionClock(UNKNOWN), []
        for epoch in range(1, 961):
            await asyncio.sleep(0.7)
            await clock.until(30.0 * epoch)
            ends.append(asyncio.get_running_loop().time())
        return ends

    assert run_virtual(main()) == [30.0 * epoch for epoch in range(1, 961)]


@pytest.mark.parametrize("t", [1 / 3, 0.1 + 0.2, 1e-10, 28_799.999_999_999_7])
def test_until_a_time_between_two_milliseconds_ends(t: float) -> None:
    async def main() -> float:
        clock = SessionClock(UNKNOWN)
        await clock.until(t)
        return clock.t()

    assert abs(run_virtual(main()) - t) <= 5e-4


def test_until_a_time_that_has_passed_lets_others_run_once() -> None:
    async def main() -> list[str]:
        clock, seen = SessionClock(UNKNOWN), []
        await asyncio.sleep(60.0)
        asyncio.get_running_loop().call_soon(seen.append, "other")
        await clock.until(30.0)
        seen.append("ended")
        return [*seen, str(clock.t())]

    assert run_virtual(main()) == ["other", "ended", "60.0"]


def test_a_cancelled_until_leaves_no_timer_behind() -> None:
    async def main() -> float:
        clock = SessionClock(UNKNOWN)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(clock.until(1000.0), 30.0)
        await asyncio.sleep(1.0)
        return clock.t()

    assert run_virtual(main()) == 31.0


async def test_until_never_ends_early_in_real_time() -> None:
    clock = SessionClock(UNKNOWN)
    for step in range(1, 11):
        await clock.until(step * 0.003)
        assert clock.t() >= round(step * 0.003, 3)


# The wall


def test_the_wall_clock_is_read_in_nanoseconds_of_utc() -> None:
    before = datetime.now(UTC).timestamp()
    read_s = wall_now_ns() / NS
    assert before - 1.0 <= read_s <= datetime.now(UTC).timestamp() + 1.0


@pytest.mark.parametrize(
    ("wall_passed_s", "t_passed", "step_s"),
    [
        (60.0, 60.0, None),
        (61.5, 60.0, None),
        (62.0, 60.0, None),
        (62.5, 60.0, 2.5),
        (57.5, 60.0, -2.5),
        (3_660.0, 60.0, 3_600.0),
        (-3_540.0, 60.0, -3_600.0),
    ],
)
def test_a_wall_that_leaves_the_night_by_more_than_two_seconds_has_stepped(
    wall_passed_s: float, t_passed: float, step_s: float | None
) -> None:
    before = WallReading(1_796_000_000 * NS, 100.0)
    after = WallReading(before.wall_ns + round(wall_passed_s * NS), 100.0 + t_passed)
    assert wall_step_s(before, after) == step_s


def test_the_watch_compares_with_the_last_reading_so_slewing_is_no_step() -> None:
    # 0.5 ms a second, as a time daemon slews: 14.4 s in a night, 15 ms an epoch.
    watch = WallWatch(WallReading(0, 0.0))
    slewed = [WallReading(round(30.015 * k * NS), 30.0 * k) for k in range(1, 961)]
    assert [watch.step_s(reading) for reading in slewed] == [None] * 960


def test_the_watch_tells_a_step_once() -> None:
    watch = WallWatch(WallReading(0, 0.0))
    readings = [(30, 30.0), (3_660, 60.0), (3_690, 90.0)]
    steps = [watch.step_s(WallReading(wall_s * NS, t)) for wall_s, t in readings]
    assert steps == [None, 3_600.0, None]
