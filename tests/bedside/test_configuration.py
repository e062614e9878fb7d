"""Bundled settings: found in a wheel, an editable install and a checkout alike, and sound."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bedside import configuration
from bedside.configuration import ConfigurationError, default_toml, default_value

ROOT = Path(__file__).resolve().parents[2]
READ_THEME = (
    "from bedside.configuration import default_value; import bedside; "
    "print(default_value('paprika', 'theme', str), bedside.__file__)"
)
WORDS = re.compile(r"[\w']+")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what is built, so that nothing is written into the checkout."""
    copy = tmp_path / "tree"
    copy.mkdir()
    for name in ("devices", "agents", "bedside", "replay", "config"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignore)
    for name in ("pyproject.toml", "paprika.py", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, copy / name)
    return copy


def run(*arguments: str | Path, cwd: Path, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(what: tuple[str | Path, ...], target: Path, cwd: Path) -> None:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation")
    run("-m", "pip", "install", *quiet, "--target", target, *what, cwd=cwd)


@pytest.mark.timeout(180)
def test_a_wheel_alone_finds_every_bundled_file_from_another_folder(
    tree: Path, tmp_path: Path
) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    install((tree,), site, elsewhere)

    theme, where = run("-S", "-c", READ_THEME, cwd=elsewhere, PYTHONPATH=str(site)).split()

    assert theme == "forest"
    assert Path(where).is_relative_to(site)
    bundled = {path.name for path in (site / "bedside" / "defaults").iterdir()}
    assert bundled == {path.name for path in (ROOT / "config").glob("*.toml")}
    assert (site / "bedside" / "py.typed").exists()
    assert not (site / "tests").exists()


@pytest.mark.timeout(180)
def test_an_editable_install_reads_the_checkout_s_own_config_folder(
    tree: Path, tmp_path: Path
) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    install(("--editable", tree), site, elsewhere)
    (link,) = site.glob("*.pth")
    settings = tree / "config" / "paprika.toml"
    settings.write_text(settings.read_text().replace('theme = "forest"', 'theme = "sea"'))

    read = f"import site; site.addsitedir({str(site)!r}); {READ_THEME}"
    theme, where = run("-S", "-c", read, cwd=elsewhere).split()

    assert theme == "sea"
    assert Path(where).is_relative_to(tree)
    assert link.read_text().strip() == str(tree)


def test_a_missing_file_is_one_line_that_names_it_and_those_that_exist() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^prizes\.toml: not found .*themes\.toml"
    ) as caught:
        default_toml("prizes")
    assert "\n" not in str(caught.value)


def test_broken_toml_names_the_file_and_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paprika.toml").write_text("schema = 1\ntheme = \n")
    monkeypatch.setattr(configuration, "_DEFAULTS", tmp_path)
    with pytest.raises(ConfigurationError, match=r"^paprika\.toml: .*line 2"):
        default_toml("paprika")


def test_bytes_that_are_not_text_are_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paprika.toml").write_bytes(b"theme = '\xff'\n")
    monkeypatch.setattr(configuration, "_DEFAULTS", tmp_path)
    with pytest.raises(ConfigurationError, match=r"^paprika\.toml: "):
        default_toml("paprika")


@pytest.mark.parametrize("key", ["theme.name", "replay.nothing", "nothing", ""])
def test_a_missing_key_names_file_and_key(key: str) -> None:
    with pytest.raises(
        ConfigurationError, match=rf"^paprika\.toml: key '{re.escape(key)}' is missing$"
    ):
        default_value("paprika", key, str)


def test_a_value_of_another_kind_names_file_key_and_value() -> None:
    with pytest.raises(
        ConfigurationError, match=r"paprika\.toml: key 'theme' must be float.*forest"
    ):
        default_value("paprika", "theme", float)


def test_a_whole_number_stands_for_a_decimal_but_a_truth_value_for_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paprika.toml").write_text("a = 2\nb = true\n")
    monkeypatch.setattr(configuration, "_DEFAULTS", tmp_path)
    assert default_value("paprika", "a", float) == 2.0
    assert default_value("paprika", "a", int) == 2
    with pytest.raises(ConfigurationError, match="must be int, is True"):
        default_value("paprika", "b", int)


def test_every_bundled_file_says_its_schema() -> None:
    for path in (ROOT / "config").glob("*.toml"):
        assert default_value(path.stem, "schema", int) == 1, path.name


def test_replay_defaults_are_those_of_the_seed() -> None:
    assert default_value("paprika", "replay.task_dropout", float) == 0.02
    assert default_value("paprika", "replay.dropout", float) == 0.0
    assert default_value("paprika", "replay.mode", str) == "observe"
    assert default_value("paprika", "replay.wake_scale", float) == 1.0


def test_themes_are_the_seed_s_five_in_its_order() -> None:
    names = [theme["name"] for theme in default_toml("themes")["theme"]]
    assert names == ["forest", "sea", "cat", "clock", "eating coconut chicken in Hainan"]
    assert default_value("paprika", "theme", str) in names


def test_every_line_of_a_theme_is_made_of_words_of_its_memory_and_is_short() -> None:
    for theme in default_toml("themes")["theme"]:
        said = set(WORDS.findall(theme["memory"].casefold()))
        assert 2 <= len(theme["lines"]) <= 3
        assert 0 < theme["duration_s"] <= 20
        for line in theme["lines"]:
            spoken = WORDS.findall(line.casefold())
            assert set(spoken) <= said, (theme["name"], line)
            assert len(spoken) <= 8, line


def test_the_wake_table_is_the_seed_s_and_objects_have_its_low_row() -> None:
    table = default_toml("wake_table")
    rows = {
        stage: [row[volume] for volume in ("low", "medium", "high")]
        for stage, row in table["chances"].items()
    }
    assert rows == {
        "light": [0.08, 0.20, 0.45],
        "rem": [0.05, 0.15, 0.40],
        "deep": [0.02, 0.08, 0.20],
    }
    assert all(row["object"] == row["low"] for row in table["chances"].values())
    assert table["awake_epochs"] == 4


def test_the_wake_table_is_ordered_louder_wakes_more_and_deep_sleep_least() -> None:
    chances = default_toml("wake_table")["chances"]
    for row in chances.values():
        assert row["low"] < row["medium"] < row["high"]
    for volume in ("low", "medium", "high", "object"):
        assert chances["deep"][volume] < chances["rem"][volume] < chances["light"][volume]
