"""The command `paprika validate`: the environment put to the test on nights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from bedside.cli import print_json
from devices.types import PaprikaError
from replay.progress import output_to_errors, shown_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.validation.findings import Report
    from replay.validation.several import Unreadable

Several = Parameter(consume_multiple=True)


class ValidateOptionError(PaprikaError):
    """An option of `paprika validate` that cannot be; the message names it."""


def validate(
    files: Annotated[list[Path] | None, Several] = None,
    /,
    *,
    nights: Annotated[list[Path] | None, Several] = None,
    jobs: int = 1,
    json: bool = False,
) -> int:
    """Check that the replay environment does on a night what it promises, promise by promise.

    Without a night the bundled one is used. Exit code 1: a check failed. 2: a night could not be
    read. Shares of stages that lie outside an adult's are told and never fail.

    Parameters
    ----------
    files
        Night files.
    nights
        More night files, or folders of them.
    jobs
        Nights that are checked at the same time, a process each.
    json
        One JSON object on standard output, nothing else.
    """
    from replay.validation.several import validate_all

    if not 1 <= jobs <= 512:
        raise ValidateOptionError(f"--jobs {jobs}: give a number of processes from 1 to 512")
    chosen = _chosen([*(files or ()), *(nights or ())])
    with output_to_errors(), shown_progress("Validating", quiet=json) as progress:
        reports = validate_all(chosen, jobs=jobs, progress=progress)
    if json:
        print_json(as_json(reports))
    else:
        from replay.validation.terminal import print_validated

        print_validated(reports)
    return _exit_code(reports)


def as_json(reports: Sequence[Report | Unreadable]) -> dict[str, Any]:
    """What `validate --json` prints."""
    from replay.validation.findings import Report

    told = [one for one in reports if isinstance(one, Report)]
    refused = [one for one in reports if not isinstance(one, Report)]
    return {
        "passed": not refused and all(report.passed for report in told),
        "nights": [report.as_dict() for report in told],
        "unreadable": [{"night": one.night, "error": one.error} for one in refused],
    }


def _chosen(places: Sequence[Path]) -> list[Path | None]:
    """The night files of these places, each once; the bundled night where none is named."""
    from replay.experiment.nights import NightsError, found_nights

    missing = [place for place in places if not place.exists()]
    if missing:
        raise NightsError(f"{missing[0]}: no such file; give a night file (.mcap) or a folder")
    found = [path for place in places for path in found_nights(place)]
    return list(dict.fromkeys(found)) or [None]


def _exit_code(reports: Sequence[Report | Unreadable]) -> int:
    from replay.validation.findings import Report

    if not all(report.passed for report in reports if isinstance(report, Report)):
        return 1
    return 0 if all(isinstance(report, Report) for report in reports) else 2
