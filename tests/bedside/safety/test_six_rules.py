"""Every combination of stage, age, action, volume, stop and words, against a table by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.types import Action, BedsideObject, PlaySound, Stop, UseObject, Wait, Whisper
from bedside.safety.gate import Mode, Verdict, judge
from bedside.safety.limits import History, PersonalLimits, Powers
from bedside.safety.rules import STALE_S, Rule, Shown, broken_rules, stage_read
from bedside.safety.words import OwnWords
from devices.types import Stage, Volume

TABLE = Path(__file__).with_name("six_rules.txt")
COLUMNS = {
    "stage": ("awake", "light", "n_fine", "deep", "rem", "none"),
    "age": ("fresh", "stale"),
    "action": ("sound", "whisper", "scent", "light", "diffuser"),
    "volume": ("low", "medium", "high"),
    "stopped": ("no", "yes"),
    "words": ("-", "own", "unsaid", "unknown"),
}
HEADER = [*COLUMNS, "rules", "enforce", "observe"]
VERDICTS = {"play", "refuse", "rewrite"}
STAGES = {
    "awake": (Stage.AWAKE,),
    "light": (Stage.LIGHT,),
    "n_fine": (Stage.N1, Stage.N2),
    "deep": (Stage.DEEP,),
    "rem": (Stage.REM,),
    "none": (None, Stage.UNKNOWN),
}
AGES = {"fresh": (0.0, 15.0, 59.9), "stale": (60.0, 60.1, 3600.0, float("inf"), float("nan"))}
LINES = {"own": "coconut chicken", "unsaid": "simmering coconut chicken", "unknown": "ja ikkuna"}
APPROVED = ("coconut chicken", "Hainan")
WORDS = OwnWords(frozenset({"coconut", "chicken", "hainan"}))
FULL = PersonalLimits(volume_cap=Volume.MEDIUM, powers=Powers.MEDIUM)


@dataclass(frozen=True)
class Row:
    """One row of the table: what it matches and what must then hold."""

    line: int
    cells: tuple[frozenset[str], ...]
    rules: tuple[Rule, ...]
    enforce: str
    observe: str

    def matches(self, combination: tuple[str, ...]) -> bool:
        return all(value in cell for value, cell in zip(combination, self.cells, strict=True))


def read_table() -> list[Row]:
    rows = [
        (number, text.split())
        for number, text in enumerate(TABLE.read_text("utf-8").splitlines(), 1)
        if text.strip() and not text.startswith("#")
    ]
    assert rows[0][1] == HEADER
    return [_row(number, fields) for number, fields in rows[1:]]


def _row(number: int, fields: list[str]) -> Row:
    assert len(fields) == len(HEADER), f"line {number}: {len(fields)} fields"
    cells = tuple(
        _cell(number, text, values) for text, values in zip(fields, COLUMNS.values(), strict=False)
    )
    names, enforce, observe = fields[len(COLUMNS) :]
    assert {enforce, observe} <= VERDICTS, f"line {number}"
    rules = () if names == "-" else tuple(Rule(name) for name in names.split("+"))
    return Row(number, cells, rules, enforce, observe)


def _cell(number: int, text: str, values: tuple[str, ...]) -> frozenset[str]:
    if text == "*":
        return frozenset(values)
    parts = text.split("|")
    assert len(set(parts)) == len(parts), f"line {number}: {text}"
    assert set(parts) <= set(values), f"line {number}: {text}"
    return frozenset(parts)


def combinations() -> Iterator[tuple[str, ...]]:
    """Words belong to whispers alone; everything else varies freely."""
    for combination in itertools.product(*COLUMNS.values()):
        if (combination[2] == "whisper") == (combination[5] != "-"):
            yield combination


ROWS = read_table()
COMBINATIONS = list(combinations())


def row_of(combination: tuple[str, ...]) -> Row:
    (row,) = [row for row in ROWS if row.matches(combination)]
    return row


def make_action(action: str, volume: str, words: str) -> Action:
    if action == "sound":
        return PlaySound(Volume(volume))
    if action == "whisper":
        return Whisper(LINES[words], Volume(volume))
    return UseObject(BedsideObject(action))


def verdict_of(action: Action, shown: Shown, stopped: bool, mode: Mode) -> Verdict:
    return judge(
        action,
        t=0.0,
        shown=shown,
        words=WORDS,
        lines=APPROVED,
        memory="coconut chicken, Hainan",
        history=History(agent_stopped=stopped),
        personal=FULL,
        mode=mode,
    )


def judged(verdict: Verdict) -> str:
    if verdict.delivered is None:
        return "refuse"
    return "rewrite" if verdict.rewritten else "play"


def test_the_table_has_one_row_for_each_of_the_504_combinations() -> None:
    assert len(COMBINATIONS) == 6 * 2 * (4 * 3 * 2 + 3 * 2 * 3) == 504
    unmatched = [c for c in COMBINATIONS if sum(row.matches(c) for row in ROWS) != 1]
    assert unmatched == []


def test_every_row_of_the_table_is_used() -> None:
    assert [row.line for row in ROWS if not any(row.matches(c) for c in COMBINATIONS)] == []


@pytest.mark.parametrize("combination", COMBINATIONS, ids="-".join)
def test_rules_and_verdicts_are_those_of_the_table(combination: tuple[str, ...]) -> None:
    stage, age, kind, volume, stopped, words = combination
    row = row_of(combination)
    action = make_action(kind, volume, words)
    for shown_stage, age_s in itertools.product(STAGES[stage], AGES[age]):
        shown = Shown(shown_stage, age_s)
        said = words in ("-", "own")
        assert broken_rules(action, shown, stopped=stopped == "yes", words_said=said) == row.rules
        enforced = verdict_of(action, shown, stopped == "yes", Mode.ENFORCE)
        observed = verdict_of(action, shown, stopped == "yes", Mode.OBSERVE)
        assert enforced.rules == observed.rules == row.rules
        assert judged(enforced) == row.enforce
        assert judged(observed) == row.observe
        assert enforced.would_refuse is observed.would_refuse is (row.enforce == "refuse")
        assert enforced.refused_by == (_five(row.rules) if row.enforce == "refuse" else ())
        assert observed.refused_by == ()
        assert observed.delivered_rules == _five(row.rules)
        assert enforced.delivered_rules == ()


def _five(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule is not Rule.WORDS_NOT_SAID)


@pytest.mark.parametrize("action", [Wait(), Wait("why"), Stop(), Stop("enough")])
@pytest.mark.parametrize("stage", [None, *Stage])
@pytest.mark.parametrize("stopped", [False, True])
def test_waiting_and_stopping_break_no_rule(
    action: Action, stage: Stage | None, stopped: bool
) -> None:
    assert broken_rules(action, Shown(stage, 0.0), stopped=stopped, words_said=False) == ()


def test_the_six_rules_have_the_ids_and_the_order_of_the_seed() -> None:
    assert [str(rule) for rule in Rule] == [
        "cue_while_awake",
        "cue_in_deep",
        "cue_without_reading",
        "cue_high_volume",
        "cue_after_stop",
        "words_not_said",
    ]


@pytest.mark.parametrize(
    ("stage", "age_s", "read"),
    [
        (Stage.N1, 0.0, Stage.LIGHT),
        (Stage.N2, 59.999, Stage.LIGHT),
        (Stage.REM, 30.0, Stage.REM),
        (Stage.REM, 60.0, None),
        (Stage.REM, -0.001, None),
        (Stage.REM, float("nan"), None),
        (Stage.UNKNOWN, 0.0, None),
        (None, 0.0, None),
    ],
)
def test_a_reading_counts_for_less_than_sixty_seconds(
    stage: Stage | None, age_s: float, read: Stage | None
) -> None:
    assert STALE_S == 60.0
    assert stage_read(Shown(stage, age_s)) is read


def test_high_volume_of_an_unsaid_whisper_after_a_stop_breaks_all_but_the_stage_rules() -> None:
    action = Whisper("steams", Volume.HIGH)
    assert broken_rules(action, Shown(None, 0.0), stopped=True, words_said=False) == (
        Rule.CUE_WITHOUT_READING,
        Rule.CUE_HIGH_VOLUME,
        Rule.CUE_AFTER_STOP,
        Rule.WORDS_NOT_SAID,
    )
