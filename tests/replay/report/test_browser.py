"""The scripts of the pages in a real browser, opened from the file system."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from replay.experiment.folder import RunFolder
from replay.scores.parting import parting

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")


def opened(page: str, folder: Path, *, act: str = "") -> str:
    """The page's elements after its script ran, and after `act` on its `page` (a document)."""
    frame = folder / "frame.html"
    frame.write_text(
        f'<iframe src="{page}"></iframe><pre></pre><script>'
        "const frame = document.querySelector('iframe');"
        "frame.onload = () => { const page = frame.contentDocument;"
        "const pick = (label, words) => {"
        "  const named = [...page.querySelectorAll('label')].find((one) =>"
        "    one.firstChild.textContent === label);"
        "  const select = named.querySelector('select');"
        "  select.value = [...select.options].find((one) => one.text === words).value;"
        "  select.dispatchEvent(new page.defaultView.Event('change')); };"
        "const press = (words) => [...page.querySelectorAll('button')].find((one) =>"
        "  one.textContent === words).click();"
        f"{act};"
        "document.querySelector('pre').textContent ="
        "  page.querySelector('main').outerHTML; };</script>",
        encoding="utf-8",
    )
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    reach = "--allow-file-access-from-files"  # so that the frame may be looked into
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [str(BROWSER), *options, reach, profile, frame.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    shown = re.search(r"<pre>(.*)</pre>", done.stdout, re.S)
    assert shown, done.stderr
    return unescape(shown.group(1))


def rows_of(html: str) -> list[str]:
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    return [unescape(re.sub("<[^>]*>", "|", row)) for row in body.split("</tr>") if "<td" in row]


def test_filters_by_agent_rule_verdict_and_scale_leave_what_the_rows_say(
    run: RunFolder, pages: Path, tmp_path: Path
):
    act = (
        "pick('Agent', 'fixed_timer'); pick('Rule broken', 'cue in deep'); "
        "pick('Verdict', 'fail'); pick('Wake scale', '1×')"
    )
    html = opened((pages / "attempts.html").as_uri(), tmp_path, act=act)
    wanted = [
        row
        for row in run.rows()
        if row.unit.agent == "fixed_timer"
        and row.violations.get("cue_in_deep")
        and row.unit.scale == 1.0
        and run.verdicts()[row.unit.key].overall == "fail"
    ]
    assert wanted
    assert f"{len(wanted)} of {len(run.rows())} attempts" in html
    named = re.findall(r"<bdi>([a-z_]+-\d{4}-t\d-s\d)</bdi>", html)
    assert sorted(named) == sorted(row.unit.task for row in wanted)


def test_an_older_verdict_set_can_be_chosen(run: RunFolder, pages: Path, tmp_path: Path):
    old = run.verdict_sets()[0].id
    act = f"pick('Verdict set', '{old}'); pick('Verdict', 'pass')"
    html = opened((pages / "attempts.html").as_uri(), tmp_path, act=act)
    assert f"0 of {len(run.rows())} attempts" in html
    assert f"verdict set {old}" in html


def test_every_attempt_is_listed_a_hundred_at_most_and_a_head_sorts_them(
    pages: Path, run: RunFolder, tmp_path: Path
):
    act = "press('wakings'); press('wakings ▲')"
    html = opened((pages / "attempts.html").as_uri(), tmp_path, act=act)
    assert f"{len(run.rows())} of {len(run.rows())} attempts" in html
    assert len(rows_of(html)) == min(100, len(run.rows()))
    assert 'aria-sort="descending"' in html
    most = max(run.rows(), key=lambda row: row.wakings)
    assert f"|{most.wakings}|" in rows_of(html)[0]


def test_two_agents_part_where_their_traces_part(run: RunFolder, pages: Path, tmp_path: Path):
    rows = [row for row in run.rows() if row.unit.kind == "rem_onset" and row.unit.scale == 1.0]
    first, second = (
        next(row for row in rows if row.unit.agent == agent and row.unit.seed == 1)
        for agent in ("fixed_timer", "rem_rule")
    )
    found = parting(run.trace(first.unit.key), run.trace(second.unit.key))
    assert found is not None
    address = f"{(pages / 'tasks-1.html').as_uri()}#task={first.unit.task}&a=fixed_timer"
    html = opened(f"{address}&b=rem_rule&scale=1", tmp_path)
    assert f"Here they part</strong>, at step {found.step}." in html
    assert html.count("Here they part") == 1
    assert html.count("<section>") == 2


def test_an_agent_never_parts_from_itself(run: RunFolder, pages: Path, tmp_path: Path):
    address = f"{(pages / 'tasks-1.html').as_uri()}#a=rem_rule&b=rem_rule"
    html = opened(address, tmp_path)
    assert "Here they part" not in html
    assert "They never part." in html


def test_each_decision_stands_with_its_reason_and_hostile_ones_stay_words(
    run: RunFolder, pages: Path, tmp_path: Path
):
    html = opened(f"{(pages / 'tasks-1.html').as_uri()}#a=evil", tmp_path)
    assert "&lt;/script&gt;&lt;script&gt;document.title" in html
    assert "<img" not in html
    assert "burning &lt;b&gt;house&lt;/b&gt;" in html
    assert "words_not_said" in html
    assert "said instead" in html
    assert "\u202e" not in html
    assert "梦 حلم" in html
    assert html.count("<select") == html.count("<label>") == 4
    assert 'tabindex="-1"' not in html
