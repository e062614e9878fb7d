"""What calls cost: prices by hand, unknown is null."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bedside.configuration import default_toml
from replay.decisions.prices import (
    Price,
    Prices,
    PricesError,
    bundled_prices,
    prices_from,
    read_prices,
)
from replay.manifest import digest_of

SEED = {"input_tokens": 503_170, "output_tokens": 26_859}
SMALL = Prices({"small": Price(1.0, 5.0, 1.25, 0.1), "plain": Price(3.0, 15.0)})


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-haiku-4-5-20251001"])
def test_the_seed_s_tokens_cost_its_64_cents(model: str) -> None:
    cost = bundled_prices().cost(model, SEED)
    assert cost == 0.637465
    assert f"{cost:.2f}" == "0.64"


@pytest.mark.parametrize("kind", ["cache_creation_input_tokens", "cache_read_input_tokens"])
def test_what_the_seed_does_not_tell_the_price_of_makes_a_cost_unknown(kind: str) -> None:
    assert bundled_prices().cost("claude-haiku-4-5", {**SEED, kind: 1}) is None


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("small", {"input_tokens": 1_000_000, "output_tokens": 0}, 1.0),
        ("small", {"input_tokens": 0, "output_tokens": 1_000_000}, 5.0),
        ("plain", {"input_tokens": 2000, "output_tokens": 100}, 0.0075),
        ("small", {"input_tokens": 0, "output_tokens": 0}, 0.0),
        # 100 + 50 × 5 + 1000 × 1.25 + 10,000 × 0.1 = 2600 millionths of a dollar
        (
            "small",
            {
                "input_tokens": 100,
                "output_tokens": 50,
                "cache_creation_input_tokens": 1000,
                "cache_read_input_tokens": 10_000,
            },
            0.0026,
        ),
    ],
)
def test_a_cost_is_tokens_times_price_a_million(
    model: str, usage: dict[str, int], cost: float
) -> None:
    assert SMALL.cost(model, usage) == cost


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        ("unheard-of", SEED),
        (None, SEED),
        ("small", {}),
        ("small", {"input_tokens": 5}),
        ("plain", {**SEED, "cache_read_input_tokens": 1}),
    ],
)
def test_what_is_not_known_is_none_and_never_nought(
    model: str | None, usage: dict[str, int]
) -> None:
    assert SMALL.cost(model, usage) is None


def test_tokens_of_a_kind_without_a_price_do_no_harm_where_there_are_none() -> None:
    assert SMALL.cost("plain", {**SEED, "cache_read_input_tokens": 0}) is not None


def test_the_digest_changes_with_a_price_and_not_with_the_order() -> None:
    turned = Prices(dict(reversed(SMALL.models.items())))
    assert turned.digest == SMALL.digest
    assert Prices({**SMALL.models, "plain": Price(3.0, 16.0)}).digest != SMALL.digest
    rows = {"a": {"input": 1.0, "output": 2.0, "cache_write": None, "cache_read": None}}
    assert Prices({"a": Price(1.0, 2.0)}).digest == digest_of(rows)  # as all digests of a manifest


def test_prices_of_a_file_take_the_place_of_the_bundled_ones(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('schema = 1\n[model."my/model 1"]\ninput = 2\noutput = 4.5\n')
    assert read_prices(path) == Prices({"my/model 1": Price(2.0, 4.5)})


ROW = {"input": 1.0, "output": 5.0}


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ({}, "schema None; this program knows 1"),
        ({"schema": 2}, "schema 2"),
        ({"schema": 1, "modle": {}}, "unknown key 'modle'"),
        ({"schema": 1, "model": 3}, r'under \[model."NAME"\]'),
        ({"schema": 1, "model": {"a": 3}}, "model 'a': is no table"),
        ({"schema": 1, "model": {"a": {"input": 1.0}}}, "model 'a': 'output' is missing"),
        ({"schema": 1, "model": {"a": {**ROW, "inptu": 1}}}, "unknown key 'inptu'"),
        ({"schema": 1, "model": {"a": {**ROW, "output": "5"}}}, "output: '5' is no number"),
        ({"schema": 1, "model": {"a": {**ROW, "output": True}}}, "output: True is no number"),
        ({"schema": 1, "model": {"a": {**ROW, "output": -1}}}, "output: -1; give 0 or more"),
        ({"schema": 1, "model": {"a": {**ROW, "output": float("nan")}}}, "output: nan; give"),
    ],
)
def test_a_wrong_table_is_refused_by_file_and_key(table: dict[str, Any], error: str) -> None:
    with pytest.raises(PricesError, match=rf"^my.toml: .*{error}"):
        prices_from(table, "my.toml")


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(PricesError, match=r"--prices .*away.toml: No such file"):
        read_prices(tmp_path / "away.toml")
    (tmp_path / "bad.toml").write_text("schema = ")
    with pytest.raises(PricesError, match=r"bad.toml: not valid TOML"):
        read_prices(tmp_path / "bad.toml")


def test_the_bundled_table_has_a_source_for_every_price() -> None:
    assert set(bundled_prices().models) == set(default_toml("prices")["model"])
