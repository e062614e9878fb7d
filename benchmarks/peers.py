"""Peers on the same night, in the same run, where their extra is installed (`make bench-peers`)."""

from __future__ import annotations

from pathlib import Path


def show(path: Path) -> None:
    """Print what each installed peer takes for the EEG of this night."""
    print("\npeers: none installed here; `make bench-peers` installs and measures them")
