"""The command `paprika report`: the pages of a run."""

from __future__ import annotations

from pathlib import Path

from bedside.cli import print_json
from replay.progress import shown_progress


def report(run: Path | None = None, /, *, out: Path | None = None, json: bool = False) -> int:
    """Write the pages of a run: one folder that needs no server and no network.

    Parameters
    ----------
    run
        Folder of a run; without one, the newest.
    out
        Folder for the pages; by default `page` in the run's folder.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.experiment.folder import RunFolder, newest_run
    from replay.report.folder import write_report

    found = RunFolder.open(run or newest_run())
    with shown_progress("Writing pages", quiet=json) as progress:
        index = write_report(found, out=out, progress=progress)
    pages = sorted(index.parent.glob("*.html"))
    size = sum(path.stat().st_size for path in pages)
    if json:
        print_json(
            {
                "run": found.manifest["id"],
                "index": str(index),
                "pages": [path.name for path in pages],
                "bytes": size,
            }
        )
    else:
        print(f"{index}: {len(pages)} pages, {size / 1e6:.1f} MB; open it in any browser")
    return 0
