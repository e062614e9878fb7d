"""What a person sees in the terminal: a replay on one screen, a night, a batch of imports.

Every line fits the console, at most `WIDEST` columns; without a terminal there is no colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bedside.clock import SessionStart, clock_s
from devices.types import EPOCH_S
from replay.hypnogram import COUNTED
from replay.hypnogram_text import CUE, WOKE, TextHypnogram, text_hypnogram
from replay.screen import LABEL_COLUMNS, Screen
from replay.sleep_shares import recorded_stages
from replay.summary import Summary
from replay.wording import (
    STAGE_WORDS,
    clean,
    counted,
    excluded_in_words,
    number,
    plural,
    span_in_words,
    span_of_night,
    time_of_day,
)

if TYPE_CHECKING:
    from rich.console import Console

    from bedside.recording import RecordingInfo
    from devices.types import Stage
    from replay.importers import ImportResult
    from replay.replaying import Replayed

COLOURS: Final = {
    "awake": "yellow",
    "rem": "bright_magenta",
    "light": "bright_cyan",
    "deep": "bright_blue",
    "none": "",
}
PAGE: Final = "page/index.html"


def print_summary(done: Replayed, *, console: Console | None = None) -> None:
    """A replay on one screen."""
    screen, summary = Screen(console), done.summary
    screen.heading(_title(done), style="bold")
    screen.heading(_under_title(done))
    screen.blank()
    drawn = text_hypnogram(summary.stages or ("none",), screen.width - LABEL_COLUMNS)
    _draw(screen, drawn, summary.start_clock_s, assumed=summary.start_assumed)
    if summary.cues:
        marks = drawn.marks(summary.cues)
        screen.line("cues", [(mark, "bold red" if mark == WOKE else "") for mark in marks])
    screen.flow("", _legend(summary, drawn), between="   ")
    screen.blank()
    for label, items in _figures(summary):
        screen.flow(label, items)
    _files(screen, done.files)


def print_hypnogram(
    info: RecordingInfo, stages: Sequence[Stage], *, console: Console | None = None
) -> None:
    """The stages of a recording, drawn and counted."""
    screen = Screen(console)
    names = [COUNTED[stage.coarse] for stage in stages]
    start = SessionStart(info.start_wall_ns, info.utc_offset_s or 0)
    made = ["SYNTHETIC"] if info.synthetic else []
    span = span_in_words(clock_s(start), len(names) * EPOCH_S, assumed=start.assumed)
    screen.heading([f"Night {clean(info.night_id)}", *made, span], style="bold")
    screen.blank()
    drawn = text_hypnogram(names or ("none",), screen.width - LABEL_COLUMNS)
    _draw(screen, drawn, clock_s(start), assumed=start.assumed)
    screen.flow("", [_column_in_words(drawn)])
    screen.blank()
    screen.flow("stages", _shares_in_words({name: names.count(name) for name in STAGE_WORDS}))


def print_imported(result: ImportResult, *, console: Console | None = None) -> None:
    """A row a night that was written, then each source that failed and why."""
    screen = Screen(console)
    if result.nights:
        longest = min(max(len(night.id) for night in result.nights), 26)
        screen.heading(
            [f"{'night':<{longest}} epochs awake   REM light  deep  none  REM runs"], style="bold"
        )
    for night in result.nights:
        counts = "".join(f"{night.counts4[name]:6}" for name in STAGE_WORDS)
        row = f"{clean(night.id):<{longest}} {night.epochs:6}{counts}{len(night.rem_run_starts):10}"
        screen.heading([row])
    for source, error in result.failed:
        named = error if source in error else f"{source}: {error}"
        screen.heading([f"failed: {clean(named)}"], style="red")
    left = [f"{plural(result.skipped, 'other file')} left alone"] if result.skipped else []
    ended = [f"{plural(len(result.nights), 'night')} imported", f"{len(result.failed)} failed"]
    screen.heading([*ended, *left], between=", ", style="bold")


def _draw(screen: Screen, drawn: TextHypnogram, start_clock_s: float, *, assumed: bool) -> None:
    for name in drawn.rows:
        words = "none" if name == "none" else STAGE_WORDS[name]
        screen.line(words, [(drawn.row(name), COLOURS[name])])
    screen.line("assumed" if assumed else "time", [(drawn.clock(start_clock_s), "")])


def _title(done: Replayed) -> list[str]:
    summary = done.summary
    return [
        f"Night {clean(summary.night['id'])}",
        *(["SYNTHETIC"] if summary.night["synthetic"] else []),
        clean(summary.agent),
        f"seed {summary.seed}",
        clean(summary.mode),
        f"{number(done.speed_x)} × real time",
    ]


def _under_title(done: Replayed) -> list[str]:
    summary = done.summary
    return [
        span_of_night(summary),
        f"theme {clean(summary.theme)}",
        *([f"wake scale {summary.wake_scale:g}"] if summary.wake_scale != 1.0 else []),
        f"ended: {clean(summary.ending).replace('_', ' ')}",
        f"{done.wall_s:.2f} s",
    ]


def _column_in_words(drawn: TextHypnogram) -> str:
    minutes = drawn.epochs_a_column * EPOCH_S / 60
    return f"one column = {plural(drawn.epochs_a_column, 'epoch')} ({minutes:g} min)"


def _legend(summary: Summary, drawn: TextHypnogram) -> list[str]:
    marks = [f"{CUE} cue"] if summary.cues else []
    if any(cue.woke for cue in summary.cues):
        marks.append(f"{WOKE} cue that woke")
    return [_column_in_words(drawn), *marks]


def _figures(summary: Summary) -> Iterator[tuple[str, list[str]]]:
    """What it came to, a label and its items a line."""
    stages = recorded_stages(summary)
    words = _shares_in_words({name: stages.count(name) for name in STAGE_WORDS})
    if summary.inserted:
        words.append(f"(+ {len(summary.inserted)} inserted awake)")
    yield "stages", words
    yield "cues", _cues(summary)
    yield "wakings", _wakings(summary)
    yield from _rules(summary)
    yield "limits", _limits(summary)
    if any(count for status, count in summary.decisions.items() if status != "ok"):
        yield "decisions", counted(summary.decisions)
    yield "compared", _compared(summary)


def _shares_in_words(counts: Mapping[str, int]) -> list[str]:
    scored = sum(counts.values()) - counts["none"]
    words = [
        f"{STAGE_WORDS[name]} {count} ({100 * count / scored:.1f} %)"
        for name, count in counts.items()
        if name != "none" and scored
    ]
    none = [f"no reading {counts['none']}"] if counts["none"] else []
    return [*words, f"of {scored} scored", *none]


def _cues(summary: Summary) -> list[str]:
    if not summary.cues:
        asked = f" of {summary.asked} asked for" if summary.asked else ""
        return [f"none delivered{asked}"]
    words = {**STAGE_WORDS, "none": "without reading"}
    return [f"{len(summary.cues)}, in shown stage:", *counted(summary.cues_by_stage, words)]


def _wakings(summary: Summary) -> list[str]:
    suspected = f"{summary.suspected_wakings} suspected"
    if not summary.wakings:
        return ["none", suspected] if summary.suspected_wakings else ["none"]
    times = [time_of_day(summary.start_clock_s + t) for t in summary.wakings]
    more = "…" if len(times) > 5 else ""
    return [f"{len(times)} (at {', '.join(times[:5])}{more}),", suspected]


def _rules(summary: Summary) -> Iterator[tuple[str, list[str]]]:
    asked, delivered = counted(summary.violations), counted(summary.violations_delivered)
    if not asked and not delivered:
        yield "rules", ["none broken"]
        return
    yield "rules", ["asked:", *(asked or ["none"])]
    refused = f"({summary.refused} refused, {summary.rewritten} rewritten)"
    yield "", ["delivered:", *(delivered or ["none"]), refused]


def _limits(summary: Summary) -> list[str]:
    met = counted(summary.limit_hits)
    applied = ["(observe: not applied)"] if met and summary.mode == "observe" else []
    return [*met, *applied] or ["none met"]


def _compared(summary: Summary) -> list[str]:
    left = sum(len(one.steps) for one in summary.excluded)
    why = f" ({excluded_in_words(summary.excluded)})" if left else ""
    return [
        f"{summary.compared} compared with the recording,",
        f"{left} excluded{why},",
        f"{summary.mismatched} mismatched",
    ]


def _files(screen: Screen, files: Mapping[str, Path]) -> None:
    """The folder and the names in it; the page last, as an address to open."""
    names = [name for name in files if name != PAGE]
    folders = {files[name].parent for name in names}
    if len(folders) == 1:
        screen.flow("files", [f"{clean(str(folders.pop()))}/", *names])
    else:
        screen.flow("files", [clean(str(files[name])) for name in names])
    if PAGE in files:
        address = files[PAGE].absolute().as_uri()
        screen.link("page", address, address)
