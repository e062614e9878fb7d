"""Figures: whole XML, words inside their drawing, values where they belong, parts that exist."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from devices.types import Stage
from replay.report.figures import environment
from replay.report.figures.bars import Bar, Bars, Column
from replay.report.figures.canvas import (
    NARROW,
    WIDE,
    Drawing,
    Frame,
    figure,
    fitted,
    length,
    wrapped,
)
from replay.report.figures.environment import RING, DiagramError, found, passed
from replay.report.figures.night import Given, NightChart
from replay.report.figures.scales import DASHES, LINES, Curve, Point, Scales
from replay.report.style import REPORT_STYLE, SERIES_DARK, SERIES_LIGHT
from tests.replay.test_page import contrast

Draw = Callable[[Frame], Drawing]

HOSTILE = "<script>alert(1)</script>&\"'\u202e 梦"
BARS = Bars(
    (Column("wakings a task", 2.0), Column("share", 1.0), Column("cost", 0.0)),
    (
        (
            "rem_rule",
            (Bar(1.0, "1.00", low=0.5, high=1.5), Bar(0.25, "25 %"), Bar(None, "unknown")),
        ),
        (HOSTILE * 3, (Bar(0.0, "0.00"), Bar(1.0, "100 %"), Bar(None, "unknown"))),
    ),
)
SCALES = Scales(
    (0.5, 1.0, 2.0, 4.0),
    (
        Curve("rem_rule", tuple(Point(s, 0.1 * s, 0.0, 0.2 * s) for s in (0.5, 1.0, 2.0, 4.0))),
        Curve(HOSTILE, (Point(0.5, None), Point(1.0, 0.3))),
    ),
    most=0.8,
)
NIGHT = NightChart(
    "WWLLDDRR?R" * 20,
    39_600.0,
    truth="WWLLDDRRRR" * 20,
    starts=(20, 21, 22, 140),
    cues=((HOSTILE * 2, (Given(10.0, False), Given(66.0, True))), ("wait", ())),
)
DRAWN = {
    "bars": BARS.draw,
    "no bars": Bars((), ()).draw,
    "scales": SCALES.draw,
    "one scale": Scales((1.0,), (Curve("a", (Point(1.0, 0.0),)),), 0.0).draw,
    "night": NIGHT.draw,
    "no epoch": NightChart("", 0.0).draw,
    "environment": environment.draw,
}


@pytest.mark.parametrize("frame", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_every_drawing_is_xml_and_no_word_of_it_lies_outside(draw: Draw, frame: Frame):
    drawing: Drawing = draw(frame)
    root = ET.fromstring(f"<svg>{''.join(drawing.parts)}</svg>")
    for element in root.iter("text"):
        size = float(element.get("font-size", ""))
        x, y = float(element.get("x", "")), float(element.get("y", ""))
        wide = length(element.text or "", size)
        start = {"start": x, "middle": x - wide / 2, "end": x - wide}
        left = start[element.get("text-anchor", "start")]
        assert left >= -1, element.text
        assert left + wide <= frame.width + 1, element.text
        assert 0 < y < drawing.height, element.text


@pytest.mark.parametrize("frame", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_no_box_or_path_begins_outside_its_drawing(draw: Draw, frame: Frame):
    root = ET.fromstring(f"<svg>{''.join(draw(frame).parts)}</svg>")
    for rect in root.iter("rect"):
        x, width = float(rect.get("x", "")), float(rect.get("width", ""))
        assert x >= 0
        assert x + width <= frame.width + 0.5
    for path in root.iter("path"):
        for x in re.findall(r"M([-\d.]+) ", path.get("d", "")):
            assert -1 <= float(x) <= frame.width + 1


def test_a_figure_is_drawn_for_both_widths_and_said_to_who_cannot_see_it():
    html = figure(BARS.draw, said=f"bars of {HOSTILE}", caption=HOSTILE)
    drawings = re.findall(r"<svg.*?</svg>", html, re.S)
    assert len(drawings) == 2
    for drawing in drawings:
        root = ET.fromstring(drawing)
        assert root.get("role") == "img"
        assert root.get("aria-label", "").startswith("bars of <script>")
    assert "<script" not in html
    assert "\u202e" not in html


def test_a_bar_is_as_long_as_its_value_and_its_interval_lies_over_it():
    """In the wide frame the column starts at 170; 960 - 170 - 4 - 2 gaps of 12, in three: 254."""
    root = ET.fromstring(f"<svg>{''.join(BARS.draw(WIDE).parts)}</svg>")
    filled = [rect for rect in root.iter("rect") if rect.get("class") == "amount"]
    assert float(filled[0].get("width", "")) == pytest.approx(127.0, abs=0.5)
    assert float(filled[1].get("width", "")) == pytest.approx(254 / 4, abs=0.5)
    (span,) = [path for path in root.iter("path") if path.get("class") == "span"]
    low, high = re.findall(r"M([\d.]+) [\d.]+v13", span.get("d", ""))
    assert float(low) == pytest.approx(170 + 254 / 4, abs=0.5)
    assert float(high) == pytest.approx(170 + 3 * 254 / 4, abs=0.5)


def test_nothing_and_unknown_have_no_bar_and_say_so():
    root = ET.fromstring(f"<svg>{''.join(BARS.draw(WIDE).parts)}</svg>")
    assert len([rect for rect in root.iter("rect") if rect.get("class") == "amount"]) == 3
    assert [text.text for text in root.iter("text")].count("unknown") == 2


def test_scales_lie_evenly_doubling_by_doubling():
    root = ET.fromstring(f"<svg>{''.join(SCALES.draw(WIDE).parts)}</svg>")
    at = [
        float(t.get("x", "")) for t in root.iter("text") if re.fullmatch(r"[\d.]+×", t.text or "")
    ]
    steps = [round(b - a, 1) for a, b in pairwise(at)]
    assert len(at) == 4
    assert max(steps) - min(steps) <= 0.2


def test_agents_are_told_apart_without_colour():
    lines = tuple(Curve(f"agent {n}", (Point(1.0, 0.5), Point(2.0, 1.0))) for n in range(LINES))
    parts = "".join(Scales((1.0, 2.0), lines, 1.0).draw(WIDE).parts)
    marks = {
        re.sub(r"^M[\d.]+ [\d.]+", "", shape)
        for _, shape in re.findall(r'class="m(\d)" d="([^"]*)"', parts)
    }
    assert len(marks) == LINES == len(set(DASHES))


@pytest.mark.parametrize(
    ("colours", "ground"), [(SERIES_LIGHT, "#ffffff"), (SERIES_DARK, "#14161b")]
)
def test_lines_of_agents_reach_the_contrast_of_graphics(colours: tuple[str, ...], ground: str):
    """Source: WCAG 2.2, 1.4.11: 3:1."""
    assert f"--paper:{ground}" in REPORT_STYLE
    assert min(contrast(colour, ground) for colour in colours) >= 3.0


def test_wake_lies_on_top_then_rem_light_deep():
    root = ET.fromstring(f"<svg>{''.join(replace(NIGHT, truth='').draw(WIDE).parts)}</svg>")
    words = {t.text: float(t.get("y", "")) for t in root.iter("text")}
    assert words["awake"] < words["REM"] < words["light"] < words["deep"]
    tops = {
        path.get("class"): float(re.findall(r"M[\d.]+ ([\d.]+)", path.get("d", ""))[0])
        for path in root.iter("path")
    }
    assert tops["awake"] < tops["rem"] < tops["light"] < tops["deep"]


def test_a_stage_is_drawn_where_its_epochs_lie():
    """200 epochs over 830 units from 110 on: deep begins at epoch 4 and lasts 2."""
    parts = "".join(replace(NIGHT, truth="").draw(WIDE).parts)
    (deep,) = re.findall(r'class="deep" d="M([\d.]+) [\d.]+h([\d.]+)', parts)
    assert float(deep[0]) == pytest.approx(110 + 4 * 830 / 200, abs=0.1)
    assert float(deep[1]) == pytest.approx(2 * 830 / 200, abs=0.1)


def test_a_cue_that_woke_is_longer_has_a_head_and_is_counted_in_words():
    parts = "".join(NightChart("R" * 10, 0.0, cues=NIGHT.cues[:1]).draw(NARROW).parts)
    assert parts.count('class="wakehead"') == 1
    assert re.search(r'class="wake" d="M[\d.]+ [\d.]+v-18"', parts)
    assert re.search(r'class="tick" d="M[\d.]+ [\d.]+v-10"', parts)
    rem = "".join(NightChart("R" * 9, 0.0, cues=(("a", NIGHT.cues[0][1]),)).draw(NARROW).parts)
    assert "a: 2, 1 woke" in rem


def test_numbers_of_start_points_that_lie_close_stand_in_two_rows():
    root = ET.fromstring(f"<svg>{''.join(NIGHT.draw(NARROW).parts)}</svg>")
    heights = {t.text: float(t.get("y", "")) for t in root.iter("text") if (t.text or "").isdigit()}
    assert set(heights) == {"1", "2", "3", "4"}
    assert heights["2"] < heights["1"]


def test_every_part_of_the_ring_is_in_the_code_and_hands_on_what_it_says():
    assert [passed(part) for part in RING] == [
        "Sample", "Sample", "Epoch", "Observation", "Action", "Decision", "Cue", "Cue", "Stage",
        "Waking",
    ]  # fmt: skip
    for part in RING:
        assert found(part.place).__name__ == part.name
        assert environment.promise(part)


def test_the_words_of_the_ring_do_not_name_stages_that_a_headband_cannot_tell():
    parts = "".join(environment.draw(WIDE).parts)
    assert not re.search(rf"\b({Stage.N1}|{Stage.N2})\b", parts, re.I)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"place": "replay.player:Gramophone"}, "replay.player:Gramophone"),
        ({"place": "replay.nowhere:Player"}, "replay.nowhere"),
        ({"passes": "bedside.hub:Hub.shout"}, "Hub.shout"),
        ({"of": "record"}, "no record"),
    ],
)
def test_a_part_that_is_gone_is_an_error_that_names_it(changes: dict[str, str], named: str):
    part = replace(RING[0], **changes)
    with pytest.raises(DiagramError, match=named):
        passed(part), found(part.place)


def test_the_assumed_step_is_drawn_as_one():
    (assumed,) = [part for part in RING if part.style == "assumed"]
    assert assumed.place == "replay.wake_rule:WakeTable"
    (rect,) = re.findall(r'<rect class="assumed"[^>]*>', "".join(environment.draw(WIDE).parts))
    assert 'rx="30"' in rect


def test_words_too_long_for_their_place_are_cut_with_an_ellipsis():
    assert fitted("rem_rule", 14, 200) == "rem_rule"
    assert fitted("a" * 100, 14, 100).endswith("…")
    assert length(fitted("a" * 100, 14, 100), 14) <= 100
    assert length(fitted("梦" * 100, 14, 100), 14) <= 100


def test_heads_of_columns_wrap_between_words():
    assert wrapped("violations a task, asked", 12, 100) == ["violations a", "task, asked"]
    assert len(wrapped("x" * 99, 12, 50)) == 1
    assert wrapped("", 12, 50) == []
