"""Finding an agent: by name, by entry point `paprika.agents`, `file.py:Class`, or `cmd:…`."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

from agents.types import Agent, AgentError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS: Final = "paprika.agents"
COMMAND: Final = "cmd:"
LONGEST_NAME: Final = 500

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "wait": "agents.wait:WaitAgent",
        "fixed_timer": "agents.fixed_timer:FixedTimer",
        "rem_rule": "agents.rem_rule:RemRule",
        "gentle_rule": "agents.gentle_rule:GentleRule",
    }
)
"""Our own agents and where they stand; they go before an entry point of the same name."""


class AgentLoadError(AgentError):
    """No such agent, or it cannot be made: one line that names it and says what to do."""


def load_agent(spec: str) -> Agent:
    """A new agent from `NAME`, `file.py:Class` or `cmd:COMMAND`, or AgentLoadError.

    Classes are called without arguments. A file's folder joins the end of the import path, so
    that it can import what lies beside it.
    """
    if spec.startswith(COMMAND):
        return _of_command(spec.removeprefix(COMMAND))
    path, _, name = spec.rpartition(":")
    if path.endswith(".py") or spec.endswith(".py") or "/" in spec:
        return _of_file(Path(path), name) if path else _without_class(spec)
    if spec in NAMES:
        module, _, name = NAMES[spec].partition(":")
        return _made(getattr(import_module(module), name), spec)
    return _of_entry_point(spec)


def known_names() -> tuple[str, ...]:
    """Every agent that `load_agent` finds by name: ours first, then installed ones."""
    others = {entry.name for entry in _entry_points()} - NAMES.keys()
    return (*NAMES, *sorted(others))


def identity(agent: Agent) -> dict[str, Any]:
    """What tells one agent from another in a manifest: name, source, and plain settings.

    A process agent is known by its command without folders, and by the files it names.
    """
    command = getattr(agent, "command", None)
    if isinstance(command, str):
        named = [Path(word) for word in shlex.split(command)]
        sources = [path.read_bytes() for path in named if path.is_file()]
        return {"name": agent.name, "source_sha256": _sha256(*sources), "settings": {}}
    module = sys.modules.get(type(agent).__module__)
    file = Path(getattr(module, "__file__", None) or "")
    given = vars(agent) if hasattr(agent, "__dict__") else {}
    plain = {k: v for k, v in given.items() if isinstance(v, str | int | float | bool | None)}
    return {
        "name": agent.name,
        "source_sha256": _sha256(file.read_bytes()) if file.is_file() else None,
        "settings": dict(sorted(plain.items())),
    }


def _sha256(*sources: bytes) -> str:
    digest = sha256()
    for source in sources:
        digest.update(len(source).to_bytes(8, "big") + source)
    return digest.hexdigest()


def _of_command(command: str) -> Agent:
    from shutil import which

    from agents.process import ProcessAgent
    from bedside.agent_process import AgentProcessError, command_words

    try:
        program = command_words(command, Path.cwd())[0]
    except AgentProcessError as error:
        raise AgentLoadError(str(error)) from None
    if which(program) is None:
        raise AgentLoadError(
            f"{COMMAND}{command}: no program {program!r} that can be run; install it, write its "
            "path, or make the file executable"
        )
    return ProcessAgent(command)


def _of_entry_point(name: str) -> Agent:
    found = [entry for entry in _entry_points() if entry.name == name]
    if not found:
        raise AgentLoadError(_unknown(name))
    if len(found) > 1:
        owners = ", ".join(sorted(_owner(entry) for entry in found))
        raise AgentLoadError(f"{owners} each bring an agent {name!r}; uninstall all but one")
    where = f"agent {name!r} of {_owner(found[0])}"
    try:
        make = found[0].load()
    except Exception as error:
        raise AgentLoadError(
            f"{where} cannot be imported: {_told(error)}; repair or uninstall it"
        ) from error
    return _made(make, where)


def _of_file(path: Path, name: str) -> Agent:
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise AgentLoadError(f"{path} {what}; write --agent FILE.py:Class")
    module = _executed(path)
    make = getattr(module, name, None)
    if make is None:
        raise AgentLoadError(f"{path} has no class {name!r}; {_classes_in(module)}")
    return _made(make, f"{path}:{name}")


def _without_class(spec: str) -> Agent:
    raise AgentLoadError(f"{spec}: name the class too, as in {Path(spec).name}:MyAgent")


def _executed(path: Path) -> ModuleType:
    """The file run as a module; nothing is written beside it."""
    full = path.resolve()
    try:
        source = full.read_bytes()
        code = compile(source, str(full), "exec", dont_inherit=True)
    except OSError as error:
        raise AgentLoadError(f"{path} cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        raise AgentLoadError(f"{path}:{error.lineno or 1}: {error.msg}; correct the line") from None
    except ValueError as error:
        raise AgentLoadError(f"{path} is not Python: {error}") from None
    module = ModuleType(f"agent_{full.stem}_{sha256(str(full).encode()).hexdigest()[:8]}")
    module.__file__ = str(full)
    sys.modules[module.__name__] = module
    if str(full.parent) not in sys.path:
        sys.path.append(str(full.parent))
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        line = _line_in(error, full)
        raise AgentLoadError(f"{path}{line}: {_told(error)}; correct the file") from error
    return module


def _is_name(agent: Any) -> bool:
    try:
        return isinstance(agent.name, str) and 0 < len(agent.name.encode()) <= LONGEST_NAME
    except Exception:
        return False


def _made(make: object, where: str) -> Agent:
    if not callable(make):
        raise AgentLoadError(f"{where} is a {type(make).__name__}, not a class; name the class")
    agent: Any = _called(make, where)
    missing = [word for word in ("name", "reset", "decide") if not hasattr(agent, word)]
    if missing:
        raise AgentLoadError(
            f"{where} is no agent: it has no {' and no '.join(missing)}; "
            "see docs/how-to/write-an-agent.md"
        )
    if not _is_name(agent):
        raise AgentLoadError(
            f"{where} is no agent: its name must be a text that is not empty, "
            f"of at most {LONGEST_NAME} bytes"
        )
    if not inspect.iscoroutinefunction(agent.decide):
        raise AgentLoadError(f"{where} is no agent: write `async def decide(self, observation)`")
    if not callable(agent.reset) or inspect.iscoroutinefunction(agent.reset):
        raise AgentLoadError(f"{where} is no agent: write `def reset(self, session)`, not async")
    return cast("Agent", agent)


def _called(make: Callable[[], object], where: str) -> object:
    try:
        return make()
    except (Exception, SystemExit) as error:
        raise AgentLoadError(
            f"{where} cannot be made: {_told(error)}; it is called without arguments"
        ) from error


def _unknown(name: str) -> str:
    known = known_names()
    near = get_close_matches(name, known, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"no agent {name!r}{meant}; known: {', '.join(known)}, FILE.py:Class or cmd:COMMAND"


def _entry_points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points

    return tuple(entry_points(group=ENTRY_POINTS))


def _owner(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unnamed package"


def _classes_in(module: ModuleType) -> str:
    found = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and hasattr(value, "decide")
    ]
    return f"it has {', '.join(found)}" if found else "it has no class with a decide"


def _line_in(error: BaseException, path: Path) -> str:
    """`:N`, the last line of this file that the error passed through."""
    line = ""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line


def _told(error: BaseException) -> str:
    words = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
