"""Conditions by name: at most one fault of each group."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.conditions import (
    PLAIN,
    ActuatorFault,
    Condition,
    ConditionError,
    PersonAct,
    SignalFault,
    condition_named,
    task_condition,
)

CONDITIONS = st.builds(
    Condition,
    st.sampled_from((None, *SignalFault)),
    st.sampled_from((None, *ActuatorFault)),
    st.sampled_from((None, *PersonAct)),
)

KNOWN = ("plain", "flicker")


@given(CONDITIONS)
def test_a_condition_is_found_by_its_name(condition: Condition) -> None:
    assert condition_named(condition.name) == condition


def test_the_order_of_faults_in_a_name_does_not_matter() -> None:
    for words in permutations(("frozen_stage", "cue_late", "no_memory")):
        found = condition_named("+".join(words))
        assert found.name == "frozen_stage+cue_late+no_memory"


def test_plain_is_no_fault() -> None:
    assert condition_named("plain") == PLAIN == Condition()


def test_an_unknown_fault_is_named_with_the_nearest_one() -> None:
    with pytest.raises(ConditionError, match=r"'flickr' is unknown \(did you mean flicker\?\)"):
        condition_named("flickr")


@pytest.mark.parametrize("name", ["", "+", "flicker+", "plain+flicker", "FLICKER"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ConditionError, match="is unknown"):
        condition_named(name)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("flicker+frozen_stage", "signal"),
        ("cue_late+cue_fails", "actuator"),
        ("no_report+no_memory", "person"),
        ("flicker+flicker", "signal"),
    ],
)
def test_two_faults_of_one_group_are_refused(name: str, group: str) -> None:
    with pytest.raises(ConditionError, match=f"both faults of the {group}; choose one"):
        condition_named(name)


def test_a_task_cannot_lack_a_report_and_says_why() -> None:
    assert task_condition("flicker+no_memory") == condition_named("flicker+no_memory")
    with pytest.raises(ConditionError, match="no_report changes nothing in the 20 minutes"):
        task_condition("flicker+no_report")
    with pytest.raises(ConditionError) as unknown:
        task_condition("flickr")
    assert "no_report" not in str(unknown.value)


@given(st.text(max_size=30).filter(lambda text: "_" not in text and text not in KNOWN))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ConditionError, match="condition"):
        condition_named(text)
