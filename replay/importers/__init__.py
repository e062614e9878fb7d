"""Importers: recordings of the field, read to `Recording` values. A module reads one format.

    from replay.importers import import_all
    result = import_all(["nights/"], "imported/")

Errors: `ImportFailed` alone, one clear line each.
"""

from replay.importers.batch import Found, ImportedNight, ImportResult, find, import_all
from replay.importers.intake import ImportFailed, ImportOptions
from replay.importers.registry import FORMATS, recognised

__all__ = [
    "FORMATS",
    "Found",
    "ImportFailed",
    "ImportOptions",
    "ImportResult",
    "ImportedNight",
    "find",
    "import_all",
    "recognised",
]
