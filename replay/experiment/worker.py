"""One attempt of a run: played, packed into the run's folder, counted. Runs in a pool's process."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass
from pathlib import Path

from agents.types import AgentError
from bedside.outside import OutsideError
from bedside.trace import MemorySink, Trace, TraceError
from devices.types import PaprikaError
from replay.attempt import attempt
from replay.decisions import DecisionWayOut, Ledger
from replay.experiment.counting import Evidence, row_of, row_without_traces
from replay.experiment.folder import hidden_path, trace_path
from replay.experiment.nights import opened
from replay.experiment.rows import Row, Status
from replay.experiment.run import Planned, agent_of, setting_of
from replay.experiment.run_manifest import NightFacts
from replay.experiment.spec import RunSpec
from replay.recorded_night import RecordedNight
from replay.staging import write_whole
from replay.trace_lines import read_bytes

PACKED_LEVEL = 3
"""Of zstd: traces shrink about twentyfold; more costs time and gains little. Measured."""


LEFT = 70
"""Exit code of a process that an agent ended with code 0."""
FOOTER = b'{"kind":"footer"'


@dataclass(frozen=True, slots=True)
class Bench:
    """What a process needs for any attempt of a run. folder: the run's."""

    spec: RunSpec
    folder: Path


class Worker:
    """Makes attempts one after the other; keeps the night of the last one open."""

    def __init__(self, bench: Bench, *, alone: bool = False) -> None:
        """alone: nothing else lives in this process."""
        self._bench = bench
        self._alone = alone
        self._night: tuple[str, RecordedNight] | None = None
        self._ledger = ledger_of(bench.spec)
        self._place = os.getcwd()

    def make(self, planned: Planned, night: NightFacts) -> Row:
        """Play one attempt and keep its traces; a fault of the agent's or ours is in the row."""
        os.chdir(self._place)  # an agent before may have gone elsewhere
        try:
            evidence = self._play(planned, self._opened(night))
        except OutsideError as error:
            return row_without_traces(planned.unit, Status.PROVIDER_ERROR, str(error))
        except AgentError as error:
            return row_without_traces(planned.unit, Status.AGENT_ERROR, str(error))
        except PaprikaError as error:
            return row_without_traces(planned.unit, Status.ENV_ERROR, str(error))
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            return row_without_traces(planned.unit, Status.ENV_ERROR, told)
        keep(self._bench.folder, planned.unit.key, evidence)
        return count(self._bench.spec, planned, night, evidence, self._ledger)

    def _opened(self, night: NightFacts) -> RecordedNight:
        if self._night is None or self._night[0] != night.id:
            self._night = None
            self._night = night.id, opened(night.path, self._bench.spec.overlay, in_memory=True)
            if self._alone:
                gc.unfreeze()
                gc.collect()
                gc.freeze()  # its samples outlive every attempt: the collector need not walk them
        return self._night[1]

    def _play(self, planned: Planned, night: RecordedNight) -> Evidence:
        spec = self._bench.spec
        setting = setting_of(spec, planned, night)
        trace, hidden = MemorySink(), MemorySink()
        attempt(
            night,
            agent_of(spec, planned, night, setting),
            setting,
            session_id=planned.session,
            trace=Trace(trace),
            hidden=Trace(hidden),
            way_out=DecisionWayOut(
                spec.decisions,
                task=f"{planned.unit.night}/{planned.task.name}",
                seed=planned.unit.seed,
                trial=spec.trial,
                unit=planned.unit.key,
            ),
        )
        return Evidence(trace.bytes(), hidden.bytes())


def ledger_of(spec: RunSpec) -> Ledger | None:
    """The ledger of what a run really paid, where it can pay for anything."""
    return None if spec.decisions.ledger is None else Ledger(spec.decisions.ledger)


def count(
    spec: RunSpec, planned: Planned, night: NightFacts, evidence: Evidence, ledger: Ledger | None
) -> Row:
    """The row of an attempt, with what it really cost.

    Raises:
        TraceError: a trace is broken off. Whatever else is wrong with it stands in the row.
    """
    try:
        paid = None if ledger is None else ledger.of(planned.unit.key)
        return row_of(planned.unit, evidence, night.recorded(), spec.decisions.prices, paid)
    except TraceError:
        raise
    except Exception as error:
        told = f"its traces cannot be counted: {type(error).__name__}: {error}"
        return row_without_traces(planned.unit, Status.ENV_ERROR, told)


def keep(folder: Path, key: str, evidence: Evidence) -> None:
    """Write both traces; the trace itself last, so that where it is the attempt is whole."""
    from zstandard import ZstdCompressor

    packer = ZstdCompressor(level=PACKED_LEVEL, write_checksum=True)
    write_whole(hidden_path(folder, key), packer.compress(evidence.hidden))
    write_whole(trace_path(folder, key), packer.compress(evidence.trace))


def kept(folder: Path, planned: Planned) -> Evidence | None:
    """The traces of an attempt that are in the folder already; None: it is to be made.

    Traces that cannot be read, are broken off, or were made under another id count as not made.
    """
    key = planned.unit.key
    if not trace_path(folder, key).is_file():
        return None
    try:
        evidence = Evidence(
            read_bytes(trace_path(folder, key)), read_bytes(hidden_path(folder, key))
        )
    except TraceError:
        return None
    whole = all(_is_whole(text, planned.session) for text in (evidence.trace, evidence.hidden))
    return evidence if whole else None


def _is_whole(trace: bytes, session: str) -> bool:
    last = trace[trace.rfind(b"\n", 0, -1) + 1 :]
    made_as = f'"session":"{session}"'.encode()
    return made_as in trace[:200] and last.startswith(FOOTER) and last.endswith(b"}\n")


_worker: Worker | None = None
_leave = os._exit


def begin(bench: Bench) -> None:
    """Make this process a worker of the pool; Ctrl-C is the parent's to hear."""
    import signal

    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The pool takes exit code 0 for a process that was done, and would wait for ever.
    os._exit = lambda code: _leave(code or LEFT)  # type: ignore[assignment]
    _worker = Worker(bench, alone=True)


def work(planned: Planned, night: NightFacts) -> Row:
    """One attempt in a process that has begun."""
    assert _worker is not None
    try:
        return _worker.make(planned, night)
    except KeyboardInterrupt:  # not a person's: this process does not hear Ctrl-C
        detail = "the agent raised KeyboardInterrupt"
        return row_without_traces(planned.unit, Status.AGENT_ERROR, detail)
