"""The house around the code: import order, banned calls, what loads, what a file may hold."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("devices", "agents", "bedside", "replay")
CLOCKS = ("bedside/clock.py", "replay/clock.py")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PYPROJECT["project"]["version"]

HEAVY = ("numpy", "scipy", "matplotlib", "edfio", "mcap", "zstandard")
LATER = ("alembic", "anthropic", "apprise", "bleak", "elevenlabs", "fastapi", "fishaudio", "serial")
LATER += ("sounddevice", "sqlalchemy")

# Written so that this file does not hold what it looks for.
FORBIDDEN_TEXT = {
    "a machine path": r"(?<![\w.])/(?:wor[k]|hom[e]|roo[t]|User[s]|far[m])/(?!someone/)[A-Za-z.]",
    "a registry address": r"https?://[^\s]*(?:py[p]i|pythonhoste[d]|npm[j]s|debia[n])[.]",
    "an e-mail address": r"[\w.+-]+[@](?!example\.)[\w-]+\.(?:com|org|net|de|uk|io|edu|cn)\b",
}


def run(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


def own_python_files() -> Iterator[Path]:
    yield ROOT / "paprika.py"
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def kept_text_files() -> Iterator[tuple[Path, str]]:
    """What git keeps or would keep, as far as it is text."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("needs a git checkout")
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if path.is_file() and b"\0" not in (raw := path.read_bytes()):
            yield path, raw.decode("utf-8")


# Import order


def lint_imports(cwd: Path) -> subprocess.CompletedProcess[str]:
    command = "import sys; sys.path.insert(0, '.'); "
    command += "from importlinter.cli import lint_imports_command as lint; "
    command += "lint(['--no-cache', '--no-logo'])"
    return run("-c", command, cwd=cwd)


def test_import_contracts_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b0 broken", done.stdout)


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("devices/lamp.py", "import agents.types", "to its left"),
        ("agents/eager.py", "import bedside", "to its left"),
        ("bedside/live.py", "import replay", "to its left"),
        ("agents/eager.py", "import devices.ports", "no device"),
        ("agents/eager.py", "import devices", "no device"),
        ("bedside/voice.py", "def speak():\n    import elevenlabs", "one module"),
        ("bedside/export.py", "import edfio", "not the night's"),
        ("agents/eager.py", "import scipy.signal", "numerical libraries"),
    ],
)
def test_each_import_contract_catches_what_it_forbids(
    tmp_path: Path, module: str, line: str, contract: str
) -> None:
    small_house(tmp_path)
    (tmp_path / module).write_text(line + "\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(rf"{contract}.* BROKEN", done.stdout)


def test_agents_may_import_the_words_of_the_bedside(tmp_path: Path) -> None:
    small_house(tmp_path)
    (tmp_path / "agents" / "patient.py").write_text("import devices.types\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def small_house(folder: Path) -> None:
    (folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for package in PACKAGES:
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text("")
    for module in ("devices/types.py", "devices/ports.py", "agents/types.py"):
        (folder / module).write_text("")


# Banned calls


def banned_in(folder: Path, name: str, source: str) -> int:
    """How often ruff, with the house's settings, finds a banned call in a file of that name."""
    (folder / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    options = ("--no-cache", "--select", "TID251,NPY002", "--output-format", "json")
    done = run("-m", "ruff", "check", *options, name, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return len(json.loads(done.stdout))


@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.time()\n",
        "import time\ntime.sleep(1)\n",
        "import time\ntime.monotonic()\n",
        "import time\ntime.monotonic_ns()\n",
        "import time\ntime.perf_counter()\n",
        "from time import perf_counter_ns as now\nnow()\n",
        "import datetime\ndatetime.datetime.now()\n",
        "from datetime import datetime\ndatetime.now()\n",
        "from datetime import UTC, datetime as moment\nmoment.now(UTC)\n",
        "from datetime import date\ndate.today()\n",
        "def roll():\n    import random\n    return random.random()\n",
        "from random import choice\n",
        "import numpy as np\nnp.random.rand(3)\n",
    ],
)
def test_clock_and_random_calls_are_refused_outside_the_clock_modules(
    tmp_path: Path, source: str
) -> None:
    assert banned_in(tmp_path, "bedside/night.py", source) >= 1


@pytest.mark.parametrize("name", CLOCKS)
def test_clock_modules_may_read_clocks(tmp_path: Path, name: str) -> None:
    assert banned_in(tmp_path, name, "import time\ntime.monotonic()\n") == 0


def test_no_generator_of_random_numbers_is_made_without_a_seed() -> None:
    unseeded = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in own_python_files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("default_rng")
        and not node.args
        and not node.keywords
    ]
    assert unseeded == []


# What is loaded


def loaded_after(code: str, cwd: Path) -> set[str]:
    report = "import sys; print(*sorted(sys.modules), file=sys.stderr)"
    done = run(
        "-X",
        "utf8",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}\n{report}",
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_importing_the_front_door_loads_nothing_heavy_and_no_part_of_the_program(
    tmp_path: Path,
) -> None:
    loaded = loaded_after("import paprika", tmp_path)
    assert not loaded & {*HEAVY, *LATER, "rich", "rich.table", "tomllib"}
    assert not loaded & {"bedside", "replay", "agents"}


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_load_no_numbers_no_files_no_drivers(
    tmp_path: Path, argument: str
) -> None:
    code = (
        f"import sys; sys.argv = ['paprika', {argument!r}]\n"
        "import paprika\n"
        "try: paprika.main()\n"
        "except SystemExit as end: assert not end.code, end.code"
    )
    loaded = loaded_after(code, tmp_path)
    assert not loaded & {*HEAVY, *LATER}
    assert not loaded & {"bedside", "replay"}


def test_every_module_loads_without_libraries_that_are_heavy_or_come_later(tmp_path: Path) -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in own_python_files()
        if path.name != "__main__.py"
    ]
    loaded = loaded_after("import " + ", ".join(names), tmp_path)
    assert not loaded & {"scipy", "matplotlib", "edfio", *LATER}


# What may stand in a file


def test_no_kept_file_holds_machine_paths_registry_addresses_or_people() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {what}: {match.group()}"
        for path, text in kept_text_files()
        for what, pattern in FORBIDDEN_TEXT.items()
        for match in re.finditer(pattern, text)
    ]
    assert found == []


def test_the_only_author_is_everybody() -> None:
    assert PYPROJECT["project"]["authors"] == [{"name": "Paprika contributors"}]
    assert "(c) 2026 Paprika contributors" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^  - (?:family-names|name): (.*)$", citation, re.M) == [
        "Paprika contributors"
    ]


def test_no_source_file_is_longer_than_six_hundred_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in own_python_files()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 600
    }
    assert long == {}


# Versions and defaults


def test_what_the_replay_command_is_not_told_stands_in_the_settings_file(tmp_path: Path) -> None:
    said = json.loads(run("-m", "paprika", "replay", "--json", "--out", str(tmp_path)).stdout)
    settings = tomllib.loads((ROOT / "config" / "paprika.toml").read_text(encoding="utf-8"))
    named = ("agent", "seed", "mode", "wake_scale")
    assert {name: said[name] for name in named} == {n: settings["replay"][n] for n in named}


def test_version_is_the_same_in_every_place_that_says_it() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    said = re.findall(r"^version: (\S+)$", citation, re.M)
    said += re.findall(r"^## (\d\S+)", changelog, re.M)[:1]
    said += run("-m", "paprika", "--version").stdout.split()[-1:]
    assert said == [VERSION] * 3


def test_every_requirement_of_program_and_tests_is_pinned() -> None:
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    needed = project["dependencies"] + extras["dev"] + extras["figures"]
    names = {re.split(r"[<>=\[ ]", line)[0] for line in needed} - {project["name"]}
    assert names <= set(pins("constraints.txt"))


def test_every_peer_is_pinned_with_the_numpy_that_timeflux_holds() -> None:
    peers = {
        re.split(r"[<>=]", line)[0]
        for line in PYPROJECT["project"]["optional-dependencies"]["peers"]
    }
    pinned = pins("constraints-peers.txt")
    assert peers <= set(pinned)
    assert pinned["numpy"] == "1.26.4"


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-peers.txt"])
def test_constraints_hold_names_and_versions_and_nothing_else(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    rest = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in rest)
    assert rest == sorted(rest, key=str.casefold)


def pins(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return {
        found.lower().replace("_", "-"): version
        for found, version in re.findall(r"^([\w.-]+)==(\S+)$", text, re.M)
    }


def test_what_builds_the_wheel_is_pinned_to_one_version() -> None:
    (builder,) = PYPROJECT["build-system"]["requires"]
    assert builder == f"setuptools=={pins('constraints.txt')['setuptools']}"
