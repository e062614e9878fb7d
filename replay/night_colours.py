"""Colours of a drawn night, dark and light, and the style that gives them to its parts.

Every text reaches 4.5:1 on its ground and every stage 3:1 (WCAG 2.2 AA); a test counts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LIGHT_COLOURS: Final = {
    "paper": "#ffffff",
    "ink": "#1d2129",
    "soft": "#565d6b",
    "grid": "#d9dce3",
    "gap": "#868d9c",
    "awake": "#b86200",
    "rem": "#a3246f",
    "light": "#2f7fbf",
    "deep": "#22386f",
    "alarm": "#c01818",
}
DARK_COLOURS: Final = {
    "paper": "#14161b",
    "ink": "#eceef2",
    "soft": "#a9b0be",
    "grid": "#343943",
    "gap": "#6b7385",
    "awake": "#f2a640",
    "rem": "#ef86c4",
    "light": "#62b5ef",
    "deep": "#8f9df2",
    "alarm": "#ff7b72",
}
STYLE: Final = """\
.night text{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--soft)}
.night .grid{stroke:var(--grid);fill:none}.night .gap{fill:var(--gap)}
.night .join{stroke:var(--soft);stroke-width:.7;fill:none;opacity:.55}
.night .awake{fill:var(--awake)}.night .rem{fill:var(--rem)}
.night .light{fill:var(--light)}.night .deep{fill:var(--deep)}
.night .hatch{stroke:var(--awake);stroke-width:1.6}
.night .inserted{stroke:var(--awake);stroke-width:1}
.night .lead{stroke:var(--ink);stroke-width:.6;opacity:.35;fill:none}
.night .cue{fill:var(--ink);stroke:var(--paper);stroke-width:.6}
.night .woke{fill:var(--ink);stroke:var(--alarm);stroke-width:2.4}
.night .differs{stroke:var(--ink);stroke-width:1.2;fill:none}
.night text.alarm{fill:var(--alarm);font-weight:600}.night text.ink{fill:var(--ink)}
"""
"""Of an `svg.night`; the colours are custom properties."""


def colours_css(colours: Mapping[str, str]) -> str:
    """Custom properties for a CSS rule."""
    return ";".join(f"--{name}:{value}" for name, value in colours.items())
