"""The page of a replay: one file that shows every figure and needs nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.types import CueKind
from replay.cue_marks import MARKS, mark_path
from replay.hypnogram import from_letters, letters
from replay.hypnogram_svg import NARROW, WIDE, Layout, night_figure, night_svg
from replay.night_colours import DARK_COLOURS, LIGHT_COLOURS
from replay.page import PageError, page_html, write_page
from replay.page_style import PAGE_STYLE
from replay.sample_night import sample_hypnogram
from replay.sleep_shares import shares, wake_after_onset
from replay.summary import Summary
from tests.replay.summaries import LETTERS, cue, cued_night, summary

VOID = {"meta", "link", "br", "hr", "img", "input"}
NIGHTS = {
    "cued": cued_night(),
    "no cue": summary(),
    "no sleep": summary("W" * 60),
    "all gaps": summary("?" * 60),
    "one epoch": summary("R"),
    "no epoch": summary(""),
    "time assumed": summary(start_assumed=True, start_clock_s=39_600.0),
}


class Page(HTMLParser):
    """Elements, links and text of a page; fails where tags do not pair."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def whole_night(**changes: object) -> Summary:
    """The bundled hypnogram, 958 of 960 epochs scored."""
    return summary(letters(sample_hypnogram()), **changes)


def cells(html: str, heading: str) -> list[list[str]]:
    """The cells of each row under a heading, tags removed."""
    section = html.split(f"<h2>{heading}</h2>")[1].split("<h2>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", section, re.S)
    return [
        [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)]
        for row in rows
    ]


@pytest.mark.parametrize("found", NIGHTS.values(), ids=NIGHTS)
def test_every_night_gives_a_page_whose_tags_pair_and_drawings_that_are_xml(found: Summary):
    page = Page(page_html(found))
    assert [tag for tag, _ in page.tags].count("h1") == 1
    drawings = re.findall(r"<svg.*?</svg>", page_html(found), re.S)
    assert len(drawings) == 2
    for drawing in [*drawings, night_svg(found)]:
        ET.fromstring(drawing)


@pytest.mark.parametrize("found", NIGHTS.values(), ids=NIGHTS)
def test_nothing_is_loaded_from_anywhere_and_nothing_runs(found: Summary):
    page = Page(page_html(found))
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "base"}
    for _, attributes in page.tags:
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links == ["../trace.jsonl", "../hidden.jsonl", "../manifest.json"]
    addresses = set(re.findall(r"[a-z]+://[^\"' ]*", page_html(found)))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#hatch)", page_html(found))


def test_the_page_forbids_everything_but_its_own_style():
    policy = next(
        attributes["content"]
        for tag, attributes in Page(page_html(summary())).tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_every_figure_is_on_the_page():
    text = Page(page_html(cued_night())).text
    for figure in (
        "Night night-7, replayed",
        "SYNTHETIC NIGHT.",
        "23:30–00:35, 1 h 5 min",
        "seed 3",
        "Cues delivered 3 5 asked for, 2 refused",
        "In shown REM 2 of 3",
        "Wakings 1 1 cue woke, 2 min of wake inserted; 6 suspected",
        "Rules broken 3 asked 1 delivered",
        "Limit hits 17 written down, not applied",
        "125 of 125 0 differ; 1 excluded (no reading in the recording: step 20)",
        "126 epochs from epoch 0",
        "end of the night",
        "ok 128, late 2",
        "1 whisper",
        "the assumed table × 1",
        "0123456789abcdef",
    ):
        assert figure in text


def test_a_real_night_is_not_called_synthetic():
    assert "SYNTHETIC" not in page_html(summary())


def test_the_three_claims_are_kept_apart():
    text = Page(page_html(cued_night())).text
    assert "The replay does what it specifies. Here 125 of 125 compared epochs" in text
    assert "The agent does well in it. One night with one seed cannot tell" in text
    assert "The specification stands for real dreams. Not shown." in text


def test_a_mismatch_is_said_where_the_claim_stands():
    text = Page(page_html(replace(cued_night(), mismatched=2))).text
    assert "Not met here: 2 of 125 compared epochs differ from the recording." in text


def test_rules_are_listed_asked_and_delivered_and_limits_where_they_were_met():
    html = page_html(cued_night())
    rules = {row[0].split()[-1]: row[1:] for row in cells(html, "Rules")[1:]}
    assert rules == {
        "cue_while_awake": ["0", "0"],
        "cue_in_deep": ["2", "1"],
        "cue_without_reading": ["0", "0"],
        "cue_high_volume": ["0", "0"],
        "cue_after_stop": ["0", "0"],
        "words_not_said": ["1", "0"],
    }
    assert cells(html, "Limits")[1:] == [["the last cue was less than 60 s ago gap", "17"]]


def test_cues_by_stage_count_the_shown_stage_and_who_woke():
    assert cells(page_html(cued_night()), "Cues by stage")[1:] == [
        ["awake", "0", "0 %", "0"],
        ["REM", "2", "67 %", "1"],
        ["light", "0", "0 %", "0"],
        ["deep", "1", "33 %", "0"],
        ["no reading", "0", "0 %", "0"],
    ]


def test_every_cue_has_time_stage_action_waking_and_reason():
    assert cells(page_html(cued_night()), "Every cue")[1:] == [
        ["00:05", "deep", "sound, low", "no", "testing deep cue_in_deep"],
        ["00:19", "REM", "sound, low", "no", "REM for 3.0 min"],
        ["00:25", "REM", "whisper, medium", "woke", "REM for 9.0 min"],
    ]


def test_a_hidden_stage_that_was_another_is_named():
    found = summary(cues=(cue(1, 98, true="n2"), cue(2, 105, true="rem")))
    html = page_html(found)
    assert cells(html, "Every cue")[1][1] == "REM (hidden: light)"
    assert "was another for 1 cue." in html


def test_a_long_list_of_cues_is_folded_and_a_short_one_open():
    short = page_html(summary(cues=tuple(cue(n, n) for n in range(1, 13))))
    long = page_html(summary(cues=tuple(cue(n, n) for n in range(1, 14))))
    assert '<details class="cues" open>' in short
    assert '<details class="cues">' in long


def test_a_page_stays_small_even_with_a_cue_in_every_epoch_and_long_reasons():
    reasons = "why " * 5000
    found = whole_night(cues=tuple(cue(n, n, reason=reasons, woke=n % 2 == 0) for n in range(960)))
    html = page_html(found)
    assert len(html.encode()) < 300_000
    assert "The first 300 of 960; the trace has them all." in html


def test_a_usual_page_is_well_below_a_hundred_kilobytes():
    found = whole_night(cues=tuple(cue(n, 300 + 10 * n) for n in range(60)))
    assert len(page_html(found).encode()) < 100_000


@pytest.mark.parametrize("field", ["theme", "agent", "ending", "mode", "session", "reason", "id"])
def test_markup_in_data_is_shown_as_words(field: str):
    attack = "</title><script>alert(1)</script>\"'&<img src=x onerror=y>"
    found = cued_night()
    if field == "reason":
        found = replace(found, cues=(cue(1, 98, reason=attack, kind=attack, rules=(attack,)),))
    elif field == "id":
        found = replace(found, night={**found.night, "id": attack, "origin": attack})
    else:
        found = replace(found, **{field: attack})
    page = Page(page_html(found))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert attack in page.text
    ET.fromstring(night_svg(found))


@given(st.text(max_size=80))
def test_any_words_give_a_page_that_can_be_written_and_parsed(words: str):
    night = {**summary().night, "id": words}
    found = replace(cued_night(), theme=words, night=night, cues=(cue(1, 98, reason=words),))
    html = page_html(found)
    html.encode("utf-8")
    Page(html)
    ET.fromstring(night_svg(found))


def test_a_lone_surrogate_in_a_reason_does_not_keep_the_page_from_being_written(tmp_path: Path):
    found = replace(cued_night(), cues=(cue(1, 98, reason="a\ud800b"),))
    write_page(tmp_path / "index.html", found)
    assert "a\ufffdb" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_bundled_night_is_high_in_rem_low_in_light_and_typical_in_deep():
    """Source: the published night that the bundled one takes its shape from."""
    found = {
        share.name: (share.epochs, round(share.pct, 1), share.word)
        for share in shares(whole_night())
    }
    assert found["rem"] == (303, 31.6, "high")
    assert found["light"] == (297, 31.0, "low")
    assert found["deep"] == (215, 22.4, "typical")
    assert found["awake"] == (143, 14.9, None)


def test_wake_after_onset_lies_between_the_first_and_the_last_sleep_epoch():
    after = wake_after_onset(summary("WW" + "L" * 9 + "W" + "?" + "R" * 9 + "WWW"))
    assert after is not None
    assert after.epochs == 1
    assert after.pct == pytest.approx(100 / 19)
    assert wake_after_onset(summary("WW?")) is None


def test_wake_inserted_after_a_cue_is_no_part_of_the_shares():
    assert {share.name: share.epochs for share in shares(cued_night())}["awake"] == 20


@pytest.mark.parametrize(
    "part",
    [
        whole_night(ending="step_limit"),
        whole_night(night={**summary().night, "first_epoch": 5}),
        summary("R" * 479),
    ],
)
def test_a_part_of_a_night_is_not_compared_with_whole_nights(part: Summary):
    assert {share.word for share in shares(part)} == {None}
    assert "Not compared with typical ranges" in page_html(part)


def test_a_night_without_time_of_day_says_that_it_is_assumed():
    html = page_html(NIGHTS["time assumed"])
    assert "(time assumed)" in html
    assert "The recording tells no time of day" in html
    assert "time of day assumed" in html
    assert "assumed" not in Page(page_html(summary())).text.replace("assumed table", "").replace(
        "cue wakes is assumed", ""
    )


def test_stages_are_told_by_lane_and_label_in_the_order_of_the_field():
    root = ET.fromstring(night_svg(cued_night()))
    texts = [element for element in root.iter() if element.tag.endswith("text")]
    at = {element.text: float(element.get("y", "")) for element in texts}
    assert at["awake"] < at["REM"] < at["light"] < at["deep"] < at["cues"]


def test_a_run_is_drawn_where_its_epochs_lie():
    """130 epochs over 886 units from 60 on: deep begins at step 61 and lasts 30."""
    (deep,) = re.findall(r'class="deep" d="M([\d.]+) [\d.]+h([\d.]+)', night_svg(cued_night()))
    unit = (WIDE.width - WIDE.left - WIDE.right) / 130
    assert float(deep[0]) == pytest.approx(WIDE.left + 61 * unit, abs=0.1)
    assert float(deep[1]) == pytest.approx(30 * unit, abs=0.1)


def test_inserted_wake_is_hatched_and_no_part_of_the_awake_bars():
    drawing = night_svg(cued_night())
    assert 'class="inserted" fill="url(#hatch-wide)"' in drawing
    (awake,) = re.findall(r'class="awake" d="([^"]*)"', drawing)
    assert awake.count("M") == 1
    assert "wake inserted after a cue" in drawing
    assert "url(#hatch" not in night_svg(summary())


def test_a_gap_is_a_band_with_words_beside_it():
    assert 'class="gap"' in night_svg(summary("R?R"))
    assert "no reading (1 epoch)" in night_svg(summary("R?R"))
    assert "no reading" not in night_svg(summary("RRR"))


def test_a_cue_that_woke_has_an_outline_and_a_word_of_its_own():
    drawing = night_svg(cued_night())
    assert len(re.findall(r'class="woke" d="', drawing)) == 1
    assert ">woke</text>" in drawing
    assert ">woke</text>" not in night_svg(summary(cues=(cue(1, 98),)))


def test_wakings_too_close_for_two_labels_share_one():
    found = summary("R" * 900, cues=tuple(cue(n, 400 + 2 * n, woke=True) for n in range(3)))
    assert "woke ×3" in night_svg(found)


def test_a_night_without_cues_says_so_in_its_row():
    assert ">none</text>" in night_svg(summary())


def test_every_kind_of_cue_has_a_shape_of_its_own():
    shapes = {mark_path(kind.value, 4) for kind in CueKind}
    assert set(MARKS) == {kind.value for kind in CueKind}
    assert len(shapes) == len(CueKind)


def test_epochs_that_differ_from_the_recording_are_ticked():
    recorded = letters(from_letters("R" * 10 + "L" * 2 + "R" * 8)).encode()
    drawing = night_figure(summary("R" * 20), WIDE, recorded)
    (ticks,) = re.findall(r'class="differs" d="([^"]*)"', drawing)
    assert ticks.count("M") == 2
    assert "differs" not in night_figure(summary("R" * 20), WIDE, b"R" * 20)


def test_inserted_wake_is_not_held_against_the_recording():
    recorded = LETTERS.replace("RWWWWR", "RR").encode()
    assert "differs" not in night_figure(cued_night(), WIDE, recorded)
    assert "differs" in night_figure(cued_night(), WIDE, LETTERS.encode())


def test_two_drawings_on_one_page_share_no_id():
    html = page_html(cued_night())
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert {WIDE.key, NARROW.key} == {name.split("-")[1] for name in ids}


@pytest.mark.parametrize("layout", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("found", NIGHTS.values(), ids=NIGHTS)
def test_no_word_of_a_drawing_lies_outside_it(layout: Layout, found: Summary):
    root = ET.fromstring(night_figure(found, layout))
    height = float(root.get("viewBox", "").split()[-1])
    for element in root.iter():
        if element.tag.endswith("text"):
            x, y = float(element.get("x", "")), float(element.get("y", ""))
            length = len(element.text or "") * layout.font * 0.5
            start = {"start": x, "middle": x - length / 2, "end": x - length}
            left = start[element.get("text-anchor", "start")]
            assert left >= 0
            assert left + length <= layout.width
            assert 0 < y < height


@pytest.mark.parametrize("colours", [LIGHT_COLOURS, DARK_COLOURS], ids=["light", "dark"])
def test_contrast_reaches_wcag_aa(colours: dict[str, str]):
    """Source: WCAG 2.2, 1.4.3 (text 4.5:1) and 1.4.11 (graphics 3:1)."""
    card, link = re.findall(r"--card:(#\w+);--link:(#\w+)", PAGE_STYLE)[colours is DARK_COLOURS]
    for text in (colours["ink"], colours["soft"], colours["alarm"], link):
        assert contrast(text, colours["paper"]) >= 4.5
    for text in (colours["ink"], colours["soft"]):
        assert contrast(text, card) >= 4.5
    for name in ("awake", "rem", "light", "deep", "gap"):
        assert contrast(colours[name], colours["paper"]) >= 3.0


def test_the_page_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path):
    path = tmp_path / "index.html"
    path.write_text("old", encoding="utf-8")
    write_page(path, summary())
    assert path.read_text(encoding="utf-8") == page_html(summary())
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path):
    with pytest.raises(PageError, match=r"No such file or directory; .*--out"):
        write_page(tmp_path / "missing" / "index.html", summary())


def test_a_full_disk_leaves_the_old_page_and_no_half_of_a_new_one(tmp_path: Path):
    path = tmp_path / "index.html"
    path.mkdir()
    with pytest.raises(PageError):
        write_page(path, summary())
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_summary_gives_the_same_bytes():
    assert page_html(cued_night()) == page_html(cued_night())


def test_no_figure_library_is_loaded():
    code = "import sys, replay.page; print(*{'matplotlib', 'jinja2', 'rich'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Source: WCAG 2.2, relative luminance."""
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
