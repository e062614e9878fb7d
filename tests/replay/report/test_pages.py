"""The pages of a run: they need nothing else, tell everything, and escape what they are given."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.experiment.folder import RunFolder
from replay.experiment.rows import Row
from replay.overlays import STANDS_FOR
from replay.report.data import RunData, starts
from replay.report.folder import ReportError, write_report
from replay.report.page import packed
from replay.report.pages.attempts import attempts_script
from replay.report.pages.costs import costs_section
from replay.report.pages.decisions import example_of
from replay.report.pages.score_tables import comparisons_table
from replay.report.pages.tasks import tasks_script
from replay.report.tables import Cell, data, table
from replay.scores.conclusion import Word
from replay.scores.figures import Split
from replay.scores.scoreboard import scoreboard
from replay.staging import StagingError
from tests.replay.experiment.runs import made, small_night, small_run

NAMES = ("index.html", "scores.html", "attempts.html", "night-1.html", "tasks-1.html")
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Elements and words of a page; fails where tags do not pair."""

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
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def read(pages: Path, name: str) -> str:
    return (pages / name).read_text(encoding="utf-8")


def run_data(run: RunFolder, rows: list[Row] | None = None) -> RunData:
    found = run.rows() if rows is None else rows
    sets = {one.id: run.verdicts(one.id) for one in run.verdict_sets()}
    return RunData(run, found, scoreboard(found, run.verdicts()), sets)


def values_of(html: str) -> Any:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    return json.loads(text)


# One folder that needs nothing


def test_the_folder_has_a_page_of_each_kind(pages: Path):
    assert {path.name for path in pages.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_tags_pair_and_drawings_are_xml(pages: Path, name: str):
    html = read(pages, name)
    page = Page(html)
    assert len(page.all("h1")) == 1
    for drawing in re.findall(r"<svg.*?</svg>", html, re.S):
        ET.fromstring(drawing)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_loaded_and_links_stay_in_the_folder(pages: Path, name: str):
    html = read(pages, name)
    page = Page(html)
    assert not {tag for tag, _ in page.tags} & {"link", "img", "iframe", "object", "base", "form"}
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")]
    targets = {str(one["href"]) for one in page.all("a")}
    assert all(target == "#content" or (pages / target).is_file() for target in targets)
    assert set(re.findall(r"[a-z]+://[^\"' )`]*", html)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#hatch)|fetch\(|XMLHttpRequest|innerHTML", html)


@pytest.mark.parametrize("name", NAMES)
def test_only_the_script_that_came_with_a_page_may_run(pages: Path, name: str):
    html = read(pages, name)
    policy = next(
        str(one["content"])
        for one in Page(html).all("meta")
        if one.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    code = re.findall(r"<script>(.*?)</script>", html, re.S)
    if not code:
        assert "script-src" not in policy
        return
    digest = b64encode(sha256(code[0].encode()).digest()).decode()
    assert policy.endswith(f"script-src 'sha256-{digest}'")
    assert len(code) == 1


@pytest.mark.parametrize("name", NAMES)
def test_no_id_stands_twice(pages: Path, name: str):
    ids = re.findall(r'\sid="([^"]*)"', read(pages, name))
    assert len(ids) == len(set(ids))


def test_what_needs_a_script_says_so_and_figures_need_none(pages: Path):
    for name in ("attempts.html", "tasks-1.html"):
        assert "need JavaScript" in read(pages, name)
    for name in ("index.html", "scores.html", "night-1.html"):
        assert "<script" not in read(pages, name)


def test_the_same_run_gives_the_same_bytes(run: RunFolder, pages: Path, tmp_path: Path):
    write_report(run, out=tmp_path / "again")
    for name in NAMES:
        assert (tmp_path / "again" / name).read_bytes() == (pages / name).read_bytes()


def test_progress_is_told_page_by_page(run: RunFolder, tmp_path: Path):
    told: list[tuple[int, int, str]] = []
    write_report(run, out=tmp_path, progress=lambda *said: told.append(said))
    assert [done for done, _, _ in told] == [1, 2, 3, 4, 5]
    assert {of for _, of, _ in told} == {5}
    assert [name for _, _, name in told] == [*NAMES]


def test_a_folder_that_cannot_be_is_one_clear_error(run: RunFolder, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StagingError, match="choose another --out"):
        write_report(run, out=tmp_path / "file")


def test_pages_of_a_run_of_more_nights_are_gone_and_nothing_else_is(run: RunFolder, tmp_path: Path):
    for name in ("night-1.html", "night-2.html", "tasks-12.html"):
        (tmp_path / name).write_text("of another run")
    (tmp_path / ".123.part").mkdir()
    write_report(run, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*NAMES, ".123.part"}
    assert "of another run" not in read(tmp_path, "night-1.html")


@pytest.mark.parametrize("name", ["thesis.txt", "night-01.html", "night-1.html.bak", "Index.html"])
def test_a_folder_with_files_of_others_is_refused_and_stays_as_it_is(
    run: RunFolder, tmp_path: Path, name: str
):
    for one in (name, "night-9.html"):
        (tmp_path / one).write_text("mine")
    with pytest.raises(ReportError, match=rf"holds {name}, .*choose another --out"):
        write_report(run, out=tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        name: "mine", "night-9.html": "mine",
    }  # fmt: skip


def test_where_writing_fails_the_pages_before_are_still_there(run: RunFolder, tmp_path: Path):
    (tmp_path / "night-2.html").write_text("of another run")

    def full(done: int, of: int, name: str) -> None:
        raise OSError(28, "No space left on device", name)

    with pytest.raises(StagingError, match="No space left"):
        write_report(run, out=tmp_path, progress=full)
    assert [path.name for path in tmp_path.iterdir()] == ["night-2.html"]


def test_no_library_for_figures_is_loaded():
    code = (
        "import sys, replay.report.folder; "
        "print(*{'matplotlib', 'jinja2', 'numpy', 'scipy'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


# Hostile words


@pytest.mark.parametrize("name", NAMES)
def test_words_of_an_agent_never_become_markup(pages: Path, name: str):
    html = read(pages, name)
    assert "document.title='taken'" not in re.sub(r"<script type.*?</script>", "", html, flags=re.S)
    assert html.count("<script>") == (1 if name in ("attempts.html", "tasks-1.html") else 0)
    assert "<img" not in html
    assert "<b>house" not in html
    shown = re.sub(r'<script type="application/json".*?</script>', "", html, flags=re.S)
    assert "\u202e" not in shown


def test_hostile_reasons_are_still_there_as_words(pages: Path):
    values = values_of(read(pages, "tasks-1.html"))
    assert any("</script><script>" in word for word in values["words"])
    assert "梦 حلم" in values["words"]


@given(st.text())
def test_no_value_can_end_the_data_of_a_page(words: str):
    text = packed({"words": words})
    assert "<" not in text
    assert json.loads(text) == {"words": words}


@given(st.text(), st.text())
def test_tables_escape_whatever_they_are_given(words: str, small: str):
    page = Page(table(words, (words, "b"), [(words, Cell(words, small))]))
    assert {tag for tag, _ in page.tags} <= {
        "div", "table", "caption", "span", "thead", "tbody", "tr", "th", "td", "bdi", "small",
    }  # fmt: skip


def test_what_turns_a_line_round_is_replaced_and_stays_in_its_place():
    assert data("a\u202eb") == "<bdi>a\ufffdb</bdi>"
    assert data("<b>") == "<bdi>&lt;b&gt;</bdi>"


def test_hostile_names_of_tasks_themes_and_details_are_data(run: RunFolder, tmp_path: Path):
    bad = "<script>x</script>"
    rows = [
        replace(row, detail=bad, unit=replace(row.unit, theme=bad, kind=bad)) for row in run.rows()
    ]

    class Renamed(RunFolder):
        def rows(self) -> list[Row]:
            return rows

    folder = write_report(Renamed(run.path, run.manifest), out=tmp_path).parent
    for name in NAMES:
        assert bad not in read(folder, name)


# What the pages say


def test_every_figure_of_the_seed_is_on_a_page(pages: Path):
    index, night = Page(read(pages, "index.html")).text, Page(read(pages, "night-1.html")).text
    for heading in (
        "Cues by stage",
        "Wakings and violations a task",
        "Wakings against the wake scale",
        "Calls and cost",
        "One task, each decision and its reason",
        "The replay environment",
    ):
        assert heading in index
    for heading in ("its start points and every cue", "Where tasks start", "Stage shares"):
        assert heading in night


def test_three_claims_are_kept_apart_on_both_pages_that_could_be_misread(pages: Path):
    for name in ("index.html", "scores.html"):
        text = Page(read(pages, name)).text
        assert "meets its specification" in text
        assert "does well in it" in text
        assert "stands for real dreams is not shown" in text


def test_the_scoreboard_is_shown_whole(run: RunFolder, pages: Path):
    text = Page(read(pages, "scores.html")).text
    board = run_data(run).board
    for words in (
        "pass^k",
        "Restraint tasks",
        "cues a REM minute",
        "first cue after",
        "not distinguishable",
        "One flipped attempt changes a rate by",
        "(≤",
        "McNemar",
        "Kendall",
        "Holm",
        "start kind",
        "waits at the call limit",
    ):
        assert words in text, words
    for score in board.scores:
        if score.passes:
            assert f"{score.passes.passed} of {score.passes.planned}" in text
    for note in board.notes:
        assert note in text


def test_development_and_held_out_seeds_are_never_one_figure(pages: Path):
    text = Page(read(pages, "index.html")).text
    assert "Agents on development seeds ( 1, 2 )" in text or "development seeds (1, 2)" in text
    assert "held-out seeds (6)" in text


def test_the_numbers_of_the_first_table_are_those_of_the_rows(run: RunFolder, pages: Path):
    """Counted here from the rows alone: scale 1, development seeds."""
    html = read(pages, "index.html")
    first = html.split("<span>In short.")[1].split("</table>")[0]
    for agent in ("wait", "fixed_timer", "rem_rule"):
        rows = [
            row
            for row in run.rows()
            if (row.unit.agent, row.unit.scale) == (agent, 1.0) and row.unit.seed <= 5
        ]
        line = next(one for one in first.split("<tr>") if f"<bdi>{agent}</bdi>" in one)
        cells = re.findall(r"<td[^>]*><bdi>([^<]*)</bdi>", line)
        assert cells[0] == f"{sum(row.delivered for row in rows) / len(rows):.2f}"
        assert cells[2] == f"{sum(row.wakings for row in rows) / len(rows):.2f}"
        assert cells[3] == str(sum(sum(row.violations.values()) for row in rows))


def test_pairs_of_agents_that_cannot_be_told_apart_are_said_to_be_so(run: RunFolder):
    found = [one for one in run_data(run).board.comparisons if one.split is Split.HELD_OUT]
    html = comparisons_table(found)
    told = [one.passes.word for one in found] + [one.wakings.word for one in found]
    told += [one.dose.word for one in found]
    assert html.count(f"<bdi>{Word.NOT_DISTINGUISHABLE}</bdi>") == told.count(
        Word.NOT_DISTINGUISHABLE
    )
    assert Word.NOT_DISTINGUISHABLE in told


def test_old_verdicts_can_still_be_seen(run: RunFolder, pages: Path):
    old, new = run.verdict_sets()
    index = Page(read(pages, "index.html")).text
    assert f"{new.id} (newest, used here)" in index
    values = values_of(read(pages, "attempts.html"))
    assert [one["id"] for one in values["sets"]] == [new.id, old.id]
    assert set(values["sets"][1]["verdicts"][0]) == {"f"}
    assert "p" in values["sets"][0]["verdicts"][0]


def test_hidden_values_are_marked_as_hidden(pages: Path):
    assert "hidden from the agent" in Page(read(pages, "scores.html")).text
    assert "in true REM (hidden)" in read(pages, "attempts.html")
    assert "Hidden from it" in Page(read(pages, "tasks-1.html")).text


@pytest.mark.parametrize("name", NAMES)
def test_no_stage_is_named_that_a_four_stage_headband_cannot_tell(pages: Path, name: str):
    assert not re.search(r"\bN[12]\b", Page(read(pages, name)).text)


@pytest.mark.parametrize("name", NAMES)
def test_tables_have_captions_and_drawings_have_words(pages: Path, name: str):
    html = read(pages, name)
    assert html.count("<table") == html.count("<caption")
    for drawing in re.findall(r"<svg[^>]*>", html):
        assert re.search(r'aria-label="[^"]+"|aria-labelledby=', drawing)
    assert 'name="viewport"' in html
    assert '<html lang="en">' in html


def test_an_unknown_price_is_unknown_and_never_nothing(run: RunFolder):
    rows = [
        replace(row, calls=12, client_calls=13, tokens_in=33_500, cost_paid=None, cost_nominal=None)
        if row.unit.agent == "rem_rule"
        else replace(row, cost_paid=0.0, cost_nominal=0.0)
        for row in run.rows()
    ]
    found = run_data(run, rows)
    scores = [s for s in found.board.scores if (s.split, s.scale) == (Split.DEVELOPMENT, 1.0)]
    html = costs_section(found, scores, Split.DEVELOPMENT)
    paid = next(line for line in html.split("<tr>") if "rem_rule" in line and "<td" in line)
    assert paid.count("<bdi>unknown</bdi>") == 2
    assert "12.0" in html
    quiet = costs_section(run_data(run), scores[:0], Split.DEVELOPMENT)
    assert "No agent asked the outside world" in quiet


def test_a_synthetic_night_says_so_before_all_else(run: RunFolder, pages: Path, tmp_path: Path):
    nights = {name: {**facts, "synthetic": True} for name, facts in run.manifest["nights"].items()}
    synthetic = RunFolder(run.path, {**run.manifest, "nights": nights})
    folder = write_report(synthetic, out=tmp_path).parent
    for name in NAMES:
        assert "SYNTHETIC NIGHT" not in read(pages, name)
        assert re.search(r"</h1>\s*<p class=\"synthetic\"><strong>SYNTHETIC", read(folder, name))


def test_a_control_that_knows_what_no_agent_may_is_called_so(run: RunFolder, tmp_path: Path):
    rows = [
        replace(row, unit=replace(row.unit, agent="oracle"), evidence=False) for row in run.rows()
    ]

    class Told(RunFolder):
        def rows(self) -> list[Row]:
            return rows

    index = write_report(Told(run.path, run.manifest), out=tmp_path)
    assert "knowledge no agent may have: oracle" in Page(index.read_text(encoding="utf-8")).text


def test_start_points_are_listed_by_time_with_their_seeds(run: RunFolder):
    """The night's sleep onset and longest light begin at epoch 4, longest deep at 34, REM at 74."""
    points = starts(run.rows(), 39_600.0)
    assert [(point.kind, point.epoch) for point in points] == [
        ("longest_light", 4),
        ("sleep_onset", 4),
        ("longest_deep", 34),
        ("rem_onset", 74),
    ]
    assert points[3].clock == "23:37"
    assert {point.seeds for point in points} == {(1, 2, 6)}


def test_the_example_is_the_attempt_that_shows_most(run: RunFolder):
    rows = [row for row in run.rows() if row.unit.scale == 1.0]
    woken = [row for row in rows if row.wakings]
    found = example_of(run.rows(), 1.0)
    assert found is not None
    assert found.delivered == max(row.delivered for row in woken or rows)
    called = replace(rows[0], calls=3)
    assert example_of([*rows, called], 1.0) is called
    assert example_of([], 1.0) is None


def test_every_attempt_and_step_is_in_the_data_of_the_pages(run: RunFolder):
    found = run_data(run)
    columns = attempts_script(found).values["columns"]
    rows = run.rows()
    assert {len(column) for column in columns.values()} == {len(rows)}
    assert columns["wakings"] == [row.wakings for row in rows]
    values = tasks_script(found, list(found.courses(found.nights[0]))).values
    assert sum(len(one["shown"]) for one in values["attempts"]) == sum(row.steps for row in rows)
    asked = sum(len(one.get("cues", ())) for one in values["attempts"])
    assert asked == sum(row.asked for row in rows)


def test_the_page_of_tasks_opens_on_the_first_that_can_be_cued(run: RunFolder):
    found = run_data(run)
    courses: list[tuple[Row, Any]] = [(row, None) for row in found.rows]
    values = tasks_script(found, courses).values
    feasible = [row.unit.task for row in found.rows if row.unit.feasible]
    assert not found.rows[0].unit.feasible
    assert values["tasks"][values["first"]] == feasible[0]
    none = [(replace(row, unit=replace(row.unit, feasible=False)), None) for row in found.rows]
    assert tasks_script(found, none).values["first"] == 0


def test_what_the_device_stands_for_is_on_every_page_where_it_may_differ(
    run: RunFolder, pages: Path, tmp_path: Path
):
    folder = write_report(
        RunFolder(run.path, {**run.manifest, "overlay": "consumer"}), out=tmp_path
    ).parent
    for name in NAMES:
        assert STANDS_FOR not in Page(read(pages, name)).text
        assert Page(read(folder, name)).text.count(STANDS_FOR) == 1


def test_wakings_have_no_range_where_scales_are_missing(run: RunFolder, pages: Path):
    assert run.manifest["scales"] == [0.5, 1.0]
    text = Page(read(pages, "scores.html")).text
    assert "Wakings a task by wake scale. No range: wake scales 2, 4 not played." in text
    assert "range" not in re.findall(r"<th[^>]*>([^<]*)</th>", read(pages, "scores.html"))
    assert "Not played at wake scales 2, 4" in Page(read(pages, "index.html")).text


def test_an_interval_in_brackets_never_breaks():
    html = table("t", ("a", "b"), [("x", Cell("1", "3 of 3 [0.29–1.00] <[b]>"))])
    assert '3 of 3 <span class="word">[0.29–1.00]</span> &lt;' in html


def test_an_attempt_without_a_trace_is_shown_as_such(run: RunFolder, tmp_path: Path):
    rows = [replace(row, evidence=False, detail="lost") for row in run.rows()[:1]]
    found = run_data(run, rows)
    (one,) = tasks_script(found, list(found.courses(found.nights[0]))).values["attempts"]
    assert "shown" not in one
    assert "d" in one


def test_many_nights_have_a_page_each_and_a_menu(tmp_path: Path):
    nights = tuple(small_night(tmp_path, name=f"night-{n}") for n in range(3))
    done = made(small_run(tmp_path, "rem_rule", nights=nights), tmp_path / "run")
    folder = write_report(done.folder).parent
    assert {path.name for path in folder.glob("night-*.html")} == {
        "night-1.html", "night-2.html", "night-3.html",
    }  # fmt: skip
    html = read(folder, "tasks-2.html")
    assert 'href="tasks-3.html"' in html
    assert 'href="night-2.html"' in html
    assert "Choose one of 3 nights" in html
    assert html.count('aria-current="page"') == 1


def test_a_run_of_nothing_has_no_pages(run: RunFolder, tmp_path: Path):
    class Empty(RunFolder):
        def rows(self) -> list[Row]:
            return []

    with pytest.raises(ReportError, match="nothing to show"):
        write_report(Empty(run.path, run.manifest), out=tmp_path / "none")
    assert not (tmp_path / "none").exists()
