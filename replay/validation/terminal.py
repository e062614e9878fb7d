"""Reports of validation on a console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from replay.screen import Screen
from replay.validation.findings import Report, Result
from replay.validation.several import Unreadable
from replay.wording import clean, plural

if TYPE_CHECKING:
    from rich.console import Console

IN_FULL: Final = 3
"""So many nights are printed check by check; of more only what did not pass. Assumed."""
_WORDS: Final = {
    Result.PASSED: ("passed", ""),
    Result.FAILED: ("FAILED", "bold red"),
    Result.NOT_APPLICABLE: ("–", "dim"),
}


def print_validated(
    reports: Sequence[Report | Unreadable], *, console: Console | None = None
) -> None:
    """Every night, then the sum where there are several."""
    for report in reports:
        if isinstance(report, Unreadable):
            Screen(console).heading([f"{clean(report.night)}: {clean(report.error)}"], style="red")
        else:
            print_report(report, in_full=len(reports) <= IN_FULL, console=console)
    if len(reports) > 1:
        told = [report for report in reports if isinstance(report, Report)]
        ended = [f"{plural(len(reports), 'night')}", f"{sum(map(_passed, told))} passed"]
        ended.append(f"{len(told) - sum(map(_passed, told))} failed")
        ended += [f"{n} could not be read"] if (n := len(reports) - len(told)) else []
        Screen(console).heading(ended, between=", ", style="bold")


def print_report(report: Report, *, in_full: bool = True, console: Console | None = None) -> None:
    """The checks of one night; unless `in_full`, only those that failed."""
    screen = Screen(console)
    counts = [f"{len(report.named(result))} {result.value}" for result in Result]
    title = [f"Night {clean(report.night)}", plural(report.epochs, "epoch"), ", ".join(counts)]
    screen.heading([*title, f"{report.seconds:.1f} s"], style="bold")
    for one in report.checks:
        if in_full or one.finding.result is Result.FAILED:
            label, style = _WORDS[one.finding.result]
            screen.flow(label, [f"{one.name}: {clean(one.finding.line)}"], style=style)
    if in_full:
        screen.blank()


def _passed(report: Report) -> bool:
    return report.passed
