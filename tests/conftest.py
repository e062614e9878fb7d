"""What every test shares: how hypothesis runs, and where recorded nights are found."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

ROOT = Path(__file__).resolve().parent.parent
FUZZ_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "1000000"))

# A change is judged by the same inputs everywhere; `make fuzz` looks for new ones.
settings.register_profile("change", deadline=None, database=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, database=None, max_examples=FUZZ_EXAMPLES)
settings.load_profile("change")
set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "paprika-hypothesis")


@pytest.fixture(scope="session")
def recorded_nights() -> Path:
    """The folder of recorded nights beside the checkout."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the recorded nights in ../shared/data")
    return folder


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None):
    """What a module leaves behind (nights that fixtures keep) is no longer walked by the collector,
    which otherwise takes half of the time of the last tests."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
