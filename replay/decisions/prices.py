"""What models cost. A model without a price has an unknown cost, never 0.

PaprikaError
└── PricesError    a table of prices that cannot be read
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Final

from bedside.configuration import default_toml
from devices.types import PaprikaError
from replay.manifest import digest_of

SCHEMA: Final = 1
DECIMALS: Final = 9
"""Of a cost in US dollars: a thousandth of the price of one token at a dollar a million."""
IN, OUT = "input_tokens", "output_tokens"
CACHE_WRITE, CACHE_READ = "cache_creation_input_tokens", "cache_read_input_tokens"


class PricesError(PaprikaError):
    """A table of prices is wrong; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; None: unknown."""

    input: float
    output: float
    cache_write: float | None = None
    cache_read: float | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model."""

    models: Mapping[str, Price] = field(default_factory=dict)

    def cost(self, model: str | None, usage: Mapping[str, int]) -> float | None:
        """What an answered call cost in US dollars; None where price or counts are unknown."""
        price = None if model is None else self.models.get(model)
        if price is None or IN not in usage or OUT not in usage:
            return None
        cost = 0.0
        for count, dollars in (
            (usage[IN], price.input),
            (usage[OUT], price.output),
            (usage.get(CACHE_WRITE, 0), price.cache_write),
            (usage.get(CACHE_READ, 0), price.cache_read),
        ):
            if count and dollars is None:
                return None
            cost += count * (dollars or 0.0)
        return round(cost / 1e6, DECIMALS)

    def knows(self, model: str | None) -> bool:
        return model in self.models

    @property
    def digest(self) -> str:
        """SHA-256 of all prices, for a manifest."""
        return digest_of({name: asdict(price) for name, price in self.models.items()})


def bundled_prices() -> Prices:
    """Those of `config/prices.toml`."""
    return prices_from(default_toml("prices"), "prices.toml")


def read_prices(path: Path) -> Prices:
    """Those of a file of the same form, which take the place of the bundled ones."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise PricesError(f"--prices {path}: {error.strerror}") from None
    except ValueError as error:
        raise PricesError(f"--prices {path}: not valid TOML: {error}") from None
    return prices_from(table, path.name)


def prices_from(table: Mapping[str, Any], where: str) -> Prices:
    """The prices in a TOML table; `where` is named in errors."""
    if table.get("schema") != SCHEMA:
        raise PricesError(f"{where}: schema {table.get('schema')!r}; this program knows {SCHEMA}")
    models = table.get("model", {})
    if not isinstance(models, Mapping):
        raise PricesError(f'{where}: prices stand under [model."NAME"]')
    for key in table:
        if key not in ("schema", "model"):
            raise PricesError(f"{where}: unknown key '{key}'")
    return Prices({name: _price(row, f"{where}: model '{name}'") for name, row in models.items()})


def _price(row: object, where: str) -> Price:
    if not isinstance(row, Mapping):
        raise PricesError(f"{where}: is no table of prices")
    for key in row:
        if key not in Price.__slots__:
            raise PricesError(f"{where}: unknown key '{key}'; known: {', '.join(Price.__slots__)}")
    for key in ("input", "output"):
        if key not in row:
            raise PricesError(f"{where}: '{key}' is missing")
    return Price(**{key: _dollars(value, f"{where}: {key}") for key, value in row.items()})


def _dollars(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PricesError(f"{where}: {value!r} is no number of dollars")
    if not isfinite(value) or value < 0:
        raise PricesError(f"{where}: {value!r}; give 0 or more")
    return float(value)
