"""Cues in shown REM against cues in true REM, night by night."""

from collections.abc import Mapping

import pytest

from replay.experiment.rows import Row, Status, Unit
from replay.overlays.gaps import cue_gaps, largest_gaps, pooled

NO_COUNTS: Mapping[str, int] = {}


def row(night: str, shown: int, true: int, others: int = 0, seed: int = 1) -> Row:
    """`shown` cues in shown REM, `true` of all cues in true REM, `others` in shown light."""
    unit = Unit(
        night=night, task="t", kind="rem_onset", start_epoch=0, cluster=0, theme="cat", seed=seed,
        condition="plain", held_out=False, feasible=True, agent="rem_rule", scale=1.0,
    )  # fmt: skip
    cues = shown + others
    return Row(
        unit=unit, status=Status.COMPLETED, ending="step_limit", detail=None, steps=40,
        compared=40, mismatched=0, asked=cues, delivered=cues, refused=0, rewritten=0,
        shown={"rem": shown, "light": others}, true={"rem": true, "light": cues - true},
        rem_cues=shown, true_rem_cues=true, wakings=0, violations=NO_COUNTS,
        violations_delivered=NO_COUNTS, limit_hits=NO_COUNTS, rem_epochs=20, rem_periods=1,
        rem_periods_cued=1, first_cue_s=0.0, decisions={"ok": 40}, suspected_wakings=0,
        latency_s=0.0, calls=0, client_calls=0, cached=0, failed_calls=0, limit_waits=0,
        tokens_in=0, tokens_out=0, cost_paid=None, cost_nominal=None, evidence=True,
        trace_sha256="", hidden_sha256="",
    )  # fmt: skip


def test_shares_are_of_all_delivered_cues_of_a_night() -> None:
    (gap,) = cue_gaps([row("a", 3, 2, others=1), row("a", 5, 2, others=1, seed=2)])
    assert (gap.attempts, gap.cues, gap.shown_rem, gap.true_rem) == (2, 10, 8, 4)
    assert (gap.shown_share, gap.true_share) == (0.8, 0.4)
    assert gap.gap == pytest.approx(0.4)


def test_a_night_without_a_cue_has_no_share_and_no_gap() -> None:
    (gap,) = cue_gaps([row("a", 0, 0)])
    assert (gap.shown_share, gap.true_share, gap.gap) == (None, None, None)
    assert largest_gaps([row("a", 0, 0)]) == ()


def test_the_five_largest_come_first_either_way() -> None:
    rows = [
        row("small", 10, 9), row("none", 10, 10), row("worst", 10, 0), row("mid", 10, 5),
        row("under", 2, 10, others=8), row("silent", 0, 0), row("big", 10, 3),
    ]  # fmt: skip
    found = largest_gaps(rows)
    assert [one.night for one in found] == ["worst", "under", "big", "mid", "small"]
    assert found[1].gap == pytest.approx(-0.8)
    assert len(largest_gaps(rows, most=2)) == 2


def test_equal_gaps_stand_in_the_order_of_their_names() -> None:
    rows = [row("b", 2, 1), row("a", 2, 1), row("c", 2, 1)]
    assert [one.night for one in largest_gaps(rows)] == ["a", "b", "c"]


def test_all_nights_together() -> None:
    all_nights = pooled([row("a", 3, 1), row("b", 1, 1), row("c", 0, 0)])
    assert (all_nights.attempts, all_nights.cues, all_nights.true_share) == (3, 4, 0.5)
