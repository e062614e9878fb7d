"""Tables of the pages: a caption, heads with a scope, and cells that escape what they are given."""

from __future__ import annotations

import re
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
    lines = list(rows)
    numbers = [isinstance(cell, Cell) and cell.style == "n" for cell in lines[0]] if lines else []
    head = "".join(
        f'<th scope="col"{_right(place, numbers)}>{escape(words)}</th>'
        for place, words in enumerate(heads)
    )
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in lines)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(clean(caption))}">'
        f'<table class="table"><caption><span>{escape(clean(caption))}</span></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def scored(found: Rate | None) -> Cell:
    """Passed of planned, a range while attempts are open, and the interval around it."""
    if found is None:
        return Cell(NOTHING)
    return Cell(
        rate_in_words(found), f"{count_in_words(found)} {interval_in_words(found.interval)}"
    )


def _right(place: int, numbers: Sequence[bool]) -> str:
    """The head of a column of numbers stands over them."""
    return ' class="n"' if place < len(numbers) and numbers[place] else ""


def _unbroken(words: str) -> str:
    """An interval in brackets stays on one line."""
    return re.sub(r"\[[^][<>&]*\]", r'<span class="word">\g<0></span>', data(words))


def _cells(row: Sequence[Cell | str]) -> Iterable[str]:
    for place, given in enumerate(row):
        cell = Cell(given, style="") if isinstance(given, str) else given
        small = f"<small>{_unbroken(cell.small)}</small>" if cell.small else ""
        style = f' class="{cell.style}"' if cell.style else ""
        tag, scope = ("td", "") if place else ("th", ' scope="row"')
        yield f"<{tag}{scope}{style}>{data(cell.words)}{small}</{tag}>"
