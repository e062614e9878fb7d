"""The scripts of the pages in a real browser, opened from the file system."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest

from replay.experiment.folder import RunFolder
from replay.experiment.rows import Row
from replay.scores.parting import parting

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")


def _acts(run: RunFolder) -> dict[str, tuple[str, str]]:
    """What is opened and what is done there, by name: a page with its fragment, and a script."""
    old = run.verdict_sets()[0].id
    task = parted(run)[0].unit.task
    return {
        "filtered": (
            "attempts.html",
            "pick('Agent', 'fixed_timer'); pick('Rule broken', 'cue in deep');"
            "pick('Verdict', 'fail'); pick('Wake scale', '1×')",
        ),
        "older": ("attempts.html", f"pick('Verdict set', '{old}'); pick('Verdict', 'pass')"),
        "sorted": ("attempts.html", "press('wakings'); press('wakings ▲')"),
        "two agents": (f"tasks-1.html#task={task}&a=fixed_timer&b=rem_rule&scale=1", ""),
        "one agent twice": ("tasks-1.html#a=rem_rule&b=rem_rule", ""),
        "hostile": ("tasks-1.html#a=evil", ""),
        "nothing asked": ("tasks-1.html", ""),
    }


def parted(run: RunFolder) -> tuple[Row, Row]:
    """Two agents on one task that they do not do alike."""
    rows = [row for row in run.rows() if row.unit.kind == "rem_onset" and row.unit.scale == 1.0]
    first, second = (
        next(row for row in rows if row.unit.agent == agent and row.unit.seed == 1)
        for agent in ("fixed_timer", "rem_rule")
    )
    return first, second


@pytest.fixture(scope="module")
def opened(
    run: RunFolder, pages: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, str]:
    """The elements of each page after its script ran and something was done, in one browser."""
    folder = tmp_path_factory.mktemp("browser")
    acts = _acts(run)
    frames = "".join(f'<iframe src="{pages.as_uri()}/{at}"></iframe>' for at, _ in acts.values())
    done = ",".join(f"(page, pick, press) => {{{act}}}" for _, act in acts.values())
    frame = folder / "frame.html"
    frame.write_text(
        f"{frames}<script>const acts = [{done}];"
        "window.onload = () => document.querySelectorAll('iframe').forEach((frame, number) => {"
        "const page = frame.contentDocument;"
        "const pick = (label, words) => {"
        "  const named = [...page.querySelectorAll('label')].find((one) =>"
        "    one.firstChild.textContent === label);"
        "  const select = named.querySelector('select');"
        "  select.value = [...select.options].find((one) => one.text === words).value;"
        "  select.dispatchEvent(new page.defaultView.Event('change')); };"
        "const press = (words) => [...page.querySelectorAll('button')].find((one) =>"
        "  one.textContent === words).click();"
        "acts[number](page, pick, press);"
        "const pre = document.createElement('pre');"
        "pre.textContent = page.querySelector('main').outerHTML;"
        "document.body.append(pre); });</script>",
        encoding="utf-8",
    )
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    reach = "--allow-file-access-from-files"  # so that the frames may be looked into
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [str(BROWSER), *options, reach, profile, frame.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=50)
    shown = re.findall(r"<pre>(.*?)</pre>", ran.stdout, re.S)
    assert len(shown) == len(acts), ran.stderr
    return dict(zip(acts, map(unescape, shown), strict=True))


def rows_of(html: str) -> list[str]:
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    return [unescape(re.sub("<[^>]*>", "|", row)) for row in body.split("</tr>") if "<td" in row]


def test_filters_by_agent_rule_verdict_and_scale_leave_what_the_rows_say(
    run: RunFolder, opened: Mapping[str, str]
):
    html = opened["filtered"]
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


def test_an_older_verdict_set_can_be_chosen(run: RunFolder, opened: Mapping[str, str]):
    html, old = opened["older"], run.verdict_sets()[0].id
    assert f"0 of {len(run.rows())} attempts" in html
    assert f"verdict set {old}" in html


def test_every_attempt_is_listed_a_hundred_at_most_and_a_head_sorts_them(
    run: RunFolder, opened: Mapping[str, str]
):
    html = opened["sorted"]
    assert f"{len(run.rows())} of {len(run.rows())} attempts" in html
    assert len(rows_of(html)) == min(100, len(run.rows()))
    assert 'aria-sort="descending"' in html
    most = max(run.rows(), key=lambda row: row.wakings)
    assert f"|{most.wakings}|" in rows_of(html)[0]


def test_two_agents_part_where_their_traces_part(run: RunFolder, opened: Mapping[str, str]):
    html, (first, second) = opened["two agents"], parted(run)
    found = parting(run.trace(first.unit.key), run.trace(second.unit.key))
    assert found is not None
    assert f"Here they part</strong>, at step {found.step}." in html
    assert html.count("Here they part") == 1
    assert html.count("<section>") == 2


def test_an_agent_never_parts_from_itself(opened: Mapping[str, str]):
    html = opened["one agent twice"]
    assert "Here they part" not in html
    assert "They never part." in html


def test_the_first_task_that_can_be_cued_is_open_where_none_is_asked_for(
    run: RunFolder, opened: Mapping[str, str]
):
    theme = next(row.unit.theme for row in run.rows() if row.unit.feasible)
    assert f"Theme: <bdi>{theme}</bdi>" in opened["nothing asked"]
    assert run.rows()[0].unit.theme != theme


def test_each_decision_stands_with_its_reason_and_hostile_ones_stay_words(
    opened: Mapping[str, str],
):
    html = opened["hostile"]
    assert "&lt;/script&gt;&lt;script&gt;document.title" in html
    assert "<img" not in html
    assert "burning &lt;b&gt;house&lt;/b&gt;" in html
    assert "words_not_said" in html
    assert "said instead" in html
    assert "\u202e" not in html
    assert "梦 حلم" in html
    assert html.count("<select") == html.count("<label>") == 4
    assert 'tabindex="-1"' not in html
