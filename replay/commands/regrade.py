"""The commands `paprika plan` and `paprika regrade`: what a change asks for, and new verdicts."""

from __future__ import annotations

from pathlib import Path

from bedside.cli import print_json
from replay.progress import output_to_errors, shown_progress


def plan(run: Path | None = None, /, *, wake_table: Path | None = None, json: bool = False) -> int:
    """Say what of a run must be made or judged again, now that something changed.

    Parameters
    ----------
    run
        Folder of a run; without one, the newest.
    wake_table
        Ask what another wake table would need.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.experiment.folder import newest_run
    from replay.experiment.regrading import work_plan
    from replay.experiment.run_text import print_work, work_as_dict

    folder = run or newest_run()
    with output_to_errors(), shown_progress("Comparing", quiet=json) as progress:
        found = work_plan(folder, wake_table=wake_table, progress=progress)
    if json:
        print_json(work_as_dict(folder, found))
    else:
        print_work(folder, found)
    return 0


def regrade(run: Path | None = None, /, *, json: bool = False) -> int:
    """Judge the traces of a run by the present checker; the old verdicts stay beside the new.

    Parameters
    ----------
    run
        Folder of a run; without one, the newest.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.experiment.folder import newest_run
    from replay.experiment.regrading import regrade as judge_anew
    from replay.experiment.run_text import print_regraded, regraded_as_dict

    folder = run or newest_run()
    with output_to_errors(), shown_progress("Judging", quiet=json) as progress:
        judged, found = judge_anew(folder, progress)
    if json:
        print_json(regraded_as_dict(judged, found))
    else:
        print_regraded(judged, found)
    return 0
