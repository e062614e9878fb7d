import copy
from typing import Any

import pytest

from bedside.configuration import default_toml
from devices.types import CueKind, Stage, Volume
from replay.wake_rule import WakeTableError, wake_table

TABLE = default_toml("wake_table")
LOW, MEDIUM, HIGH = Volume.LOW, Volume.MEDIUM, Volume.HIGH

SEED = {
    Stage.LIGHT: (0.08, 0.20, 0.45),
    Stage.REM: (0.05, 0.15, 0.40),
    Stage.DEEP: (0.02, 0.08, 0.20),
}
"""Low, medium, high. Source: the seed document, 04, assumptions and limits."""


@pytest.mark.parametrize("stage", SEED)
def test_the_bundled_table_is_the_seed_s(stage: Stage) -> None:
    table = wake_table(TABLE)
    assert tuple(table.chance(stage, CueKind.SOUND, v) for v in (LOW, MEDIUM, HIGH)) == SEED[stage]
    assert table.awake_epochs == 4


def test_n1_and_n2_wake_as_light() -> None:
    table = wake_table(TABLE)
    for fine in (Stage.N1, Stage.N2):
        assert table.chance(fine, CueKind.WHISPER, HIGH) == 0.45


@pytest.mark.parametrize("kind", [CueKind.SCENT, CueKind.LIGHT, CueKind.DIFFUSER])
def test_an_object_has_the_low_row_whatever_its_volume(kind: CueKind) -> None:
    assert wake_table(TABLE).chance(Stage.REM, kind, HIGH) == 0.05


@pytest.mark.parametrize("stage", [Stage.AWAKE, Stage.UNKNOWN])
def test_awake_or_unknown_rolls_nothing(stage: Stage) -> None:
    assert wake_table(TABLE, 4.0).chance(stage, CueKind.SOUND, HIGH) is None


def test_scale_multiplies_and_stops_at_one() -> None:
    table = wake_table(TABLE, 4.0)
    assert table.chance(Stage.LIGHT, CueKind.SOUND, LOW) == pytest.approx(0.32)
    saturated = [
        (stage, volume)
        for stage in SEED
        for volume in (LOW, MEDIUM, HIGH)
        if table.chance(stage, CueKind.SOUND, volume) == 1.0
    ]
    assert saturated == [(Stage.LIGHT, HIGH), (Stage.REM, HIGH)]


@pytest.mark.parametrize("scale", [-1.0, float("nan"), float("inf")])
def test_a_scale_that_is_no_factor_is_refused(scale: float) -> None:
    with pytest.raises(WakeTableError, match="wake scale"):
        wake_table(TABLE, scale)


@pytest.mark.parametrize("value", [None, "0.1", -0.1, 1.1, float("nan")])
def test_a_chance_that_is_none_is_named(value: object) -> None:
    table: dict[str, Any] = copy.deepcopy(TABLE)
    table["chances"]["rem"]["medium"] = value
    with pytest.raises(WakeTableError, match=r"chances\.rem\.medium"):
        wake_table(table)


@pytest.mark.parametrize("epochs", [None, 0, 2.5, "4", 101])
def test_a_number_of_awake_epochs_that_cannot_be_is_named(epochs: object) -> None:
    with pytest.raises(WakeTableError, match="awake_epochs"):
        wake_table({**TABLE, "awake_epochs": epochs})
