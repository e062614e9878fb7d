"""How the paid services of a run are reached, kept, limited and priced.

OutsideError (bedside.outside)
└── DecisionError    an option does not fit
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final

from agents.process import SERVICE
from bedside.outside import OutsideError
from replay.decisions.cache import CacheMode, begin_fill
from replay.decisions.limits import TASK_CALLS
from replay.decisions.prices import Prices, bundled_prices

TOKEN_ENV: Final = "PAPRIKA_SERVICE_TOKEN"


class DecisionError(OutsideError):
    """An option of paid services does not fit; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """Everything about paid services that a run settles; can be handed to a pool's process.

    services: address by name. token_env: the environment variable that holds their bearer token.
    cache: folder of the decision cache. fill: number of this run's fill, see `begun`.
    call_limit: client calls of an attempt, retries included; None: any number.
    task_cap_usd: of an attempt, as if nothing were cached. run_cap_usd: of all that is really
    paid. ledger: the file in which that is written down.
    """

    services: Mapping[str, str] = field(default_factory=dict)
    token_env: str = TOKEN_ENV
    mode: CacheMode = CacheMode.OFF
    cache: Path | None = None
    fill: int | None = None
    call_limit: int | None = TASK_CALLS
    task_cap_usd: float | None = None
    run_cap_usd: float | None = None
    prices: Prices = field(default_factory=bundled_prices)
    ledger: Path | None = None

    def __post_init__(self) -> None:
        if self.mode is not CacheMode.OFF and self.cache is None:
            raise DecisionError(f"--cache-mode {self.mode}: give the folder with --cache")
        if self.call_limit is not None and self.call_limit < 0:
            raise DecisionError(f"--call-limit {self.call_limit}: give 0 or more")
        for option, cap in (("--task-cap", self.task_cap_usd), ("--spend-cap", self.run_cap_usd)):
            if cap is not None and not (isfinite(cap) and cap >= 0.0):
                raise DecisionError(f"{option} {cap:g}: give dollars, 0 or more")

    def begun(self) -> DecisionOptions:
        """The options as the run's processes get them; called once, before the first attempt.

        With `fill` this claims the fill's number. A run that is resumed keeps the number of its
        beginning: give it as `fill`.
        """
        if self.run_cap_usd is not None and self.ledger is None and self.mode.asks:
            raise DecisionError("--spend-cap needs a run folder, where its ledger is kept")
        if self.mode is not CacheMode.FILL or self.cache is None or self.fill is not None:
            return self
        return replace(self, fill=begin_fill(self.cache))

    def as_dict(self) -> dict[str, Any]:
        """What settles the bytes of a trace: not where a service is, nor whether it is cached."""
        return {
            "services": sorted(self.services),
            "call_limit": self.call_limit,
            "task_cap_usd": self.task_cap_usd,
            "prices_sha256": self.prices.digest,
        }


def services_from(spoken: Sequence[str]) -> dict[str, str]:
    """Addresses by name, from words such as `model=http://127.0.0.1:8080/v1`."""
    from bedside.http_service import checked_url

    services: dict[str, str] = {}
    for word in spoken:
        name, equals, url = word.partition("=")
        if not equals or not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", name):
            raise DecisionError(f"--service {word[:60]}: give NAME=URL, such as model=http://…")
        if name == SERVICE:
            raise DecisionError(f"--service {name}: this name is taken by agents of cmd:")
        if name in services:
            raise DecisionError(f"--service {name}: given twice")
        services[name], _ = checked_url(url)
    return services


def cache_folder(given: Path | None) -> Path:
    """The folder given, else `$PAPRIKA_HOME/cache/decisions`."""
    from bedside.home import home

    return Path(os.path.abspath(given)) if given else home() / "cache" / "decisions"
