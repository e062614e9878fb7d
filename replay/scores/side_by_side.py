"""Two agents side by side: of one run, or of two runs that may stand in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from replay.experiment.folder import MANIFEST, RunFolder, newest_run
from replay.experiment.rows import Row, Unit
from replay.experiment.run_manifest import OF_ONE_SIDE
from replay.experiment.verdict_sets import checker_sha256
from replay.progress import Report
from replay.scores.cases import Case, Group, grouped_cases
from replay.scores.estimators import ScoreError
from replay.scores.figures import Comparison, Split, rounded
from replay.scores.notes import manifest_notes
from replay.scores.pairs import Pair, adjusted, compared, paired
from replay.scores.parting import Parting, parting
from replay.scores.scoreboard import nearest_to_one
from replay.scores.verdicts import Verdict

SHOWN: Final = 6
"""Differing fields named in a refusal."""
_NOT_MADE_OF: Final = ("schema", "id", "comparability_key", *OF_ONE_SIDE)


@dataclass(frozen=True, slots=True)
class Side:
    """An agent of a run; name: how the two are told apart."""

    run: RunFolder
    agent: str
    name: str

    def key(self, unit: Unit) -> str:
        """The key of its own attempt that `unit` stands for."""
        return replace(unit, agent=self.agent).key


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """A task that did not come out alike; passed: None while open. parts: where they parted."""

    night: str
    task: str
    seed: int
    split: Split
    feasible: bool
    passed: tuple[bool | None, bool | None]
    rem_cues: tuple[int | None, int | None]
    wakings: tuple[int | None, int | None]
    violations: tuple[int | None, int | None]
    parts: Parting | None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """alone: attempts that only one side made and that were left out."""

    first: Side
    second: Side
    scale: float
    comparisons: tuple[Comparison, ...]
    tasks: int
    alone: int
    differences: tuple[TaskDifference, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside the figures."""
        made = [side.run.manifest for side in (self.first, self.second)]
        return tuple(dict.fromkeys(note for one in made for note in manifest_notes(one)))

    def as_dict(self) -> dict[str, Any]:
        """What `compare --json` prints."""
        sides = {
            name: {"run": side.run.manifest["id"], "agent": side.agent, "name": side.name}
            for name, side in (("first", self.first), ("second", self.second))
        }
        return {
            **sides,
            "scale": self.scale,
            "tasks": self.tasks,
            "left_out": self.alone,
            "comparisons": [rounded(asdict(one)) for one in self.comparisons],
            "notes": list(self.notes),
            "differences": [rounded(asdict(one)) for one in self.differences],
        }


def sides(first: str, second: str, run: Path | None = None) -> tuple[Side, Side]:
    """What two words of the command line name: agents of `run`, by default the
    newest; `FOLDER:AGENT`, or `FOLDER`.

    Raises:
        ScoreError: no such agent, the same one twice, or runs that may not stand in one table.
    """
    one, two = _side(first, run), _side(second, run)
    if one.run.path != two.run.path:
        _check_comparable(one.run, two.run)
    elif one.agent == two.agent:
        raise ScoreError(f"{first} and {second} are the same agent of one run; give two")
    if one.agent == two.agent:
        one, two = (replace(s, name=f"{s.agent}@{s.run.manifest['id'][:6]}") for s in (one, two))
    return one, two


def side_by_side(
    first: Side,
    second: Side,
    *,
    scale: float | None = None,
    seed: int = 1,
    progress: Report | None = None,
) -> SideBySide:
    """Compare at one wake scale, by default the one nearest to 1 that both were played at.

    Raises:
        ScoreError: they share no task at that scale.
    """
    rows = {side.name: _rows(side) for side in (first, second)}
    at = _scale(rows, scale)
    shared = _shared(rows, at)
    chosen = [row for found in rows.values() for row in found if row.unit.paired_key in shared]
    verdicts = {**_verdicts(first), **_verdicts(second)}
    groups = grouped_cases(chosen, verdicts)
    found = [
        paired(groups[split, at, first.name], groups[split, at, second.name])
        for split in _splits(groups)
    ]
    pairs = [pair for one in found for pair in one.pairs]
    comparisons = tuple(done for one in found for done in adjusted([compared(one, seed=seed)]))
    made = sum(row.unit.scale == at for of in rows.values() for row in of)
    differences = tuple(_differences(first, second, pairs, progress))
    return SideBySide(
        first, second, at, comparisons, len(pairs), made - 2 * len(pairs), differences
    )


def what_differs(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Fields of two manifests that keep them out of one table: `dropout: 0 against 0.1`."""
    return list(_differing("", _shared_parts(first), _shared_parts(second)))


def _side(word: str, run: Path | None) -> Side:
    folder, _, agent = word.rpartition(":")
    if (Path(word) / MANIFEST).is_file():
        return _only_agent(RunFolder.open(Path(word)), word)
    if folder:
        return _agent(RunFolder.open(Path(folder)), agent)
    return _agent(RunFolder.open(run or newest_run()), word)


def _only_agent(run: RunFolder, word: str) -> Side:
    agents = list(run.manifest["agents"])
    if len(agents) != 1:
        raise ScoreError(f"{word} has {len(agents)} agents; write {word}:{agents[0]}")
    return Side(run, agents[0], agents[0])


def _agent(run: RunFolder, agent: str) -> Side:
    agents = list(run.manifest["agents"])
    if agent not in agents:
        raise ScoreError(f"{run.path}: no agent {agent}; there are: {', '.join(agents)}")
    return Side(run, agent, agent)


def _check_comparable(first: RunFolder, second: RunFolder) -> None:
    one, two = first.manifest, second.manifest
    if one["comparability_key"] == two["comparability_key"]:
        _check_same_checker(first, second)
        return
    found = what_differs(one, two)
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    told = "; ".join(found[:SHOWN]) or "comparability_key"
    raise ScoreError(
        f"{first.path} and {second.path} may not stand in one table: {told}{more}. "
        "Run one of them again as the other was run"
    )


def _check_same_checker(first: RunFolder, second: RunFolder) -> None:
    checkers = {run.path: _checker(run) for run in (first, second)}
    if len(set(checkers.values())) == 1:
        return
    now = checker_sha256()
    told = " and ".join(f"{path} by {found[:8] or 'none'}" for path, found in checkers.items())
    again = "; ".join(f"paprika regrade {path}" for path, found in checkers.items() if found != now)
    raise ScoreError(f"the newest verdicts are by different checkers: {told}. Run: {again}")


def _checker(run: RunFolder) -> str:
    """Of the newest verdict set; empty where nothing was graded."""
    sets = run.verdict_sets()
    return sets[-1].checker_sha256 if sets else ""


def _shared_parts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What two runs must have in common; of a task not its seed."""
    parts = {name: value for name, value in manifest.items() if name not in _NOT_MADE_OF}
    tasks = parts.get("tasks", ())
    return {**parts, "tasks": sorted({(t["night"], t["epoch"], t["condition"]) for t in tasks})}


def _differing(where: str, first: Any, second: Any) -> Iterator[str]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for name in sorted({*first, *second}):
            under = f"{where}.{name}" if where else name
            yield from _differing(under, first.get(name), second.get(name))
    elif first != second:
        yield f"{where}: {_short(first)} against {_short(second)}"


def _short(value: Any) -> str:
    """A value as it stands in the manifest; of long ones only their size and beginning."""
    if isinstance(value, list):
        return f"{len(value)} entries" if len(str(value)) > 40 else str(value)
    told = str(value)
    return told if len(told) <= 24 else f"{told[:12]}…"


def _rows(side: Side) -> list[Row]:
    """The rows of a side, under its name."""
    return [
        replace(row, unit=replace(row.unit, agent=side.name))
        for row in side.run.rows()
        if row.unit.agent == side.agent
    ]


def _verdicts(side: Side) -> dict[str, Verdict]:
    """Verdicts by the keys of `_rows`."""
    found = side.run.verdicts()
    keys = {row.unit.key: side.key(row.unit) for row in _rows(side)}
    return {named: found[own] for named, own in keys.items() if own in found}


def _scale(rows: Mapping[str, Sequence[Row]], wanted: float | None) -> float:
    first, second = ({row.unit.scale for row in found} for found in rows.values())
    both = sorted(first & second)
    if not both or (wanted is not None and wanted not in both):
        told = " ".join(f"{scale:g}" for scale in both) or "none"
        raise ScoreError(f"--scale: both agents were played at these wake scales: {told}")
    return nearest_to_one(both) if wanted is None else wanted


def _shared(rows: Mapping[str, Sequence[Row]], scale: float) -> set[object]:
    first, second = (
        {row.unit.paired_key for row in found if row.unit.scale == scale} for found in rows.values()
    )
    if not first & second:
        raise ScoreError("the two agents share no task and seed: nothing can be compared")
    return {*(first & second)}


def _splits(groups: Mapping[Group, Sequence[Case]]) -> list[Split]:
    return list(dict.fromkeys(split for split, _, _ in groups))


def _differences(
    first: Side, second: Side, pairs: Sequence[Pair], progress: Report | None
) -> Iterator[TaskDifference]:
    unlike = [pair for pair in pairs if _outcome(pair[0]) != _outcome(pair[1])]
    for number, (a, b) in enumerate(unlike):
        if progress is not None:
            progress(number, len(unlike), a.unit.task)
        yield TaskDifference(
            night=a.unit.night,
            task=a.unit.task,
            seed=a.unit.seed,
            split=a.split,
            feasible=a.unit.feasible,
            passed=(a.passed, b.passed),
            rem_cues=(_count(a, "rem_cues"), _count(b, "rem_cues")),
            wakings=(_count(a, "wakings"), _count(b, "wakings")),
            violations=(_violations(a), _violations(b)),
            parts=_parts(first, second, a, b),
        )


def _outcome(case: Case) -> tuple[object, ...]:
    return case.passed, _count(case, "wakings"), _violations(case)


def _count(case: Case, name: str) -> int | None:
    return getattr(case.row, name) if case.row is not None and case.row.evidence else None


def _violations(case: Case) -> int | None:
    return sum(case.row.violations.values()) if case.row and case.row.evidence else None


def _parts(first: Side, second: Side, a: Case, b: Case) -> Parting | None:
    if not (a.row and a.row.evidence and b.row and b.row.evidence):
        return None
    one, two = first.run.trace(first.key(a.unit)), second.run.trace(second.key(b.unit))
    return parting(one, two)
