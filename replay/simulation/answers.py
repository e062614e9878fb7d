"""How the simulated sleeper answers cues and themes: assumptions, each with its number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import exp, fsum, isfinite
from typing import Any

from bedside.configuration import ConfigurationError, default_toml
from devices.types import PaprikaError
from replay.simulation.profiles import FILE
from replay.wake_rule import OnsetDelay, wake_table


class EffectError(PaprikaError):
    """An effect that cannot be."""


class Answer(StrEnum):
    """What a cue did, strongest first."""

    WAKING = "waking"
    STAGE_CHANGE = "stage_change"
    AROUSAL = "arousal"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Answers:
    """How easily a cue does less than wake, in multiples of its chance of waking. Assumed.

    One roll decides all: the weaker an answer, the more rolls lead to it, so that a louder cue
    never does less than a softer one would have done there.
    stage_change: deep or REM sleep turns to light. arousal: a sign of it, and the stage stays.
    onset_delay: what a cue before sustained onset does; None: nothing.
    """

    stage_change: float
    arousal: float
    onset_delay: OnsetDelay | None = None

    def answer(self, value: float, chance: float) -> Answer:
        """What a cue with this chance of waking does at this roll."""
        if value < chance:
            return Answer.WAKING
        if value < self.stage_change * chance:
            return Answer.STAGE_CHANGE
        return Answer.AROUSAL if value < self.arousal * chance else Answer.NONE


@dataclass(frozen=True, slots=True)
class ThemeModel:
    """A hidden presence of the theme, and what it leads to. Every number is assumed.

    talk: what the evening's talk raises it by. cue: what a heard cue raises it by.
    half_life_h: in which it halves. carry: share of it that is left on the next evening.
    baseline: chance that the theme is in a dream anyway. gain: what presence adds to it; 0: no
    effect whatever an agent does. recall: chance that a dream is told in the morning.
    """

    talk: float
    cue: float
    half_life_h: float
    carry: float
    baseline: float
    gain: float
    recall: float

    def presence(self, raised: Sequence[tuple[float, float]], t: float) -> float:
        """Presence at `t` (s) after these raises, each at its time."""
        half_life_s = 3600.0 * self.half_life_h
        return fsum(by * 0.5 ** ((t - at) / half_life_s) for at, by in raised if at <= t)

    def incorporation(self, presence: float) -> float:
        """Chance that the theme is in the dreams of a night with this presence in REM sleep."""
        return 1.0 - (1.0 - self.baseline) * exp(-self.gain * presence)

    def with_gain(self, gain: float) -> ThemeModel:
        """The same sleeper, in whom presence does so much.

        Raises:
            EffectError: of a gain under 0, or one that is no number.
        """
        if not isfinite(gain) or gain < 0.0:
            raise EffectError(f"effect {gain:g} (--effect): give a number of 0 or more")
        return replace(self, gain=gain)


def bundled_answers() -> Answers:
    """The answers of `config/simulated_sleeper.toml`; onset as in `config/wake_table.toml`."""
    given = _table("answers")
    change = _number(given, "answers", "stage_change", 1.0, 100.0)
    delay = wake_table(default_toml("wake_table"), options=("onset_delay",)).onset_delay
    return Answers(change, _number(given, "answers", "arousal", change, 100.0), delay)


def bundled_theme_model() -> ThemeModel:
    """The theme model of `config/simulated_sleeper.toml`: no effect."""
    given, key = _table("theme"), "theme"
    return ThemeModel(
        talk=_number(given, key, "talk", 0.0, 100.0),
        cue=_number(given, key, "cue", 0.0, 100.0),
        half_life_h=_number(given, key, "half_life_h", 0.01, 1000.0),
        carry=_number(given, key, "carry", 0.0, 1.0),
        baseline=_number(given, key, "baseline", 0.0, 1.0),
        gain=_number(given, key, "gain", 0.0, 100.0),
        recall=_number(given, key, "recall", 0.0, 1.0),
    )


def _table(name: str) -> Mapping[str, Any]:
    found = default_toml(FILE).get(name)
    if not isinstance(found, Mapping):
        raise ConfigurationError(f"{FILE}.toml: [{name}] is missing")
    return found


def _number(given: Mapping[str, Any], table: str, name: str, least: float, most: float) -> float:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ConfigurationError(f"{FILE}.toml: {table}.{name} must be {least:g} to {most:g}")
    return float(value)
