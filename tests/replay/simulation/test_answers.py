"""What a cue does by one roll, and what a theme's presence comes to."""

from math import exp, inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.simulation.answers import Answer, Answers, EffectError, ThemeModel

ANSWERS = Answers(stage_change=1.5, arousal=3.0)
MODEL = ThemeModel(
    talk=1.0, cue=0.5, half_life_h=2.0, carry=0.1, baseline=0.1, gain=0.0, recall=0.6
)
CHANCE = st.floats(0.0, 1.0)
STRENGTH = [Answer.NONE, Answer.AROUSAL, Answer.STAGE_CHANGE, Answer.WAKING]


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (0.0, Answer.WAKING), (0.099, Answer.WAKING), (0.1, Answer.STAGE_CHANGE),
        (0.149, Answer.STAGE_CHANGE), (0.151, Answer.AROUSAL), (0.299, Answer.AROUSAL),
        (0.301, Answer.NONE), (0.999, Answer.NONE),
    ],
)  # fmt: skip
def test_a_roll_leads_to_a_weaker_answer_the_higher_it_is(value: float, answer: Answer) -> None:
    assert ANSWERS.answer(value, 0.1) is answer


@given(CHANCE, CHANCE, CHANCE)
def test_a_louder_cue_never_does_less(value: float, a: float, b: float) -> None:
    softer, louder = sorted((a, b))
    answers = [STRENGTH.index(ANSWERS.answer(value, chance)) for chance in (softer, louder)]
    assert answers == sorted(answers)


@given(CHANCE)
def test_where_nothing_can_wake_nothing_is_answered(value: float) -> None:
    assert ANSWERS.answer(value, 0.0) is Answer.NONE


def test_presence_halves_and_adds_up() -> None:
    raised = [(0.0, 1.0), (7200.0, 0.5)]
    assert MODEL.presence(raised, 0.0) == 1.0
    assert MODEL.presence(raised, 7199.0) == pytest.approx(0.5, abs=1e-3)
    assert MODEL.presence(raised, 7200.0) == pytest.approx(1.0)
    assert MODEL.presence(raised, 14_400.0) == pytest.approx(0.5)


def test_what_comes_later_adds_nothing_yet() -> None:
    assert MODEL.presence([(100.0, 1.0)], 99.0) == 0.0


@given(st.floats(0.0, 1000.0))
def test_without_gain_presence_does_nothing(presence: float) -> None:
    assert MODEL.incorporation(presence) == pytest.approx(0.1)


def test_with_gain_presence_adds_to_the_baseline() -> None:
    model = MODEL.with_gain(0.5)
    assert model.incorporation(0.0) == pytest.approx(0.1)
    assert model.incorporation(2.0) == pytest.approx(1 - 0.9 * exp(-1.0))


@given(st.floats(0.0, 50.0), st.floats(0.0, 50.0), st.floats(0.0, 2.0))
def test_more_presence_never_does_less(a: float, b: float, gain: float) -> None:
    less, more = sorted((a, b))
    model = MODEL.with_gain(gain)
    assert 0.1 - 1e-12 <= model.incorporation(less) <= model.incorporation(more) <= 1.0


@pytest.mark.parametrize("effect", [-0.1, inf, nan])
def test_an_effect_that_is_none_is_refused(effect: float) -> None:
    with pytest.raises(EffectError, match="--effect"):
        MODEL.with_gain(effect)
