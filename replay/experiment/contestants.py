"""Who is tried in a run: their identities, and labels that are unique in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from bedside.agent_loading import NAMES
from devices.types import PaprikaError
from replay.controls.contenders import contender_identity, control_names
from replay.experiment.nights import opened
from replay.experiment.spec import RunSpec
from replay.recorded_night import RecordedNight

LONGEST_LABEL: Final = 60


class ContestantError(PaprikaError):
    """An agent cannot take part; the message names it."""


def identities(spec: RunSpec) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Label and identity of every agent, by how it is loaded; labels are unique in a run."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    taken: set[str] = {*NAMES, *control_names()}
    for spoken in spec.agents:
        made = contender_identity(spoken, development=development(spec.development))
        plain = re.sub(r"[^\w.+-]+", "_", made["name"]).strip("._") or "agent"
        label, number = plain[:LONGEST_LABEL], 2
        while label in taken and label != spoken:
            label, number = f"{plain[:LONGEST_LABEL]}-{number}", number + 1
        taken.add(label)
        identity = {**made, "given_as": _without_folders(spoken)}
        if identity in [known for _, known in found.values()]:
            raise ContestantError(f"--agents {spoken}: this agent is in the run already")
        found[spoken] = label, identity
    return found


@cache
def development(paths: tuple[Path, ...]) -> tuple[RecordedNight, ...]:
    """The nights that an agent which learns may learn from."""
    return tuple(opened(path, "device", in_memory=False) for path in paths)


def _without_folders(spoken: str) -> str:
    return re.sub(r"[^\s:]*/", "", spoken)
