"""Stage labels of the bundled night: twice a second, flickering, with a confidence. Synthetic.

Stages are codes here (0 awake, 1 light, 2 deep, 3 REM, 4 no reading), because they are drawn for
the whole night at once. Assumed: every chance and level below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.types import Stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.integer[Any]]

STAGES: Final = (Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM, Stage.UNKNOWN)
AWAKE, LIGHT, DEEP, REM, UNKNOWN = range(5)
LABELS: Final = 60
"""Labels an epoch."""

_NEIGHBOURS: Final = (
    (LIGHT, LIGHT, LIGHT),
    (AWAKE, DEEP, REM),
    (LIGHT, LIGHT, LIGHT),
    (LIGHT, LIGHT, AWAKE),
    (UNKNOWN, UNKNOWN, UNKNOWN),
)
_LEVELS: Final = (0.87, 0.76, 0.87, 0.80, 0.30)


def shown_stages(codes: Ints, random: np.random.Generator) -> Ints:
    """60 labels an epoch: runs that start late and end early, and short neighbouring stages.

    At most 20 of an epoch's labels differ from the epoch's own stage.
    """
    import numpy as np

    place = np.arange(LABELS)
    before, after = np.roll(codes, 1), np.roll(codes, -1)
    before[0], after[-1] = codes[0], codes[-1]
    known = (before != UNKNOWN) & (codes != UNKNOWN) & (after != UNKNOWN)
    late = np.where(known, random.integers(0, 10, len(codes)), 0)[:, None]
    early = np.where(known, random.integers(0, 6, len(codes)), 0)[:, None]
    labels = np.where(place < late, before[:, None], codes[:, None])
    labels = np.where(place >= LABELS - early, after[:, None], labels)
    other = np.array(_NEIGHBOURS)[codes, random.integers(0, 3, len(codes))]
    return np.where(_flicker(len(codes), random), other[:, None], labels).ravel()


def confidences(codes: Ints, shown: Ints, random: np.random.Generator) -> Floats:
    """0.30 to 0.99, two decimals; lower in flicker and within half a minute of a change."""
    import numpy as np

    own = np.repeat(codes, LABELS)
    drift = running_mean(random.normal(0.0, 1.0, len(own)), 120) * 0.3
    level = np.array(_LEVELS)[own] + drift + random.normal(0.0, 0.02, len(own))
    level -= 0.22 * np.exp(-_away_s(codes) / 12.0) + 0.25 * (shown != own)
    rounded: Floats = np.round(np.clip(level, 0.30, 0.99), 2)
    return rounded


def changes(codes: Ints) -> Ints:
    """First epoch of every run but the first."""
    import numpy as np

    return np.flatnonzero(np.diff(codes)) + 1


def running_mean(values: Floats, width: int) -> Floats:
    """Same length; mirrored beyond the ends."""
    import numpy as np

    padded = np.pad(values, (width // 2, width - width // 2), mode="reflect")
    sums = np.cumsum(padded)
    mean: Floats = (sums[width:] - sums[:-width]) / width
    return mean


def _flicker(epochs: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """Where a short run of another stage stands, shape (epochs, 60): in 2 epochs of 5."""
    import numpy as np

    place = np.arange(LABELS)
    length = np.where(random.random(epochs) < 0.4, random.integers(1, 6, epochs), 0)
    begin = random.integers(10, LABELS - 10, epochs)
    flick: NDArray[np.bool_] = (place >= begin[:, None]) & (place < (begin + length)[:, None])
    return flick


def _away_s(codes: Ints) -> Floats:
    """Seconds from each label to the nearest change of stage."""
    import numpy as np

    at = changes(codes) * LABELS
    place = np.arange(len(codes) * LABELS)
    right = np.searchsorted(at, place)
    to_next = np.abs(at[np.minimum(right, len(at) - 1)] - place)
    to_last = np.abs(place - at[np.maximum(right - 1, 0)])
    away_s: Floats = np.minimum(to_next, to_last) * 0.5
    return away_s
