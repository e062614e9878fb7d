"""One trace in every run: each hazard to determinism, with what the virtual loop guarantees.

Every run is a process of its own, with its own hash seed, its own memory layout and threads that
finish when they like; and the same tour runs on every supported Python found on this machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RUNS = 20
pytestmark = pytest.mark.timeout(240)  # the first test waits for all the runs
SUPPORTED = ((3, 11), (3, 12), (3, 13))

TOUR = """
import asyncio, json, sys, threading, time
from random import SystemRandom
from replay.clock import run_virtual

dice = SystemRandom()
litter = [bytearray(dice.randrange(1, 900)) for _ in range(dice.randrange(1, 3000))]

async def after(seconds, value):
    litter.append(bytearray(dice.randrange(1, 900)))
    await asyncio.sleep(seconds)
    return value

def some_tasks():
    return [asyncio.ensure_future(after(k % 3, k)) for k in range(12)]

async def sets_of_wait():
    tasks = some_tasks()
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    early = [task.result() for task in done]
    names = {task: number for number, task in enumerate(tasks)}
    late = [names[task] for task in pending]
    await asyncio.wait(pending)
    return [early, late]

async def wait_of_executor_jobs():
    loop = asyncio.get_running_loop()
    jobs = [loop.run_in_executor(None, lambda k=k: k) for k in range(12)]
    done, _ = await asyncio.wait(jobs)
    return [job.result() for job in done]

async def task_group():
    cancelled = []
    async def child(number):
        try:
            await after(100, number)
        finally:
            cancelled.append(number)
    async def fail():
        await asyncio.sleep(1)
        raise LookupError
    try:
        async with asyncio.TaskGroup() as group:
            for number in range(12):
                group.create_task(child(number))
            group.create_task(fail())
    except* LookupError:
        pass
    return cancelled

async def all_tasks():
    tasks = some_tasks()
    names = {task: number for number, task in enumerate(tasks)}
    found = [names[task] for task in asyncio.all_tasks() if task in names]
    await asyncio.gather(*tasks)
    return found

async def cancelled_at_the_end():
    async def child(number):
        try:
            await after(100, number)
        finally:
            ended.append(number)
    lingering.extend(asyncio.ensure_future(child(number)) for number in range(12))
    await asyncio.sleep(1)

async def executor():
    loop, seen = asyncio.get_running_loop(), []
    async def ask(number):
        answer = await asyncio.to_thread(job, number)
        seen.append([loop.time(), f"answer {answer}"])
        await asyncio.sleep(0)
        seen.append([loop.time(), f"settled {answer}"])
        await asyncio.sleep(0.25)
        seen.append([loop.time(), f"later {answer}"])
    def job(number):
        time.sleep(dice.random() / 50)
        return number
    async def beside():
        for turn in range(4):
            seen.append([loop.time(), f"beside {turn}"])
            await asyncio.sleep(0)
    start = loop.time()
    await asyncio.gather(beside(), *(ask(number) for number in range(5)))
    return [[t - start, what] for t, what in seen]

async def gather():
    return await asyncio.gather(*some_tasks())

async def as_completed():
    return [await each for each in asyncio.as_completed(some_tasks())]

async def a_list():
    return [await task for task in some_tasks()]

async def equal_timers():
    fired, loop = [], asyncio.get_running_loop()
    for number in range(12):
        loop.call_at(1e6, fired.append, number)
    await asyncio.sleep(1e6 + 1 - loop.time())
    return fired

class Feed:
    def __init__(self, loop, seen):
        self.loop, self.seen, self.start, self.k = loop, seen, loop.time(), 0
    def next_t(self):
        return self.start + self.k / 2
    def deliver(self, limit):
        while self.next_t() < limit:
            self.loop.advance(self.next_t())
            self.seen.append(f"sample {self.k}")
            self.k += 1
            if self.loop.interrupted:
                return

async def feed():
    loop, seen = asyncio.get_running_loop(), []
    start = loop.time()
    loop.feed = Feed(loop, seen)
    for second in range(1, 4):
        await asyncio.sleep(start + second - loop.time())
        seen.append(f"second {second}")
    loop.feed = None
    return seen

async def threads_left_behind():
    begun = threading.Event()
    def work():
        begun.set()
        time.sleep(0.1)
        left.append("finished")
    job = asyncio.get_running_loop().run_in_executor(None, work)
    begun.wait()
    job.cancel()

lingering, ended, left = [], [], []

async def main():
    trace = {}
    for part in (sets_of_wait, wait_of_executor_jobs, task_group, all_tasks, executor, gather,
                 as_completed, a_list, equal_timers, feed):
        trace[part.__name__] = await part()
    await cancelled_at_the_end()
    await threads_left_behind()
    return trace

trace = run_virtual(main(), speed=float(sys.argv[1]) if len(sys.argv) > 1 else None)
print(json.dumps(trace | {"cancelled_at_the_end": ended, "threads_left_behind": left}))
"""

Trace = dict[str, list[Any]]


def tour(python: str, hash_seed: int, *speed: str) -> Trace:
    run = subprocess.run(
        [python, "-W", "error", "-c", TOUR, *speed],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert run.returncode == 0, run.stderr
    trace: Trace = json.loads(run.stdout)
    return trace


def pythons() -> dict[str, str]:
    """The supported Pythons found on this machine: version to command."""
    homes = sorted(Path.home().glob(".pyenv/versions/3.*/bin"))
    on_path = [shutil.which(f"python{major}.{minor}") for major, minor in SUPPORTED]
    commands = [str(home / "python3") for home in homes] + [which for which in on_path if which]
    found: dict[str, str] = {}
    for command in commands:
        asked = subprocess.run(
            [command, "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        version = tuple(int(part) for part in asked.stdout.split()) if not asked.returncode else ()
        if version in SUPPORTED:
            found.setdefault("{}.{}".format(*version), command)
    return found


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    with ThreadPoolExecutor(2) as several:
        return list(several.map(lambda seed: tour(sys.executable, seed), range(RUNS)))


def the_one(traces: list[Trace], part: str) -> list[Any]:
    """What every run gave for a part of the tour; fails where two runs differ."""
    different = {json.dumps(trace[part]) for trace in traces}
    assert len(different) == 1, f"{len(different)} traces in {len(traces)} runs"
    return traces[0][part]


def test_the_sets_of_asyncio_wait_are_walked_in_one_order(traces: list[Trace]) -> None:
    early, late = the_one(traces, "sets_of_wait")
    assert sorted(early) == [0, 3, 6, 9]
    assert sorted(late) == [1, 2, 4, 5, 7, 8, 10, 11]


def test_waiting_for_executor_jobs_gives_one_order(traces: list[Trace]) -> None:
    assert sorted(the_one(traces, "wait_of_executor_jobs")) == list(range(12))


def test_a_task_group_cancels_its_children_in_one_order(traces: list[Trace]) -> None:
    assert sorted(the_one(traces, "task_group")) == list(range(12))


def test_all_tasks_are_listed_in_one_order(traces: list[Trace]) -> None:
    assert sorted(the_one(traces, "all_tasks")) == list(range(12))


def test_tasks_left_at_the_end_are_cancelled_in_one_order(traces: list[Trace]) -> None:
    assert sorted(the_one(traces, "cancelled_at_the_end")) == list(range(12))


def test_executor_jobs_enter_in_request_order_whatever_finishes_first(traces: list[Trace]) -> None:
    beside = [[0.0, f"beside {turn}"] for turn in range(4)]
    answers = [[0.0, f"{what} {k}"] for k in range(5) for what in ("answer", "settled")]
    later = [[0.25, f"later {k}"] for k in range(5)]
    assert the_one(traces, "executor") == beside + answers + later


def test_gather_gives_the_order_of_its_arguments(traces: list[Trace]) -> None:
    assert the_one(traces, "gather") == list(range(12))


def test_as_completed_gives_the_order_of_completion(traces: list[Trace]) -> None:
    assert the_one(traces, "as_completed") == [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]


def test_a_list_of_tasks_gives_its_own_order(traces: list[Trace]) -> None:
    assert the_one(traces, "a_list") == list(range(12))


def test_equal_timers_fire_first_in_first_out(traces: list[Trace]) -> None:
    assert the_one(traces, "equal_timers") == list(range(12))


def test_recorded_samples_come_between_the_timers(traces: list[Trace]) -> None:
    assert the_one(traces, "feed") == [
        *("sample 0", "sample 1", "second 1"),
        *("sample 2", "sample 3", "second 2"),
        *("sample 4", "sample 5", "second 3"),
    ]


def test_threads_left_at_the_end_are_waited_for(traces: list[Trace]) -> None:
    assert the_one(traces, "threads_left_behind") == ["finished"]


def test_a_paced_run_gives_the_same_trace(traces: list[Trace]) -> None:
    assert tour(sys.executable, 1, "1e7") == traces[0]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_supported_python_gives_the_same_trace(version: str, traces: list[Trace]) -> None:
    found = pythons()
    if version not in found:
        pytest.skip(f"no Python {version} on this machine")
    for hash_seed in range(3):
        assert tour(found[version], hash_seed) == traces[0]
