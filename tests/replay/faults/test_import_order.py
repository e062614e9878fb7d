"""What acts in the world of a task lies below the world; tasks, which play it, lie above."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PLAYED = ("attempt", "world", "room", "faults/strikes", "faults/labels", "faults/stop_press")


@cache
def imported(module: Path) -> frozenset[Path]:
    """Our own modules that a module imports, at its top or inside a function."""
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    named = [f"{node.module}.{alias.name}" for node in froms for alias in node.names]
    named += [str(node.module) for node in froms]
    named += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    places = [ROOT / name.replace(".", "/") for name in named if name.startswith("replay")]
    files = [one for place in places for one in (place.with_suffix(".py"), place / "__init__.py")]
    return frozenset(file for file in files if file.is_file())


@pytest.mark.parametrize("name", PLAYED)
def test_nothing_that_plays_an_attempt_knows_tasks(name: str) -> None:
    reached, left = set[Path](), [ROOT / "replay" / f"{name}.py"]
    while left:
        module = left.pop()
        if module not in reached:
            reached.add(module)
            left += imported(module)
    rooms = {path.relative_to(ROOT / "replay").parts[0] for path in reached}
    assert "conditions.py" in rooms
    assert not rooms & {"tasks", "controls", "experiment", "scores", "validation"}


def test_tasks_import_what_plays_them_at_the_top() -> None:
    for name in ("composed", "uncued", "oracle"):
        tree = ast.parse((ROOT / "replay" / "tasks" / f"{name}.py").read_text(encoding="utf-8"))
        inner = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert not [n for one in inner for n in ast.walk(one) if isinstance(n, ast.ImportFrom)]
