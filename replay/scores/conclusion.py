"""What may be concluded from a comparison of two agents, in words."""

from __future__ import annotations

from enum import StrEnum


class Word(StrEnum):
    """What a comparison of two agents comes to.

    Attempts that share sleep are no independent pairs: higher is said only where it also holds
    with whole clusters exchanged.
    """

    FIRST_HIGHER = "first higher"
    SECOND_HIGHER = "second higher"
    FIRST_ON_THESE_DICE = "first higher on these dice; on other sleep not distinguishable"
    SECOND_ON_THESE_DICE = "second higher on these dice; on other sleep not distinguishable"
    NOT_DISTINGUISHABLE = "not distinguishable"

    @property
    def short(self) -> str:
        """Without the limit, which must then stand below."""
        return self.value.partition("; ")[0]

    @property
    def limit(self) -> str:
        """What bounds the conclusion: `on other sleep not distinguishable`; else nothing."""
        return self.value.partition("; ")[2]
