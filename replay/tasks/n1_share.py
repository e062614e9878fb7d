"""What is really slept when cues come early in shown light sleep; for nights that tell N1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from devices.types import Stage
from replay.trace_lines import Line

if TYPE_CHECKING:
    from replay.experiment.folder import RunFolder


@dataclass(frozen=True, slots=True)
class N1Share:
    """Cues that sounded in the first minutes of shown light sleep, by the true stage.

    light: true light sleep whose label does not tell N1 from N2. other: deep, REM, or unknown.
    """

    cues: int
    n1: int
    n2: int
    awake: int
    light: int
    other: int

    @property
    def n1_pct(self) -> float | None:
        """Percent in true N1; None without a cue."""
        return self._percent(self.n1)

    @property
    def n2_pct(self) -> float | None:
        return self._percent(self.n2)

    @property
    def awake_pct(self) -> float | None:
        return self._percent(self.awake)

    def __add__(self, other: N1Share) -> N1Share:
        return N1Share(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def _percent(self, count: int) -> float | None:
        return 100 * count / self.cues if self.cues else None


def n1_shares(run: RunFolder, *, minutes: float) -> dict[tuple[str, str], N1Share]:
    """Of every agent and night of a run, over all its attempts there that left traces."""
    found: dict[tuple[str, str], N1Share] = {}
    for row in run.rows():
        if row.evidence:
            key, place = row.unit.key, (row.unit.agent, row.unit.night)
            share = n1_share(run.trace(key), run.hidden(key), minutes=minutes)
            found[place] = found[place] + share if place in found else share
    return found


def n1_share(trace: Sequence[Line], hidden: Sequence[Line], *, minutes: float) -> N1Share:
    """Count the cues of one attempt that were decided while light sleep had been shown for at most
    so many minutes, the present epoch included.

    The true stage is the one that was rolled on; in inserted wake it is awake.
    """
    early = {line["step"] for line in trace if line["kind"] == "step" and _is_early(line, minutes)}
    cues = [
        (line["delivery"]["cue"], line["step"])
        for line in trace
        if line["kind"] == "step" and line["delivery"] and line["delivery"]["cue"]
    ]
    heard = {line["cue"]: _true_stage(line) for line in hidden if line.get("cue") is not None}
    counts = Counter(heard[cue] for cue, step in cues if step in early and heard.get(cue))
    named = {Stage.N1: 0, Stage.N2: 0, Stage.AWAKE: 0, Stage.LIGHT: 0} | counts
    return N1Share(
        cues=counts.total(),
        n1=named[Stage.N1],
        n2=named[Stage.N2],
        awake=named[Stage.AWAKE],
        light=named[Stage.LIGHT],
        other=counts.total()
        - sum(named[stage] for stage in (Stage.N1, Stage.N2, Stage.AWAKE, Stage.LIGHT)),
    )


def _is_early(step: Line, minutes: float) -> bool:
    seen = step["observation"]
    return bool(seen["stage"] == Stage.LIGHT and seen["minutes_in_stage"] <= minutes)


def _true_stage(line: Line) -> Stage | None:
    """Of a line of the hidden trace about a cue; None where nothing was heard."""
    match line["event"]:
        case "roll":
            return Stage(line["stage"])
        case "awake_already":
            return Stage.AWAKE
        case _:
            return None
