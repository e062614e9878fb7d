"""Own words: which lines may reach the voice.

A line is said when each of its words is one the person used in the memory, in an approved line or
in the theme, or stands in the closed list of function words of the person's language
(`config/words.toml`: no negations, pronouns or verbs). Source: the seed, "use only the person's
own words and theme".

Words match exactly after NFKC and casefold. Whatever is not white space or a silent mark belongs
to a word, so look-alikes, zero-width marks, symbols and other scripts never match. In scripts
written without spaces (Han, Kana, Thai, …) a run of characters passes where it is a substring of
a run that was said; neighbouring single characters count as one run, or spaces could spell
anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from devices.types import PaprikaError

# Bopomofo, Han, Kana, Yi; Thai, Lao, Tibetan, Myanmar, Khmer; Tai, Balinese, Cham, Javanese.
_UNSPACED: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf"
    "\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U000323af"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u0f00\u0f18-\u0f19\u0f35-\u0f39"
    "\u0f3e-\u0fbc\u1000-\u103f\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f\u1780-\u17d3\u17dc-\u17dd"
    "\u1950-\u19df\u1a20-\u1aad\uaa80-\uaadf\u1b00-\u1b4c\uaa00-\uaa4d\ua980-\ua9c0"
)
# Marks a voice does not pronounce, as they stand after NFKC. Closed: %, & and @ are spoken.
_SILENT: Final = '.,;:!?()\\[\\]"\\-\u2010\u2012-\u2015\u201c-\u201f\u00ab\u00bb\u2039\u203a' + (
    "\u00bf\u00a1\u3001\u3002\u3008-\u3011\u3014-\u301b\u30fb\u0964\u0965\u060c\u061b\u061f"
)
_PIECE: Final = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}{_SILENT}\\s]+")
_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_APOSTROPHE: Final = "'"
_APOSTROPHES: Final = str.maketrans({"\u2018": _APOSTROPHE, "\u2019": _APOSTROPHE})


class WordsError(PaprikaError):
    """The table of function words is not one; the message names the key."""


@dataclass(frozen=True, slots=True)
class OwnWords:
    """What a person has said: words and runs as they stand after normalising."""

    known: frozenset[str]
    runs: frozenset[str] = frozenset()

    def said(self, line: str) -> bool:
        """Whether every word of the line was said; an empty line was not."""
        pieces = _pieces(line)
        return bool(pieces) and all(self._covers(piece) for piece in self._strung(pieces))

    def _covers(self, piece: str) -> bool:
        return piece in self.known or any(piece in run for run in self.runs)

    def _strung(self, pieces: Sequence[str]) -> Iterator[str]:
        """The pieces, with neighbouring single characters that were not said alone made one."""
        for lone, group in groupby(pieces, self._is_lone):
            neighbours = tuple(group)
            yield from ("".join(neighbours),) if lone else neighbours

    def _is_lone(self, piece: str) -> bool:
        return len(piece) == 1 and _is_run(piece) and piece not in self.known


def own_words(
    memory: str | None,
    lines: Sequence[str],
    theme: str,
    table: Mapping[str, object],
    *,
    language: str | None = None,
) -> OwnWords:
    """The own words of a session.

    table: `config/words.toml` as it was read. language: a tag such as `en` or `zh-Hans`; without
    one, the language of which the person used the most function words, and on a tie only the
    words that are function words in each of the tied languages.
    """
    spoken = frozenset(piece for text in (memory or "", theme, *lines) for piece in _pieces(text))
    own = OwnWords(spoken, frozenset(piece for piece in spoken if _is_run(piece)))
    lists = function_words(table)
    extra = _of_language(lists, language) if language else _of_speech(lists, own)
    return OwnWords(own.known | extra, own.runs)


def rewrite(lines: Sequence[str], memory: str | None) -> str | None:
    """What is whispered instead: the first approved line, else the memory; None: nothing."""
    return next((text for text in (*lines, memory or "") if _pieces(text)), None)


def function_words(table: Mapping[str, object]) -> dict[str, frozenset[str]]:
    """The lists of `config/words.toml` by language, normalised."""
    lists = table.get("function_words")
    if not isinstance(lists, Mapping):
        raise WordsError("words.toml: needs a table [function_words] of lists by language")
    return {str(language): _words(language, words) for language, words in lists.items()}


def _words(language: object, words: object) -> frozenset[str]:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise WordsError(f"words.toml: function_words.{language} must be a list of strings")
    pieces = [_pieces(word) for word in words]
    if any(len(found) != 1 for found in pieces):
        raise WordsError(f"words.toml: function_words.{language} must hold one word an entry")
    return frozenset(found[0] for found in pieces)


def _of_language(lists: Mapping[str, frozenset[str]], language: str) -> frozenset[str]:
    return lists.get(re.split("[-_]", language)[0].lower(), frozenset())


def _of_speech(lists: Mapping[str, frozenset[str]], own: OwnWords) -> frozenset[str]:
    used = {language: sum(map(own.said, words)) for language, words in lists.items()}
    most = max((0, *used.values()))
    if not most:
        return frozenset()
    return frozenset.intersection(*(lists[name] for name, count in used.items() if count == most))


def _pieces(text: str) -> list[str]:
    found = (piece.strip(_APOSTROPHE) for piece in _PIECE.findall(_normal(text)))
    return [piece for piece in found if piece]


def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_APOSTROPHES)


def _is_run(piece: str) -> bool:
    return _RUN.match(piece) is not None
