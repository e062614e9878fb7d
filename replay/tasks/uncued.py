"""What the un-cued task shows: what an agent would see if it only waited."""

from __future__ import annotations

from dataclasses import replace

from agents.wait import WaitAgent
from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from bedside.trace import MemorySink, Trace
from devices.types import Stage
from replay.attempt import attempt
from replay.conditions import Condition
from replay.recorded_night import RecordedNight
from replay.rolls import Dice, RollStream, roll_night
from replay.tasks.task import STEPS, Task
from replay.tasks.task_set import task_setting
from replay.trace_lines import parsed
from replay.wake_rule import wake_table


def shown_stages(night: RecordedNight, task: Task, dropout: float) -> tuple[Stage, ...]:
    """The coarse stage that each step of the un-cued task shows, and the last look after them;
    UNKNOWN: no reading."""
    if task.condition.signal is not None:
        return _lived(night, task, dropout)
    dice = dice_of(night, task)
    return tuple(
        Stage.UNKNOWN
        if dropout and dice.roll(RollStream.DROPOUT, step) < dropout
        else night.shown[task.start.epoch + step].coarse
        for step in range(STEPS + 1)
    )


def dice_of(night: RecordedNight, task: Task) -> Dice:
    """The dice of every attempt at this task."""
    return Dice(roll_night(night.stage4_sha256, task.start.epoch), task.seed)


def _lived(night: RecordedNight, task: Task, dropout: float) -> tuple[Stage, ...]:
    """What the night itself makes of a disturbed signal, with an agent that waits."""
    alone = replace(task, condition=Condition(signal=task.condition.signal))
    table = wake_table(default_toml("wake_table"))
    setting = task_setting(alone, night, wake_table=table, mode=Mode.OBSERVE, dropout=dropout)
    sink, hidden = MemorySink(), Trace(MemorySink())
    attempt(night, WaitAgent(), setting, session_id="wait", trace=Trace(sink), hidden=hidden)
    steps = [line for line in parsed(sink.bytes(), "wait") if line["kind"] in ("step", "last")]
    return tuple(Stage(line["epoch"]["stage"]) for line in steps)
