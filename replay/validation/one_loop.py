"""The loop at a bedside and the loop of a replay are one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from agents.rem_rule import RemRule
from agents.wait import WaitAgent
from bedside.night import Night
from bedside.trace import MemorySink, Trace
from replay.clock import run_virtual
from replay.validation.findings import Finding, found
from replay.validation.ground import Ground
from replay.validation.trials import SESSION, trial

STEPS: Final = 20
SPEED: Final = 3000.0
"""Times real time, on a real clock: 20 epochs take 0.2 s. Assumed."""


def live_loop_is_replay_loop(ground: Ground) -> Finding:
    """What plays is the `Night` of the bedside, and a paced run, which waits for a real clock as a
    live one does, writes the same bytes as one that jumps."""
    first = ground.tasks[0].start.epoch if ground.tasks else 0
    made = replace(ground.setting(), first_epoch=first, steps=STEPS)
    jumped = ground.trial(RemRule(), made)
    paced = trial(ground.environment, ground.night, RemRule(), made, speed=SPEED)
    loop, same = _loop(ground), jumped.digest == paced.digest
    line = (
        f"{len(jumped.steps)} steps on a real clock ({SPEED:,.0f}x) and on a virtual one: "
        f"{'the same bytes' if same else 'other bytes'}, played by {loop.__name__}"
    )
    return found(same and loop is Night, line, steps=len(jumped.steps), loop=loop.__qualname__)


def _loop(ground: Ground) -> type:
    """What the world's night is."""
    sink = MemorySink()

    async def built() -> type:
        world = ground.environment.world(
            ground.night, ground.setting(), session_id=SESSION, hidden=Trace(sink)
        )
        return type(world.night(WaitAgent(), Trace(sink)))

    work: Any = built()
    return run_virtual(work)  # type: ignore[no-any-return]
