"""The measured work. Each piece runs in a process of its own: `python -m benchmarks.work NAME …`
prints one JSON object, so that memory is of that piece alone and nothing is warm by accident."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from bedside.clock import real_s
from bedside.recording import MemoryRecording, NightFile
from devices.types import Stream

REPEATS = 3


def floor(path: str) -> dict[str, float]:
    from benchmarks.floor import floor as run

    Path(path).read_bytes()
    return {"s": _best(lambda: run(Path(path)))}


def full_rate(path: str) -> dict[str, float]:
    """File → loop → epochs with a Welch each → rem_rule → trace; the summary is not part of it."""
    from bedside.agent_loading import load_agent
    from bedside.trace import FileSink, Trace
    from benchmarks.setting import plain
    from replay.attempt import attempt
    from replay.recorded_night import RecordedNight

    def once() -> None:
        folder = Path(path).parent
        trace, hidden = FileSink(folder / "t.jsonl"), FileSink(folder / "h.jsonl")
        night = RecordedNight(NightFile.open(path))
        agent = load_agent("rem_rule")
        attempt(night, agent, plain(), session_id="bench", trace=Trace(trace), hidden=Trace(hidden))
        trace.close()
        hidden.close()

    return {"s": _best(once), "rss_mb": _rss_mb()}


def bare(path: str) -> dict[str, float]:
    """The bare chain on the samples of a night file."""
    from benchmarks.bare_chain import bare_chain

    night = NightFile.open(path)
    times = [sample.t for sample in night.samples()]
    epochs = night.info.epochs or round(times[-1] / 30)
    return {"s": min(bare_chain(times, epochs) for _ in range(REPEATS)), "samples": len(times)}


def tasks(path: str) -> dict[str, float]:
    """Tasks of 40 steps on 2 Hz stages, and the bare chain on the very same samples."""
    from bedside.agent_loading import load_agent
    from bedside.trace import MemorySink, Trace
    from benchmarks.bare_chain import bare_chain
    from benchmarks.setting import start_points, task
    from replay.attempt import attempt
    from replay.recorded_night import RecordedNight

    stages = tuple(NightFile.open(path).samples(frozenset({Stream.STAGE})))
    info = NightFile.open(path).info
    night = RecordedNight(MemoryRecording(info, stages))
    starts = start_points(night.shown)

    def once() -> None:
        for start in starts:
            attempt(
                night,
                load_agent("rem_rule"),
                task(start),
                session_id="bench",
                trace=Trace(MemorySink()),
                hidden=Trace(MemorySink()),
            )

    times = [sample.t for sample in stages if sample.t < 1200.0]
    bare_s = min(bare_chain(times, 40) for _ in range(REPEATS * 5)) * len(starts)
    return {"s": _best(once), "bare_s": bare_s, "tasks": len(starts)}


def _best(once: Callable[[], object]) -> float:
    took = []
    for _ in range(REPEATS):
        started_s = real_s()
        once()
        took.append(real_s() - started_s)
    return min(took)


def _rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    os.environ.setdefault("PYTHONHASHSEED", "0")
    print(json.dumps(globals()[name](*arguments)))
