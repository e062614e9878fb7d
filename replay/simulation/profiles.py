"""Profiles of sleep by name, read from `config/simulated_sleeper.toml`, and written as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from bedside.configuration import ConfigurationError, default_toml
from devices.types import Stage
from replay.simulation.fitting import CONTEXTS
from replay.simulation.sleep import AGES, PARTS_H, PHASES, STAGES, Profile

FILE: Final = "simulated_sleeper"
DEFAULT_PROFILE: Final = "healthy"
_NIGHT: Final = "night"
_ROUNDING: Final = 2e-3


def profile_names() -> tuple[str, ...]:
    """What `--profile` takes."""
    return tuple(_profiles(default_toml(FILE)))


def profile_named(name: str) -> Profile:
    """The profile of that name; the error lists the known ones."""
    known = profile_names()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ConfigurationError(f"profile {name!r} is unknown{hint}; known: {', '.join(known)}")
    return _bundled(name)


def profile(name: str, table: Mapping[str, Any]) -> Profile:
    """A profile as a table of the file describes it.

    Raises:
        ConfigurationError: naming the key that is missing or cannot be.
    """
    parts, ages = len(PARTS_H) + 1, len(AGES) + 1
    leave, following = {}, {}
    for stage, before in CONTEXTS:
        key = f"{stage.value}.{_key(before)}"
        rows = _rows(table, f"leave.{key}", name, parts)
        leave[stage, before] = tuple(_chances(row, f"{name}.leave.{key}", ages) for row in rows)
        rows = _rows(table, f"next.{key}", name, parts)
        following[stage, before] = tuple(_phases(row, f"{name}.next.{key}") for row in rows)
    spread = {stage: _spread(table, stage, name) for stage in STAGES}
    return Profile(name, leave, following, spread)


def as_toml(profile: Profile) -> Iterator[str]:
    """The lines of its tables."""
    spreads = ", ".join(f"{stage.value} = {profile.spread[stage]:.3f}" for stage in STAGES)
    yield f"[profile.{profile.name}]"
    yield f"spread = {{ {spreads} }}"
    yield ""
    yield f"[profile.{profile.name}.leave]"
    for (stage, before), rows in profile.leave.items():
        yield f"{stage.value}.{_key(before)} = ["
        yield from (f"  {_numbers(row)}," for row in rows)
        yield "]"
    yield ""
    yield f"[profile.{profile.name}.next]"
    for (stage, before), phases in profile.next.items():
        yield f"{stage.value}.{_key(before)} = ["
        yield from (f"  [{', '.join(map(_numbers, row))}]," for row in phases)
        yield "]"


@cache
def _bundled(name: str) -> Profile:
    return profile(name, _profiles(default_toml(FILE))[name])


def _profiles(table: Mapping[str, Any]) -> Mapping[str, Any]:
    found = table.get("profile")
    if not isinstance(found, Mapping) or not found:
        raise ConfigurationError(f"{FILE}.toml: [profile] is missing")
    return found


def _rows(table: Mapping[str, Any], key: str, name: str, count: int) -> Sequence[Any]:
    value: Any = table
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if not isinstance(value, list) or len(value) != count:
        raise _wrong(f"{name}.{key}", f"must be {count} rows, one a part of the night")
    return value


def _phases(row: Any, key: str) -> tuple[tuple[float, ...], ...]:
    if not isinstance(row, list) or len(row) != PHASES:
        raise _wrong(key, f"must hold {PHASES} rows a part, one a phase of the cycle")
    found = tuple(_chances(one, key, len(STAGES)) for one in row)
    if any(abs(sum(one) - 1.0) > _ROUNDING for one in found):
        raise _wrong(key, "each row must add up to 1")
    return found


def _chances(row: Any, key: str, count: int) -> tuple[float, ...]:
    if not isinstance(row, list) or len(row) != count or not all(map(_is_chance, row)):
        raise _wrong(key, f"must hold rows of {count} chances")
    return tuple(map(float, row))


def _spread(table: Mapping[str, Any], stage: Stage, name: str) -> float:
    given = table.get("spread")
    value: Any = given.get(stage.value) if isinstance(given, Mapping) else None
    if not _is_chance(value):
        raise _wrong(f"{name}.spread.{stage.value}", "must be 0 to 1")
    return float(value)


def _key(before: Stage) -> str:
    return _NIGHT if before is Stage.UNKNOWN else before.value


def _numbers(row: Sequence[float]) -> str:
    return f"[{', '.join(f'{chance:.3f}' for chance in row)}]"


def _is_chance(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def _wrong(key: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"{FILE}.toml: profile.{key}: {what}")
