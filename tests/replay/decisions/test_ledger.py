"""The ledger: what was really paid, also when lines are torn and processes many."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from replay.decisions.ledger import Ledger, LedgerError, Paid
from replay.decisions.prices import Price, Prices

PRICES = Prices({"small": Price(1.0, 5.0)})
ONE = Paid("a/x1", 1, "small", {"input_tokens": 1000, "output_tokens": 100}, 2, failed=False)
COST = 0.0015
FAILED = Paid("a/x1", 2, "small", {}, 3, failed=True)
OTHER = Paid("b/x1", 1, None, {}, 1, failed=False)


def test_what_is_added_is_read_by_unit_and_by_others(tmp_path: Path) -> None:
    path = tmp_path / "run" / "ledger.jsonl"
    ledger = Ledger(path)
    assert ledger.of("a/x1") == ()
    for paid in (ONE, FAILED, OTHER):
        ledger.add(paid)
    for reader in (ledger, Ledger(path)):
        assert reader.of("a/x1") == (ONE, FAILED)
        assert reader.of("b/x1") == (OTHER,)
        assert reader.of("c/x1") == ()


def test_a_reader_takes_in_what_others_add_later(tmp_path: Path) -> None:
    mine, other = Ledger(tmp_path / "l"), Ledger(tmp_path / "l")
    mine.add(ONE)
    assert other.spent_usd(PRICES) == COST
    mine.add(ONE)
    assert other.spent_usd(PRICES) == 2 * COST
    assert len(other.of("a/x1")) == 2


def test_a_failed_call_costs_nothing_and_an_unknown_one_is_none() -> None:
    assert [one.cost(PRICES) for one in (ONE, FAILED, OTHER)] == [COST, 0.0, None]
    answered_late = Paid("a", 1, "small", ONE.usage, 1, failed=True)
    assert answered_late.cost(PRICES) == COST


@pytest.mark.parametrize("torn", [b'{"schema":1,"unit":"a/x', b"\x00\x00"])
def test_a_line_that_was_broken_off_is_passed_over_and_the_next_is_whole(
    tmp_path: Path, torn: bytes
) -> None:
    path = tmp_path / "l"
    Ledger(path).add(ONE)
    with path.open("ab") as file:
        file.write(torn)
    assert Ledger(path).of("a/x1") == (ONE,)
    Ledger(path).add(FAILED)
    assert Ledger(path).of("a/x1") == (ONE, FAILED)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"{}", "line 2: no line of a ledger"),
        (b"[1]", "line 2: no line of a ledger"),
        (b'{"schema":9}', "line 2: schema 9 is newer than 1; update Paprika"),
        (
            b'{"schema":1,"unit":"a","call":1,"model":3,"usage":{},"attempts":1,"failed":false}',
            "line 2: no line of a ledger",
        ),
    ],
)
def test_a_line_that_is_something_else_is_named(tmp_path: Path, line: bytes, error: str) -> None:
    path = tmp_path / "l"
    Ledger(path).add(ONE)
    with path.open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(LedgerError, match=error):
        Ledger(path).of("a/x1")


def test_a_ledger_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match=r"file.l:"):
        Ledger(tmp_path / "file" / "l").add(ONE)


def add_many(path: Path, unit: str) -> None:
    ledger = Ledger(path)
    for call in range(40):
        ledger.add(Paid(unit, call, "small", ONE.usage, 1, failed=False))


def test_two_processes_add_without_loss(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=add_many, args=(tmp_path / "l", unit)) for unit in "ab"]
    for one in both:
        one.start()
    for one in both:
        one.join(30)
    found = Ledger(tmp_path / "l")
    assert [len(found.of(unit)) for unit in "ab"] == [40, 40]
    assert found.spent_usd(PRICES) == pytest.approx(80 * COST)
