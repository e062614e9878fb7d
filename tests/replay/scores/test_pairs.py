"""Paired comparisons, by hand and against every completion of what is open."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.scores.cases import grouped_cases
from replay.scores.conclusion import Word
from replay.scores.figures import Comparison
from replay.scores.pairs import comparisons
from tests.replay.scores.score_rows import Run, played, together


def compare(*runs: Run) -> list[Comparison]:
    return comparisons(grouped_cases(*together(runs)), seed=1)


def only(*runs: Run) -> Comparison:
    (found,) = compare(*runs)
    return found


def starts(marks: str) -> dict[int, str]:
    """A start point, and a cluster, of its own for each mark."""
    return dict(enumerate(marks))


def test_two_agents_by_hand():
    found = only(played("a", starts("++++++--")), played("b", starts("-----+-+")))
    assert (found.first, found.second, found.pairs, found.open) == ("a", "b", 8, 0)
    assert (found.only_first, found.only_second) == (5, 1)
    assert found.p_mcnemar == pytest.approx(2 * 7 / 64)
    assert found.passes.mean == found.passes.lower == found.passes.upper == 4 / 8
    assert found.passes.p_permutation == pytest.approx(2 * 7 / 64)
    assert found.resolution == 1 / 8
    assert found.passes.word is Word.NOT_DISTINGUISHABLE


def test_a_clear_difference_is_called_one_and_names_the_higher():
    a, b = played("a", starts("++++++++")), played("b", starts("--------"))
    assert only(a, b).passes.word is Word.FIRST_HIGHER
    assert only(b, a).passes.word is Word.SECOND_HIGHER
    assert only(a, b).wakings.word is Word.SECOND_HIGHER
    assert only(a, b).passes.p_permutation == pytest.approx(2 / 256)


def test_agents_that_do_the_same_are_not_distinguishable():
    found = only(played("a", starts("+-+-+-")), played("b", starts("+-+-+-")))
    assert (found.p_mcnemar, found.passes.p_permutation, found.passes.p_clusters) == (1, 1, 1)
    assert found.passes.word is Word.NOT_DISTINGUISHABLE


def test_seeds_of_one_start_point_are_exchanged_together_among_clusters():
    """Ten pairs lean to a, but they are two stretches of sleep: 2 of 4 arrangements."""
    found = only(played("a", {0: "+++++", 1: "+++++"}), played("b", {0: "-----", 1: "-----"}))
    assert found.passes.p_permutation == pytest.approx(2 / 1024)
    assert found.passes.p_clusters == pytest.approx(0.5)


def test_what_rests_on_pairs_that_share_sleep_is_higher_on_these_dice_only():
    """Two clusters: the smallest p there can be over clusters is 1/2."""
    a, b = played("a", {0: "+++++", 1: "+++++"}), played("b", {0: "-----", 1: "-----"})
    word = only(a, b).passes.word
    assert word is Word.FIRST_ON_THESE_DICE
    assert word == "first higher on these dice; on other sleep not distinguishable"
    assert (word.short, word.limit) == (
        "first higher on these dice",
        "on other sleep not distinguishable",
    )
    assert only(b, a).passes.word is Word.SECOND_ON_THESE_DICE
    assert (Word.FIRST_HIGHER.short, Word.FIRST_HIGHER.limit) == ("first higher", "")


def test_five_clusters_of_many_pairs_leave_other_sleep_open_and_six_do_not():
    """All clusters lean one way: p over clusters is 2/32 with five and 2/64 with six."""
    for clusters, word in ((5, Word.FIRST_ON_THESE_DICE), (6, Word.FIRST_HIGHER)):
        every = range(clusters)
        found = only(
            played("a", dict.fromkeys(every, "++")), played("b", dict.fromkeys(every, "--"))
        )
        assert found.passes.p_clusters_holm == pytest.approx(2 / 2**clusters)
        assert found.passes.word is word


def test_holm_is_taken_over_clusters_too():
    """Six clusters, three pairs of agents: 2/64 three times over is above 0.05."""
    marks = (("a", "++++"), ("b", "----"), ("c", "----"))
    found = compare(*(played(name, dict.fromkeys(range(6), one)) for name, one in marks))
    assert found[0].passes.p_clusters == pytest.approx(2 / 64)
    assert found[0].passes.p_clusters_holm == pytest.approx(6 / 64)
    assert found[0].passes.word is Word.FIRST_ON_THESE_DICE


def test_with_one_cluster_nothing_is_said_of_other_sleep():
    assert only(played("a", {0: "++"}), played("b", {0: "--"})).passes.p_clusters is None


def test_holm_is_taken_over_all_pairs_of_agents():
    runs = [
        played(name, starts(marks))
        for name, marks in (("a", "++++++++"), ("b", "------++"), ("c", "--------"))
    ]
    found = compare(*runs)
    assert [(one.first, one.second) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [one.passes.p_permutation for one in found] == pytest.approx([2 / 64, 2 / 256, 0.5])
    assert [one.passes.p_holm for one in found] == pytest.approx([4 / 64, 6 / 256, 0.5])
    assert [one.p_mcnemar_holm for one in found] == pytest.approx([4 / 64, 6 / 256, 0.5])
    assert found[0].passes.word is Word.NOT_DISTINGUISHABLE
    assert found[1].passes.word is Word.FIRST_HIGHER


def test_scales_and_splits_are_families_of_their_own():
    runs = []
    for name, marks in (("a", "++++++"), ("b", "------")):
        runs += [played(name, starts(marks), scale=scale) for scale in (0.5, 1.0)]
        runs.append(played(name, starts(marks), held_out=True, start_seed=6))
    found = compare(*runs)
    assert [(one.split.value, one.scale) for one in found] == [
        ("development", 0.5),
        ("development", 1.0),
        ("held_out", 1.0),
    ]
    assert [one.passes.p_holm for one in found] == pytest.approx([2 / 64] * 3)


def test_restraint_tasks_count_for_wakings_and_not_for_passes():
    runs = []
    for name, marks in (("a", "+++"), ("b", "---")):
        runs += [played(name, starts(marks)), played(name, {9: marks[:1]}, feasible=False)]
    found = only(*runs)
    assert (found.passes.pairs, found.wakings.pairs, found.dose.pairs) == (3, 4, 3)


def test_the_dose_is_compared_in_cues_a_rem_minute():
    rows, verdicts = played("b", starts("++"))
    more = [replace(one, rem_cues=3) for one in rows]
    found = only(played("a", starts("++")), (more, verdicts)).dose
    assert found.mean == pytest.approx((1 - 3) / 10)


def test_broken_attempts_are_no_pair_for_wakings():
    found = only(played("a", starts("+++?")), played("b", starts("---+")))
    assert found.wakings.pairs == 3
    assert (found.pairs, found.open) == (4, 1)


marks = st.lists(
    st.sampled_from(["++", "+-", "-+", "--", "?+", "?-", "+?", "-?", "??"]), min_size=1, max_size=4
)


def completions(pairs: list[str]) -> list[list[str]]:
    kinds = [
        [
            a + b
            for a in ("+-" if pair[0] == "?" else pair[0])
            for b in ("+-" if pair[1] == "?" else pair[1])
        ]
        for pair in pairs
    ]
    return [list(done) for done in product(*kinds)]


def of_pairs(pairs: list[str]) -> Comparison:
    first, second = "".join(pair[0] for pair in pairs), "".join(pair[1] for pair in pairs)
    return only(played("a", starts(first)), played("b", starts(second)))


@settings(max_examples=40, deadline=None)
@given(marks)
def test_bounds_and_p_cover_every_completion_of_the_open_attempts(pairs: list[str]):
    found = of_pairs(pairs).passes
    closed = [of_pairs(done).passes for done in completions(pairs)]
    means = [one.mean for one in closed if one.mean is not None]
    assert found.lower == pytest.approx(min(means))
    assert found.upper == pytest.approx(max(means))
    assert found.p_permutation is not None
    worst = max(one.p_permutation for one in closed if one.p_permutation is not None)
    assert found.p_permutation >= worst - 1e-9


@settings(max_examples=40, deadline=None)
@given(marks)
def test_who_is_first_changes_nothing_but_the_sign(pairs: list[str]):
    there, back = of_pairs(pairs), of_pairs([pair[::-1] for pair in pairs])
    assert (there.only_first, there.only_second) == (back.only_second, back.only_first)
    assert there.p_mcnemar == back.p_mcnemar
    assert there.passes.p_permutation == pytest.approx(back.passes.p_permutation)
    assert there.passes.lower == pytest.approx(-(back.passes.upper or 0.0))


def test_open_attempts_that_could_turn_the_difference_leave_nothing_to_say():
    found = only(played("a", starts("++????")), played("b", starts("--????")))
    # Two pairs are won; the four open ones may all be lost or all be won: half way in between.
    assert (found.passes.mean, found.passes.lower, found.passes.upper) == (
        pytest.approx(2 / 6),
        -2 / 6,
        1.0,
    )
    assert found.passes.p_permutation == 1.0
    assert found.passes.word is Word.NOT_DISTINGUISHABLE


def test_where_every_pair_is_open_nothing_is_known():
    found = only(played("a", starts("??")), played("b", starts("??")))
    assert (found.passes.mean, found.p_mcnemar, found.wakings.mean) == (None, None, None)
    assert (found.passes.lower, found.passes.upper) == (-1.0, 1.0)
