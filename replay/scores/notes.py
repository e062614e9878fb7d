"""What must be said beside the figures of a scoreboard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from replay.controls.contenders import CONTROLS, MUST_LOSE
from replay.scores.bootstrap import FEW_CLUSTERS
from replay.scores.conclusion import Word
from replay.scores.figures import AgentScore, Comparison, Saturation, Split
from replay.scores.score_words import (
    cells_in_words,
    rate_in_words,
    scales_in_words,
    split_in_words,
)
from replay.scores.wakings import lacking

DEVICE: Final = "device"
"""The overlay that changes nothing."""


def open_note(scores: Iterable[AgentScore]) -> Iterator[str]:
    unsure = sum(score.passes.open for score in scores if score.passes)
    if unsure:
        yield (
            f"{unsure} cue-feasible attempts are open: they stay in every denominator, and figures "
            "are given as bounds."
        )


def cluster_notes(clusters: int, scores: Iterable[AgentScore]) -> Iterator[str]:
    if clusters == 1:
        yield "Only 1 cluster of start points: no interval can be given."
    elif clusters < FEW_CLUSTERS:
        yield f"Only {clusters} clusters of start points: intervals are rather too narrow."
    mixed = max(score.mixed for score in scores)
    if mixed:
        are = "start point is" if mixed == 1 else "start points are"
        yield f"{mixed} {are} cue-feasible on some seeds only and not in pass^k."


def scale_notes(scales: Iterable[float], saturated: Iterable[Saturation]) -> Iterator[str]:
    missing = lacking(scales)
    if missing:
        yield (
            f"Not played at {scales_in_words(missing)}: the wake table is assumed, and without "
            f"{'it' if len(missing) == 1 else 'them'} wakings have no range."
        )
    for one in saturated:
        yield (
            f"At wake scale {one.scale:g} a cue is certain to wake in {len(one.cells)} of 9 cells: "
            f"{cells_in_words(one.cells)}."
        )


def control_notes(
    scores: Sequence[AgentScore], compared: Sequence[Comparison], scale: float
) -> Iterator[str]:
    """Whether the controls that must lose lost in passes to the best agent that reads the night.

    The best: of the agents that are no control and ask nobody outside, by passes at `scale`.
    """
    for split in dict.fromkeys(score.split for score in scores):
        here = {s.agent: s for s in scores if (s.split, s.scale) == (split, scale) and s.passes}
        rules = [s for s in here.values() if s.agent not in CONTROLS and not s.cost.calls]
        if not rules:
            continue
        best = max(rules, key=lambda one: one.passes.lower if one.passes else 0.0)
        words = _words_for(
            best.agent, [c for c in compared if (c.split, c.scale) == (split, scale)]
        )
        for name in MUST_LOSE:
            if name in here and name in words:
                yield _control_note(here[name], best, *words[name])


def manifest_notes(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What a run's manifest asks to be said: nights that were learned from, and what the shown
    stages stand for where they are not the true ones."""
    nights = manifest.get("nights", {})
    known = [name for name in manifest.get("training_exposure", ()) if name in nights]
    if known:
        yield (
            f"Nights of this run that were learned from ({', '.join(known)}): what an agent that "
            "learns does on them is no test of it."
        )
    yield from stands_for(manifest)


def stands_for(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The caveat of every figure that sets shown stages against true ones."""
    from replay.overlays import STANDS_FOR

    scored = any(facts.get("has_truth") for facts in manifest.get("nights", {}).values())
    if scored or manifest.get("overlay", DEVICE) != DEVICE:
        yield STANDS_FOR


def split_note(splits: Iterable[Split]) -> Iterator[str]:
    if Split.HELD_OUT in splits:
        yield "Held-out seeds are new dice on the same sleep, not new sleep."


def _words_for(best: str, compared: Iterable[Comparison]) -> dict[str, tuple[Word, bool]]:
    """Of each other agent: the word on passes, and whether it calls `best` the higher."""
    found = {}
    for one in compared:
        word = one.passes.word
        if best in (one.first, one.second):
            other = one.second if best == one.first else one.first
            said = "first higher" if best == one.first else "second higher"
            found[other] = word, word.startswith(said)
    return found


def _control_note(control: AgentScore, best: AgentScore, word: Word, lost: bool) -> str:
    rates = (
        f"on {split_in_words(control.split)} it passed {rate_in_words(control.passes)}, "
        f"{best.agent} {rate_in_words(best.passes)}"
    )
    if lost:
        limit = f" on these dice; {word.limit}" if word.limit else ""
        return f"Control {control.agent} lost to {best.agent}, as it must{limit}: {rates}."
    even = f" ({word})" if word is Word.NOT_DISTINGUISHABLE else ""
    return (
        f"Control {control.agent} did NOT lose to {best.agent}, the best rule agent: {rates}{even}."
        " Nothing shows here that these tasks need the night to be read."
    )
