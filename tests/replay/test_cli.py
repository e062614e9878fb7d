"""The real `paprika` command, as a process: what it prints, what it refuses, and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bedside.recording import head, write_night
from tests.conftest import ROOT
from tests.replay.nights import Line, lines_of, recording

pytestmark = pytest.mark.timeout(120)

LETTERS = "WWWW" + "LLLLLL" + "RRRRRRRRRRRRRRRR" + "??" + "DDDDDDDD" + "RRRRRRRR" + "WW"
ISSUE_KEYS = {
    "epochs", "compared", "excluded", "mismatched", "cues", "cues_by_stage", "wakings",
    "violations", "violations_delivered", "limit_hits", "speed_x", "wall_s", "trace",
    "trace_sha256",
}  # fmt: skip
"""Source: the issue, Commands: `replay --json`: at least these."""
CAPPED = """
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv[1:] = sys.argv[2:]
runpy.run_module("paprika", run_name="__main__")
"""
"""`paprika` on a disk that takes files of so many bytes and no more."""


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object that standard output must be."""
        assert self.code == 0, self.err
        assert self.out.count("\n") == 1
        return json.loads(self.out)


FORKING = """
import json, os, runpy, sys
import bedside.cli, bedside.recording, paprika, replay.cli
sys.argv[0] = paprika.__file__
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["folder"])
        os.environ["PAPRIKA_HOME"] = asked["home"]
        for name, number in ((".out", 1), (".err", 2)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.argv[1:] = asked["arguments"]
        runpy.run_module("paprika", run_name="__main__")
        os._exit(99)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Each line asks for one run of the real command in a child of a process that is loaded already."""


class Loaded:
    """A process that runs the command as often as asked, without loading Python each time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKING],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, asked: Any) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=20)


@pytest.fixture(scope="module")
def loaded() -> Iterator[Loaded]:
    process = Loaded()
    yield process
    process.close()


class Desk:
    """An empty folder to run commands in, with a home of its own."""

    def __init__(self, folder: Path, loaded: Loaded) -> None:
        self._loaded = loaded
        self.folder = folder
        self.home = folder / "home"

    def run(self, *arguments: object, python: str = sys.executable, **env: str) -> Ran:
        return self._run([python, "-m", "paprika", *map(str, arguments)], env)

    def run_with_files_of_at_most(self, size: int, *arguments: object) -> Ran:
        return self._run([sys.executable, "-c", CAPPED, str(size), *map(str, arguments)], {})

    def quick(self, *arguments: object) -> Ran:
        """As `run`, in a process that has Python and the packages loaded already."""
        out, err = self.folder / ".out", self.folder / ".err"
        asked = {
            "arguments": [str(one) for one in arguments],
            "folder": str(self.folder),
            "home": str(self.home),
        }
        code = self._loaded.ask(asked)
        ran = Ran(code, out.read_text("utf-8"), err.read_text("utf-8"))
        out.unlink()
        err.unlink()
        return ran

    def replay(self, *arguments: object, **given: str) -> Any:
        return self.run("replay", *arguments, "--json", **given).json

    def quick_replay(self, *arguments: object) -> Any:
        return self.quick("replay", *arguments, "--json").json

    def path(self, told: str) -> Path:
        """A file as a command named it."""
        return self.folder / told

    def bytes(self, found: Line) -> tuple[bytes, bytes]:
        """The open and the hidden trace of a replay."""
        return self.path(found["trace"]).read_bytes(), self.path(found["hidden"]).read_bytes()

    def files(self) -> set[str]:
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix() for path in found}

    def _run(self, command: list[str], env: dict[str, str]) -> Ran:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PAPRIKA_HOME": str(self.home),
                "COLUMNS": "100",
                **env,
            },
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=100,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def desk(tmp_path: Path, loaded: Loaded) -> Desk:
    return Desk(tmp_path, loaded)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole night file of 46 epochs that starts at 23:00."""
    path = tmp_path_factory.mktemp("nights") / "small.mcap"
    write_night(path, recording(LETTERS, interval_s=1.0, night_id="small"))
    return path


def refused(done: Ran, *said: str) -> None:
    """The contract of a mistake: exit 2 and one line on standard error."""
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("paprika: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")
    assert "Traceback" not in done.err
    for word in said:
        assert word.lower() in done.err.lower()


# --- what it prints


def test_replay_prints_one_json_object_and_nothing_else(desk: Desk, small: Path) -> None:
    done = desk.run("replay", small, "--agent", "rem_rule", "--json")
    found = done.json
    assert done.err == ""
    assert found.keys() >= ISSUE_KEYS
    assert (found["epochs"], found["compared"], found["excluded"]) == (46, 44, 2)
    assert found["mismatched"] == 0
    trace = Path(found["trace"]).read_bytes()
    assert sha256(trace).hexdigest() == found["trace_sha256"]
    assert lines_of(trace)[0]["kind"] == "header"
    assert desk.files() == {
        f"home/sessions/{found['session']}/{name}"
        for name in ("trace.jsonl", "hidden.jsonl", "manifest.json", "page/index.html")
    }
    # REM from epoch 10 and from 36: cues after its sixth epoch, then every fourth.
    assert found["cues_by_stage"]["rem"] == found["cues"]


def test_without_a_night_the_bundled_one_is_replayed(desk: Desk) -> None:
    found = desk.replay("--agent", "wait", "--out", "out")
    assert (found["epochs"], found["compared"], found["excluded"]) == (960, 958, 2)
    assert (found["mismatched"], found["cues"], found["wakings"]) == (0, 0, 0)
    assert found["night"]["synthetic"] is True
    assert desk.files() == {f"out/{name}" for name in (
        "trace.jsonl", "hidden.jsonl", "manifest.json", "page/index.html")}  # fmt: skip


def test_a_replay_ends_with_one_screen_for_people(desk: Desk, small: Path) -> None:
    done = desk.run("replay", small, "--out", "out")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert 10 < len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for word in ("small", "rem_rule", "awake", "REM", "light", "deep", "cues", "wakings", "× real"):
        assert word in done.out


def test_from_and_steps_choose_a_part_of_the_night(desk: Desk, small: Path) -> None:
    found = desk.quick_replay(small, "--from", "23:05", "--steps", 20, "--agent", "fixed_timer")
    head_, *_, foot = lines_of(desk.path(found["trace"]).read_bytes())
    assert (head_["night"]["first_epoch"], head_["start_clock_s"]) == (10, 39_900.0)
    assert (foot["ending"], foot["steps"]) == ("step_limit", 20)
    assert (found["epochs"], found["cues"]) == (20, 2)
    late = desk.quick_replay(small, "--from", "23:22:30", "--steps", 20, "--agent", "wait")
    assert (late["ending"], late["epochs"]) == ("recording_exhausted", 1)


def test_every_option_is_written_down(desk: Desk, small: Path) -> None:
    found = desk.quick_replay(
        small, "--seed", 7, "--wake-scale", 2.5, "--mode", "enforce", "--dropout", 0.25,
        "--theme", "sea", "--agent", "gentle_rule",
    )  # fmt: skip
    hidden = lines_of(desk.path(found["hidden"]).read_bytes())[0]
    header = lines_of(desk.path(found["trace"]).read_bytes())[0]
    assert (hidden["seed"], hidden["wake_scale"], hidden["dropout"]) == (7, 2.5, 0.25)
    assert (header["mode"], header["theme"], header["agent"]) == ("enforce", "sea", "gentle_rule")


def test_hypnogram_letters_of_the_bundled_night_have_its_published_shape(desk: Desk) -> None:
    done = desk.run("hypnogram", "--letters")
    letters = done.out.rstrip("\n")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    # Source: the issue, Bundled night.
    assert len(letters) == 960
    assert [letters.count(letter) for letter in "?W"] == [2, 143]
    assert letters.index("L") == 116  # 05:48, 58 minutes after 04:50
    assert letters[:116].count("W") == 114
    assert round(100 * letters.count("R") / 958, 1) == 31.6
    assert round(100 * letters.count("L") / 958, 1) == 31.0
    assert letters[582] == "R" != letters[581]  # a REM run starts at 09:41


def test_hypnogram_letters_of_a_night_are_its_own(desk: Desk, small: Path) -> None:
    assert desk.quick("hypnogram", small, "--letters") == Ran(0, LETTERS + "\n", "")
    found = desk.quick("hypnogram", small, "--json").json
    assert found["letters"] == LETTERS
    assert found["counts4"] == {"awake": 6, "light": 6, "deep": 8, "rem": 24, "none": 2}
    assert found["stage4_sha256"] == sha256(LETTERS.encode()).hexdigest()


def test_the_truth_is_printed_where_there_is_one(desk: Desk, tmp_path: Path) -> None:
    write_night(tmp_path / "both.mcap", recording("LLRR", truth="LDD?"))
    assert desk.quick("hypnogram", "both.mcap", "--letters", "--stream", "truth").out == "LDD?\n"
    assert desk.quick("hypnogram", "both.mcap", "--letters").out == "LLRR\n"


def test_without_a_truth_there_is_none_to_print(desk: Desk) -> None:
    refused(desk.quick("hypnogram", "--letters", "--stream", "truth"), "truth")


def test_inspect_says_what_a_file_holds(desk: Desk, small: Path) -> None:
    found = desk.quick("inspect", small, "--json").json
    assert json.dumps(found).count('"stage"') >= 1
    shown = desk.quick("inspect", small)
    assert (shown.code, shown.err) == (0, "")
    assert "stage" in shown.out


def test_recover_exits_0_for_a_whole_file_3_for_a_torn_one_and_1_for_nothing(
    desk: Desk, small: Path
) -> None:
    whole = small.read_bytes()
    (desk.folder / "torn.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    (desk.folder / "stump.mcap").write_bytes(whole[:600])
    assert desk.quick("recover", small, "--out", "again.mcap").code == 0
    torn = desk.quick("recover", "torn.mcap", "--json")
    assert torn.code == 3
    assert json.loads(torn.out)["out"] == "torn-recovered.mcap"
    assert desk.quick("hypnogram", "torn-recovered.mcap", "--letters").code == 0
    assert desk.quick("recover", "stump.mcap").code == 1
    assert not (desk.folder / "stump-recovered.mcap").exists()


@pytest.mark.parametrize("command", ["replay", "import", "hypnogram", "inspect", "recover"])
def test_each_command_explains_itself(desk: Desk, command: str) -> None:
    done = desk.quick(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: paprika {command}")


# --- the same bytes


def test_two_processes_and_any_speed_write_the_same_bytes(desk: Desk) -> None:
    options = ("--agent", "rem_rule", "--seed", 3, "--wake-scale", 4, "--dropout", 0.02)
    first = desk.replay(*options, "--out", "a", PYTHONHASHSEED="1")
    assert first["wakings"] > 0
    for out, speed, hash_seed in (("b", "max", "2"), ("c", "40000", "3"), ("d", "250000", "0")):
        found = desk.replay(*options, "--out", out, "--speed", speed, PYTHONHASHSEED=hash_seed)
        assert found["trace_sha256"] == first["trace_sha256"]
        assert desk.bytes(found) == desk.bytes(first)


def test_the_same_night_with_eeg_gives_the_same_bytes_again(desk: Desk) -> None:
    options = ("--eeg", "--from", "09:41", "--steps", 6, "--agent", "rem_rule")
    found = [desk.replay(*options, "--out", name, PYTHONHASHSEED=name) for name in ("1", "2")]
    assert found[0]["trace_sha256"] == found[1]["trace_sha256"]


AGENT_PROCESS = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "decide":
        time.sleep(0.003)
        rem = asked["observation"]["stage"] == "rem"
        print(json.dumps({"kind": "sound" if rem else "wait", "reason": "seen"}), flush=True)
    else:
        print(json.dumps({}), flush=True)
"""


def test_a_rerun_from_the_charges_of_a_trace_is_that_trace_again(desk: Desk, small: Path) -> None:
    (desk.folder / "agent.py").write_text(AGENT_PROCESS)
    options = (small, "--agent", f"cmd:{sys.executable} agent.py", "--steps", 20)
    first = desk.replay(*options, "--out", "a")
    calls = [line for line in lines_of(desk.bytes(first)[0]) if line["kind"] == "call"]
    assert len(calls) >= 20
    assert first["decisions"] == {"ok": 20}
    again = desk.replay(*options, "--out", "b", "--charges", first["trace"])
    assert desk.bytes(again) == desk.bytes(first)


def test_charges_of_another_run_are_refused(desk: Desk, small: Path) -> None:
    (desk.folder / "agent.py").write_text(AGENT_PROCESS)
    options = ("replay", small, "--agent", f"cmd:{sys.executable} agent.py")
    short = desk.run(*options, "--steps", 3, "--out", "a", "--json").json
    done = desk.run(*options, "--steps", 9, "--out", "b", "--charges", short["trace"])
    refused(done, "charge")
    assert not any(name.startswith("b/") for name in desk.files())


def others() -> list[str]:
    """Other Pythons on which Paprika can run: PAPRIKA_PYTHONS, and those on the path."""
    named = os.environ.get("PAPRIKA_PYTHONS", "").split(os.pathsep)
    on_path = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13)]
    needs = "import cyclopts, mcap, numpy, rich, sys, zstandard; assert sys.version_info >= (3, 11)"
    found = []
    for python in (*named, *on_path):
        if python and Path(python).resolve() != Path(sys.executable).resolve():
            asked = subprocess.run([python, "-c", needs], capture_output=True, check=False)
            found += [python] * (asked.returncode == 0)
    return found


def test_every_python_found_writes_the_same_bytes(desk: Desk, small: Path) -> None:
    pythons = others()
    if not pythons:
        pytest.skip(
            "no other Python that has Paprika's packages; name some in PAPRIKA_PYTHONS, "
            "separated by colons"
        )
    for night in ((), (small,)):
        options = (*night, "--agent", "rem_rule", "--wake-scale", 4, "--dropout", 0.02)
        first = desk.replay(*options, "--out", "mine")
        for number, python in enumerate(pythons):
            found = desk.replay(*options, "--out", f"other-{number}", python=python)
            assert (found["trace_sha256"], found["session"]) == (
                first["trace_sha256"],
                first["session"],
            ), python
            assert desk.bytes(found) == desk.bytes(first), python


# --- bad input


def laid_out(folder: Path, small: Path) -> None:
    """Files that are no night."""
    whole = small.read_bytes()
    (folder / "empty.mcap").write_bytes(b"")
    (folder / "words.mcap").write_text("not a recording\n" * 50)
    (folder / "other.mcap").write_bytes(whole[:8] + b"\x01" + bytes(200))
    (folder / "stump.mcap").write_bytes(whole[:300])
    (folder / "folder.mcap").mkdir()
    (folder / "a-file").write_bytes(b"")
    write_night(folder / "silent.mcap", recording("????", night_id="silent"))
    write_night(folder / "nothing.mcap", recording("", night_id="nothing"))
    (folder / "broken.py").write_text("class Agent:\n    def decide(self\n")
    (folder / "raising.py").write_text(
        "class Agent:\n    name = 'a'\n    def __init__(self):\n        raise ValueError('a\\nb')\n"
    )
    (folder / "importing.py").write_text("import a_module_that_is_not_there\n")
    (folder / "resetting.py").write_text(
        "class Agent:\n    name = 'resetting'\n"
        "    def reset(self, session):\n        raise ValueError('no')\n"
        "    async def decide(self, observation):\n        return None\n"
    )
    (folder / "trace.jsonl").write_text('{"kind":"header","schema":9}\n{"kind":"footer"}\n')


NIGHTS = [
    ("missing.mcap", "missing.mcap", "no such file"),
    ("empty.mcap", "empty.mcap", "empty"),
    ("words.mcap", "words.mcap", "byte 0", "import"),
    ("other.mcap", "other.mcap", "byte"),
    ("stump.mcap", "stump.mcap", "byte", "recover"),
    ("folder.mcap", "folder.mcap", "directory"),
]


@pytest.mark.parametrize("command", ["replay", "hypnogram", "inspect"])
@pytest.mark.parametrize("case", NIGHTS, ids=lambda case: case[0])
def test_what_is_no_night_is_refused_in_one_line(
    desk: Desk, small: Path, command: str, case: tuple[str, ...]
) -> None:
    laid_out(desk.folder, small)
    before = desk.files()
    refused(desk.quick(command, case[0]), *case[1:])
    assert desk.files() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("silent.mcap",), ("silent.mcap", "not one valid epoch")),
        (("nothing.mcap",), ("nothing.mcap", "not one valid epoch")),
        (("{small}", "--agent", "rem_rul"), ("rem_rul", "did you mean rem_rule")),
        (("{small}", "--agent", "gone.py:Agent"), ("gone.py", "does not exist")),
        (("{small}", "--agent", "raising.py"), ("raising.py", "class")),
        (("{small}", "--agent", "raising.py:Other"), ("raising.py", "other")),
        (("{small}", "--agent", "broken.py:Agent"), ("broken.py:2",)),
        (("{small}", "--agent", "importing.py:Agent"), ("importing.py:1", "a_module_that_is_not")),
        (("{small}", "--agent", "raising.py:Agent"), ("raising.py", "ValueError: a b")),
        (("{small}", "--agent", "resetting.py:Agent"), ("resetting", "ValueError: no")),
        (("{small}", "--agent", "cmd:no-such-program-here"), ("no-such-program-here",)),
        (("{small}", "--speed", "fast"), ("--speed", "fast")),
        (("{small}", "--speed", "0"), ("--speed", "0")),
        (("{small}", "--speed", "-3"), ("--speed",)),
        (("{small}", "--speed", "nan"), ("--speed", "nan")),
        (("{small}", "--speed", "inf"), ("--speed", "inf")),
        (("{small}", "--from", "25:00"), ("--from", "25:00")),
        (("{small}", "--from", "noon"), ("--from", "noon", "09:41")),
        (("{small}", "--from", "22:59"), ("--from", "22:59", "23:00", "23:23")),
        (("{small}", "--from", "23:23"), ("--from", "23:23")),
        (("{small}", "--steps", "0"), ("--steps", "0")),
        (("{small}", "--steps", "many"), ("--steps", "many")),
        (("{small}", "--seed", "one"), ("--seed", "one")),
        (("{small}", "--dropout", "1.5"), ("--dropout", "1.5")),
        (("{small}", "--dropout", "nan"), ("--dropout", "nan")),
        (("{small}", "--wake-scale", "-1"), ("scale", "-1")),
        (("{small}", "--wake-scale", "nan"), ("scale", "nan")),
        (("{small}", "--theme", "forrest"), ("forrest", "did you mean forest", "sea")),
        (("{small}", "--mode", "strict"), ("--mode", "strict", "observe", "enforce")),
        (("{small}", "--out", "a-file"), ("a-file", "--out")),
        (("{small}", "--out", "a-file/below"), ("a-file", "--out")),
        (("{small}", "--charges", "missing.jsonl"), ("missing.jsonl", "no such file")),
        (("{small}", "--charges", "trace.jsonl"), ("trace.jsonl", "schema 9", "update")),
        (("{small}", "--charges", "broken.py"), ("broken.py", "line 1")),
        (("{small}", "--loud"), ("--loud",)),
        (("{small}", "{small}"), ("small.mcap",)),
    ],
    ids=str,
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    desk: Desk,
    small: Path,
    arguments: tuple[str, ...],
    said: tuple[str, ...],
) -> None:
    laid_out(desk.folder, small)
    before = desk.files()
    given = [one.format(small=small) for one in arguments]
    refused(desk.quick("replay", *given), *said)
    assert desk.files() == before


@pytest.mark.parametrize("arguments", [("replays",), ("inspect",), ("recover",), ("import",)])
def test_a_command_that_is_none_or_lacks_its_file_is_refused(
    desk: Desk, arguments: tuple[str, ...]
) -> None:
    refused(desk.quick(*arguments))


@pytest.mark.parametrize("command", ["replay", "hypnogram", "inspect", "recover"])
def test_a_file_of_a_newer_schema_is_refused_by_name(
    desk: Desk, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        later.setattr(head, "SCHEMA", 2)  # as the writer of a later version has it
        write_night(desk.folder / "newer.mcap", recording("LLRR"))
    refused(desk.quick(command, "newer.mcap"), "newer.mcap", "schema 2", "update")
    assert desk.files() == {"newer.mcap"}


@pytest.mark.parametrize("json_option", [(), ("--json",)])
def test_a_torn_night_is_recovered_first(
    desk: Desk, small: Path, json_option: tuple[str, ...]
) -> None:
    whole = small.read_bytes()
    (desk.folder / "torn.mcap").write_bytes(whole[: len(whole) * 2 // 3])
    done = desk.quick("replay", "torn.mcap", "--out", "out", *json_option)
    refused(done, "torn.mcap", "paprika recover torn.mcap")
    assert desk.files() == {"torn.mcap"}
    assert desk.quick("recover", "torn.mcap").code == 3
    found = desk.quick("replay", "torn-recovered.mcap", "--agent", "wait", "--json").json
    assert (found["mismatched"], found["epochs"]) == (0, 46)
    assert found["compared"] + found["excluded"] == 46


def test_a_night_with_a_broken_byte_is_replayed_whole_or_not_at_all(
    desk: Desk, small: Path
) -> None:
    whole = small.read_bytes()
    codes = set()
    for part in (1, 2, 3, 5, 8, 12, 16, 19):
        broken = bytearray(whole)
        broken[len(whole) * part // 20] ^= 0xFF
        (desk.folder / "broken.mcap").write_bytes(broken)
        done = desk.quick("replay", "broken.mcap", "--agent", "wait", "--json", "--out", "out")
        codes.add(done.code)
        if done.code == 0:
            assert (done.json["compared"], done.json["mismatched"]) == (44, 0), part
            shutil.rmtree(desk.folder / "out")
        else:
            refused(done, "broken.mcap", "byte", "recover")
            assert desk.files() == {"broken.mcap"}
    assert codes == {0, 2}


@pytest.mark.parametrize("size", [0, 500, 2_000, 15_000, 30_000])
def test_no_space_left_is_one_line_and_leaves_nothing_that_looks_whole(
    desk: Desk, small: Path, size: int
) -> None:
    done = desk.run_with_files_of_at_most(size, "replay", small, "--out", "out", "--json")
    refused(done, "out/", "space")
    assert desk.files() == set()


def test_with_just_enough_space_it_is_done(desk: Desk, small: Path) -> None:
    done = desk.run_with_files_of_at_most(1 << 20, "replay", small, "--out", "out", "--json")
    assert done.json["epochs"] == 46


def test_output_that_is_closed_early_is_no_error(desk: Desk, small: Path) -> None:
    command = f"{sys.executable} -m paprika hypnogram {small} --json | head -c 5"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ('{"id"', "")
