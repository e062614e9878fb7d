"""Finding an agent, and the one line that is said when there is none."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from agents.fixed_timer import FixedTimer
from agents.gentle_rule import GentleRule
from agents.process import ProcessAgent
from agents.rem_rule import RemRule
from agents.types import PlaySound
from agents.wait import WaitAgent
from bedside.agent_loading import NAMES, AgentLoadError, known_names, load_agent
from tests.agents.timelines import SESSION, seen

GOOD = """
    from agents.types import PlaySound, Wait
    import beside

    class Mine:
        name = "mine"
        def reset(self, session):
            pass
        async def decide(self, observation):
            return PlaySound(reason=beside.REASON)
"""


@pytest.fixture(autouse=True)
def import_path() -> Iterator[None]:
    before = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = before[0]
    for name in set(sys.modules) - before[1]:
        if name.startswith("agent_") or name in ("beside", "wheel_agents"):
            del sys.modules[name]


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    return path


def refusal(spec: str) -> str:
    with pytest.raises(AgentLoadError) as error:
        load_agent(spec)
    told = str(error.value)
    assert "\n" not in told
    return told


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("wait", WaitAgent),
        ("fixed_timer", FixedTimer),
        ("rem_rule", RemRule),
        ("gentle_rule", GentleRule),
    ],
)
def test_our_agents_are_found_by_the_names_of_the_seed(name: str, kind: type) -> None:
    agent = load_agent(name)
    assert type(agent) is kind
    assert agent.name == name


def test_each_load_makes_a_new_agent() -> None:
    assert load_agent("fixed_timer") is not load_agent("fixed_timer")


def test_an_unknown_name_lists_the_known_ones_and_the_nearest() -> None:
    told = refusal("rem_rul")
    assert "no agent 'rem_rul' (did you mean rem_rule?)" in told
    assert "known: wait, fixed_timer, rem_rule, gentle_rule" in told
    assert told.endswith("FILE.py:Class or cmd:COMMAND")


def test_a_name_like_no_other_is_not_guessed_at() -> None:
    assert "did you mean" not in refusal("zzzzzz")


def test_an_empty_name_is_unknown() -> None:
    assert "no agent ''" in refusal("")


def test_a_file_is_run_and_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    written(tmp_path, "REASON = 'from next door'", "beside.py")
    agent = load_agent(f"{written(tmp_path, GOOD)}:Mine")
    agent.reset(SESSION)
    assert asyncio.run(decide(agent)) == PlaySound(reason="from next door")


async def decide(agent: object) -> object:
    return await agent.decide(seen())  # type: ignore[attr-defined]


def test_loading_a_file_writes_nothing_beside_it(tmp_path: Path) -> None:
    load_agent(f"{written(tmp_path, GOOD.replace('import beside', 'import types as beside'))}:Mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    text = GOOD.replace("import beside", "import types as beside")
    load_agent(f"{written(tmp_path, text)}:Mine")
    path = written(tmp_path, text.replace('name = "mine"', 'name = "other"'))
    changed = load_agent(f"{path}:Mine")
    assert changed.name == "other"


def test_two_files_of_one_name_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    text = GOOD.replace("import beside", "import types as beside")
    one = load_agent(f"{written(tmp_path / 'a', text)}:Mine")
    other = load_agent(f"{written(tmp_path / 'b', text)}:Mine")
    assert type(one).__module__ != type(other).__module__


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("class Other:\n    def decide(self): ...\n", "has no class 'Mine'; it has Other"),
        ("x = 1\n", "has no class 'Mine'; it has no class with a decide"),
        ("Mine = 3\n", ":Mine is a int, not a class; name the class"),
        ("class Mine:\n    name = 'm'\n", "is no agent: it has no reset and no decide"),
        ("import nowhere_at_all\n", "mine.py:1: ModuleNotFoundError: No module named"),
        ("\n\ndef f():\n    return 1 / 0\nf()\n", "mine.py:4: ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", "mine.py:2: SystemExit: 3; correct the file"),
        ("\n\nclass Mine(:\n    pass\n", "mine.py:3: invalid syntax; correct the line"),
        ("class Mine:\n  def f(self):\n pass\n", "mine.py:3: unindent does not match"),
        (
            "class Mine:\n    def __init__(self, path):\n        pass\n",
            ":Mine cannot be made: TypeError",
        ),
        (
            "class Mine:\n    def __init__(self):\n        raise OSError('no\\nfile')\n",
            ":Mine cannot be made: OSError: no file; it is called without arguments",
        ),
        (
            "class Mine:\n name = 'm'\n def reset(self, s): ...\n def decide(self, o): ...\n",
            "is no agent: write `async def decide(self, observation)`",
        ),
        (
            "class Mine:\n name = 'm'\n async def reset(self, s): ...\n"
            " async def decide(self, o): ...\n",
            "is no agent: write `def reset(self, session)`, not async",
        ),
        (
            "class Mine:\n name = ''\n def reset(self, s): ...\n async def decide(self, o): ...\n",
            "is no agent: its name must be a text that is not empty",
        ),
    ],
)
def test_a_file_that_holds_no_agent_is_one_clear_line(
    tmp_path: Path, body: str, sentence: str
) -> None:
    told = refusal(f"{written(tmp_path, body)}:Mine")
    assert "mine.py" in told
    assert sentence in told


def test_a_file_that_is_no_text_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(b"\x00\xff\x00")
    assert "mine.py" in refusal(f"{path}:Mine")


def test_a_missing_file_a_folder_and_a_missing_class_name(tmp_path: Path) -> None:
    assert "nowhere.py does not exist; write --agent FILE.py:Class" in refusal("nowhere.py:Mine")
    assert "is a folder" in refusal(f"{tmp_path}:Mine")
    assert "name the class too, as in mine.py:MyAgent" in refusal("agents_of_mine/mine.py")
    assert "has no class ''" in refusal(f"{written(tmp_path, 'x = 1')}:")


def test_a_command_becomes_a_process_agent() -> None:
    agent = load_agent(f"cmd:{sys.executable} -c 'print(1)'")
    assert isinstance(agent, ProcessAgent)
    assert agent.command.endswith("-c 'print(1)'")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("cmd:", "cmd: is empty"),
        ("cmd:   ", "cmd: is empty"),
        ("cmd:no_such_program_anywhere -x", "no program 'no_such_program_anywhere'"),
        ("cmd:echo 'open", "No closing quotation; close the quotation"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused_at_once(spec: str, sentence: str) -> None:
    assert sentence in refusal(spec)


WHEEL_AGENT = """
    class Found:
        name = "found"
        def reset(self, session):
            pass
        async def decide(self, observation):
            return None
"""


def installed(folder: Path, distribution: str, points: str) -> None:
    info = folder / f"{distribution}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[paprika.agents]\n{points}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    written(folder, WHEEL_AGENT, "wheel_agents.py")
    monkeypatch.syspath_prepend(folder)
    return folder


def test_an_installed_package_brings_its_agents_by_entry_point(site: Path) -> None:
    installed(site, "lab-agents", "lab = wheel_agents:Found")
    assert load_agent("lab").name == "found"
    assert known_names() == (*NAMES, "lab")
    assert "did you mean lab?" in refusal("laab")


def test_a_broken_entry_point_names_its_package(site: Path) -> None:
    installed(site, "lab-agents", "lab = no_such_module:Found\nless = wheel_agents:Nothing")
    assert "agent 'lab' of lab-agents cannot be imported: ModuleNotFoundError" in refusal("lab")
    assert "agent 'less' of lab-agents cannot be imported: AttributeError" in refusal("less")


def test_one_name_from_two_packages_is_ambiguous(site: Path) -> None:
    installed(site, "lab-agents", "lab = wheel_agents:Found")
    installed(site, "other-agents", "lab = wheel_agents:Found")
    told = refusal("lab")
    assert told == "lab-agents, other-agents each bring an agent 'lab'; uninstall all but one"


def test_our_own_names_cannot_be_taken_over(site: Path) -> None:
    installed(site, "lab-agents", "wait = wheel_agents:Found")
    assert type(load_agent("wait")) is WaitAgent


def test_loading_a_rule_agent_loads_nothing_heavy() -> None:
    import subprocess

    code = (
        "import sys; from bedside.agent_loading import load_agent; load_agent('rem_rule'); "
        "print([m for m in ('numpy', 'importlib.metadata', 'agents.process', 'json') "
        "if m in sys.modules])"
    )
    root = Path(__file__).parent.parent.parent
    told = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert told.stdout.strip() == "[]", told.stderr
