"""Attempts in several processes, bounded in real time; a process that dies costs one attempt."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from replay.experiment.counting import row_without_traces
from replay.experiment.rows import Row, Status
from replay.experiment.run import Planned
from replay.experiment.run_manifest import NightFacts
from replay.experiment.worker import Bench, Worker, begin, work
from replay.tasks.task import STEPS

LONGEST_ATTEMPT_S = 600.0
"""Real time after which an attempt is given up: an agent that never lets go. Assumed."""
LONGEST_STEP_S = 45.0
"""The same for a step of an agent that asks a service: its time limit, and some more. Assumed."""
AHEAD = 64
"""Attempts handed over before they are needed, for each process."""

Job = tuple[Planned, NightFacts]


def attempts(bench: Bench, jobs: Sequence[Job], processes: int) -> Iterator[tuple[Planned, Row]]:
    """Make every attempt; rows come in the order in which they are done. processes 0: this one."""
    if processes == 0:
        worker = Worker(bench)
        for planned, night in jobs:
            yield planned, worker.make(planned, night)
        return
    yield from _in_processes(bench, jobs, processes)


def _in_processes(
    bench: Bench, jobs: Sequence[Job], processes: int
) -> Iterator[tuple[Planned, Row]]:
    from pebble import ProcessPool

    pool: Any = ProcessPool(
        max_workers=processes,
        initializer=begin,
        initargs=(bench,),
        context=multiprocessing.get_context("spawn"),
    )
    limit_s = LONGEST_ATTEMPT_S
    if bench.spec.decisions.services:
        limit_s = max(limit_s, STEPS * LONGEST_STEP_S)
    waiting: dict[Future[Row], Planned] = {}
    coming = iter(jobs)
    try:
        while True:
            for planned, night in coming:
                future = pool.schedule(work, (planned, night), timeout=limit_s)
                waiting[future] = planned
                if len(waiting) >= AHEAD * processes:
                    break
            if not waiting:
                break
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                planned = waiting.pop(future)
                yield planned, _row(planned, future, limit_s)
        pool.close()
    finally:
        pool.stop()
        pool.join()


def _row(planned: Planned, future: Future[Row], limit_s: float) -> Row:
    from pebble import ProcessExpired

    try:
        return future.result()
    except TimeoutError:
        detail = f"the agent did not let go for {limit_s:g} s of real time"
    except ProcessExpired as error:
        detail = f"the process died during this attempt (exit code {error.exitcode})"
    return row_without_traces(planned.unit, Status.AGENT_ERROR, detail)
