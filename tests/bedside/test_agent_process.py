"""Processes in several languages behind `cmd:`, good and bad, on an ordinary loop."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import quote
from textwrap import dedent
from typing import Any

import pytest

from agents.process import ProcessAgent
from agents.types import PlaySound, Request, Wait
from agents.wire import observation_to_json, session_to_json
from bedside.agent_process import (
    LATE_IN_A_ROW,
    AgentProcessError,
    ProcessService,
    command_words,
    services_for,
)
from bedside.outside import LiveOutside, SecondLoop
from devices.types import Stage, Volume
from tests.agents.timelines import SESSION, seen

RESET = {"type": "reset", "protocol": 1, "session": session_to_json(SESSION)}
WAIT = {"kind": "wait"}

Command = Callable[[str], str]
Answer = Mapping[str, Any]


def decide(**changes: object) -> dict[str, Any]:
    return {"type": "decide", "observation": observation_to_json(seen(**changes))}


@pytest.fixture
def python(tmp_path: Path) -> Command:
    """The command of a Python process: `line` is each line of the night as a value."""

    def command(body: str) -> str:
        path = tmp_path / "agent.py"
        start = "import json, os, sys, time\nfor line in sys.stdin:\n    line = json.loads(line)\n"
        lines = dedent(body).strip().splitlines()
        path.write_text(start + "".join(f"    {each}\n" for each in lines))
        return f"{quote(sys.executable)} {quote(str(path))}"

    return command


@asynccontextmanager
async def serving(command: str) -> AsyncIterator[ProcessService]:
    service = ProcessService(command)
    try:
        yield service
    finally:
        await service.close()


async def asked(service: ProcessService, body: dict[str, Any], timeout_s: float = 20.0) -> Answer:
    async with asyncio.timeout(timeout_s):
        said = await service.answer(Request("process", body, timeout_s))
    assert (said.usage, said.attempts, said.error) == ({}, 1, None)
    assert said.body is not None
    return said.body


async def failure(service: ProcessService, body: dict[str, Any]) -> str:
    with pytest.raises(AgentProcessError) as error:
        await asked(service, body)
    told = str(error.value)
    assert "\n" not in told
    assert len(told) < 600
    return told


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):  # it may go between the two
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


async def gone(pid: int) -> None:
    async with asyncio.timeout(5):
        while running(pid):
            await asyncio.sleep(0.01)


async def test_a_python_process_sees_the_session_and_each_observation(python: Command) -> None:
    body = """
        if line["type"] == "reset": theme = line["session"]["theme"]; print("{}"); continue
        print(json.dumps({"kind": "sound", "reason": theme + " " + line["observation"]["stage"]}))
    """
    async with serving(python(body)) as service:
        assert await asked(service, RESET) == {}
        for stage in (Stage.REM, Stage.DEEP):
            said = await asked(service, decide(stage=stage))
            assert said == {"kind": "sound", "reason": f"a clock {stage}"}


NODE = """
require("readline").createInterface({ input: process.stdin }).on("line", (text) => {
  const line = JSON.parse(text);
  const rem = line.type === "decide" && line.observation.stage === "rem";
  console.log(JSON.stringify(line.type === "reset" ? {} : { kind: rem ? "sound" : "wait" }));
});
"""
AWK = r"""
/"type":"reset"/ { print "{}"; fflush(); next }
/"stage":"rem"/  { print "{\"kind\":\"sound\"}"; fflush(); next }
                 { print "{\"kind\":\"wait\"}"; fflush() }
"""
SHELL = """
while read -r line; do
  case "$line" in
    *'"type":"reset"'*) echo '{}' ;;
    *'"stage":"rem"'*) echo '{"kind":"sound"}' ;;
    *) echo '{"kind":"wait"}' ;;
  esac
done
"""


@pytest.mark.parametrize(
    ("program", "option", "text"),
    [("node", "", NODE), ("mawk", "-W interactive -f", AWK), ("sh", "", SHELL)],
)
async def test_other_languages_answer_too(
    tmp_path: Path, program: str, option: str, text: str
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on this machine")
    path = tmp_path / "my agent"
    path.write_text(text)
    async with serving(f"{program} {option} {quote(str(path))}") as service:
        assert await asked(service, RESET) == {}
        said = [await asked(service, decide(stage=stage)) for stage in (Stage.REM, Stage.DEEP)]
        assert said == [{"kind": "sound"}, {"kind": "wait"}]


async def test_a_process_that_was_killed_is_begun_again_and_told_the_session(
    python: Command,
) -> None:
    body = """
        if line["type"] == "reset": told = os.getpid(); print("{}"); continue
        print(json.dumps({"told": told}))
    """
    async with serving(python(body)) as service:
        await asked(service, RESET)
        first = (await asked(service, decide()))["told"]
        os.kill(first, signal.SIGKILL)
        await gone(first)
        second = (await asked(service, decide()))["told"]
        assert second != first
        os.kill(second, signal.SIGKILL)
        await gone(second)
        told = await failure(service, decide())
        assert "failed twice this session and is not started again" in told
        assert "was killed by signal 9" in told
        await asked(service, {**RESET, "session": {"theme": "another"}})
        assert (await asked(service, decide()))["told"] not in (first, second)


async def test_a_process_that_dies_of_an_observation_says_what_of(python: Command) -> None:
    body = """
        if line["type"] == "reset": print("{}"); continue
        raise ValueError("cannot bear " + line["observation"]["stage"])
    """
    async with serving(python(body)) as service:
        await asked(service, RESET)
        told = await failure(service, decide())
        assert "agent.py ended with exit code 1: ValueError: cannot bear awake" in told
        assert await failure(service, decide()) == told


async def test_a_process_that_never_starts_well_is_not_started_at_every_step(
    tmp_path: Path, python: Command
) -> None:
    count = tmp_path / "starts"
    body = f"open({str(count)!r}, 'a').write('.'); sys.exit(4)"
    async with serving(python(body)) as service:
        for _ in range(5):
            assert "exit code 4" in await failure(service, RESET)
    assert count.read_text() == ".."


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("hello", "answered with what is not JSON: 'hello'; notes belong on standard error"),
        ("", "answered with what is not JSON: ''"),
        ("[1]", "answered [1], not a JSON object"),
        ("NaN", "answered with what is not JSON: 'NaN'"),
        ('{"kind": Infinity}', "answered with what is not JSON"),
        ("[" * 60_000, "answered with what is not JSON: '[[["),
        ("9" * 60_000, "answered with what is not JSON: '999"),
        ("x" * 1_000_000, "answered with a line over 64 kB"),
        ("\\xff\\xfe", "answered with what is not JSON"),
    ],
)
async def test_garbage_is_an_error_and_the_next_request_meets_a_fresh_process(
    python: Command, output: str, sentence: str
) -> None:
    body = f"""
        if line["type"] == "reset": fresh = True; print("{{}}"); continue
        if line["observation"]["stage"] == "deep": sys.stdout.buffer.write(b'''{output}\\n''')
        else: print('{{"kind":"wait"}}')
        sys.stdout.flush()
    """
    async with serving(python(body)) as service:
        await asked(service, RESET)
        assert sentence in await failure(service, decide(stage=Stage.DEEP))
        assert await asked(service, decide()) == WAIT


async def test_a_line_that_nobody_asked_for_is_not_taken_for_an_answer(python: Command) -> None:
    body = """
        print('{"kind":"wait"}'); print('{"kind":"sound"}')
    """
    async with serving(python(body)) as service:
        await asked(service, RESET)
        await asyncio.sleep(0.2)
        assert "printed a line that was not asked for" in await failure(service, decide())


async def test_an_answer_that_comes_too_late_is_thrown_away(python: Command) -> None:
    body = """
        if line["type"] == "reset": print("{}"); continue
        if line["observation"]["stage"] == "deep": time.sleep(0.6)
        print(json.dumps({"stage": line["observation"]["stage"], "pid": os.getpid()}))
    """
    async with serving(python(body)) as service:
        await asked(service, RESET)
        before = await asked(service, decide())
        with pytest.raises(TimeoutError):
            await asked(service, decide(stage=Stage.DEEP), 0.1)
        after = await asked(service, decide(stage=Stage.REM))
        assert after == {"stage": "rem", "pid": before["pid"]}


async def test_a_slow_start_is_waited_for_over_several_requests(python: Command) -> None:
    body = """
        if line["type"] == "reset": time.sleep(1.0); begun = globals().get("begun", 0) + 1
        print(json.dumps({"begun": begun}))
    """
    async with serving(python(body)) as service:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asked(service, RESET, 0.2)
        assert await asked(service, RESET) == {"begun": 1}
        assert await asked(service, decide()) == {"begun": 1}


async def test_a_process_that_hangs_is_ended_after_some_requests(python: Command) -> None:
    body = """
        if line["type"] == "reset": print(json.dumps({"pid": os.getpid()})); continue
        time.sleep(3600)
    """
    async with serving(python(body)) as service:
        pid = (await asked(service, RESET))["pid"]
        for _ in range(LATE_IN_A_ROW):
            with pytest.raises(TimeoutError):
                await asked(service, decide(), 0.05)
        await gone(pid)
        for _ in range(LATE_IN_A_ROW):
            with pytest.raises(TimeoutError):
                await asked(service, decide(), 0.5)
        assert "left 5 requests in a row unanswered" in await failure(service, decide())


async def test_a_new_session_begins_with_a_fresh_process_even_when_it_is_the_same(
    python: Command,
) -> None:
    async with serving(python('print(json.dumps({"pid": os.getpid()}))')) as service:
        first = await asked(service, RESET)
        assert await asked(service, decide()) == first
        second = await asked(service, RESET)
        assert second != first
        assert not running(first["pid"])


async def test_closing_ends_it_what_it_started_and_its_folder(python: Command) -> None:
    body = """
        if line["type"] == "decide": print("{}"); continue
        import signal, subprocess
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "3600"])
        open("mine", "w").write("x")
        print(json.dumps({"pids": [os.getpid(), child.pid], "cwd": os.getcwd()}))
    """
    async with serving(python(body)) as service:
        told = await asked(service, RESET)
        assert os.listdir(told["cwd"]) == ["mine"]
    for pid in told["pids"]:
        await gone(pid)
    assert not os.path.exists(told["cwd"])
    await service.close()


async def test_it_sees_no_environment_of_ours_and_an_empty_folder(
    python: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPRIKA_HOME", "/var/lib/paprika")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    body = 'print(json.dumps({"env": dict(os.environ), "cwd": os.getcwd(), "ls": os.listdir()}))'
    async with serving(python(body)) as service:
        told = await asked(service, RESET)
    kept = {"PATH", "LANG", "HOME", "TMPDIR", "PYTHONUNBUFFERED", "LC_CTYPE", "PWD"}
    assert set(told["env"]) <= kept
    assert told["env"]["HOME"] == told["cwd"]
    assert told["ls"] == []
    assert os.path.realpath(told["cwd"]) != os.path.realpath(os.getcwd())


async def test_much_on_standard_error_neither_blocks_nor_grows(python: Command) -> None:
    body = """
        sys.stderr.write("note " * 200_000 + "\\n"); sys.stderr.flush()
        if line["type"] == "reset": print("{}"); continue
        sys.stderr.write("the last words\\n"); sys.exit(2)
    """
    async with serving(python(body)) as service:
        await asked(service, RESET)
        assert "exit code 2: the last words" in await failure(service, decide())


async def test_a_process_that_closes_its_output_has_ended(python: Command) -> None:
    async with serving(python("os.close(1); time.sleep(3600)")) as service:
        assert "closed its output" in await failure(service, RESET)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("no_such_program_anywhere", "cannot start no_such_program_anywhere: No such file"),
        ("/etc/passwd", "cannot start passwd: Permission denied"),
    ],
)
async def test_a_program_that_cannot_start_says_why(command: str, sentence: str) -> None:
    async with serving(command) as service:
        assert sentence in await failure(service, RESET)


def test_file_names_of_a_command_are_found_from_the_callers_folder(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("")
    (tmp_path / "python3").write_text("")
    words = command_words("python3 agent.py --model agent.txt", tmp_path)
    assert words == ["python3", str(tmp_path / "agent.py"), "--model", "agent.txt"]
    assert command_words("./agent.py", tmp_path) == [str(tmp_path / "agent.py")]
    assert command_words("/bin/sh", tmp_path) == ["/bin/sh"]


def test_only_a_process_agent_needs_the_service() -> None:
    from agents.wait import WaitAgent

    assert services_for(WaitAgent()) == {}
    assert list(services_for(ProcessAgent("sh"))) == ["process"]


async def test_agent_service_and_second_loop_together_and_nothing_left_at_the_end(
    tmp_path: Path, python: Command
) -> None:
    pid_file = tmp_path / "pid"
    body = f"""
        open({str(pid_file)!r}, "w").write(str(os.getpid()))
        if line["type"] == "reset": print("{{}}"); continue
        stage = line["observation"]["stage"]
        if stage == "rem": print('{{"kind":"sound","volume":"medium","reason":"it is rem"}}')
        else: print('{{"kind":"wait"}}')
    """
    agent = ProcessAgent(python(body))
    with SecondLoop() as second:
        agent.connect(LiveOutside(services_for(agent), second))
        agent.reset(SESSION)
        assert await agent.decide(seen()) == Wait()
        assert await agent.decide(seen(stage=Stage.REM)) == PlaySound(Volume.MEDIUM, "it is rem")
        assert running(int(pid_file.read_text()))
    await gone(int(pid_file.read_text()))
