"""A whole run: 120 tasks × 3 rule agents × 4 wake scales, its page, and a run over many nights.

    python -m benchmarks.experiment [--nights DIR]

DIR holds night files made by `paprika import`; with it, every task of seed 1 of all of them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bedside.clock import real_s
from benchmarks.bare_chain import bare_chain
from replay.sample_night import sample_night

AGENTS = ("wait", "fixed_timer", "rem_rule")
ATTEMPTS = 15 * 8 * 3 * 4
PROCESSES = 2
STEPS = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paprika-bench-") as name:
        print(json.dumps(run_and_page(Path(name))))
        if arguments.nights is not None:
            print(json.dumps(many_nights(arguments.nights, Path(name))))


def run_and_page(folder: Path) -> dict[str, float]:
    """Seconds of the run and of the same steps through the bare chain, both on two cores; of the
    page, and its size."""
    base_s = bare_on_cores()
    scales = ("0.5", "1", "2", "4")
    run_s, run = paprika(
        folder, "run", "--seeds", "1-8", "--agents", *AGENTS, "--wake-scale", *scales,
        "--jobs", str(PROCESSES), "--out", str(folder / "run"), "--json",
    )  # fmt: skip
    assert run["made"] == ATTEMPTS, run
    page_s, _ = paprika(folder, "report", str(folder / "run"), "--json")
    page = sum(path.stat().st_size for path in (folder / "run" / "page").rglob("*"))
    return {
        "s": run_s,
        "base_s": base_s,
        "ratio": run_s / base_s,
        "page_s": page_s,
        "page_mb": page / 1e6,
    }


def many_nights(nights: Path, folder: Path) -> dict[str, float]:
    """Every task of seed 1 of all nights: seconds, attempts, and the largest process (MB)."""
    took_s, run = paprika(
        folder, "run", "--seed", "1", "--agents", *AGENTS, "--nights", str(nights),
        "--jobs", str(PROCESSES), "--out", str(folder / "many"), "--json",
    )  # fmt: skip
    largest_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"s": took_s, "attempts": run["made"], "rss_mb": largest_kb / 1024}


def bare_on_cores() -> float:
    """Seconds of the samples of all attempts through the bare chain, shared by two processes."""
    times = [sample.t for sample in sample_night().samples() if sample.t < STEPS * 30.0]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        pool.map(_chains, [(times, 1)] * PROCESSES)
        started_s = real_s()
        pool.map(_chains, [(times, ATTEMPTS // PROCESSES)] * PROCESSES, chunksize=1)
        return real_s() - started_s


def paprika(home: Path, *words: str) -> tuple[float, dict[str, float]]:
    """Seconds of a whole command, and what it printed."""
    command = [str(Path(sys.executable).with_name("paprika")), *words]
    settings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started_s = real_s()
    done = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        env={**settings, "PAPRIKA_HOME": str(home / "home")},
    )
    return real_s() - started_s, json.loads(done.stdout)


def _chains(work: tuple[list[float], int]) -> None:
    times, count = work
    for _ in range(count):
        bare_chain(times, STEPS)


if __name__ == "__main__":
    main()
