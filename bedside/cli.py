"""Commands on night files."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bedside.recording import RecoveryReport


def inspect(file: Path, /, *, json: bool = False) -> int:
    """Say what a night file holds: streams, spans, gaps, counts, completeness.

    Parameters
    ----------
    file
        A night file (.mcap).
    json
        One JSON object on standard output, nothing else.
    """
    from bedside.recording import inspect as inspect_file

    found = inspect_file(file)
    if json:
        print_json(found.as_dict())
    else:
        from bedside.inspection_table import print_inspection

        print_inspection(found)
    return 0


def recover(file: Path, /, *, out: Path | None = None, json: bool = False) -> int:
    """Copy every complete chunk of a torn night file to a whole one.

    Exit code 0: it was whole. 3: something was lost. 1: nothing could be saved.

    Parameters
    ----------
    file
        The torn night file.
    out
        The new file; by default beside it, with "-recovered" in its name.
    json
        One JSON object on standard output, nothing else.
    """
    from bedside.recording import RecordingError
    from bedside.recording import recover as recover_file

    if not file.is_file():
        raise RecordingError(f"{file}: no such file; give a night file (.mcap)")
    target = out or file.with_name(f"{file.stem}-recovered.mcap")
    report = recover_file(file, target)
    if json:
        print_json(report.as_dict())
    else:
        _say(report)
    return report.exit_code


def _say(report: RecoveryReport) -> None:
    if report.out is None:
        print(f"{report.path}: nothing could be saved")
    else:
        until = "" if report.last_t is None else f", up to {report.last_t:.0f} s"
        print(f"{report.out}: {report.chunks} chunks, {report.samples:,} samples{until}")
    if report.whole:
        print("the night was whole: nothing is lost")
    for damage in report.damages:
        print(f"lost: {damage}")


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    print(jsonlib.dumps(value, allow_nan=False))
