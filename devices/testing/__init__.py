"""Contract tests for anybody's source or actuator: plain coroutines, no test library needed.

    from devices.testing import check_actuator, check_source

    async def test_my_strap():
        await check_source(lambda: MyStrap(address), listen_s=10)

They run on whatever loop awaits them, an ordinary or a virtual one. A broken promise is an
AssertionError that begins with the promise's name, so that a failure says which one it was.
"""

from __future__ import annotations

from devices.testing.actuator import check_actuator
from devices.testing.promises import LoopClock, Promise
from devices.testing.source import check_source

__all__ = ["LoopClock", "Promise", "check_actuator", "check_source"]
