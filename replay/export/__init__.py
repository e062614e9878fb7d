"""Attempts as records for learning and analysis, in the RLDS shape: JSON Lines and Parquet.

Keys and their meaning: `docs/reference/export.md`.
"""

from replay.export.errors import ExportError
from replay.export.writing import Exported, export

__all__ = ["ExportError", "Exported", "export"]
