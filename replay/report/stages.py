"""Stages of the pages: a letter an epoch in what is read, a name each in what is drawn."""

from __future__ import annotations

from typing import Final

from devices.types import Stage
from replay.hypnogram import COUNTED

LANES: Final = tuple(COUNTED[stage] for stage in (Stage.AWAKE, Stage.REM, Stage.LIGHT, Stage.DEEP))
"""The field's order, wake on top."""
_NAMES: Final = {stage.letter: name for stage, name in COUNTED.items()}
_LETTERS: Final = {stage.value: stage.letter for stage in Stage}


def stage_name(letter: str) -> str:
    """`awake`, `rem`, `light`, `deep`; `none` of any other letter."""
    return _NAMES.get(letter, COUNTED[Stage.UNKNOWN])


def stage_letter(stage: str | None) -> str:
    """W, R, L or D of a stage as traces name it; a question mark where there is none."""
    return _LETTERS.get(stage or "", Stage.UNKNOWN.letter)
