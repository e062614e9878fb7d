"""The measured work. Each piece runs in a process of its own: `python -m benchmarks.work NAME …`
prints one JSON object, so that memory is of that piece alone and nothing is warm by accident."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bedside.clock import real_s
from bedside.recording import MemoryRecording, NightFile
from devices.types import Stream

REPEATS = 5

Found = dict[str, float]


def full_rate(path: str) -> Found:
    """File → loop → epochs with a Welch each → rem_rule → trace, beside the floor program."""
    from bedside.agent_loading import load_agent
    from bedside.trace import FileSink, Trace
    from benchmarks.floor import floor
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

    Path(path).read_bytes()
    return interleaved(lambda: floor(Path(path)), once, REPEATS)


def memory(path: str) -> Found:
    """Resident memory of the same, without the floor program in the process."""
    from bedside.agent_loading import load_agent
    from bedside.trace import MemorySink, Trace
    from benchmarks.setting import plain
    from replay.attempt import attempt
    from replay.recorded_night import RecordedNight

    night = RecordedNight(NightFile.open(path))
    sinks = Trace(MemorySink()), Trace(MemorySink())
    attempt(
        night,
        load_agent("rem_rule"),
        plain(),
        session_id="bench",
        trace=sinks[0],
        hidden=sinks[1],
    )
    return {"rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def stage_only(path: str, command: str, out: str) -> Found:
    """The whole command from the file, and the bare chain on the same samples."""
    from benchmarks.bare_chain import bare_chain

    night = NightFile.open(path)
    times = [sample.t for sample in night.samples()]
    epochs = night.info.epochs or round(times[-1] / 30)

    def whole() -> None:
        replay = [command, "replay", path, "--json", "--out", out]
        subprocess.run(replay, check=True, capture_output=True)

    whole()
    return interleaved(lambda: bare_chain(times, epochs), whole, 3 * REPEATS)


def tasks(path: str) -> Found:
    """Tasks of 40 steps on 2 Hz stages, and the bare chain on the very same samples."""
    from bedside.agent_loading import load_agent
    from bedside.trace import MemorySink, Trace
    from benchmarks.bare_chain import bare_chain
    from benchmarks.setting import starts_of, task
    from replay.attempt import attempt
    from replay.recorded_night import RecordedNight

    stages = tuple(NightFile.open(path).samples(frozenset({Stream.STAGE})))
    night = RecordedNight(MemoryRecording(NightFile.open(path).info, stages))
    starts = starts_of(night)
    times = [sample.t for sample in stages if sample.t < 1200.0]

    def ours() -> None:
        for start in starts:
            attempt(
                night,
                load_agent("rem_rule"),
                task(start),
                session_id="bench",
                trace=Trace(MemorySink()),
                hidden=Trace(MemorySink()),
            )

    def bare() -> None:
        for _ in starts:
            bare_chain(times, 40)

    return {**interleaved(bare, ours, 3 * REPEATS), "tasks": len(starts)}


def interleaved(base: Callable[[], object], ours: Callable[[], object], times: int) -> Found:
    """Both in turn, so that a slow moment of the machine hits both; medians of seconds and of the
    ratios of neighbours."""
    pairs = []
    for _ in range(times):
        pairs.append((_seconds(base), _seconds(ours)))
    return {
        "base_s": median(base_s for base_s, _ in pairs),
        "s": median(ours_s for _, ours_s in pairs),
        "ratio": median(ours_s / base_s for base_s, ours_s in pairs),
    }


def _seconds(work: Callable[[], object]) -> float:
    started_s = real_s()
    work()
    return real_s() - started_s


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    print(json.dumps(globals()[name](*arguments)))
