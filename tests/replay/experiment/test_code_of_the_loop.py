"""The code in an id: whatever an attempt loads can change a byte of it, so it must be in there."""

from __future__ import annotations

import json
import subprocess
import sys

from replay.manifest import OF_THE_LOOP, source_sha256
from tests.conftest import ROOT

LOOKS_ONLY = {
    f"replay.{name}"
    for name in (
        "decisions", "decisions.costs", "manifest", "overlays", "progress", "staging", "summary",
        "tasks", "tasks.start_points", "trace_lines", "wording",
    )
}  # fmt: skip
"""Loaded by an attempt, but only told about it: ids, progress, counts of traces, names of packages.
What tasks start at stands in the setting, which an id covers by value."""

PLAY_EVERYTHING = """
import json, sys
from bedside.configuration import default_toml
from bedside.safety.gate import Mode
from bedside.trace import MemorySink, Trace
from replay.attempt import attempt
from replay.controls.contenders import contender, control_names
from replay.conditions import ActuatorFault, Condition, PersonAct, SignalFault
from replay.decisions import DecisionOptions, DecisionWayOut
from replay.latency import LatencyModel
from replay.overlays import overlaid, overlay_named
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from replay.tasks.task_set import make_tasks, task_setting
from replay.wake_rule import wake_table

night = overlaid(RecordedNight(sample_night()), overlay_named("consumer"), seed=1)
condition = Condition(SignalFault.FLICKER, ActuatorFault.CUE_LATE, PersonAct.STOP_PRESSED)
task = make_tasks(night, seeds=(1,), conditions=(condition,))[3]
setting = task_setting(
    task, night, wake_table=wake_table(default_toml("wake_table")), mode=Mode.OBSERVE,
    dropout=0.02, latency=LatencyModel(2.4, 0.5),
)
for name in (*control_names(), "rem_rule", "cmd:cat"):
    agent = contender(name, night=night, task=task, setting=setting, development=(night,))
    attempt(
        night, agent, setting, session_id="x", trace=Trace(MemorySink()),
        hidden=Trace(MemorySink()),
        way_out=DecisionWayOut(DecisionOptions(), task="a", seed=1),
    )
print(json.dumps(sorted(name for name in sys.modules if name.startswith("replay."))))
"""


def test_every_module_that_an_attempt_loads_is_part_of_the_code_in_its_id():
    played = subprocess.run(
        [sys.executable, "-c", PLAY_EVERYTHING],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    covered = {part.removesuffix(".py").replace("/", ".") for part in OF_THE_LOOP}
    outside = {
        name
        for name in json.loads(played.stdout.splitlines()[-1])
        if not any(name == f"replay.{one}" or name.startswith(f"replay.{one}.") for one in covered)
    }
    assert outside <= LOOKS_ONLY


def test_every_part_that_is_named_exists():
    assert [part for part in OF_THE_LOOP if not (ROOT / "replay" / part).exists()] == []


def test_the_hash_of_code_covers_names_and_bytes_and_not_the_order_asked():
    one = source_sha256("replay/rolls.py", "replay/tasks")
    assert one == source_sha256("replay/tasks", "replay/rolls.py")
    assert one != source_sha256("replay/rolls.py")
