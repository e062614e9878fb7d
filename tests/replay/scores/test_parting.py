"""Where two traces part, on traces of real attempts."""

from __future__ import annotations

from agents.types import PlaySound, Stop, Wait
from devices.types import Volume
from replay.scores.parting import parting
from tests.replay.nights import LOUD, START_CLOCK_S, Scripted, cue_at, lived, night, setting

NIGHT = night("WLLRRRRRRR")


def trace(agent: Scripted, **given: object):
    return lived(NIGHT, agent, setting(0.0, **given)).trace


def test_two_agents_that_do_the_same_never_part():
    assert parting(trace(cue_at(4)), trace(cue_at(4))) is None


def test_the_first_step_with_another_action_is_where_they_part():
    found = parting(trace(cue_at(4, 6)), trace(cue_at(4, 8)))
    assert found is not None
    assert (found.step, found.first, found.second) == (6, "sound low in rem", "wait in rem")
    assert found.clock_s == START_CLOCK_S + 7 * 30


def test_another_volume_is_another_action():
    found = parting(trace(cue_at(4)), trace(cue_at(4, action=LOUD)))
    assert found is not None
    assert (found.first, found.second) == ("sound low in rem", "sound high in rem")


def test_another_reason_is_not():
    other = Scripted({4: PlaySound(Volume.LOW, "for another reason"), 5: Wait("still")})
    assert parting(trace(cue_at(4)), trace(other)) is None


def test_the_same_cue_at_another_moment_parts_them():
    found = parting(trace(cue_at(4)), trace(cue_at(4, latency_s=2.0)))
    assert found is not None
    assert found.step == 4


def test_an_answer_that_came_too_late_is_called_so():
    found = parting(trace(cue_at(4)), trace(cue_at(4, latency_s=31.0)))
    assert found is not None
    assert (found.step, found.second) == (4, "wait in rem, late")


def test_an_attempt_that_ended_is_where_they_part():
    stopping = Scripted({5: Stop("enough")})
    found = parting(trace(cue_at(), ends_at_stop=True), trace(stopping, ends_at_stop=True))
    assert found is not None
    assert (found.step, found.second) == (5, "stop in rem")
    ended = parting(trace(cue_at(), steps=6), trace(cue_at(), steps=4))
    assert ended is not None
    assert (ended.step, ended.first, ended.second) == (4, "wait in rem", "ended")
