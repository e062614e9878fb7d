"""Paired comparisons in a terminal, a table a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from replay.scores.figures import Comparison, Difference
from replay.scores.paper import Paper
from replay.scores.score_words import difference_in_words, p_in_words
from replay.wording import plural

MEASURES: Final[Mapping[str, Callable[[Comparison], Difference]]] = {
    "pass rate": lambda one: one.passes,
    "wakings a task": lambda one: one.wakings,
    "cues a REM minute": lambda one: one.dose,
}


def print_comparisons(paper: Paper, found: Sequence[Comparison]) -> None:
    """Comparisons of one wake scale and kind of seeds; without one, nothing."""
    if not found:
        return
    many = f", Holm: both over {len(found)} comparisons" if len(found) > 1 else ""
    paper.blank()
    paper.words(
        "Pairs of agents on the same task and seed: first minus second (least/most while attempts "
        f"are open). p by exchange within each pair; clusters: whole clusters exchanged{many}.",
        style="bold",
    )
    for title, measure in MEASURES.items():
        _measured(paper, title, [(one, measure(one)) for one in found])
    words = (measure(one).word for measure in MEASURES.values() for one in found)
    for limit in sorted({word.limit for word in words} - {""}):
        paper.words(f"On these dice: {limit}.")


def _measured(paper: Paper, title: str, found: Sequence[tuple[Comparison, Difference]]) -> None:
    exact = found[0][1] is found[0][0].passes
    pairs = max(difference.pairs for _, difference in found)
    flip = f"; one flipped attempt is {1 / pairs:.3f}" if exact and pairs else ""
    paper.table(
        f"{title}, {plural(pairs, 'pair')}{flip}",
        ("first", "second", "differs by", "McNemar" if exact else "p", "Holm", "clusters", ""),
        (
            (
                one.first,
                one.second,
                difference_in_words(difference),
                p_in_words(one.p_mcnemar if exact else difference.p_permutation),
                p_in_words(difference.p_holm),
                p_in_words(difference.p_clusters_holm),
                difference.word.short.replace(" on ", "\non "),
            )
            for one, difference in found
        ),
        names=2,
    )
