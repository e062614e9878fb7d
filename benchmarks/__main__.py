"""`make bench`: every figure of the issue, as a ratio within this run. Exit code 1 if one fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bedside.clock import real_s
from benchmarks import experiment, nights, peers

HOURS_S = 8 * 3600
REPEATS = 5


@dataclass(frozen=True)
class Figure:
    work: str
    measured: str
    ratio: float
    bound: float
    at_least: bool
    real_time_x: float = 0.0
    """How many times faster than real time the night went, where peers are shown beside it."""

    @property
    def holds(self) -> bool:
        return self.ratio >= self.bound if self.at_least else self.ratio <= self.bound


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="paprika-bench-") as name:
        folder = Path(name)
        _say("Writing the nights …")
        stage_only, full_rate = nights.stage_only(folder), nights.full_rate(folder)
        short = nights.first_hours(folder, 2)
        figures = []
        for measure in (
            lambda: _full_rate(full_rate),
            lambda: _stage_only(stage_only, folder),
            lambda: _tasks(stage_only),
            _help,
            lambda: _memory(full_rate, short),
            lambda: _experiment(folder),
        ):
            figures += _shown(measure)
        peers.show(full_rate, max(figure.real_time_x for figure in figures))
    missed = [figure.work for figure in figures if not figure.holds]
    print(f"\n{len(figures) - len(missed)} of {len(figures)} figures reached", *missed, sep="; ")
    return 1 if missed else 0


def _full_rate(path: Path) -> list[Figure]:
    found = _work("full_rate", path)
    real_time_x = HOURS_S / found["s"]
    told = f"{found['s']:.2f} s, floor {found['base_s']:.2f} s ({real_time_x:,.0f} × real time)"
    title = "full-rate night, against the floor program"
    return [Figure(title, told, found["ratio"], 2.5, False, real_time_x)]


def _stage_only(path: Path, folder: Path) -> list[Figure]:
    found = _work("stage_only", path, _paprika(), str(folder / "out"))
    told = (
        f"{found['s']:.2f} s, bare chain {found['base_s']:.2f} s "
        f"({HOURS_S / found['s']:,.0f} × real time)"
    )
    return [Figure("stage-only night, whole command", told, 1 / found["ratio"], 0.35, True)]


def _tasks(path: Path) -> list[Figure]:
    found = _work("tasks", path)
    ours_ms, bare_ms = (found[name] / found["tasks"] * 1e3 for name in ("s", "base_s"))
    told = f"{ours_ms:.1f} ms a task of 40 steps, bare chain {bare_ms:.1f} ms"
    return [Figure("tasks, against the bare chain", told, 1 / found["ratio"], 0.5, True)]


def _help() -> list[Figure]:
    bare_s = _command([sys.executable, "-c", "import asyncio, json"])
    ours_s = _command([_paprika(), "--help"])
    told = f"{ours_s * 1e3:.0f} ms, bare {bare_s * 1e3:.0f} ms"
    return [Figure("paprika --help, against bare Python", told, ours_s / bare_s, 4.0, False)]


def _memory(path: Path, short: Path) -> list[Figure]:
    whole_mb, short_mb = _work("memory", path)["rss_mb"], _work("memory", short)["rss_mb"]
    return [
        Figure("resident memory, MB", f"{whole_mb:.0f} MB for 8 h", whole_mb, 150.0, False),
        Figure(
            "its growth with the night, MB",
            f"{short_mb:.0f} MB for 2 h, {whole_mb:.0f} MB for 8 h",
            whole_mb - short_mb,
            8.0,
            False,
        ),
    ]


def _experiment(folder: Path) -> list[Figure]:
    found = experiment.run_and_page(folder)
    attempts = f"{experiment.ATTEMPTS:,} attempts"
    told = f"{found['s']:.1f} s for {attempts}, bare chain {found['base_s']:.1f} s"
    page = f"{found['page_s']:.1f} s, {found['page_mb']:.1f} MB"
    return [
        Figure("a run on two cores, against the bare chain", told, found["ratio"], 4.0, False),
        Figure("its page, s", page, found["page_s"], 5.0, False),
        Figure("its page, MB", page, found["page_mb"], 15.0, False),
    ]


def _shown(measure: Callable[[], list[Figure]]) -> list[Figure]:
    figures = measure()
    for figure in figures:
        sign = "≥" if figure.at_least else "≤"
        verdict = "reached" if figure.holds else "MISSED"
        print(f"{figure.work:46}  {figure.ratio:7.2f}  {sign} {figure.bound:<6g} {verdict}")
        print(f"{'':46}  {figure.measured}", flush=True)
    return figures


def _work(name: str, path: Path, *more: str) -> dict[str, float]:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.work", name, str(path), *more],
        check=True,
        capture_output=True,
        text=True,
        env=_installed(),
        cwd=Path(__file__).parent.parent,
    )
    found: dict[str, float] = json.loads(run.stdout)
    return found


def _command(command: list[str]) -> float:
    took = []
    for _ in range(REPEATS):
        started_s = real_s()
        subprocess.run(command, check=True, capture_output=True, env=_installed())
        took.append(real_s() - started_s)
    return min(took)


def _installed() -> dict[str, str]:
    """The environment of an installed program, whose byte code is on the disk."""
    return {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _paprika() -> str:
    return str(Path(sys.executable).with_name("paprika"))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
