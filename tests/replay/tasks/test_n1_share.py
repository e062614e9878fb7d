"""Cues early in shown light sleep, against an expert who tells N1 from N2."""

import json
from pathlib import Path

import pytest

from agents.types import PlaySound
from bedside.recording import write_night
from devices.types import EPOCH_S, Volume
from replay.commands.tasks import tasks
from replay.experiment.folder import RunFolder
from replay.experiment.nights import opened
from replay.experiment.run import resolve
from replay.experiment.running import make
from replay.experiment.spec import RunSpec
from replay.importers import import_all
from replay.tasks.n1_share import N1Share, n1_share, n1_shares
from replay.tasks.start_points import start_points
from replay.tasks.task import StartKind
from replay.tasks.task_set import make_tasks
from replay.wake_rule import WakeTable
from tests.replay.nights import ALWAYS, Lived, night, recording
from tests.replay.tasks.made import NOBODY, noted, task_at, tried

SOUND = PlaySound(Volume.LOW, "now")
EVERY_STEP = dict.fromkeys(range(40), SOUND)
DOD = Path("../shared/data/hypnograms/dod/dodo")


def share(done: Lived, minutes: float) -> N1Share:
    return n1_share(done.trace, done.hidden, minutes=minutes)


def test_cues_of_the_first_minutes_are_counted_by_the_true_stage() -> None:
    #  step       0123456789
    shown = "WW" + "LLLLLLLL" + "W" * 50
    truth = "WW" + "W1122221" + "W" * 50
    done = tried(night(shown, truth=truth), task_at(0), EVERY_STEP)
    # 2 minutes of light are steps 2 to 5: true W, N1, N1, N2.
    assert share(done, 2.0) == N1Share(cues=4, n1=2, n2=1, awake=1, light=0, other=0)
    assert share(done, 0.5) == N1Share(cues=1, n1=0, n2=0, awake=1, light=0, other=0)
    assert share(done, 60.0) == N1Share(cues=8, n1=3, n2=4, awake=1, light=0, other=0)


def test_shares_are_percents_of_the_cues_that_sounded() -> None:
    found = N1Share(cues=4, n1=2, n2=1, awake=1, light=0, other=0)
    assert (found.n1_pct, found.n2_pct, found.awake_pct) == (50.0, 25.0, 25.0)
    assert share(tried(night("L" * 60), task_at(0), {}), 5.0).n1_pct is None


def test_each_stretch_of_light_begins_anew() -> None:
    shown = "LLWLL" + "W" * 50
    truth = "12W12" + "W" * 50
    done = tried(night(shown, truth=truth), task_at(0), EVERY_STEP)
    assert share(done, 0.5) == N1Share(cues=2, n1=2, n2=0, awake=0, light=0, other=0)


def test_shown_n1_is_shown_light() -> None:
    done = tried(night("12" + "W" * 50), task_at(0), EVERY_STEP)
    assert share(done, 1.0) == N1Share(cues=2, n1=1, n2=1, awake=0, light=0, other=0)


def test_light_that_does_not_tell_n1_is_counted_apart() -> None:
    done = tried(night("LLDR" + "W" * 50, truth="LDLR" + "W" * 50), task_at(0), EVERY_STEP)
    assert share(done, 1.0) == N1Share(cues=2, n1=0, n2=0, awake=0, light=1, other=1)


def test_a_cue_into_inserted_wake_falls_in_wake() -> None:
    # The first sound is decided 29 s late and wakes from 90 s on; the second, at 60.5 s, while
    # light is still shown, meets a sleeper who is awake already.
    done = tried(
        night("1" * 60),
        task_at(0),
        {0: (29.0, SOUND), 1: (0.5, SOUND)},
        table=WakeTable(ALWAYS, 4),
    )
    assert [line["cue"] for line in noted(done, "awake_already")] == [2]
    assert share(done, 60.0) == N1Share(cues=2, n1=1, n2=0, awake=1, light=0, other=0)


def test_a_refused_cue_is_no_cue() -> None:
    unsaid = PlaySound("loud", "now")  # type: ignore[arg-type]
    done = tried(night("1" * 60), task_at(0), {0: unsaid, 1: SOUND})
    assert share(done, 5.0) == N1Share(cues=1, n1=1, n2=0, awake=0, light=0, other=0)


def test_a_run_tells_it_by_agent_and_night(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = "W" + "LLLLDD" * 12 + "W" * 5
    path = tmp_path / "told.mcap"
    write_night(path, recording(letters, truth="W" + "W122DD" * 12 + "W" * 5, night_id="told"))
    run = resolve(RunSpec(("wait", "random"), nights=(path,), dropout=0.0))
    folder = make(run, tmp_path / "run").folder.path
    shares = n1_shares(RunFolder.open(folder), minutes=1.0)
    assert set(shares) == {("wait", "told"), ("random", "told")}
    assert shares["wait", "told"] == N1Share(0, 0, 0, 0, 0, 0)
    cued = shares["random", "told"]
    assert cued.cues == cued.n1 + cued.awake + cued.other > 0  # the first minute is true W, N1
    assert cued.n1

    assert tasks(n1_share=folder, minutes=1.0, json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["minutes"] == 1.0
    assert {one["agent"]: one["n1"] for one in told["shares"]} == {"wait": 0, "random": cued.n1}
    assert tasks(n1_share=folder, minutes=1.0) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"{100 * cued.n1 / cued.cues:.0f} %" in next(x for x in lines if x.startswith("random"))
    assert max(map(len, lines)) <= 80


def test_on_a_recorded_night_the_shares_are_those_of_the_experts(tmp_path: Path) -> None:
    if not DOD.is_dir():
        pytest.skip(f"needs {DOD}")
    folder = min(path for path in DOD.iterdir() if path.is_dir())
    made = import_all([folder], tmp_path)
    recorded = opened(tmp_path / f"{made.nights[0].id}.mcap", "device", in_memory=True)
    assert StartKind.N1_ONSET not in start_points(recorded, tuple(StartKind)).lacking
    (task,) = make_tasks(recorded, seeds=(1,), kinds=(StartKind.N1_ONSET,))
    done = tried(recorded, task, EVERY_STEP, table=NOBODY)

    # The same from the label files alone: shown label, true label, epoch by epoch.
    first = task.start.epoch
    truth = [stage.value for stage in recorded.hidden]
    shown = [stage.value for stage in recorded.shown]
    expected = {"n1": 0, "n2": 0, "awake": 0}
    in_light = 0
    for epoch in range(first):
        in_light = _minutes_on(shown[epoch], in_light)
    for epoch in range(first, first + 40):
        in_light = _minutes_on(shown[epoch], in_light)
        is_light = shown[epoch] in ("n1", "n2", "light")
        if is_light and in_light * EPOCH_S <= 120 and truth[epoch] in expected:
            expected[truth[epoch]] += 1
    found = share(done, 2.0)
    assert (found.n1, found.n2, found.awake) == tuple(expected.values())
    assert truth[first] == "n1"
    assert found.light == 0


def _minutes_on(stage: str, epochs: int) -> int:
    """Epochs in shown light so far; a gap of the device neither counts nor ends it."""
    if stage == "unknown":
        return epochs
    return epochs + 1 if stage in ("n1", "n2", "light") else 0
