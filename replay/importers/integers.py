"""Files of one integer a line, as two formats have them: labels of seconds or of epochs.

Without comments, and without a code that only one of them knows, nobody can tell them apart.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from replay.importers.intake import HEAD_BYTES, ImportFailed, read_text, shown


def codes(path: Path) -> tuple[list[str], list[tuple[int, str]]]:
    """The comments (without `#`), and each integer with its line number."""
    comments: list[str] = []
    found: list[tuple[int, str]] = []
    plain: dict[str, str] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        code = plain.get(line)
        if code is None:
            code = _plain(line, f"{path.name}, line {number}", comments)
            if code is None:
                continue
            plain[line] = code
        found.append((number, code))
    if not found:
        raise ImportFailed(f"{path.name}: has no labels; export or copy it again")
    return comments, found


@dataclass(frozen=True, slots=True)
class Look:
    """What the start of a file of integers shows."""

    commented: bool
    lowest: int
    highest: int


def look(head: bytes) -> Look | None:
    """None where the file is not mostly integers, the first of them first."""
    if not head.isascii():
        return None
    lines = head.decode("ascii").split("\n")
    if len(head) >= HEAD_BYTES:
        lines.pop()
    counts = Counter(lines)
    labels = {line: text for line in counts if (text := line.strip()) and text[0] != "#"}
    values = {line: int(text) for line, text in labels.items() if is_integer(text)}
    first = next(iter(labels), None)
    if first not in values or 2 * sum(map(counts.__getitem__, values)) < sum(
        map(counts.__getitem__, labels)
    ):
        return None
    commented = any(line.lstrip().startswith("#") for line in counts)
    return Look(commented, min(values.values()), max(values.values()))


def is_integer(text: str) -> bool:
    """A short decimal integer in ASCII digits."""
    digits = text.removeprefix("-")
    return len(digits) <= 4 and digits.isascii() and digits.isdigit()


def _plain(line: str, place: str, comments: list[str]) -> str | None:
    """The integer of a line as the code tables write it; None of a blank or comment line."""
    text = line.strip()
    if text.startswith("#"):
        comments.append(text.lstrip("# "))
    elif is_integer(text):
        return str(int(text))
    elif text:
        raise ImportFailed(f"{place}: {shown(text)} is no integer; repair the line")
    return None
