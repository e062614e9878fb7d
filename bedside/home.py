"""Where Paprika keeps its files."""

from __future__ import annotations

import os
from pathlib import Path

from devices.types import PaprikaError


class HomeError(PaprikaError):
    """Nowhere to keep files."""


def home() -> Path:
    """`$PAPRIKA_HOME`, else `paprika` in the XDG data folder of the user."""
    given = os.environ.get("PAPRIKA_HOME")
    if given:
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME")
    try:
        return (Path(data) if data else Path.home() / ".local" / "share") / "paprika"
    except RuntimeError as error:
        raise HomeError("this user has no home folder; set PAPRIKA_HOME, or give --out") from error


def session_folder(session_id: str) -> Path:
    """The folder of one session: traces, manifest, page, and the night file of a live one."""
    return home() / "sessions" / session_id
