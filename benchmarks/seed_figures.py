"""The seed's experiment beside its published figures, and gentle_rule on whole nights.

    python -m benchmarks.seed_figures [--nights DIR]

DIR holds night files made by `paprika import`; those of the Zeo headband are replayed whole.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from bedside.agent_loading import load_agent
from bedside.recording import MemoryRecording, NightFile
from bedside.trace import MemorySink, Trace
from benchmarks.setting import plain, starts_of, task
from replay.attempt import attempt
from replay.recorded_night import RecordedNight
from replay.sample_night import sample_night
from replay.setting import Setting
from replay.summary import Summary, summarise

PUBLISHED = {
    "fixed_timer": ("4.0", "60 %", "0.27", "9"),
    "rem_rule": ("3.5", "100 %", "0.13", "0"),
}
"""Cues a task, share in REM, wakings a task, violations in all. Source: the seed, 05."""
SCALES = (0.5, 1.0, 2.0, 4.0)
TITLES = ("agent", "night", "cues/task", "in REM", "wakings/task", "violations")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=Path)
    arguments = parser.parse_args()
    night = RecordedNight(sample_night())
    starts = starts_of(night)
    print(f"{len(starts)} tasks of 40 steps, seed 1, 2 % dropout")
    _table([TITLES, *_tasks(night, starts)])
    print("\nwakings a task over the 5 development seeds, by scale of the wake table")
    _table([("agent", *map(str, SCALES)), *_scaled(night, starts)])
    if arguments.nights is not None:
        _zeo(sorted(arguments.nights.glob("zeo-*.mcap")))


def _tasks(night: RecordedNight, starts: Sequence[int]) -> Iterable[tuple[str, ...]]:
    for agent in ("fixed_timer", "rem_rule", "gentle_rule"):
        done = [run(night, agent, task(start)) for start in starts]
        cues = [cue for one in done for cue in one.cues]
        in_rem = sum(cue.shown == "rem" for cue in cues)
        broken = sum((Counter(one.violations) for one in done), Counter())
        named = ", ".join(f"{count} {rule}" for rule, count in broken.items())
        wakings = sum(len(one.wakings) for one in done)
        yield (
            agent,
            "ours",
            f"{len(cues) / len(starts):.1f}",
            _share(in_rem, len(cues)),
            f"{wakings / len(starts):.2f}",
            f"{broken.total()}" + (f" ({named})" if named else ""),
        )
        if agent in PUBLISHED:
            yield (agent, "published", *PUBLISHED[agent])


def _scaled(night: RecordedNight, starts: Sequence[int]) -> Iterable[tuple[str, ...]]:
    for agent in ("fixed_timer", "rem_rule", "gentle_rule"):
        row = [agent]
        for scale in SCALES:
            wakings = [
                len(run(night, agent, task(start, seed=seed, wake_scale=scale)).wakings)
                for start in starts
                for seed in range(1, 6)
            ]
            row.append(f"{sum(wakings) / len(wakings):.2f}")
        yield tuple(row)


def _zeo(paths: Sequence[Path]) -> None:
    print(f"\n{len(paths)} whole Zeo nights, seed 1, mean a night")
    titles = ("agent", "cues", "min/med/max", "in REM", "violations")
    rows = [(*titles, *(f"wakings ×{scale:g}" for scale in SCALES))]
    nights = [RecordedNight(_in_memory(path)) for path in paths]
    for agent in ("gentle_rule", "rem_rule", "fixed_timer"):
        by_scale = {
            scale: [run(night, agent, plain(scale)) for night in nights] for scale in SCALES
        }
        done = by_scale[1.0]
        counts = sorted(len(one.cues) for one in done)
        in_rem = sum(cue.shown == "rem" for one in done for cue in one.cues)
        broken = sum(sum(one.violations.values()) for one in done)
        rows.append(
            (
                agent,
                f"{sum(counts) / len(nights):.1f}",
                f"{counts[0]}/{counts[len(counts) // 2]}/{counts[-1]}",
                _share(in_rem, sum(counts)),
                f"{broken / len(nights):.1f}",
                *(
                    f"{sum(len(one.wakings) for one in by_scale[scale]) / len(nights):.2f}"
                    for scale in SCALES
                ),
            )
        )
    _table(rows)


def run(night: RecordedNight, agent: str, setting: Setting) -> Summary:
    """One attempt, counted from its traces."""
    trace, hidden = MemorySink(), MemorySink()
    attempt(
        night,
        load_agent(agent),
        setting,
        session_id="figures",
        trace=Trace(trace),
        hidden=Trace(hidden),
    )
    lines = [[json.loads(row) for row in sink.bytes().splitlines()] for sink in (trace, hidden)]
    return summarise(lines[0], lines[1], night.shown)


def _in_memory(path: Path) -> MemoryRecording:
    file = NightFile.open(path)
    return MemoryRecording(replace(file.info), tuple(file.samples()), file.truth())


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "no cue"


def _table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


if __name__ == "__main__":
    main()
