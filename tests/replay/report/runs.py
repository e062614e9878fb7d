"""Runs of real attempts on the bundled night, small enough to look at or as large as asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

from agents.fixed_timer import FixedTimer
from agents.rem_rule import RemRule
from agents.types import Agent
from agents.wait import WaitAgent
from bedside.configuration import default_toml
from bedside.themes import bundled_themes
from bedside.trace import MemorySink, Trace
from replay.attempt import attempt
from replay.experiment.rows import Row, Status, Unit
from replay.hypnogram import letters
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from replay.scores.checker import check
from replay.scores.verdicts import Verdict
from replay.setting import Setting
from replay.summary import Line, summarise
from replay.wake_rule import wake_table

STARTS = {
    "sleep_onset": (116,),
    "rem_onset": (228, 353, 528, 545, 604, 630, 684, 730, 741, 797, 846, 900),
    "longest_light": (470,),
    "longest_deep": (417,),
}
"""Epochs of the bundled night, picked by eye from its hypnogram."""
DROPOUT = 0.02
NIGHT = "sample"

Makers = Mapping[str, Callable[[], Agent]]
RULES: Makers = {"wait": WaitAgent, "fixed_timer": FixedTimer, "rem_rule": RemRule}


@dataclass(frozen=True, slots=True)
class MadeSet:
    id: str


@dataclass
class MadeRun:
    """Satisfies `replay.report.run.Run` out of memory."""

    path: Path
    manifest: dict[str, Any]
    made: list[Row] = field(default_factory=list)
    sets: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    traces: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        return self.made

    def verdicts(self, set_id: str | None = None) -> Mapping[str, Verdict]:
        return self.sets[set_id or list(self.sets)[-1]]

    def verdict_sets(self) -> Sequence[MadeSet]:
        return [MadeSet(name) for name in self.sets]

    def trace(self, key: str) -> list[Line]:
        return _lines(self.traces[key][0])

    def hidden(self, key: str) -> list[Line]:
        return _lines(self.traces[key][1])


def _lines(written: bytes) -> list[Line]:
    found: list[Line] = json.loads(b"[" + b",".join(written.splitlines()) + b"]")
    return found


@cache
def recorded() -> RecordedNight:
    return RecordedNight(sample_night())


def units(
    agents: Iterable[str],
    seeds: Iterable[int],
    scales: Iterable[float],
    starts: Mapping[str, Sequence[int]],
    night: str = NIGHT,
) -> Iterator[Unit]:
    """Start points by time, seeds within them, agents within those."""
    themes = list(bundled_themes())
    points = sorted((epoch, kind) for kind, epochs in starts.items() for epoch in epochs)
    shown = letters(recorded().shown)
    for (number, (epoch, kind)), seed, agent, scale in product(
        enumerate(points), seeds, agents, scales
    ):
        minutes = 4 * 60 + 50 + epoch // 2
        theme = number % len(themes)
        yield Unit(
            night=night,
            task=f"{kind}-{minutes // 60:02d}{minutes % 60:02d}-t{theme + 1}-s{seed}",
            kind=kind,
            start_epoch=epoch,
            cluster=number,
            theme=themes[theme],
            seed=seed,
            condition="plain",
            held_out=seed > 5,
            feasible="R" in shown[epoch + 1 : epoch + 41],
            agent=agent,
            scale=scale,
        )


def made_run(
    path: Path,
    *,
    agents: Makers = RULES,
    seeds: Sequence[int] = (1, 2),
    scales: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
    starts: Mapping[str, Sequence[int]] | None = None,
    nights: Sequence[str] = (NIGHT,),
) -> MadeRun:
    """Every unit attempted, its row counted and judged. All nights are the bundled one renamed."""
    points = starts or {kind: epochs[:2] for kind, epochs in STARTS.items()}
    run = MadeRun(path, _manifest(agents, seeds, scales, nights))
    for night in nights:
        for unit in units(agents, seeds, scales, points, night):
            add(run, unit, agents[unit.agent]())
    run.sets["1"] = {row.unit.key: check(row) for row in run.made}
    return run


def add(run: MadeRun, unit: Unit, agent: Agent) -> None:
    trace, hidden = MemorySink(), MemorySink()
    attempt(
        recorded(),
        agent,
        _setting(unit),
        session_id="0123456789abcdef",
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    run.traces[unit.key] = trace.bytes(), hidden.bytes()
    run.made.append(row(unit, run.trace(unit.key), run.hidden(unit.key)))


_wake_table = cache(partial(default_toml, "wake_table"))
_themes = cache(bundled_themes)


def _setting(unit: Unit) -> Setting:
    return Setting(
        _themes()[unit.theme],
        wake_table(_wake_table(), unit.scale),
        seed=unit.seed,
        first_epoch=unit.start_epoch + 1,
        steps=40,
        dropout=DROPOUT,
    )


def row(unit: Unit, trace: Sequence[Line], hidden: Sequence[Line]) -> Row:
    found = summarise(trace, hidden, recorded().shown)
    rem = [cue for cue in found.cues if cue.shown == "rem"]
    true = Counter(cue.true or "none" for cue in found.cues)
    return Row(
        unit=unit,
        status=Status.COMPLETED,
        ending=found.ending,
        detail=None,
        steps=len(found.stages),
        compared=found.compared,
        mismatched=found.mismatched,
        asked=found.asked,
        delivered=len(found.cues),
        refused=found.refused,
        rewritten=found.rewritten,
        shown=found.cues_by_stage,
        true={name: true[name] for name in found.cues_by_stage},
        rem_cues=len(rem),
        true_rem_cues=true["rem"],
        wakings=len(found.wakings),
        violations=found.violations,
        violations_delivered=found.violations_delivered,
        limit_hits=found.limit_hits,
        rem_epochs=found.stages.count("rem"),
        rem_periods=int("rem" in found.stages),
        rem_periods_cued=int(bool(rem)),
        first_cue_s=rem[0].t - 30.0 * (found.stages.index("rem") + 1) if rem else None,
        decisions=found.decisions,
        suspected_wakings=found.suspected_wakings,
        latency_s=0.0,
        calls=0,
        client_calls=0,
        cached=0,
        failed_calls=0,
        limit_waits=0,
        tokens_in=0,
        tokens_out=0,
        cost_paid=0.0,
        cost_nominal=0.0,
        evidence=True,
        trace_sha256="",
        hidden_sha256="",
    )


def _manifest(
    agents: Makers, seeds: Sequence[int], scales: Sequence[float], nights: Sequence[str]
) -> dict[str, Any]:
    played = recorded()
    night = {
        "shown": letters(played.shown),
        "hidden": letters(played.hidden),
        "start_clock_s": 60_600.0,
        "epochs": played.epochs,
        "synthetic": True,
        "kind": played.info.kind,
        "has_truth": False,
    }
    return {
        "id": "fedcba9876543210",
        "comparability_key": "0" * 64,
        "agents": {name: {"name": name} for name in agents},
        "seeds": list(seeds),
        "scales": list(scales),
        "mode": "observe",
        "dropout": DROPOUT,
        "overlay": None,
        "wake_table": _wake_table()["chances"],
        "nights": dict.fromkeys(nights, night),
        "tasks": [],
    }


def talkative(run: MadeRun, agent: str) -> None:
    """Make the rows of one agent those of a paid service, half of them without a price."""
    run.made = [
        replace(
            one,
            calls=12,
            client_calls=13,
            cached=3,
            tokens_in=33_500,
            tokens_out=1_800,
            cost_paid=0.03,
            cost_nominal=0.043,
            latency_s=2.4,
        )
        if one.unit.agent == agent
        else one
        for one in run.made
    ]
