"""The command that turns attempts into records for learning and analysis."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.cli import print_json
from replay.progress import shown_progress

if TYPE_CHECKING:
    from replay.export import Exported


def export(
    source: Path,
    /,
    *,
    rlds: bool = False,
    parquet: bool = False,
    hidden: bool = False,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Export attempts as records (RLDS): N transitions are N + 1 records.

    Without a format, JSON Lines are written. Keys: docs/reference/export.md.

    Parameters
    ----------
    source
        A trace (.jsonl or .jsonl.zst), the folder of a session, or of a run.
    rlds
        Write JSON Lines.
    parquet
        Write Parquet; needs the extra "parquet".
    hidden
        Write what agents cannot see (true stage, rolls, wakings) to a file of its own.
    out
        Folder for the files; by default "export" in this folder.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.export import export as write

    with shown_progress("Exporting", quiet=json) as progress:
        done = write(
            source,
            Path("export") if out is None else out,
            json_lines=rlds or not parquet,
            parquet=parquet,
            hidden=hidden,
            progress=progress,
        )
    if json:
        print_json(as_json(done))
    else:
        _say(done)
    return 0


def as_json(done: Exported) -> dict[str, Any]:
    """What `export --json` prints."""
    return {
        "folder": str(done.folder),
        "episodes": done.episodes,
        "transitions": done.transitions,
        "records": done.records,
        "truncated": done.truncated,
        "left_out": [asdict(one) for one in done.left_out],
        "files": {name: str(path) for name, path in done.files.items()},
        "sha256": dict(done.sha256),
    }


def _say(done: Exported) -> None:
    from replay.screen import Screen
    from replay.wording import clean, number, plural

    screen = Screen()
    screen.heading(
        [
            plural(done.episodes, "episode"),
            f"{number(done.transitions)} transitions",
            f"{number(done.records)} records",
            f"{done.truncated} truncated",
        ],
        style="bold",
    )
    screen.flow("files", [f"{clean(str(done.folder))}/", *done.files])
    for one in done.left_out:
        screen.flow("left out", [clean(one.why)], style="red")
