"""The frame of a page: one file that loads nothing and runs only the script it came with."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from json import dumps
from typing import Any

from replay.report.style import REPORT_STYLE
from replay.report.tables import data

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Script:
    """What runs on a page: a file of this package, and the values it is given."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """A page of the folder in the list on top of each."""

    file: str
    words: str


def page(
    title: str,
    sections: Sequence[str],
    *,
    links: Sequence[Link],
    here: str,
    synthetic: bool,
    caveat: str = "",
    script: Script | None = None,
    wide: bool = False,
) -> str:
    """The page as text. here: its own file. wide: for a large table. Words are escaped here."""
    code = "" if script is None else _code(script.name)
    policy = _POLICY if script is None else f"{_POLICY}; script-src 'sha256-{_hash(code)}'"
    items = "".join(
        f'<a href="{escape(link.file)}"{_current(link.file == here)}>{data(link.words)}</a>'
        for link in links
    )
    banner = _SYNTHETIC if synthetic else ""
    banner += f'<p class="soft">{data(caveat)}</p>\n' if caveat else ""
    scripts = "" if script is None else _scripts(script, code)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{data_title(title)}</title>\n<style>\n{REPORT_STYLE}</style></head>\n"
        f'<body class="{"wide" if wide else "narrow"}">'
        '<a class="skip" href="#content">Skip to the content</a>'
        f'<main><nav aria-label="Pages of this run">{items}</nav>\n'
        f'<h1 id="content">{data(title)}</h1>\n{banner}'
        + "\n".join(section for section in sections if section)
        + f"\n</main>{scripts}</body></html>\n"
    )


def data_title(words: str) -> str:
    """A title holds no elements."""
    return data(words).removeprefix("<bdi>").removesuffix("</bdi>")


def packed(values: Mapping[str, Any]) -> str:
    """JSON that no value in it can end: every `<` is written as an escape."""
    text = dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _scripts(script: Script, code: str) -> str:
    return (
        f'\n<script type="application/json" id="data">{packed(script.values)}</script>'
        f"\n<script>{code}</script>"
    )


def _code(name: str) -> str:
    """The shared words of all scripts, then this one."""
    folder = files("replay.report") / "scripts"
    read = ((folder / one).read_text(encoding="utf-8") for one in ("elements.js", name))
    return '"use strict";(() => {\n' + "\n".join(read) + "})();"


def _hash(code: str) -> str:
    return b64encode(sha256(code.encode("utf-8")).digest()).decode("ascii")


def _current(here: bool) -> str:
    return ' aria-current="page"' if here else ""


_SYNTHETIC = (
    '<p class="synthetic"><strong>SYNTHETIC NIGHT.</strong> '
    "A program made it; nobody slept it.</p>\n"
)
