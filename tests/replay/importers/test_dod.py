from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bedside.recording import MemoryRecording
from devices.types import Sample, Stage, StageReading, Stream, Truth
from replay.hypnogram import letters, shown_stages, true_stages
from replay.importers import ImportFailed, ImportOptions, recognised
from replay.importers.dod import ALL_SCORING, BEST_MATCH, SAME_LENGTH, majority, place, read

Folder = Callable[..., Path]
W, N1, N2, N3, R, NONE = (
    Stage.AWAKE, Stage.N1, Stage.N2, Stage.DEEP, Stage.REM, Stage.UNKNOWN,
)  # fmt: skip
FOLDER = "dodh/0123abcd-0000-0000-0000-000000000000"


@pytest.fixture
def folder(write: Callable[[str, str | bytes], Path]) -> Folder:
    """Write a night's folder: five scorers' labels, then the automatic ones."""

    def written(scored: Sequence[Sequence[int]], name: str = FOLDER, **automatic: object) -> Path:
        for k, labels in enumerate(scored, 1):
            path = write(f"{name}/scorer_{k}.json", json.dumps(labels))
        for staging, labels in automatic.items():
            write(f"{name}/{staging}.json", json.dumps(labels))
        return path.parent

    return written


def night(path: Path, options: ImportOptions | None = None) -> MemoryRecording:
    (found,) = read(path, options or ImportOptions())
    assert isinstance(found, MemoryRecording)
    return found


def test_the_truth_is_the_majority_and_the_device_is_the_automatic_staging(folder: Folder):
    found = night(
        folder([[0, 2, 4], [0, 2, 4], [0, 2, 4], [1, 3, 0], [1, 3, 0]], auto_f4_o2=[0, 3, 4])
    )
    assert found.truth() == (Truth(15.0, W), Truth(45.0, N2), Truth(75.0, R))
    assert list(found.samples()) == [
        Sample(Stream.STAGE, 15.0, StageReading(W), "auto_f4_o2"),
        Sample(Stream.STAGE, 45.0, StageReading(N3), "auto_f4_o2"),
        Sample(Stream.STAGE, 75.0, StageReading(R), "auto_f4_o2"),
    ]
    assert found.info.night_id == "dodh-0123abcd"
    assert found.info.kind == "psg_5_scorers"
    assert found.info.truth_origin == "majority of five scorers"


def test_the_other_staging_can_stand_for_the_device(folder: Folder):
    path = folder([[2, 2]] * 5, auto_f4_o2=[2, 2], auto_simplenet=[3, 4])
    found = night(path, ImportOptions(device_stage="auto_simplenet"))
    assert letters(shown_stages(found)) == "DR"
    assert letters(true_stages(found)) == "LL"


def test_a_tie_goes_to_the_tied_label_of_the_scorer_who_agrees_most():
    # Epoch 2 is two N1, two N2, one REM. Epochs in which a scorer agrees with each other one:
    # A and B 3+1+1+2 = 7, C and D 1+1+3+1 = 6, E 2+2+1+1 = 6. A and B lead and say N1.
    scored = [
        [W, N3, N1],
        [W, N3, N1],
        [W, R, N2],
        [W, R, N2],
        [W, N3, R],
    ]
    assert majority(scored) == [W, N3, N1]


def test_a_tie_can_go_to_the_third_scorer_when_he_agrees_most():
    # The last epoch is two N1, two N2, one REM. A and B agree with one another once, so 1 each;
    # C and D 3+2 = 5, E 2+2 = 4. C and D lead and say N2.
    scored = [
        [W, W, N1],
        [N1, N1, N1],
        [N3, N3, N2],
        [N3, N3, N2],
        [N3, N3, R],
    ]
    assert majority(scored) == [N3, N3, N2]


def test_not_scored_is_a_label_like_any_other():
    scored = [[NONE, W], [NONE, W], [NONE, W], [W, W], [W, W]]
    assert majority(scored) == [NONE, W]


def test_a_staging_as_long_as_the_scorers_begins_with_them():
    truth = [W, W, N2]
    assert place([W, N2, N2], [truth] * 5, truth) == (0, SAME_LENGTH)


def test_a_shorter_staging_begins_where_every_scorer_has_begun():
    scored = [[NONE, W, N2, N2, R], *[[W, W, N2, N2, NONE]] * 4]
    assert place([R, R, R], scored, majority(scored)) == (1, ALL_SCORING)


def test_holes_inside_do_not_move_the_begin():
    scored = [[NONE, W, NONE, N2, R], *[[W, W, N2, NONE, NONE]] * 4]
    assert place([R, R], scored, majority(scored)) == (1, ALL_SCORING)


def test_else_a_staging_stands_where_it_fits_best_and_earliest():
    truth = [W, W, N2, R, R, W, W]
    assert place([N2, R, R], [truth] * 5, truth) == (2, BEST_MATCH)
    assert place([W], [truth] * 5, truth) == (0, BEST_MATCH)


def test_before_and_after_a_shorter_staging_the_device_shows_nothing(folder: Folder):
    path = folder([[-1, 0, 2, -1]] + [[0, 0, 2, 2]] * 4, auto_f4_o2=[0, 2])
    found = night(path)
    assert letters(shown_stages(found)) == "?WL?"
    assert letters(true_stages(found)) == "WWLL"
    assert found.info.notes == (f"auto_f4_o2 begins at epoch 1: {ALL_SCORING}",)


def test_a_folder_of_scorers_is_recognised_and_another_is_not(folder: Folder, tmp_path: Path):
    assert recognised(folder([[0]] * 5)).FORMAT == "dod"
    with pytest.raises(ImportFailed, match="not a recording"):
        recognised(tmp_path)


@pytest.mark.parametrize(
    ("name", "night_id"),
    [
        ("dodo/89abcdef-1", "dodo-89abcdef"),
        ("mine/89abcdef-1", "dod-89abcdef"),
        ("mine/first night", "dod-first-night"),
    ],
)
def test_the_id_is_of_the_group_and_the_folder(folder: Folder, name: str, night_id: str):
    assert night(folder([[0, 1]] * 5, name=name, auto_f4_o2=[0, 1])).info.night_id == night_id


@pytest.mark.parametrize(
    ("scored", "automatic", "message"),
    [
        ([[0]] * 4, [0], "scorer_5.json is missing"),
        ([[0]] * 4 + [[0, 1]], [0], "the scorers differ in length (1, 1, 1, 1, 2)"),
        ([[0]] * 5, [0, 1], "auto_f4_o2.json: 2 epochs, more than the 1 of the scorers"),
        ([[0, 9]] * 5, [0], "scorer_1.json, epoch 1: unknown stage '9'"),
        ([[0, 1.5]] * 5, [0], "scorer_1.json, epoch 1: '1.5' is no integer"),
        ([[0, True]] * 5, [0], "scorer_1.json, epoch 1: 'True' is no integer"),
        ([[]] * 5, [0], "scorer_1.json: is not a list of integers"),
        ([{"0": 1}] * 5, [0], "scorer_1.json: is not a list of integers"),
        ([[-1, -1]] * 5, [0, 0], "not one valid epoch in 2"),
        ([[0] * 5761] * 5, [0], "scorer_1.json: spans 48.0 h"),
    ],
)
def test_a_bad_night_is_refused_by_file_and_epoch(
    folder: Folder, scored: list[list[int]], automatic: list[int], message: str
):
    with pytest.raises(ImportFailed) as failure:
        night(folder(scored, auto_f4_o2=automatic))
    assert message in str(failure.value)
    assert "0123abcd" in str(failure.value)


def test_a_night_without_the_asked_staging_is_refused(folder: Folder):
    with pytest.raises(ImportFailed, match=r"auto_f4_o2\.json is missing"):
        night(folder([[0]] * 5))
    with pytest.raises(ImportFailed, match="give auto_f4_o2 or auto_simplenet"):
        night(folder([[0]] * 5), ImportOptions(device_stage="auto_best"))


def test_a_cut_file_says_its_byte(folder: Folder):
    path = folder([[0, 1]] * 5, auto_f4_o2=[0, 1])
    (path / "scorer_2.json").write_text("[0,1")
    with pytest.raises(ImportFailed, match=r"scorer_2\.json, byte 4: is not JSON"):
        night(path)


def test_lenient_takes_unknown_integers_as_not_scored(folder: Folder):
    found = night(folder([[0, 7]] * 5, auto_f4_o2=[0, 7]), ImportOptions(lenient=True))
    assert letters(true_stages(found)) == "W?"
    assert found.info.notes[-1].startswith("6 labels of unknown stages")
