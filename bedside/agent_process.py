"""The process behind a `cmd:` agent: started, asked in JSON lines, restarted once, ended.

It lives on the second loop, so nothing it does can block the night. The process begins in an
empty folder of its own, sees PATH, LANG and no other setting of ours, and is handed no path.
That is no prison: a process that knows where a file lies can read it as the same user could.

    AgentProcessError(AgentError)   the process cannot start, ended, or broke the protocol
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import tempfile
from asyncio.subprocess import SubprocessStreamProtocol
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from reprlib import repr as short
from typing import Any, Final, Never

from agents.process import SERVICE, ProcessAgent, without_folders
from agents.types import Agent, AgentError, Request
from bedside.outside import Said

LONGEST_ANSWER_BYTES: Final = 64 * 1024
LATE_IN_A_ROW: Final = 5
"""So many requests in a row without an answer in time end the process. Assumed."""
DEATHS_A_SESSION: Final = 1
"""A process that ends oftener in one session is not started again before the next."""
GRACE_S: Final = 1.0
"""From the request to end until it is killed."""
STDERR_BYTES: Final = 4096


class AgentProcessError(AgentError):
    """The process cannot start, ended, or broke the protocol; one line that says what to do."""


def services_for(agent: Agent) -> dict[str, ProcessService]:
    """The services that this agent needs from the outside, by name."""
    if isinstance(agent, ProcessAgent):
        return {SERVICE: ProcessService(agent.command)}
    return {}


def command_words(command: str, folder: Path) -> list[str]:
    """The command split as a shell would; names of files that lie under `folder` made absolute,
    because the process begins elsewhere."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentProcessError(f"cmd:{command}: {error}; close the quotation") from None
    if not words:
        raise AgentProcessError("cmd: is empty; write the program after it, as in cmd:./my_agent")
    program, *rest = words
    rest = [str(folder / word) if (folder / word).is_file() else word for word in rest]
    return [str(folder / program) if "/" in program else program, *rest]


class ProcessService:
    """Answers the requests of one ProcessAgent; one request at a time.

    Each session begins with a fresh process, so that nothing of an earlier one remains. A process
    that has ended is started once more and told the session again before the request.
    """

    def __init__(self, command: str, folder: Path | None = None) -> None:
        self._words = command_words(command, folder or Path.cwd())
        self._process: _Process | None = None
        self._name = f"cmd:{without_folders(command)}"
        self._greeting = b""
        self._begun = False
        self._greeted = False
        self._deaths = 0
        self._ending = ""
        self._lock = asyncio.Lock()

    async def answer(self, request: Request) -> Said:
        """The process's answer and no usage; AgentProcessError where there is none.

        The caller's time limit cancels it; the answer that comes too late is then thrown away.
        """
        line = _line(request.body)
        async with self._lock:
            if request.body.get("type") == "reset":
                return Said(await self._greet(line))
            return Said(await self._ask(line))

    async def close(self) -> None:
        """End the process and remove its folder."""
        process, self._process = self._process, None
        if process is not None:
            await process.end()

    async def _greet(self, line: bytes) -> Mapping[str, Any]:
        """Begin a session; asked again after a failure, take the answer still owed."""
        again = line == self._greeting and not self._begun
        if again and self._process is not None and self._process.unanswered:
            with suppress(_Ended):
                return await self._guarded(self._process, None)
        await self.close()
        if not again:
            self._greeting, self._begun, self._deaths = line, False, 0
        return await self._ask(line)

    async def _ask(self, line: bytes) -> Mapping[str, Any]:
        while True:
            try:
                process = await self._running(line)
                return await self._guarded(process, line)
            except _Ended as error:
                await self.close()
                self._ending = str(error)
                self._deaths += 1
                if self._deaths > DEATHS_A_SESSION:
                    self._give_up()

    async def _running(self, line: bytes) -> _Process:
        if self._deaths > DEATHS_A_SESSION:
            self._give_up()
        if self._process is None:
            self._process = await _Process.started(self._words, self._name)
            self._greeted = False
        if not self._greeted and line != self._greeting:
            await self._guarded(self._process, self._greeting)
        return self._process

    async def _guarded(self, process: _Process, line: bytes | None) -> Mapping[str, Any]:
        """Exchange a line (None: only take the answers owed); a process that breaks the protocol
        ends, because its next line could not be told from the last."""
        try:
            answer = await process.exchange(line)
            self._greeted = self._begun = True
        except AgentProcessError as error:
            await self.close()
            self._deaths += 1
            self._ending = str(error)
            raise
        except asyncio.CancelledError:
            process.late_in_a_row += 1
            if process.late_in_a_row >= LATE_IN_A_ROW:
                self._ending = f"left {LATE_IN_A_ROW} requests in a row unanswered"
                self._deaths += 1
                self._process = None
                process.kill()
            raise
        process.late_in_a_row = 0
        return answer

    def _give_up(self) -> Never:
        times = "twice" if self._deaths == 2 else f"{self._deaths} times"
        raise AgentProcessError(
            f"the agent's process failed {times} this session and is not started again: "
            f"{self._ending}"
        )


class _Ended(Exception):
    """The process is gone; the message says how."""


class _Process:
    """One running process and its pipes.

    unanswered: lines sent whose answer has not been read.
    """

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        process: asyncio.subprocess.Process,
        name: str,
        folder: str,
    ) -> None:
        self._transport = transport
        self._process = process
        self._name = name
        self._folder = folder
        self._stderr = bytearray()
        self._keeping = asyncio.create_task(self._keep(), name="agent process")
        self.unanswered = 0
        self.late_in_a_row = 0

    @classmethod
    async def started(cls, words: list[str], name: str) -> _Process:
        loop = asyncio.get_running_loop()
        folder = tempfile.mkdtemp(prefix="paprika-agent-")
        try:
            transport, protocol = await loop.subprocess_exec(
                lambda: SubprocessStreamProtocol(limit=LONGEST_ANSWER_BYTES, loop=loop),
                *words,
                cwd=folder,
                env=_environment(folder),
                start_new_session=True,
            )
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError | ValueError):
                told = error.strerror if isinstance(error, OSError) else str(error)
                raise AgentProcessError(
                    f"cannot start {Path(words[0]).name}: {told}; check the command after cmd:"
                ) from None
            raise
        process = asyncio.subprocess.Process(transport, protocol, loop)
        return cls(transport, process, name, folder)

    async def exchange(self, line: bytes | None) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = {}
        while self.unanswered:
            answer = await self._read()
        if line is None:
            return answer
        await self._refuse_surplus()
        stdin = self._process.stdin
        assert stdin is not None
        self.unanswered += 1
        with suppress(ConnectionError):
            stdin.write(line)
            await stdin.drain()
        return await self._read()

    async def end(self) -> None:
        """Ask it to end, then kill it and everything it started."""
        self._keeping.cancel()
        try:
            await asyncio.wait((self._keeping,))
        finally:
            self.kill()

    def kill(self) -> None:
        """At once, without waiting: also for a caller whose time is over."""
        self._signal(signal.SIGKILL)
        self._transport.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _read(self) -> Mapping[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            line = await stdout.readuntil()
        except asyncio.IncompleteReadError:
            raise _Ended(await self._how_it_ended()) from None
        except asyncio.LimitOverrunError:
            raise AgentProcessError(
                f"{self._name} answered with a line over {LONGEST_ANSWER_BYTES // 1024} kB"
            ) from None
        self.unanswered -= 1
        return _object(line, self._name)

    async def _refuse_surplus(self) -> None:
        """A line that nobody asked for would be taken for the next answer."""
        stdout = self._process.stdout
        assert stdout is not None
        with suppress(TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(0):
                line = await stdout.readuntil()
            raise AgentProcessError(
                f"{self._name} printed a line that was not asked for: {_shown(line)}; "
                "one line for each line, notes belong on standard error"
            )

    async def _how_it_ended(self) -> str:
        await self._gone()
        code = self._process.returncode
        if code is None:
            how = "closed its output"
        else:
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        await asyncio.wait((self._keeping,), timeout=GRACE_S)
        words = bytes(self._stderr).decode("utf-8", "replace").strip().splitlines()
        return f"{self._name} {how}" + (f": {words[-1].strip()[:200]}" if words else "")

    async def _gone(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await self._process.wait()

    async def _keep(self) -> None:
        """Read standard error; when this task is cancelled, as at the end of the loop, the
        process ends with it."""
        stderr = self._process.stderr
        assert stderr is not None
        try:
            while chunk := await stderr.read(STDERR_BYTES):
                self._stderr += chunk
                del self._stderr[:-STDERR_BYTES]
            await self._process.wait()
        finally:
            try:
                self._signal(signal.SIGTERM)
                await self._gone()
            finally:
                self.kill()
            await self._gone()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _environment(folder: str) -> dict[str, str]:
    """What the process may see of ours; Python writes its lines at once."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": folder, "TMPDIR": folder, "PYTHONUNBUFFERED": "1"}


def _line(body: Mapping[str, Any]) -> bytes:
    told = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return told.encode("utf-8", "replace") + b"\n"


def _object(line: bytes, name: str) -> Mapping[str, Any]:
    try:
        answer = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise AgentProcessError(
            f"{name} answered with what is not JSON: {_shown(line)}; notes belong on standard error"
        ) from None
    if not isinstance(answer, dict):
        raise AgentProcessError(f"{name} answered {short(answer)}, not a JSON object")
    return answer


def _no_constant(word: str) -> Never:
    raise ValueError(word)


def _shown(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace").rstrip("\n"))
