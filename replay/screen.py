"""Lines that fit a console: labelled, wrapped between items, plain where it cannot do better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

WIDEST: Final = 100
NARROWEST: Final = 40
LABEL_COLUMNS: Final = 10
ASCII: Final = str.maketrans({"█": "#", "▲": "^", "╵": "|", "×": "x", "–": "-", "·": "-", "…": "~"})
"""For consoles whose encoding has no more; what is not in here becomes a question mark."""
Piece = tuple[str, str]
"""Words and their style."""


class Screen:
    """Prints to a console, by default standard output; no line is wider than `width`."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(highlight=False)
        self.width: Final = min(max(self._console.width, NARROWEST), WIDEST)

    def blank(self) -> None:
        self._print([("", "")])

    def line(self, label: str, pieces: Iterable[Piece]) -> None:
        """One line as it is; the caller knows that it fits."""
        self._print([(f"{label:>{LABEL_COLUMNS - 2}}  ", "bold"), *pieces])

    def flow(
        self, label: str, items: Iterable[str], *, between: str = "  ", style: str = ""
    ) -> None:
        """Items beside a label, as many a line as fit; only an item longer than a line is cut."""
        for number, words in enumerate(_flowed(items, between, self.width - LABEL_COLUMNS)):
            self.line("" if number else label, [(words, style)])

    def heading(self, items: Iterable[str], *, between: str = " · ", style: str = "") -> None:
        """Items over the whole width."""
        for words in _flowed(items, between, self.width):
            self._print([(words, style)])

    def link(self, label: str, words: str, address: str) -> None:
        """An address that a terminal can open; never broken, so that it can be copied."""
        self.line(label, [(words, f"link {address}")])

    def _print(self, pieces: Iterable[Piece]) -> None:
        from rich.text import Text

        plain = self._console.options.ascii_only
        line = Text(end="\n", no_wrap=True, overflow="crop")
        for words, style in pieces:
            line.append(_ascii(words) if plain else words, style)
        line.rstrip()
        self._console.print(line, crop=False, soft_wrap=True)


def _flowed(items: Iterable[str], between: str, width: int) -> Iterator[str]:
    from rich.cells import cell_len

    line = ""
    for item in items:
        joined = f"{line}{between}{item}" if line else item
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            yield line
        *whole, line = _broken(item, width)
        yield from whole
    if line:
        yield line


def _broken(item: str, width: int) -> list[str]:
    """An item as lines, broken between words, and within one that is longer than a line."""
    from rich.cells import cell_len, chop_cells

    lines = [""]
    for word in item.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines = [*filter(None, lines), *chop_cells(word, width)]
    return lines


def _ascii(words: str) -> str:
    return words.translate(ASCII).encode("ascii", "replace").decode("ascii")
