"""The command `paprika compare`: two agents on the same tasks and dice, side by side."""

from __future__ import annotations

from pathlib import Path

from bedside.cli import print_json
from replay.progress import shown_progress


def compare(
    first: str,
    second: str,
    /,
    *,
    run: Path | None = None,
    scale: float | None = None,
    json: bool = False,
) -> int:
    """Compare two agents, pair by pair: which is higher, and whether that can be told at all.

    Parameters
    ----------
    first
        An agent of the run, FOLDER:AGENT, or FOLDER where the run has one agent.
    second
        The other one. Runs must be made alike but for agents, seeds and wake scales.
    run
        Folder of the run; by default the newest.
    scale
        Wake scale; by default the one nearest to 1.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.scores.side_by_side import side_by_side, sides

    one, two = sides(first, second, run)
    with shown_progress("Comparing", quiet=json) as progress:
        found = side_by_side(one, two, scale=scale, progress=progress)
    if json:
        print_json(found.as_dict())
    else:
        from replay.scores.side_by_side_text import print_side_by_side

        print_side_by_side(found)
    return 0
