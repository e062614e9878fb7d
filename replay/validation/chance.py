"""Rolls come from the seed alone, and more noise can only wake more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Final

from agents.types import Action, Observation, PlaySound, Session
from devices.types import CueKind, Stage, Volume
from replay.hypnogram import letters
from replay.validation.findings import Finding, found, not_applicable
from replay.validation.ground import Ground
from replay.wake_rule import ROLLED

VECTORS: Final = (
    ("night-a:556", 1, "wake", 0, 0.3236413247097304),
    ("night-a:556", 1, "wake", 1, 0.21524705070254013),
    ("night-a:556", 1, "dropout", 0, 0.4705612746935165),
    ("夜:0", 8, "person", 39, 0.41064842819954706),
)
"""Source: `replay-environment.md`, "Roll"."""
SCALES: Final = (0.5, 1.0, 2.0, 4.0)
LOUDER: Final = (Volume.LOW, Volume.MEDIUM, Volume.HIGH)
LIGHTER: Final = (Stage.DEEP, Stage.REM, Stage.LIGHT)
EPOCHS_A_STAGE: Final = 6
"""Epochs of each hidden stage in which a cue is rolled for. Assumed: enough to see an order."""
TASKS: Final = 4
DROPOUT: Final = 0.2


class Steady:
    """The same sound at every step."""

    name = "steady"

    def __init__(self, volume: Volume) -> None:
        self._sound = PlaySound(volume, "every step")

    def reset(self, session: Session) -> None:
        """Nothing to begin."""

    async def decide(self, observation: Observation) -> Action:
        return self._sound


def rolls_are_seeded(ground: Ground) -> Finding:
    """The published vectors, and every roll of some attempts worked out again from its seed."""
    roll = ground.environment.roll
    vectors = sum(roll(*vector[:4]) == vector[4] for vector in VECTORS)
    key = sha256(letters(ground.night.hidden).encode("ascii")).hexdigest()[:16]
    rolls = same = 0
    for task in ground.some_tasks(TASKS):
        made = replace(ground.task_setting(task), dropout=DROPOUT)
        done, night = ground.trial(Steady(Volume.LOW), made), f"{key}:{task.start.epoch}"
        rolled = [line for line in done.rolls if line["value"] is not None]
        same += sum(
            line["value"] == _again(night, task.seed, "wake", line["step"]) for line in rolled
        )
        dropped = {one["step"] for one in done.hidden_lines if one.get("event") == "dropout"}
        steps = range(len(done.steps))
        due = {k for k in steps if _again(night, task.seed, "dropout", k) < DROPOUT}
        same += sum((step in dropped) == (step in due) for step in steps)
        rolls += len(rolled) + len(steps)
    passed = vectors == len(VECTORS) and same == rolls
    line = f"{vectors} of {len(VECTORS)} published vectors, {same} of {rolls} rolls of attempts"
    return found(passed, line, vectors=vectors, rolls=rolls, same=same)


@dataclass(frozen=True, slots=True)
class _Coupled:
    """One roll under a volume and a scale."""

    value: float
    woken: bool


def wake_rule_is_ordered(ground: Ground) -> Finding:
    """Louder, a larger scale or a lighter stage wakes at least as often: in the table, and for
    the very same roll in attempts that differ in nothing else."""
    cells, disorder = _table_order(ground)
    rolls = breaches = 0
    for epoch in _epochs(ground):
        grid = {
            (volume, scale): _one_cue(ground, epoch, volume, scale)
            for volume in LOUDER
            for scale in SCALES
        }
        if None in grid.values():
            continue
        rolls += 1
        breaches += _breaches({at: one for at, one in grid.items() if one is not None})
    if not rolls and not disorder:
        return not_applicable("no epoch of sleep to roll in")
    line = (
        f"{breaches} breaches over {rolls} rolls under {len(LOUDER) * len(SCALES)} conditions each"
        f", {disorder} of {cells} steps of the table out of order"
    )
    return found(
        not breaches and not disorder,
        line,
        rolls=rolls,
        breaches=breaches,
        table_steps=cells,
        table_disorder=disorder,
    )


def _again(night: str, seed: int, stream: str, step: int) -> float:
    """A roll as the specification writes it, apart from `replay.rolls`."""
    message = b"\0".join(word.encode() for word in ("paprika-roll/1", night, str(seed), stream))
    message += b"\0" + str(step).encode()
    return (int.from_bytes(sha256(message).digest()[:8], "big") >> 11) / 2.0**53


def _table_order(ground: Ground) -> tuple[int, int]:
    """Neighbours of the table that were compared, and those in the wrong order."""
    pairs = list(_neighbours(ground))
    return len(pairs), sum(less > more for less, more in pairs)


def _neighbours(ground: Ground) -> Iterator[tuple[float, float]]:
    chance = {
        (stage, volume, scale): ground.setting(scale).wake_table.chance(
            stage, CueKind.SOUND, volume
        )
        or 0.0
        for stage in ROLLED
        for volume in LOUDER
        for scale in SCALES
    }
    for stage, volume, scale in chance:
        for axis, order in enumerate((LIGHTER, LOUDER, SCALES)):
            for less, more in pairwise(order):
                at = [stage, volume, scale]
                if at[axis] == less:
                    here, at[axis] = tuple(at), more
                    yield chance[here], chance[tuple(at)]  # type: ignore[index]


def _epochs(ground: Ground) -> list[int]:
    """Epochs of each hidden stage of sleep, spread over the night."""
    chosen = []
    for stage in LIGHTER:
        of_stage = [k for k, one in enumerate(ground.night.hidden) if one.coarse is stage]
        chosen += of_stage[:: max(1, -(-len(of_stage) // EPOCHS_A_STAGE))]
    return sorted(chosen)


def _one_cue(ground: Ground, epoch: int, volume: Volume, scale: float) -> _Coupled | None:
    made = replace(ground.setting(scale), first_epoch=epoch, steps=1)
    rolls = ground.trial(Steady(volume), made).rolls
    if not rolls or rolls[0]["value"] is None:
        return None
    return _Coupled(rolls[0]["value"], rolls[0]["woken"])


def _breaches(grid: dict[tuple[Volume, float], _Coupled]) -> int:
    """Pairs of conditions of one roll in which less noise woke and more did not."""
    differ = len({one.value for one in grid.values()}) - 1
    wrong = 0
    for (volume, scale), one in grid.items():
        for (louder, larger), more in grid.items():
            grows = volume.rank <= louder.rank and scale <= larger
            wrong += grows and one.woken and not more.woken
    return differ + wrong
