"""Tables and paragraphs for a terminal of 80 columns or more, in ASCII where it has no more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from replay.screen import ASCII
from replay.wording import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NARROWEST: Final = 80
"""A narrower terminal breaks the lines of a table itself; no figure is cut."""
WIDEST: Final = 120
NARROWEST_NAME: Final = 6
"""Columns of names are folded where a table is too wide; figures never are."""


class Paper:
    """Prints to a console, by default standard output; no line is wider than `width`."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(highlight=False)
        self.width: Final = min(max(self._console.width, NARROWEST), WIDEST)

    def blank(self) -> None:
        self._console.print()

    def words(self, words: str, *, style: str = "") -> None:
        """A paragraph, broken between words."""
        from rich.text import Text

        self._print(Text(self._said(words), style))

    def table(
        self,
        title: str,
        headings: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        names: int = 1,
    ) -> None:
        """A table under its title; the first columns are `names`, the rest figures."""
        from rich.table import Table
        from rich.text import Text

        drawn = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        for heading in headings[:names]:
            drawn.add_column(self._said(heading), overflow="fold", min_width=NARROWEST_NAME)
        for heading in headings[names:]:
            drawn.add_column(self._said(heading), justify="right", no_wrap=True)
        for cells in rows:
            drawn.add_row(*(Text(self._said(cell)) for cell in cells))
        self.blank()
        self.words(title, style="bold")
        self._print(drawn)

    def _print(self, drawn: RenderableType) -> None:
        """Line by line, so that a narrower console neither cuts nor pads."""
        from rich.text import Text

        options = self._console.options.update(width=self.width)
        for segments in self._console.render_lines(drawn, options, pad=False):
            line = Text.assemble(*((one.text, one.style or "") for one in segments))
            line.rstrip()
            self._console.print(line, crop=False, soft_wrap=True)

    def _said(self, words: str) -> str:
        plain = "\n".join(clean(line) for line in words.split("\n"))
        if not self._console.options.ascii_only:
            return plain
        return plain.replace("≤", "<=").translate(ASCII).encode("ascii", "replace").decode("ascii")
