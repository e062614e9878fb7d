"""What can go wrong in an export."""

from __future__ import annotations

from devices.types import PaprikaError


class ExportError(PaprikaError):
    """Something cannot be exported; the message names file, line and key, and what to do."""
