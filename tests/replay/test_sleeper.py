"""The hidden sleeper alone: which stage counts, which roll is made, what a waking inserts."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.configuration import default_toml
from bedside.trace import MemorySink, Trace
from devices.types import Cue, CueKind, Stage, Volume
from replay.rolls import Dice
from replay.sleeper import Sleeper, Waking
from replay.wake_rule import WakeTable, wake_table
from tests.replay.nights import ALWAYS, STAGES, Line, lines_of

TABLE = wake_table(default_toml("wake_table"))
SURE = WakeTable(ALWAYS, 4)


def roll(night: str, seed: int, step: int) -> float:
    """By the formula of `replay-environment.md`, E3, written out once more."""
    digest = sha256(f"paprika-roll/1\0{night}\0{seed}\0wake\0{step}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


class Bed:
    """A sleeper whose hidden stages are given as letters."""

    def __init__(self, letters: str, table: WakeTable = TABLE, first_epoch: int = 0) -> None:
        self._sink = MemorySink()
        self.sleeper = Sleeper(
            [STAGES[letter] for letter in letters],
            first_epoch=first_epoch,
            dice=Dice("night-a:0", 7),
            table=table,
            trace=Trace(self._sink),
        )
        self._cues = 0

    def cue(
        self,
        t: float,
        volume: Volume = Volume.LOW,
        kind: CueKind = CueKind.SOUND,
        *,
        step: int | None = None,
    ) -> Waking | None:
        """A cue that reaches the sleeper at `t`, by default of the step that closed last."""
        self._cues += 1
        step = int(t // 30.0) - 1 if step is None else step
        return self.sleeper.hear(Cue(self._cues, kind, volume, "cat", 8.0, step=step), t)

    @property
    def lines(self) -> list[Line]:
        return lines_of(self._sink.bytes())


@pytest.mark.parametrize(
    ("t", "stage"),
    [(30.0, "light"), (60.0, "light"), (60.001, "rem"), (90.0, "rem"), (91.0, "deep")],
)
def test_the_stage_that_counts_covers_the_instant_before_the_cue(t: float, stage: str) -> None:
    assert Bed("LLRDD").sleeper.stage_before(t) == (stage, False)


@pytest.mark.parametrize(
    ("t", "stage"), [(60.0, ("light", True)), (120.0, ("light", True)), (150.0, ("rem", False))]
)
def test_in_a_gap_the_last_known_stage_counts(t: float, stage: tuple[str, bool]) -> None:
    assert Bed("L???R").sleeper.stage_before(t) == stage


def test_after_the_recording_the_last_known_stage_counts() -> None:
    assert Bed("LR").sleeper.stage_before(95.0) == ("rem", True)


def test_before_any_known_stage_nothing_is_rolled() -> None:
    bed = Bed("??L", SURE)
    assert bed.cue(60.0) is None
    assert bed.lines == [
        {
            "kind": "event", "t": 60.0, "event": "roll", "step": 1, "cue": 1, "stream": "wake",
            "value": None, "chance": None, "stage": "unknown", "imputed": True, "woken": False,
        }
    ]  # fmt: skip


def test_a_sleeper_who_is_awake_is_not_rolled_for() -> None:
    bed = Bed("WWW", SURE)
    assert bed.cue(60.0) is None
    assert (bed.lines[0]["value"], bed.lines[0]["chance"]) == (None, None)


@pytest.mark.parametrize(("t", "step"), [(60.0, 1), (62.4, 1), (89.999, 1), (90.0, 1), (90.0, 2)])
def test_a_roll_belongs_to_the_step_whose_decision_the_cue_was(t: float, step: int) -> None:
    bed = Bed("RRRRR")
    bed.cue(t, step=step)
    assert bed.lines[0]["step"] == step
    assert bed.lines[0]["value"] == roll("night-a:0", 7, step)


@given(
    st.sampled_from("LDR12"),
    st.sampled_from(list(Volume)),
    st.sampled_from(list(CueKind)),
    st.integers(0, 60),
)
def test_a_cue_wakes_when_its_roll_is_under_the_chance(
    letter: str, volume: Volume, kind: CueKind, step: int
) -> None:
    bed = Bed(letter * 70)
    waking = bed.cue(30.0 * (step + 1), volume, kind)
    chance = {
        Stage.LIGHT: (0.08, 0.20, 0.45),
        Stage.REM: (0.05, 0.15, 0.40),
        Stage.DEEP: (0.02, 0.08, 0.20),
    }[STAGES[letter].coarse][volume.rank if kind.is_heard else 0]
    line = bed.lines[0]
    assert line["chance"] == chance
    assert (waking is not None) is line["woken"] is (roll("night-a:0", 7, step) < chance)


@pytest.mark.parametrize(
    ("t", "from_t"), [(60.0, 60.0), (60.001, 90.0), (89.0, 90.0), (90.0, 90.0)]
)
def test_a_waking_begins_at_the_first_boundary_at_or_after_the_cue(t: float, from_t: float) -> None:
    bed = Bed("LLLLL", SURE)
    assert bed.cue(t) == Waking(t, from_t, from_t + 120.0)
    assert bed.lines[-1] == {
        "kind": "event", "t": t, "event": "waking", "from_t": from_t, "until_t": from_t + 120.0,
    }  # fmt: skip


def test_while_awake_by_a_cue_nothing_is_rolled() -> None:
    bed = Bed("L" * 20, SURE)
    assert bed.cue(70.0) == Waking(70.0, 90.0, 210.0)
    for t in (71.0, 90.0, 90.1, 150.0, 210.0):
        assert bed.cue(t) is None
    assert bed.cue(210.1) == Waking(210.1, 240.0, 360.0)
    names = [line["event"] for line in bed.lines]
    assert names == ["roll", "waking", *["awake_already"] * 5, "roll", "waking"]


def test_the_recording_stands_still_while_awake_by_a_cue() -> None:
    bed = Bed("L" * 20, SURE)
    bed.cue(60.0)
    times = (0.0, 60.0, 75.0, 180.0, 181.0, 240.0)
    assert [bed.sleeper.recorded_s(t) for t in times] == [0.0, 60.0, 60.0, 60.0, 61.0, 120.0]
    assert bed.sleeper.inserted_at(60.0) == bed.sleeper.inserted_at(179.0) == bed.sleeper.wakings[0]
    assert bed.sleeper.inserted_at(59.9) is bed.sleeper.inserted_at(180.0) is None


def test_after_wakings_the_stage_is_that_of_the_recording_s_own_time() -> None:
    bed = Bed("LLRRDD", SURE)
    bed.cue(60.0)  # asleep again at 180 s, where the recording is at 60 s
    assert bed.sleeper.stage_before(200.0) == (Stage.REM, False)
    bed.cue(240.0)  # awake until 360 s, where the recording is at 120 s
    assert bed.sleeper.stage_before(370.0) == (Stage.DEEP, False)


def test_a_part_of_a_night_has_its_own_place_in_the_recording() -> None:
    bed = Bed("LLLLRRRR", SURE, first_epoch=3)
    assert bed.sleeper.stage_before(30.0) == (Stage.LIGHT, False)
    assert bed.sleeper.stage_before(60.0) == (Stage.REM, False)
    assert bed.sleeper.recorded_s(30.0) == 120.0


def test_the_hidden_trace_closes_with_the_truth_and_its_sums() -> None:
    bed = Bed("L1?2WDR", SURE)
    bed.cue(30.0)
    bed.sleeper.close(330.0)
    assert bed.lines[-2:] == [
        {"kind": "event", "t": 330.0, "event": "truth", "letters": "LL?LWDR"},
        {
            "kind": "footer", "t": 330.0, "wakings": 1, "recorded_epochs": 7, "inserted_epochs": 4,
        },
    ]  # fmt: skip
