"""The thread that lives the night: it ends with its environment and its errors are told."""

import gc
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from threading import Event
from typing import Any

import pytest
from gymnasium.error import ResetNeeded

from bedside.trace import MemorySink, TraceError
from replay.env.environment import PaprikaEnv
from replay.env.recorders import MemoryRecorder, Sinks
from tests.replay.env.environments import LOUD, WAIT, environment, night_threads, played
from tests.replay.nights import lines_of, night

ROOT = Path(__file__).parents[3]
LETTERS = "R" * 60


def test_a_night_has_one_thread_and_none_once_the_episode_is_over() -> None:
    with environment(night(LETTERS), start=0) as env:
        assert night_threads() == []
        env.reset()
        assert len(night_threads()) == 1
        env.reset()
        assert len(night_threads()) == 1
        assert night_threads()[0].daemon
        played(env, {})
        assert night_threads() == []


def test_closing_ends_the_thread_and_may_be_done_twice() -> None:
    env = PaprikaEnv(night(LETTERS), start=0)
    env.reset()
    env.step(LOUD)
    env.close()
    assert night_threads() == []
    env.close()
    with pytest.raises(ResetNeeded):
        env.step(WAIT)
    env.reset()
    assert env.step(WAIT)[4]["step"] == 1
    env.close()


def test_an_environment_that_nobody_holds_lets_its_thread_go() -> None:
    env = PaprikaEnv(night(LETTERS), start=0)
    env.reset()
    (thread,) = night_threads()
    del env
    gc.collect()
    thread.join(5.0)
    assert not thread.is_alive()


def test_closing_in_the_middle_leaves_a_whole_trace_that_says_cancelled() -> None:
    recorder = MemoryRecorder()
    with environment(night(LETTERS), start=0, recorder=recorder) as env:
        env.reset()
        env.step(LOUD)
        env.step(LOUD)
    trace, hidden = lines_of(recorder.episodes[0].trace), lines_of(recorder.episodes[0].hidden)
    assert [line["kind"] for line in trace if line["kind"] == "step"] == ["step"] * 2
    assert (trace[-1]["kind"], trace[-1]["ending"]) == ("footer", "cancelled")
    assert [line["kind"] for line in hidden[-1:]] == ["footer"]


class FullDisk(MemorySink):
    """Takes so many lines, then fails."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self._left = lines

    def write(self, line: bytes) -> None:
        self._left -= 1
        if self._left < 0:
            raise TraceError("no space left; free some")
        super().write(line)


class Once:
    """A recorder whose first episode has this sink for its trace."""

    def __init__(self, sink: MemorySink) -> None:
        self._sinks = [sink]

    def episode(self) -> Sinks:
        trace = self._sinks.pop() if self._sinks else MemorySink()
        return Sinks(trace, MemorySink(), MemorySink())


def test_an_error_of_the_night_is_raised_by_the_step_that_met_it() -> None:
    with environment(night(LETTERS), start=0, recorder=Once(FullDisk(3))) as env:
        env.reset()  # the header
        env.step(WAIT)
        env.step(WAIT)
        with pytest.raises(TraceError, match="no space left"):
            env.step(WAIT)
        with pytest.raises(ResetNeeded):
            env.step(WAIT)
        assert night_threads() == []
        assert len(played(env, {})) == 40


def test_an_error_before_the_first_observation_is_raised_by_reset() -> None:
    with environment(night(LETTERS), start=0, recorder=Once(FullDisk(0))) as env:
        with pytest.raises(TraceError, match="no space left"):
            env.reset()
        assert night_threads() == []
        with pytest.raises(ResetNeeded):
            env.step(WAIT)
        env.reset()


class Stuck(MemorySink):
    """Stands still at its third line until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = Event()
        self._lines = 0  # type: ignore[assignment]
        self._count = 0

    def write(self, line: bytes) -> None:
        self._count += 1
        if self._count == 3:
            self.go_on.wait(30.0)


def test_a_step_can_be_interrupted_and_the_environment_reset_afterwards() -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    stuck = Stuck()
    before = signal.signal(signal.SIGALRM, interrupt)
    with environment(night(LETTERS), start=0, recorder=Once(stuck)) as env:
        env.reset()
        env.step(WAIT)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                env.step(WAIT)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        with pytest.raises(ResetNeeded):
            env.step(WAIT)
        stuck.go_on.set()
        assert len(played(env, {})) == 40


def run(code: str) -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    start += "import gymnasium, replay.env\nfrom tests.replay.nights import night\n"
    start += f"env = gymnasium.make('Paprika-v0', recording=night({LETTERS!r}), start=0)\n"
    return subprocess.run(
        [sys.executable, "-c", start + dedent(code)],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.mark.parametrize(
    ("code", "returned", "said"),
    [
        ("env.reset(); raise SystemExit(3)", 3, ""),
        ("env.reset(); 1 / 0", 1, "ZeroDivisionError"),
        (
            "import builtins; builtins.kept = env; env.reset(); env.step({'kind': 1, 'volume': 2})",
            0,
            "",
        ),
    ],
)
def test_the_interpreter_ends_though_a_night_still_waits(
    code: str, returned: int, said: str
) -> None:
    done = run(code)
    assert done.returncode == returned, done.stderr
    assert said in done.stderr
    assert said or not done.stderr


def test_a_child_process_cannot_go_on_with_a_night_of_its_parent_and_is_told_so() -> None:
    done = run(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        env.reset()
        child = os.fork()
        if not child:
            try:
                env.step({"kind": 0})
            except Exception as error:
                env.reset()
                fine = env.step({"kind": 0})[4]["step"] == 1 and "reset()" in str(error)
                os._exit(0 if fine else 1)
            os._exit(2)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        env.step({"kind": 0})
        env.close()
        sys.exit(status)
        """
    )
    assert done.returncode == 0, done.stderr
