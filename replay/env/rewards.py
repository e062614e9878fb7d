"""What a step was worth: named components, a weighted sum of them, and shaping by a potential.

The components are evidence, the sum is a choice. Hard limits of the night are neither: the gate
applies them, whatever anybody is rewarded for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Final, SupportsFloat

from gymnasium import Env, Wrapper

from devices.types import PaprikaError

HIDDEN: Final = ("waking",)
"""Components that are never in `info`: what nobody at the bedside can know at once."""


class RewardError(PaprikaError):
    """A reward that cannot be computed; the message says which number is wrong."""


@dataclass(frozen=True, slots=True)
class Components:
    """What one step brought, each None where nothing is known of it, which is not 0.

    body: a small answer of the body. theme: the theme in a report, after waking.
    waking: wakings that cues of this step caused. violation: rules that the asked cue broke.
    progress: what changed over sessions.
    """

    body: float | None = None
    theme: float | None = None
    waking: float | None = None
    violation: float | None = None
    progress: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def shown(self) -> dict[str, float | None]:
        """Those that may stand in `info`."""
        return {name: value for name, value in self.as_dict().items() if name not in HIDDEN}


@dataclass(frozen=True, slots=True)
class RewardWeights:
    """What one unit of each component counts. Assumed: all of them; no study gives such numbers.

    version: changes whenever a number does, and stands beside every reward that is recorded.
    """

    version: str = "seed-1"
    body: float = 0.1
    theme: float = 1.0
    waking: float = -1.0
    violation: float = -0.5
    progress: float = 1.0

    def __post_init__(self) -> None:
        for name in Components().as_dict():
            if not isfinite(getattr(self, name)):
                raise RewardError(f"weight {name} is {getattr(self, name)}: give a finite number")


@dataclass(frozen=True, slots=True)
class SeedReward:
    """The weighted sum of the components that are known.

    It is *not* potential-based: an agent that earns the most of it need not be one that serves
    the sleeper best, and adding it to another reward can change which agent is best. Its waking
    is hidden from the agent, so a run that was trained on it has seen more than a night shows.
    """

    weights: RewardWeights

    def __call__(self, components: Components) -> float:
        known = components.as_dict().items()
        return float(sum(getattr(self.weights, n) * v for n, v in known if v is not None))


class PotentialShaping(Wrapper[Any, Any, Any, Any]):
    """Adds gamma · phi(s') − phi(s) to every reward, with phi of a terminated state taken as 0.

    Over an episode the terms cancel but for the start, so which agent is best stays the same
    under the same `gamma`. Where an episode is truncated phi counts on: the state is no end.
    Source: potential-based shaping (Ng, Harada and Russell 1999; episodes: Grześ 2017).

    phi: potential of an observation. gamma: discount of the return, 0 to 1.
    """

    def __init__(self, env: Env[Any, Any], phi: Callable[[Any], float], gamma: float) -> None:
        if not 0.0 <= gamma <= 1.0:
            raise RewardError(f"gamma is {gamma}: give 0 to 1")
        super().__init__(env)
        self._phi = phi
        self._gamma = gamma
        self._before = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = float(self._phi(observation))
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        after = 0.0 if terminated else float(self._phi(observation))
        shaped = float(reward) + self._gamma * after - self._before
        self._before = after
        return observation, shaped, terminated, truncated, info
