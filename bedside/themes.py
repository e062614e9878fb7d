"""The bundled themes: a name, a memory in a sleeper's words, and lines that may be whispered."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from bedside.configuration import ConfigurationError, default_toml


@dataclass(frozen=True, slots=True)
class Theme:
    """sound_s: length of the theme's sound."""

    name: str
    memory: str
    lines: tuple[str, ...]
    language: str
    sound_s: float


def bundled_themes() -> dict[str, Theme]:
    """The themes of `config/themes.toml`, in its order, by name."""
    table = default_toml("themes")
    try:
        return {
            given["name"]: Theme(
                given["name"],
                given["memory"],
                tuple(given["lines"]),
                table["language"],
                float(given["duration_s"]),
            )
            for given in table["theme"]
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"themes.toml: a theme is incomplete: {error}") from error


def bundled_theme(name: str) -> Theme:
    """The theme of that name; the error lists the known ones."""
    themes = bundled_themes()
    if name in themes:
        return themes[name]
    near = get_close_matches(name, themes, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise ConfigurationError(f"theme {name!r} is unknown{hint}; known: {', '.join(themes)}")
