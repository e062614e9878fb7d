"""The version of Paprika; `pyproject.toml` and `CITATION.cff` say the same."""

from typing import Final

VERSION: Final = "0.1.0"
