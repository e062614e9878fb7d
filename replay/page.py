"""The page of one replay: one static HTML file that needs no script, no server and no network.

Everything on it comes from the summary; names, themes and reasons are data and are escaped.
"""

from __future__ import annotations

import os
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Final

from devices.types import EPOCH_S, PaprikaError
from replay.hypnogram_svg import NARROW, WIDE, night_figure
from replay.page_style import PAGE_STYLE
from replay.page_tables import (
    cue_list_section,
    cues_by_stage_section,
    data,
    limits_section,
    rules_section,
    stage_shares_section,
)
from replay.summary import Summary
from replay.wording import counted, duration, excluded_in_words, plural, span_of_night

FILES: Final = {
    "trace.jsonl": "every step: what was seen, asked, decided and delivered",
    "hidden.jsonl": "what the agent never saw: dice, hidden stages, wakings",
    "manifest.json": "what this replay was made of",
}
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_MODES: Final = {
    "observe": "rules and limits are written down, nothing is refused",
    "enforce": "rules and limits refuse and lower",
}
_ENDINGS: Final = {
    "night_end": "end of the night",
    "agent_stop": "the agent stopped",
    "stable_deep": "stable deep sleep",
    "step_limit": "step limit",
    "recording_exhausted": "end of the recording",
    "time_limit": "time limit",
    "cancelled": "cancelled",
}


class PageError(PaprikaError):
    """A page cannot be written; the message names it and says what to do."""


def write_page(
    path: Path, summary: Summary, *, recorded: bytes | None = None, files_in: str = "../"
) -> None:
    """Write the page whole or not at all.

    recorded: letters of the recording, one an epoch from its start, to mark where it differs.
    files_in: where the trace files lie, seen from the page.

    Raises:
        PageError: where the file system refuses; nothing is left behind.
    """
    page = page_html(summary, recorded=recorded, files_in=files_in).encode("utf-8")
    growing = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        growing.write_bytes(page)
        os.replace(growing, path)
    except OSError as error:
        _discard(growing)
        raise PageError(
            f"{path}: {error.strerror}; free some space or choose another --out"
        ) from error


def page_html(summary: Summary, *, recorded: bytes | None = None, files_in: str = "../") -> str:
    """The page as text."""
    title = f"Night {data(summary.night['id'])}, replayed"
    sections = (
        _heading(summary, title),
        _night(summary, recorded),
        _facts(summary),
        _claims(summary),
        _beside(stage_shares_section(summary), cues_by_stage_section(summary)),
        _beside(rules_section(summary), limits_section(summary)),
        cue_list_section(summary),
        _about(summary),
        _files(files_in),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{PAGE_STYLE}</style></head>\n<body><main>\n"
        + "\n".join(sections)
        + "\n</main></body></html>\n"
    )


def _beside(*sections: str) -> str:
    """Sections beside each other where there is room."""
    return f'<div class="pair">{"".join(f"<section>{one}</section>" for one in sections)}</div>'


def _heading(summary: Summary, title: str) -> str:
    lines = [f"<h1>{title}</h1>"]
    if summary.night["synthetic"]:
        lines.append(
            '<p class="synthetic"><strong>SYNTHETIC NIGHT.</strong> '
            "A program made it; nobody slept it.</p>"
        )
    lines.append(
        f"<p>{data(span_of_night(summary))}. Agent <strong>{data(summary.agent)}</strong>, "
        f"seed {summary.seed}, mode {data(summary.mode)}.</p>"
    )
    if summary.start_assumed:
        lines.append("<p>The recording tells no time of day: its start is assumed.</p>")
    return "\n".join(lines)


def _night(summary: Summary, recorded: bytes | None) -> str:
    figures = (
        f'<div class="{where}">{night_figure(summary, layout, recorded)}</div>'
        for where, layout in (("desk", WIDE), ("phone", NARROW))
    )
    return (
        f"<h2>The night and its cues</h2>\n<figure>{''.join(figures)}"
        "<figcaption>Stages as the headband showed them, 30 s an epoch; "
        "each cue hangs from the stage shown when it was delivered.</figcaption></figure>"
    )


def _facts(summary: Summary) -> str:
    cues = len(summary.cues)
    applied = "refused or lowered" if summary.mode == "enforce" else "written down, not applied"
    facts = (
        ("Cues delivered", f"{cues}", f"{summary.asked} asked for, {summary.refused} refused"),
        ("In shown REM", f"{summary.cues_by_stage['rem']} of {cues}" if cues else "none", ""),
        ("Wakings", f"{len(summary.wakings)}", _wakings_small(summary)),
        ("Rules broken", f"{sum(summary.violations.values())} asked", _delivered_small(summary)),
        ("Limit hits", f"{sum(summary.limit_hits.values())}", applied),
        ("Same as recorded", _compared(summary), _excluded_small(summary)),
    )
    cards = (
        f"<div><dt>{name}</dt><dd>{data(value)}{_small(small)}</dd></div>"
        for name, value, small in facts
    )
    return f'<h2>In short</h2>\n<dl class="facts">{"".join(cards)}</dl>'


def _about(summary: Summary) -> str:
    """What was replayed, and how."""
    night = summary.night
    made_of = (
        ("Recording", f"{night['id']}, {night['kind']}: {night['origin']}"),
        ("Played", f"{plural(summary.epochs, 'epoch')} from epoch {night['first_epoch']}"),
        ("Ended by", _ENDINGS.get(summary.ending, summary.ending)),
        ("Agent", summary.agent),
        ("Decisions", ", ".join(counted(summary.decisions)) or "none"),
        ("Words rewritten", plural(summary.rewritten, "whisper")),
        ("Mode", f"{summary.mode}: {_MODES.get(summary.mode, '')}"),
        ("Seed", f"{summary.seed}"),
        ("Chance of waking", f"the assumed table × {summary.wake_scale:g}"),
        ("Theme", summary.theme),
        ("Session", summary.session),
    )
    rows = (f"<dt>{name}</dt><dd><bdi>{data(value)}</bdi></dd>" for name, value in made_of)
    return f'<h2>This replay</h2>\n<dl class="about">{"".join(rows)}</dl>'


def _small(words: str) -> str:
    return f"<small>{data(words)}</small>" if words else ""


def _wakings_small(summary: Summary) -> str:
    if not summary.wakings:
        return f"{plural(summary.suspected_wakings, 'waking')} suspected"
    woke = sum(cue.woke for cue in summary.cues)
    inserted = duration(len(summary.inserted) * EPOCH_S)
    return (
        f"{plural(woke, 'cue')} woke, {inserted} of wake inserted; "
        f"{summary.suspected_wakings} suspected"
    )


def _delivered_small(summary: Summary) -> str:
    return f"{sum(summary.violations_delivered.values())} delivered"


def _compared(summary: Summary) -> str:
    return f"{summary.compared - summary.mismatched} of {summary.compared}"


def _excluded_small(summary: Summary) -> str:
    left = sum(len(one.steps) for one in summary.excluded)
    why = f" ({excluded_in_words(summary.excluded)})" if left else ""
    return f"{summary.mismatched} differ; {left} excluded{why}"


def _claims(summary: Summary) -> str:
    """Three claims that are often taken for one."""
    if not summary.compared:
        replayed = "Nothing could be compared here."
    elif summary.mismatched:
        replayed = (
            f'<strong class="alarm">Not met here:</strong> {summary.mismatched} of '
            f"{summary.compared} compared epochs differ from the recording."
        )
    else:
        replayed = f"Here {_compared(summary)} compared epochs are as recorded."
    return (
        "<h2>What this shows and does not show</h2>\n<ol>"
        f"<li><strong>The replay does what it specifies.</strong> {replayed}</li>"
        "<li><strong>The agent does well in it.</strong> One night with one seed cannot tell; "
        "it says what happened here.</li>"
        "<li><strong>The specification stands for real dreams.</strong> Not shown. "
        "No dream was asked for, and the chance that a cue wakes is assumed.</li></ol>"
    )


def _files(files_in: str) -> str:
    items = "".join(
        f'<li><a href="{escape(files_in + name)}">{name}</a>: {what}</li>'
        for name, what in FILES.items()
    )
    return f"<h2>Files of this replay</h2>\n<ul>{items}</ul>"


def _discard(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
