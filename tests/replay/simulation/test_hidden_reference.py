"""Every line of a hidden trace stands in `docs/reference/trace.md`, with its keys."""

import re
from pathlib import Path

from bedside.configuration import default_toml
from replay.controls.contenders import contender
from replay.setting import Setting
from replay.wake_rule import WakeOption, wake_table
from tests.replay.nights import Line, cue_at, lived, night, setting
from tests.replay.simulation.asleep import slept

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "trace.md"
SECTION = REFERENCE.read_text(encoding="utf-8").split("## `hidden.jsonl`", 1)[1]
ROWS = [row.split("|")[1:3] for row in SECTION.splitlines() if row.startswith("| `")]
EVENTS = {name.strip(" `"): set(re.findall(r"\w+", keys)) for name, keys in ROWS}
HEADER = set(re.findall(r"\w+", SECTION.split("`event`s", 1)[0]))
ON = Setting(setting().theme, wake_table(default_toml("wake_table"), 4.0, WakeOption))


def undocumented(hidden: list[Line]) -> dict[str, set[str]]:
    """By event, keys that its row does not name."""
    known = {"kind", "t", "event"}
    found = {line["event"]: set(line) - known for line in hidden if line["kind"] == "event"}
    return {name: extra for name, keys in found.items() if (extra := keys - EVENTS[name])}


def events(hidden: list[Line]) -> set[str]:
    return {line["event"] for line in hidden if line["kind"] == "event"}


def test_a_simulated_night_is_described() -> None:
    nights = [slept(contender("random"), made).hidden for made in (ON, setting(4.0))]
    hidden = [line for one in nights for line in one]
    told = {"roll", "waking", "onset_delay", "stage_change", "arousal", "truth", "synthetic_dream"}
    assert told <= events(hidden)
    assert undocumented(hidden) == {}
    header = hidden[0]
    assert {"simulation", "wake_options"} <= set(header)
    assert {*header, *header["simulation"]} - {"kind"} <= HEADER


def test_a_recorded_night_with_assumptions_is_described() -> None:
    asleep = night("WWWWLLWWLLLLLLLLLLLLLLLLDDDD")
    hidden = [
        line for step in range(10) for line in lived(asleep, cue_at(step, step + 1), ON).hidden
    ]
    assert {"assumptions", "onset_roll", "onset_delay", "awake_already"} <= events(hidden)
    assert undocumented(hidden) == {}
    assert set(hidden[0]) - {"kind"} <= HEADER
