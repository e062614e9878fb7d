"""Overlays by name, and the file that holds them."""

import copy
import tomllib
from typing import Any

import pytest

from bedside.configuration import ConfigurationError, default_toml
from replay.overlays import overlay_named, overlay_names
from replay.overlays.confusion import BEFORE, TOLD, Grade, Overlay
from replay.overlays.named import as_toml, overlay
from tests.replay.overlays.devices import FLICKERING

TABLE = default_toml("overlays")


def test_the_bundled_overlays() -> None:
    assert overlay_names() == ("device", "confusion", "consumer")
    device, confusion, consumer = map(overlay_named, overlay_names())
    assert (device.grades, device.delay_epochs) == ((), 0)
    assert (len(confusion.grades), confusion.delay_epochs) == (3, 0)
    assert (len(consumer.grades), consumer.delay_epochs) == (1, 1)


@pytest.mark.parametrize("name", ["confusion", "consumer"])
def test_every_row_is_chances(name: str) -> None:
    for grade in overlay_named(name).grades:
        for true in TOLD:
            for before in BEFORE:
                assert sum(grade.chain[true][before]) == pytest.approx(1.0, abs=1e-4)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean consumer.*device, confusion"):
        overlay_named("consumers")


def test_an_overlay_is_written_as_it_is_read() -> None:
    row = (0.5, 0.25, 0.125, 0.125)
    chain = {true: dict.fromkeys(BEFORE, row) for true in TOLD}
    made = Overlay("made", (Grade(0.75, chain), Grade(0.25, FLICKERING.grades[0].chain)), 2)
    read = tomllib.loads("\n".join(as_toml(made)))
    assert overlay("made", read["made"]) == made


def broken(*path: Any, value: Any) -> dict[str, Any]:
    table = copy.deepcopy(dict(TABLE["confusion"]))
    place: Any = table
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return table


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("delay_epochs",), None, "x.delay_epochs: must be a whole number from 0 to 20"),
        (("delay_epochs",), True, "x.delay_epochs"),
        (("delay_epochs",), 21, "x.delay_epochs"),
        (("grade",), [], "x.grade: is missing"),
        (("grade",), [7], "x.grade[0]: must be a table"),
        (("grade", 0, "share"), 2.0, "x.grade[0].share: must be 0 to 1"),
        (("grade", 0, "share"), 0.9, "x.grade: the shares must add up to 1"),
        (("grade", 1, "rem"), None, "x.grade[1].rem: is missing"),
        (("grade", 1, "rem", "first"), None, "x.grade[1].rem.first: must be four chances"),
        (("grade", 1, "rem", "light"), [0.5, 0.5], "x.grade[1].rem.light: must be four chances"),
        (("grade", 1, "rem", "light"), [0.5, 0.5, 0, True], "must be four chances"),
        (("grade", 1, "rem", "light"), [0.5, 0.4, 0, 0], "must add up to 1"),
    ],
)
def test_a_broken_file_is_refused_by_its_key(path: Any, value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        overlay("x", broken(*path, value=value))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
