"""Overlays by name, read from `config/overlays.toml`, and written as such a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from bedside.configuration import ConfigurationError, default_toml
from devices.types import Stage
from replay.overlays.confusion import BEFORE, TOLD, Chain, Grade, Overlay, Row

DEVICE: Final = "device"
"""The overlay that shows what was recorded."""
_FILE: Final = "overlays.toml"
_FIRST: Final = "first"
_MOST_DELAY: Final = 20
_ROUNDING: Final = 1e-3


def overlay_names() -> tuple[str, ...]:
    """What `--overlay` takes."""
    return (
        DEVICE,
        *(name for name, given in default_toml("overlays").items() if isinstance(given, Mapping)),
    )


def overlay_named(name: str) -> Overlay:
    """The overlay of that name; the error lists the known ones."""
    if name == DEVICE:
        return Overlay(DEVICE)
    known = overlay_names()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ConfigurationError(f"overlay {name!r} is unknown{hint}; known: {', '.join(known)}")
    return overlay(name, default_toml("overlays")[name])


def overlay(name: str, table: Mapping[str, Any]) -> Overlay:
    """An overlay as a table of the file describes it.

    Raises:
        ConfigurationError: naming the key that is missing or cannot be.
    """
    delay = table.get("delay_epochs")
    if type(delay) is not int or not 0 <= delay <= _MOST_DELAY:
        raise _wrong(f"{name}.delay_epochs", f"must be a whole number from 0 to {_MOST_DELAY}")
    given = table.get("grade")
    if not isinstance(given, list) or not given:
        raise _wrong(f"{name}.grade", "is missing: give one or more")
    grades = tuple(_grade(f"{name}.grade[{k}]", one) for k, one in enumerate(given))
    if abs(sum(grade.share for grade in grades) - 1.0) > _ROUNDING:
        raise _wrong(f"{name}.grade", "the shares must add up to 1")
    return Overlay(name, grades, delay)


def as_toml(overlay: Overlay) -> Iterator[str]:
    """The lines of its table."""
    yield f"[{overlay.name}]"
    yield f"delay_epochs = {overlay.delay_epochs}"
    for grade in overlay.grades:
        yield ""
        yield f"[[{overlay.name}.grade]]"
        yield f"share = {grade.share:.5f}"
        for true, rows in grade.chain.items():
            for before, row in rows.items():
                chances = ", ".join(f"{chance:.5f}" for chance in row)
                yield f"{true.value}.{_key(before)} = [{chances}]"


def _grade(key: str, given: Any) -> Grade:
    if not isinstance(given, Mapping):
        raise _wrong(key, "must be a table")
    share: Any = given.get("share")
    if not _is_chance(share):
        raise _wrong(f"{key}.share", "must be 0 to 1")
    return Grade(float(share), _chain(key, given))


def _chain(key: str, given: Mapping[str, Any]) -> Chain:
    chain = {}
    for true in TOLD:
        rows = given.get(true.value)
        if not isinstance(rows, Mapping):
            raise _wrong(f"{key}.{true.value}", "is missing")
        chain[true] = {
            before: _row(f"{key}.{true.value}.{_key(before)}", rows.get(_key(before)))
            for before in BEFORE
        }
    return chain


def _row(key: str, given: Any) -> Row:
    if not isinstance(given, list) or len(given) != len(TOLD) or not all(map(_is_chance, given)):
        names = ", ".join(stage.value for stage in TOLD)
        raise _wrong(key, f"must be four chances: {names}")
    if abs(sum(given) - 1.0) > _ROUNDING:
        raise _wrong(key, "must add up to 1")
    a, b, c, d = map(float, given)
    return a, b, c, d


def _key(before: Stage) -> str:
    return _FIRST if before is Stage.UNKNOWN else before.value


def _is_chance(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def _wrong(key: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"{_FILE}: {key}: {what}")
