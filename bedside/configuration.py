"""The settings the program comes with: TOML files that a wheel and a checkout both hold.

`bedside/defaults` is a folder of the wheel; in a checkout it is a link to `config/`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from devices.types import PaprikaError

_DEFAULTS: Final = Path(__file__).with_name("defaults")
_T = TypeVar("_T", str, int, float, bool)


class ConfigurationError(PaprikaError):
    """A settings file is missing or wrong; the message names the file and the line or key."""


def default_toml(name: str) -> Mapping[str, Any]:
    """The table of a bundled file, `name` without its ending: "paprika", "themes", …"""
    return _read(_DEFAULTS / f"{name}.toml")


@cache
def _read(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise ConfigurationError(
            f"{path.name}: not found among the bundled settings ({_bundled()}); "
            "install paprika-bedside again"
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"{path.name}: not valid TOML: {error}") from error


def default_value(name: str, key: str, kind: type[_T]) -> _T:
    """The value at a dotted key of a bundled file, which must be of that kind."""
    value: Any = default_toml(name)
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            raise ConfigurationError(f"{name}.toml: key '{key}' is missing")
        value = value[part]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ConfigurationError(f"{name}.toml: key '{key}' must be {kind.__name__}, is {value!r}")
    return value


def _bundled() -> str:
    return ", ".join(sorted(path.name for path in _DEFAULTS.glob("*.toml"))) or "none"
