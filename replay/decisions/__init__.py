"""Paid decisions: how a model is asked, kept, limited and priced in a replay."""

from replay.decisions.asking import PriceUnknown, SpendCapReached, ledger_at
from replay.decisions.cache import CacheCorrupt, CacheMiss, CacheMode
from replay.decisions.costs import Costs, costs
from replay.decisions.ledger import Ledger, LedgerError, Paid
from replay.decisions.limits import MANY_CALLS, TASK_CALLS
from replay.decisions.options import (
    DecisionError,
    DecisionOptions,
    cache_folder,
    services_from,
)
from replay.decisions.prices import Price, Prices, PricesError, bundled_prices, read_prices
from replay.decisions.way_out import DecisionWayOut

__all__ = [
    "MANY_CALLS",
    "TASK_CALLS",
    "CacheCorrupt",
    "CacheMiss",
    "CacheMode",
    "Costs",
    "DecisionError",
    "DecisionOptions",
    "DecisionWayOut",
    "Ledger",
    "LedgerError",
    "Paid",
    "Price",
    "PriceUnknown",
    "Prices",
    "PricesError",
    "SpendCapReached",
    "bundled_prices",
    "cache_folder",
    "costs",
    "ledger_at",
    "read_prices",
    "services_from",
]
