"""Commands on night files."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Any


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
    from bedside.recording import recover as recover_file

    target = out or file.with_name(f"{file.stem}-recovered.mcap")
    report = recover_file(file, target)
    if json:
        print_json(report.as_dict())
    else:
        print(report)
    return report.exit_code


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    print(jsonlib.dumps(value, ensure_ascii=False, allow_nan=False))
