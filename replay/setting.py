"""What an attempt is made under; with the night and the agent it settles every byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bedside.safety.gate import Mode
from bedside.themes import Theme
from replay.conditions import PLAIN, Condition
from replay.latency import LatencyModel
from replay.wake_rule import WakeTable


@dataclass(frozen=True, slots=True)
class Setting:
    """The rules of one attempt.

    first_epoch, steps: the part of the recording; steps None: to its end.
    dropout: chance that a step loses its stage readings. condition: what else goes wrong.
    ends_at_stop: an agent's Stop ends it; False keeps the stop as a latch (the seed's week 4).
    stable_deep: end after so many DEEP readings in a row; None: never.
    latency: virtual time every decision takes beside its outside calls; None: none.
    charges: latencies (s) of outside calls by number, from an earlier trace; None: measure.
    digest: what earlier sessions of an episode taught, in plain lines.
    """

    theme: Theme
    wake_table: WakeTable
    seed: int = 1
    mode: Mode = Mode.OBSERVE
    first_epoch: int = 0
    steps: int | None = None
    dropout: float = 0.0
    condition: Condition = PLAIN
    ends_at_stop: bool = False
    stable_deep: int | None = None
    latency: LatencyModel | None = None
    charges: Mapping[int, float] | None = None
    digest: tuple[str, ...] = ()
