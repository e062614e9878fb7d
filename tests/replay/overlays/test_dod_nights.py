"""The committed overlays on the 37 nights they were fitted to, and the nights' own figures."""

import json
from functools import cache

import pytest

from devices.types import Stage
from replay.importers.intake import ImportFailed, ImportOptions
from replay.importers.zeo import read as read_zeo
from replay.overlays import overlaid, overlay_named
from replay.overlays.agreement import Agreed, Counts, agreed, kappa, quantile
from replay.overlays.confusion import TOLD
from replay.overlays.expectation import Expectation, stacked
from replay.overlays.fit import main
from replay.overlays.fitting import (
    NothingToFit,
    Pair,
    changes,
    fit_confusion,
    fit_pairs,
    fitted_chain,
    told_apart,
)
from replay.recorded_night import RecordedNight
from tests.replay.nights import night
from tests.replay.overlays.devices import DATA, D, R, W, dod_nights, stages

pytestmark = pytest.mark.data


@cache
def nights() -> list[RecordedNight]:
    return dod_nights()


@cache
def shown(name: str) -> list[Pair]:
    overlay = overlay_named(name)
    laid = (overlaid(one, overlay, seed=seed) for seed in (1, 2) for one in nights())
    return told_apart(laid)


@cache
def found(name: str) -> Agreed:
    return agreed(shown(name))


def test_the_recorded_device_agrees_as_the_data_s_own_figures_say() -> None:
    for one in nights():
        meta = json.loads((DATA / "meta" / f"{one.info.night_id}.json").read_text())
        figures = meta["automatic"]["auto_f4_o2"]
        measured = agreed(told_apart([one]))
        assert measured.epochs == figures["compared_epochs"]
        assert 100 * (measured.agreement or 0) == pytest.approx(
            figures["agree_with_majority_4class_pct"], abs=0.051
        )
        for share, key in (
            (measured.found[R], "true_rem_called_rem_pct"),
            (measured.right[R], "called_rem_truly_rem_pct"),
        ):
            assert (share is None) == (figures[key] is None)
            if share is not None:
                assert 100 * share == pytest.approx(figures[key], abs=0.051)


def expected(name: str) -> Counts:
    """What the overlay shows of these nights on the average over all seeds, without a roll."""
    overlay, true = overlay_named(name), stacked([one.hidden for one in nights()])
    made = [
        (grade.share, Expectation(grade.chain, true).counts(overlay.delay_epochs))
        for grade in overlay.grades
    ]
    return {
        stage: {said: sum(share * counts[stage][said] for share, counts in made) for said in TOLD}
        for stage in TOLD
    }


def share_found(counts: Counts, stage: Stage) -> float:
    return counts[stage][stage] / sum(counts[stage].values())


def test_the_consumer_overlay_finds_wake_and_reaches_kappa_as_published_for_a_zeo() -> None:
    counts = expected("consumer")
    assert share_found(counts, W) == pytest.approx(0.408, abs=0.003)
    assert kappa(counts) == pytest.approx(0.56, abs=0.003)


def test_the_dice_of_a_few_seeds_come_near_to_it() -> None:
    assert found("consumer").found[W] == pytest.approx(0.408, abs=0.04)
    assert found("consumer").kappa == pytest.approx(0.56, abs=0.03)


def test_the_consumer_overlay_changes_its_mind_as_often_as_a_real_headband() -> None:
    files = sorted((DATA / "hypnograms" / "zeo").glob("*.csv"))
    worn = [
        RecordedNight(one).shown
        for file in files
        for one in read_zeo(file, ImportOptions())
        if not isinstance(one, ImportFailed)
    ]
    assert len(worn) == 41
    often = changes(said for _, said in shown("consumer"))
    assert often == pytest.approx(changes(worn), rel=0.05)


def test_the_confusion_overlay_errs_as_often_as_the_recorded_device() -> None:
    real, counts = agreed(told_apart(nights())), expected("confusion")
    assert kappa(counts) == pytest.approx(real.kappa, abs=0.01)
    for stage in TOLD:
        assert share_found(counts, stage) == pytest.approx(real.found[stage], abs=0.015)


def test_the_confusion_overlay_s_errors_last_about_as_long() -> None:
    real, model = agreed(told_apart(nights())).runs, found("confusion").runs
    assert [quantile(real, share) for share in (0.5, 0.75, 0.9)] == [1, 2, 6]
    assert [quantile(model, share) for share in (0.5, 0.75)] == [1, 3]
    assert quantile(model, 0.9) in (5, 6)
    assert sum(model) / len(model) == pytest.approx(sum(real) / len(real), rel=0.15)


def test_a_fit_finds_each_stage_as_often_as_its_nights_do() -> None:
    few = [(true[300:600], said[300:600]) for true, said in told_apart(nights()[::4])]
    (grade,) = fit_pairs(few, name="few", grades=1).grades
    counts = Expectation(grade.chain, stacked([true for true, _ in few])).counts()
    real = agreed(few)
    for stage in TOLD:
        assert share_found(counts, stage) == pytest.approx(real.found[stage], abs=0.005)


def test_chances_are_counted_step_by_step() -> None:
    """After REM shown in true REM: 3 of 4 stay, 1 turns to light; the prior is 4 epochs."""
    pair = stages("RRRRRR"), stages("RRRRLR")
    row = fitted_chain([pair])[R][R]
    share = 5 / 6  # of true REM shown as REM
    assert row[3] == pytest.approx((3 + 4 * share) / (4 + 4))
    assert row[1] == pytest.approx((1 + 4 * (1 - share)) / (4 + 4))


def test_grades_are_thirds_by_kappa_best_first() -> None:
    good = stages("WLDR" * 20), stages("WLDR" * 20)
    bad = stages("WLDR" * 20), stages("LLDL" * 20)
    model = fit_pairs([bad, good, good, bad, good, bad], name="m", grades=2)
    assert [grade.share for grade in model.grades] == [0.5, 0.5]
    # PRIOR: rows of few epochs lean on all nights, so the good grade errs a little.
    assert model.grades[0].chain[R][D][3] > 0.8 > 0.3 > model.grades[1].chain[R][D][3]


def test_nights_without_a_truth_do_not_serve() -> None:
    with pytest.raises(NothingToFit, match="0 nights have both"):
        fit_confusion([night("WWLLRR")])


def test_the_command_refuses_a_folder_without_nights(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert main([]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors == [
        "0 nights have both a device's stages and a truth, 3 are needed; "
        "import the Dreem Open Datasets",
        "usage: python -m replay.overlays.fit NIGHTS",
    ]
