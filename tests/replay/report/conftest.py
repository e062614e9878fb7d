"""One run of real attempts that every test of the pages looks at, and its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.experiment.folder import RunFolder, write_database
from replay.experiment.verdict_sets import add_verdicts
from replay.report.folder import write_report
from replay.scores.verdicts import Property, Value, Verdict
from tests.replay.experiment.runs import agent_file, made, small_run

REASON = "</script><script>document.title='taken'</script>&<img src=x onerror=alert(1)>\\u202e"
"""What an agent may say; `\\u202e` turns the rest of a line round."""
HOSTILE = f"""
        from agents.types import Whisper
        if self.step % 9 == 8:
            return Whisper("burning <b>house</b>", reason="{REASON}")
        if self.step == 5:
            return PlaySound(reason="梦 حلم")
        return Wait("{REASON}")"""


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Three rule agents and one that says hostile things, graded twice: by a checker that failed
    everything, then by the real one."""
    folder = tmp_path_factory.mktemp("run")
    agents = ("wait", "fixed_timer", "rem_rule", agent_file(folder, HOSTILE.strip(), "evil"))
    planned = small_run(folder, *agents, seeds=(1, 2, 6), scales=(0.5, 1.0), dropout=0.05)
    found = made(planned, folder / "made").folder
    real = list(found.verdicts().values())
    (old,) = found.verdict_sets()
    old.path.unlink()
    add_verdicts(found.path, [Verdict(v.key, {Property.NO_WAKING: Value.FAIL}) for v in real])
    add_verdicts(found.path, real)
    write_database(found.path, found.rows())
    return RunFolder.open(found.path)


@pytest.fixture(scope="session")
def pages(run: RunFolder) -> Path:
    return write_report(run).parent
