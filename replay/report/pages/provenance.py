"""What a run was made of, and every grading of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from replay.report.data import RunData, starts
from replay.report.tables import Cell, data, table
from replay.scores.verdicts import Value
from replay.wording import plural


def verdict_sets_section(found: RunData) -> str:
    rows: list[Sequence[Cell | str]] = []
    for one in found.run.verdict_sets():
        counts = Counter(verdict.overall for verdict in found.sets[one.id].values())
        newest = " (newest, used here)" if one.id == list(found.sets)[-1] else ""
        judged = (Cell(f"{counts[value]:,}") for value in Value)
        rows.append((f"{one.id}{newest}", *judged, one.parent or "nothing before it"))
    return "<h2>Verdict sets</h2>" + table(
        "Every grading of this run; a later one leaves the earlier as they are. The list of "
        "attempts shows any of them.",
        ("set", *(value.value.replace("_", " ") for value in Value), "regrades"),
        rows,
    )


def made_of_section(found: RunData) -> str:
    made = found.manifest
    rows = [("run", made.get("id")), ("comparability key", made.get("comparability_key"))]
    rows += [
        (name.replace("_", " "), made[name])
        for name in ("version", "code_sha256", "overlay", "training_exposure", "stop_is_latch")
        if name in made
    ]
    items = "".join(f"<dt>{data(name)}</dt><dd>{data(_plainly(it))}</dd>" for name, it in rows)
    nights = "".join(
        f"<li>{data(night)}: {starts_in_words(found, night)}</li>" for night in found.nights[:200]
    )
    return (
        f'<h2>What this run is made of</h2><dl class="about">{items}</dl>'
        f"<details><summary>Nights and start points</summary><ul>{nights}</ul></details>"
        '<p class="soft">Runs whose comparability keys differ do not belong in one table.</p>'
    )


def starts_in_words(found: RunData, night: str) -> str:
    points = starts(found.rows_of[night], found.facts(night).get("start_clock_s", 0.0))
    kinds = Counter(point.kind for point in points)
    said = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return data(f"{plural(len(points), 'start point')} ({said})")


def _plainly(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
