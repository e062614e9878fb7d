"""Every attempt of a run in one table, filtered and paged by its script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from bedside.safety.rules import Rule
from replay.experiment.rows import Status
from replay.report.data import PROPERTIES, RunData
from replay.report.page import Script
from replay.scores.verdicts import Property, Value, Verdict

VALUE_LETTERS: Final = {
    Value.PASS: "p",
    Value.FAIL: "f",
    Value.UNRESOLVED: "u",
    Value.CHECKER_ERROR: "c",
}
ABSENT: Final = "-"
"""Of a property that is not asked of an attempt, or an attempt that a set does not hold."""
NEEDS_SCRIPT: Final = (
    "<noscript><p class='synthetic'>Choosing and filtering need JavaScript, which is switched off "
    "or not there. The figures of the other pages do not.</p></noscript>"
)
_T = TypeVar("_T")


class Book(Generic[_T]):
    """Values by number, each once, in the order of their first use."""

    def __init__(self, values: Sequence[_T] = ()) -> None:
        self._places = {value: number for number, value in enumerate(values)}

    def __call__(self, value: _T) -> int:
        return self._places.setdefault(value, len(self._places))

    @property
    def values(self) -> list[_T]:
        return list(self._places)


def attempts_sections() -> Iterator[str]:
    yield (
        "<p>A broken attempt is never a score: how an attempt ran (status) and what it is worth "
        "(verdict) are apart. Violations are of what was asked.</p>"
    )
    yield NEEDS_SCRIPT
    yield '<div id="view" aria-live="polite"></div>'


def attempts_script(found: RunData) -> Script:
    """The table's values, a list a column; words are numbers into a list of their own."""
    nights, tasks, kinds = Book(found.nights), Book[str](), Book[str]()
    agents, details = Book(found.board.agents), Book([""])
    rules = Book([rule.value for rule in Rule])
    statuses = [status.value for status in Status]
    rows = [
        (
            nights(row.unit.night),
            tasks(row.unit.task),
            agents(row.unit.agent),
            kinds(row.unit.kind),
            row.unit.scale,
            row.unit.seed,
            int(row.unit.held_out),
            int(row.unit.feasible),
            statuses.index(row.status.value),
            row.delivered,
            row.rem_cues,
            row.true_rem_cues,
            row.wakings,
            [[rules(name), count] for name, count in row.violations.items() if count],
            details(row.detail or ""),
        )
        for row in found.rows
    ]
    names = (
        "night task agent kind scale seed heldOut feasible status cues rem trueRem wakings broken "
        "detail"
    )
    values = [list(column) for column in zip(*rows, strict=True)]
    columns: dict[str, Any] = dict(zip(names.split(), values, strict=True))
    keys = [row.unit.key for row in found.rows]
    return Script(
        "attempts.js",
        {
            "columns": columns,
            "nights": nights.values,
            "tasks": tasks.values,
            "agents": agents.values,
            "kinds": kinds.values,
            "rules": rules.values,
            "statuses": statuses,
            "details": details.values,
            "properties": [name.value for name in PROPERTIES],
            "sets": [
                {"id": name, "verdicts": _letters(keys, verdicts)}
                for name, verdicts in reversed(list(found.sets.items()))
            ],
        },
    )


def verdict_letter(verdict: Verdict | None, name: Property | None = None) -> str:
    """Of the whole, or of one property."""
    if verdict is None:
        return ABSENT
    if name is None:
        return VALUE_LETTERS[verdict.overall]
    value = verdict.values.get(name)
    return ABSENT if value is None else VALUE_LETTERS[value]


def _letters(keys: Sequence[str], verdicts: Any) -> list[str]:
    """A string a property, the whole first; one letter an attempt."""
    found = [verdicts.get(key) for key in keys]
    return ["".join(verdict_letter(one, name) for one in found) for name in (None, *PROPERTIES)]
