"""What a run is asked for, before anything is looked at."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from bedside.safety.gate import Mode
from devices.types import PaprikaError
from replay.conditions import PLAIN, Condition, condition_named
from replay.decisions import CacheMode, DecisionOptions, Price, Prices
from replay.latency import LatencyModel
from replay.tasks.start_points import DEFAULT_KINDS
from replay.tasks.task import StartKind

SCHEMA: Final = 1


class SpecError(PaprikaError):
    """The spec of a run cannot be read; the message names file and key."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run: every agent on every task of every night, at every seed and wake scale.

    agents: as `load_agent` and the controls take them. nights: night files; none: the bundled one.
    development: nights that agents which learn (memoriser) may learn from.
    overlay: what stands between the truth and the shown stage; `device`: nothing.
    stop_is_latch: an agent's Stop does not end the task (the seed's week 4).
    wake_table: a file to use instead of the bundled table. wake_options: assumptions of it to
        switch on.
    trial: number of the repetition, for agents that do not answer the same twice.
    """

    agents: tuple[str, ...]
    seeds: tuple[int, ...] = (1,)
    scales: tuple[float, ...] = (1.0,)
    nights: tuple[Path, ...] = ()
    development: tuple[Path, ...] = ()
    kinds: tuple[StartKind, ...] = DEFAULT_KINDS
    conditions: tuple[Condition, ...] = (PLAIN,)
    mode: Mode = Mode.OBSERVE
    dropout: float = 0.0
    overlay: str = "device"
    latency: LatencyModel | None = None
    stop_is_latch: bool = False
    wake_table: Path | None = None
    wake_options: tuple[str, ...] = ()
    decisions: DecisionOptions = field(default_factory=DecisionOptions)
    trial: int = 1

    def as_dict(self) -> dict[str, Any]:
        """The spec as JSON values; places of files are those of this machine."""
        return {
            "schema": SCHEMA,
            "agents": list(self.agents),
            "seeds": list(self.seeds),
            "scales": list(self.scales),
            "nights": [str(path.resolve()) for path in self.nights],
            "development": [str(path.resolve()) for path in self.development],
            "kinds": [kind.value for kind in self.kinds],
            "conditions": [condition.name for condition in self.conditions],
            "mode": self.mode.value,
            "dropout": self.dropout,
            "overlay": self.overlay,
            "latency": None if self.latency is None else asdict(self.latency),
            "stop_is_latch": self.stop_is_latch,
            "wake_table": None if self.wake_table is None else str(self.wake_table.resolve()),
            "wake_options": list(self.wake_options),
            "decisions": _kept(self.decisions),
            "trial": self.trial,
        }


def read_spec(path: Path) -> RunSpec:
    """The spec kept with a run.

    Raises:
        SpecError: missing, of a newer schema, or with a key that is not as it must be.
    """
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        if given["schema"] > SCHEMA:
            raise SpecError(
                f"{path}: schema {given['schema']} is newer than {SCHEMA}; update Paprika"
            )
        latency, table = given["latency"], given["wake_table"]
        return RunSpec(
            agents=tuple(map(str, given["agents"])),
            seeds=tuple(map(int, given["seeds"])),
            scales=tuple(map(float, given["scales"])),
            nights=tuple(map(Path, given["nights"])),
            development=tuple(map(Path, given["development"])),
            kinds=tuple(map(StartKind, given["kinds"])),
            conditions=tuple(map(condition_named, given["conditions"])),
            mode=Mode(given["mode"]),
            dropout=given["dropout"],
            overlay=given["overlay"],
            latency=None if latency is None else LatencyModel(**latency),
            stop_is_latch=given["stop_is_latch"],
            wake_table=None if table is None else Path(table),
            wake_options=tuple(given.get("wake_options", ())),
            decisions=_options(given["decisions"]),
            trial=given["trial"],
        )
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}; give a run's folder") from None
    except SpecError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, PaprikaError) as error:
        raise SpecError(f"{path}: not the spec of a run ({error})") from error


def _kept(options: DecisionOptions) -> dict[str, Any]:
    """The options as they were asked for; the token itself is never among them."""
    return {
        "services": dict(options.services),
        "token_env": options.token_env,
        "prices": {name: asdict(price) for name, price in options.prices.models.items()},
        "mode": options.mode.value,
        "cache": None if options.cache is None else str(options.cache.resolve()),
        "fill": options.fill,
        "call_limit": options.call_limit,
        "task_cap_usd": options.task_cap_usd,
        "run_cap_usd": options.run_cap_usd,
    }


def _options(given: dict[str, Any]) -> DecisionOptions:
    cache = given["cache"]
    return DecisionOptions(
        **{
            **given,
            "mode": CacheMode(given["mode"]),
            "cache": None if cache is None else Path(cache),
            "prices": Prices({name: Price(**one) for name, one in given["prices"].items()}),
        }
    )
