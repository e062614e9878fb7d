"""A feed made by hand, and the virtual loop that is running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from replay.clock import VirtualTimeLoop


class Happenings:
    """A feed of (t, what), handed to a function."""

    def __init__(
        self,
        loop: VirtualTimeLoop,
        happenings: Sequence[tuple[float, str]],
        push: Callable[[str], object],
    ) -> None:
        self._loop = loop
        self._left = list(reversed(happenings))
        self._push = push

    def next_t(self) -> float | None:
        return self._left[-1][0] if self._left else None

    def deliver(self, limit: float) -> None:
        while self._left and self._left[-1][0] < limit:
            t, what = self._left.pop()
            self._loop.advance(t)
            self._push(what)
            if self._loop.interrupted:
                return


def virtual() -> VirtualTimeLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    return loop
