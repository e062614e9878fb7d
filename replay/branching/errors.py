"""What can go wrong with a branch."""

from __future__ import annotations

from devices.types import PaprikaError


class BranchError(PaprikaError):
    """A trace cannot be branched; the message names file, line or key, and what to do."""
