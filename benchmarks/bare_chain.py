"""The bare chain: the virtual loop delivering samples by `call_at` to a function that counts them,
with an epoch timer beside it every 30 s; nothing else."""

from __future__ import annotations

from bedside.clock import real_s
from replay.clock import VirtualTimeLoop


def bare_chain(times_s: list[float], epochs: int) -> float:
    """Real seconds for one delivery at each of these times (rising) and `epochs` timers."""
    loop = VirtualTimeLoop()
    counted = ticked = 0
    last = len(times_s) - 1

    def deliver(number: int) -> None:
        nonlocal counted
        counted += 1
        if number < last:
            loop.call_at(times_s[number + 1], deliver, number + 1)
        else:
            loop.call_at(epochs * 30.0 + 1.0, loop.stop)

    def tick(epoch: int) -> None:
        nonlocal ticked
        ticked += 1
        if epoch < epochs:
            loop.call_at((epoch + 1) * 30.0, tick, epoch + 1)

    started_s = real_s()
    loop.call_at(times_s[0], deliver, 0)
    loop.call_at(30.0, tick, 1)
    loop.run_forever()
    took_s = real_s() - started_s
    loop.close()
    assert counted == len(times_s)
    assert ticked == epochs
    return took_s
