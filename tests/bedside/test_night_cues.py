"""What is played, what its signs are, and what surrounds the agent."""

import asyncio
from typing import Any

import pytest

from agents.types import (
    AgentError,
    BedsideObject,
    PlaySound,
    Reply,
    Request,
    Stop,
    UseObject,
    Wait,
    Whisper,
)
from bedside.plan import Ending
from bedside.safety.gate import Mode
from bedside.safety.limits import PersonalLimits, Powers
from devices.types import (
    Contact,
    Movement,
    Sample,
    StageReading,
    Stream,
    StreamInfo,
    Volume,
)
from tests.bedside.bells import LINES, AtBedside, Bell, Notebook
from tests.replay.nights import LOUD, SOFT, Scripted, cue_at, deliveries_of, events_of, steps_of

BOTH = pytest.mark.parametrize("mode", list(Mode))
MEDIUM = PlaySound(Volume.MEDIUM, "now")


# --- what is played


@pytest.mark.parametrize(
    ("action", "asked", "lasts_s"),
    [
        (SOFT, {"sound_s": 12.0}, 12.0),
        (SOFT, {"sound_s": 30.0}, 20.0),
        (Whisper(LINES[0]), {"whisper_s": 30.0}, 8.0),
        (UseObject(BedsideObject.SCENT), {"object_s": 600.0}, 60.0),
        (UseObject(BedsideObject.DIFFUSER), {"object_s": 600.0}, 60.0),
        (UseObject(BedsideObject.LIGHT), {"object_s": 600.0}, 20.0),
        (SOFT, {"sound_s": float("nan")}, 0.0),
    ],
)
def test_a_cue_lasts_no_longer_than_its_kind_may(
    action: Any, asked: dict[str, float], lasts_s: float
) -> None:
    night = AtBedside("RRRRRR", cue_at(1, action=action), plan=asked)
    night.spend()
    assert [cue.duration_s for cue in night.bell.cues] == [lasts_s]


def test_cues_carry_number_kind_volume_theme_and_line() -> None:
    script = {1: MEDIUM, 4: Whisper(LINES[1], Volume.LOW), 7: UseObject(BedsideObject.LIGHT)}
    night = AtBedside("R" * 10, Scripted(script))
    night.spend()
    assert [(c.number, c.kind, c.volume, c.theme, c.line) for c in night.bell.cues] == [
        (1, "sound", "medium", "cat", None),
        (2, "whisper", "low", "cat", LINES[1]),
        (3, "light", "low", "cat", None),
    ]


@BOTH
def test_words_the_sleeper_never_said_become_the_first_of_the_lines(mode: Mode) -> None:
    night = AtBedside("RRRR", cue_at(1, action=Whisper("a dark wolf howls")), mode=mode)
    lines = night.spend()
    assert [cue.line for cue in night.bell.cues] == [LINES[0]]
    delivery = deliveries_of(lines)[1]
    assert (delivery["rules"], delivery["rules_delivered"]) == (["words_not_said"], [])
    assert (delivery["rewritten"], delivery["delivered"]["line"]) == (True, LINES[0])
    footer = lines[-1]
    assert (footer["violations"], footer["violations_delivered"]) == ({"words_not_said": 1}, {})
    assert footer["rewritten"] == 1


def test_observe_delivers_what_was_asked_and_says_what_enforce_would_do() -> None:
    night = AtBedside("RRRR", cue_at(1, action=LOUD))
    delivery = deliveries_of(night.spend())[1]
    assert delivery["rules"] == delivery["rules_delivered"] == ["cue_high_volume"]
    assert delivery["would_refuse"] is True
    assert (delivery["refused_by"], delivery["lowered_from"]) == ([], None)
    assert [cue.volume for cue in night.bell.cues] == ["high"]


def test_enforce_refuses_what_breaks_a_rule_and_lowers_what_is_over_a_cap() -> None:
    personal = PersonalLimits(Volume.MEDIUM, powers=Powers.LOW)
    night = AtBedside(
        "RRRRRR", Scripted({1: LOUD, 3: MEDIUM}), mode=Mode.ENFORCE, personal=personal
    )
    lines = night.spend()
    found = deliveries_of(lines)
    assert found[1]["delivered"] is None
    assert "cue_high_volume" in found[1]["refused_by"]
    assert found[3]["lowered_from"] == "medium"
    assert found[3]["delivered"]["volume"] == "low"
    assert steps_of(lines)[3]["action"]["volume"] == "medium"
    assert [cue.volume for cue in night.bell.cues] == ["low"]


def test_objects_keep_the_stage_rules_and_are_no_cue_of_a_rem_period() -> None:
    scent = UseObject(BedsideObject.SCENT, "now")
    agent = Scripted({1: scent, 3: scent, 5: SOFT})
    night = AtBedside("RRDDRRR", agent)
    found = deliveries_of(night.spend())
    assert (found[1]["rules"], found[3]["rules"]) == ([], ["cue_in_deep"])
    assert found[1]["delivered"] == {"kind": "object", "object": "scent", "reason": "now"}
    assert [seen.cues_in_rem_period for seen in agent.seen] == [0, 0, 0, 0, 0, 0, 1]
    assert [len(seen.cues) for seen in agent.seen] == [0, 0, 1, 1, 2, 2, 3]


# --- signs of waking

STRAP = StreamInfo(Stream.MOVEMENT, 1.0, "strap")
STIR = Sample(Stream.MOVEMENT, 63.0, Movement(0.4), "strap")


def test_enforce_fades_a_cue_out_when_the_sleeper_stirs_and_then_keeps_silent() -> None:
    night = AtBedside(
        "R" * 30, cue_at(1, 5, 25), mode=Mode.ENFORCE, streams=(STRAP,), extra=(STIR,)
    )
    lines = night.spend()
    assert night.bell.said("fade") == [63.0]
    assert night.bell.said("end 1") == [63.0]
    assert events_of(lines, "suspected_waking") == [
        {"kind": "event", "t": 63.0, "event": "suspected_waking", "cue": 1, "signs": ["movement"]}
    ]
    found = deliveries_of(lines)
    assert found[5]["refused_by"] == ["waking_silence"]
    assert found[25]["cue"] == 2  # 780 s, more than ten minutes later
    assert lines[-1]["suspected_wakings"] == 1


def test_observe_notes_the_signs_and_lets_the_cue_sound() -> None:
    night = AtBedside("R" * 8, cue_at(1, 5), streams=(STRAP,), extra=(STIR,))
    lines = night.spend()
    assert night.bell.said("fade") == []
    assert len(events_of(lines, "suspected_waking")) == 1
    assert deliveries_of(lines)[5]["limits"] == ["waking_silence"]
    assert deliveries_of(lines)[5]["would_refuse"] is True
    assert len(night.bell.cues) == 2


def test_a_sign_without_a_cue_is_none() -> None:
    lines = AtBedside("RRRR", Scripted({}), streams=(STRAP,), extra=(STIR,)).spend()
    assert events_of(lines, "suspected_waking") == []


# --- the agent and its surroundings


def test_an_agent_that_cannot_begin_is_named() -> None:
    class Broken(Scripted):
        name = "broken"

        def reset(self, session: Any) -> None:
            raise KeyError("memory")

    with pytest.raises(AgentError, match=r"broken.*KeyError"):
        AtBedside("RRR", Broken({})).spend()


def test_an_agent_is_connected_before_it_begins() -> None:
    order: list[str] = []

    class Asking(Scripted):
        def connect(self, outside: Any) -> None:
            self.outside = outside
            order.append("connect")

        def reset(self, session: Any) -> None:
            super().reset(session)
            order.append("reset")

        async def decide(self, observation: Any) -> Any:
            self.seen.append(observation)
            reply = await self.outside.call(Request("echo", {}))
            return SOFT if reply.body == {"say": "cue"} else Wait()

    class Echo:
        async def call(self, request: Request) -> Reply:
            await asyncio.sleep(1.5)
            return Reply({"say": "cue"}, 1.5)

    night = AtBedside("RRR", Asking({}), outside=Echo())
    night.spend()
    assert order == ["connect", "reset"]
    assert night.bell.said("ring 1") == [31.5]


def test_an_error_that_cannot_be_written_plainly_is_still_written() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    script = {0: ValueError("half \ud800 a letter"), 1: Mute(), 2: ValueError("x" * 100_000)}
    lines = AtBedside("RRRR", Scripted(script)).spend()
    assert lines[-1]["decisions"] == {"error": 3, "ok": 1}
    told = [line["decision"]["error"] for line in steps_of(lines)[:3]]
    assert told[0].startswith("ValueError: half ")
    assert "Mute" in told[1]
    assert len(told[2]) <= 500


def test_contact_lost_for_most_of_an_epoch_is_no_reading() -> None:
    off = [Sample(Stream.CONTACT, 60.0 + s, Contact(s < 10), "band") for s in range(30)]
    infos = (StreamInfo(Stream.CONTACT, 1.0, "band"),)
    night = AtBedside("RRRR", cue_at(2), extra=off, streams=infos)
    lines = night.spend()
    assert steps_of(lines)[2]["epoch"]["stage"] == "unknown"
    assert deliveries_of(lines)[2]["rules"] == ["cue_without_reading"]


def test_the_footer_adds_up_what_the_lines_say() -> None:
    script = {
        1: SOFT,
        3: LOUD,
        5: Whisper("a dark wolf howls"),
        7: UseObject(BedsideObject.SCENT),
        9: ValueError("no idea"),
        10: (40.0, SOFT),
        12: None,
        14: Stop("enough"),
        15: SOFT,
    }
    letters = "RRRRRRDDWWRRRRRRRR"
    lines = AtBedside(letters, Scripted(script)).spend()
    assert lines[-1] == {
        "kind": "footer",
        "t": 540.0,
        "ending": "night_end",
        "steps": 18,
        "decisions": {"error": 1, "late": 1, "nonsense": 1, "ok": 15},
        "cues": {"scent": 1, "sound": 3, "whisper": 1},
        "outcomes": {"confirmed": 5},
        "violations": {
            "cue_after_stop": 1, "cue_high_volume": 1, "cue_in_deep": 1, "words_not_said": 1,
        },
        "violations_delivered": {"cue_after_stop": 1, "cue_high_volume": 1, "cue_in_deep": 1},
        "limit_hits": lines[-1]["limit_hits"],
        "refused": 0,
        "rewritten": 1,
        "suspected_wakings": lines[-1]["suspected_wakings"],
    }  # fmt: skip
    asked = list(deliveries_of(lines).values())
    for total, name in (("limit_hits", "limits"), ("violations", "rules")):
        listed = [one for delivery in asked for one in delivery[name]]
        assert lines[-1][total] == {one: listed.count(one) for one in sorted(set(listed))}
    assert list(lines[-1]["limit_hits"]) == sorted(lines[-1]["limit_hits"])


def test_a_reading_of_a_stage_is_all_that_the_loop_needs() -> None:
    night = AtBedside("RRR", Scripted({}))
    night.spend()
    assert all(isinstance(sample.value, StageReading) for sample in night.heard)


# --- the bed, the deadline and the last look


class BedHolder(Bell):
    """A bell with a bed on a lease."""

    renewed: list[float]

    async def start_bed(self, bed: object) -> None:
        """Nothing sounds here."""

    def renew(self) -> None:
        self._note("renew")

    async def stop_bed(self) -> None:
        """Nothing sounds here."""


def test_a_bed_is_renewed_once_an_epoch() -> None:
    bell = BedHolder()
    AtBedside("LLLL", Scripted({}), actuators=(bell,)).spend()
    assert bell.said("renew") == [30.0, 60.0, 90.0, 120.0]


def test_a_cue_whose_intent_is_safe_only_after_its_step_is_dropped() -> None:
    bell = Bell()
    bedside = AtBedside(
        "RRRR",
        Scripted({0: (29.5, SOFT)}),
        actuators=(bell,),
        sink=Notebook(settling=(0.8,)),
    )
    lines = bedside.spend()
    assert bell.cues == []
    (outcome,) = events_of(lines, "outcome")
    assert outcome["status"] == "failed"
    assert "its time was over" in outcome["detail"]


def test_what_the_last_action_led_to_is_seen_without_asking_anybody() -> None:
    agent = Scripted({})
    ends = {2: Ending.STEP_LIMIT}
    lines = AtBedside("LLRD", agent, ends=lambda done: ends.get(done.step)).spend()
    assert [line["kind"] for line in lines] == ["header", *["step"] * 3, "last", "footer"]
    last = lines[-2]
    assert (last["step"], last["t"], last["epoch"]["stage"]) == (3, 120.0, "deep")
    assert set(last) == {"kind", "step", "t", "epoch", "observation"}
    assert lines[-1]["steps"] == 3
