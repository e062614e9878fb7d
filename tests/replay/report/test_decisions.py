"""One attempt as a list of decisions, without any script."""

from __future__ import annotations

import re
from html import unescape

from agents.types import PlaySound, Stop, Wait, Whisper
from bedside.safety.gate import Mode
from devices.types import Volume
from replay.report.courses import course
from replay.report.pages.decisions import decisions_table, time_of_day_s
from replay.setting import Setting
from tests.replay.nights import NEVER, Scripted, cue_at, lived, night, setting, waking_setting


def rows(letters: str, agent: Scripted, made: Setting | None = None, **given: str) -> list[str]:
    """The cells of each row, joined by a bar."""
    done = lived(night(letters, **given), agent, made or setting(NEVER))
    html = decisions_table(course(done.trace, done.hidden))
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in body.split("</tr>") if row]
    return [" | ".join(unescape(re.sub("<[^>]*>", "", cell)) for cell in row) for row in cells]


def test_waits_with_one_reason_are_one_row_and_a_cue_is_its_own():
    """The night starts at 23:00; step 0 is decided at 23:00:30."""
    script = {0: Wait("early"), 1: Wait("early"), 2: PlaySound(Volume.LOW, "now"), 3: Stop("done")}
    assert rows("LLRRL", Scripted(script)) == [
        "23:00:30 | light | wait, 2 steps | early",
        "23:01:30 | REM | sound, low | now",
        "23:02:00 | REM | stop | done",
        "23:02:30 | light | wait | ",
    ]


def test_a_cue_that_woke_and_rules_it_broke_stand_beside_the_reason():
    loud = PlaySound(Volume.HIGH, "hear me")
    found = rows("RRRR", cue_at(1, action=loud), waking_setting())
    assert found[1] == "23:01:00 | REM | sound, high | hear me woke the sleeper cue_high_volume"


def test_words_that_were_replaced_are_told_with_what_was_said_instead():
    asked = Whisper("a burning house", Volume.LOW, "why not")
    (_, cued, _) = rows("RRR", cue_at(1, action=asked))
    assert "whisper, low: “a burning house” | why not words_not_said" in cued
    assert cued.endswith("said instead: “my grey cat is asleep”")


def test_a_refusal_says_who_refused():
    (_, cued, _) = rows("DDD", cue_at(1), setting(NEVER, mode=Mode.ENFORCE))
    assert "refused by" in cued
    assert "cue_in_deep" in cued


def test_an_error_and_a_slow_answer_are_told_at_their_step():
    found = rows("RRR", Scripted({1: RuntimeError("<oh>"), 2: (2.4, PlaySound(reason="slow"))}))
    assert found[1].endswith("error: RuntimeError: <oh>")
    assert found[2].endswith("slowtook 2.4 s")


def test_a_true_stage_that_is_another_is_called_hidden():
    found = rows("RRL", Scripted({}), truth="R2L")
    assert found == [
        "23:00:30 | REM | wait | ",
        "23:01:00 | REM (hidden: light) | wait | ",
        "23:01:30 | light | wait | ",
    ]


def test_time_of_day_has_its_seconds():
    assert time_of_day_s(39_630.0) == "23:00:30"
    assert time_of_day_s(12 * 3600.0) == "00:00:00"
