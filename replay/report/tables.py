"""Tables of the pages: a caption, heads with a scope, and cells that escape what they are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from replay.scores.figures import Rate
from replay.scores.score_words import NOTHING, count_in_words, interval_in_words, rate_in_words
from replay.wording import clean


@dataclass(frozen=True, slots=True)
class Cell:
    """words: escaped here. small: a second line. style: class of the cell, `n` for numbers."""

    words: str
    small: str = ""
    style: str = "n"


def data(words: object) -> str:
    """Words from a recording, an agent or a service, fit for HTML and kept in their direction."""
    return f"<bdi>{escape(clean(str(words)))}</bdi>"


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Cell | str]]) -> str:
    """The first cell of a row is its head; a string is a cell of words."""
    head = "".join(f'<th scope="col">{escape(words)}</th>' for words in heads)
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(clean(caption))}">'
        f'<table class="table"><caption>{escape(clean(caption))}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def scored(found: Rate | None) -> Cell:
    """Passed of planned, a range while attempts are open, and the interval around it."""
    if found is None:
        return Cell(NOTHING)
    return Cell(rate_in_words(found), f"{count_in_words(found)} {interval_in_words(found.interval)}")


def _cells(row: Sequence[Cell | str]) -> Iterable[str]:
    for place, given in enumerate(row):
        cell = Cell(given, style="") if isinstance(given, str) else given
        small = f"<small>{data(cell.small)}</small>" if cell.small else ""
        style = f' class="{cell.style}"' if cell.style else ""
        tag, scope = ("td", "") if place else ("th", ' scope="row"')
        yield f"<{tag}{scope}{style}>{data(cell.words)}{small}</{tag}>"
