"""What `paprika run`, `plan` and `regrade` say, to a person and as JSON."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from replay.experiment.folder import RunFolder
from replay.experiment.regrading import Need, WorkPlan
from replay.experiment.run import Run
from replay.experiment.running import Made
from replay.scores.scoreboard import Scoreboard, scoreboard
from replay.scores.scoreboard_text import print_scoreboard

SHOWN_CHANGES = 12


def scored(run: RunFolder) -> Scoreboard:
    """The scoreboard of a run by its newest verdicts."""
    return scoreboard(run.rows(), run.verdicts(), manifest=run.manifest)


def made_as_dict(made: Made) -> dict[str, Any]:
    """What `run --json` prints."""
    run = made.folder
    return {
        "run": run.manifest["id"],
        "comparability_key": run.manifest["comparability_key"],
        "folder": str(run.path),
        "made": made.made,
        "kept": made.kept,
        "wall_s": round(made.wall_s, 3),
        "verdict_set": run.verdict_sets()[-1].id,
        "statuses": dict(Counter(row.status.value for row in run.rows())),
        "scoreboard": scored(run).as_dict(),
    }


def print_made(made: Made) -> None:
    """The scoreboard, and where everything lies."""
    run = made.folder
    print_scoreboard(scored(run))
    rows = run.rows()
    steps = sum(row.steps for row in rows)
    kept = f", {made.kept:,} were there already" if made.kept else ""
    if made.made:
        print(f"{made.made:,} attempts made in {made.wall_s:.1f} s{kept}; {steps:,} steps in all")
    else:
        print(f"Nothing to make: {len(rows):,} attempts were there already; {steps:,} steps")
    without = [row for row in rows if not row.evidence]
    if without:
        print(
            f"{len(without):,} of {len(rows):,} attempts left no trace, the first because: "
            f"{without[0].detail}"
        )
    print(f"Run {run.manifest['id']}: {run.path}")
    print(f"Pages: paprika report {run.path}")


def plan_as_dict(run: Run, folder: Path) -> dict[str, Any]:
    """What `run --dry-run --json` prints."""
    units = [planned.unit for planned in run.planned]
    return {
        "run": run.id,
        "comparability_key": run.manifest["comparability_key"],
        "folder": str(folder),
        "attempts": len(units),
        "nights": len(run.nights),
        "agents": list(run.manifest["agents"]),
        "tasks": len({(unit.night, unit.task) for unit in units}),
        "seeds": list(run.spec.seeds),
        "wake_scales": list(run.spec.scales),
        "cue_feasible": sum(unit.feasible for unit in units),
        "restraint": sum(not unit.feasible for unit in units),
        "held_out": sum(unit.held_out for unit in units),
    }


def print_plan(run: Run, folder: Path) -> None:
    """What a run would make."""
    told = plan_as_dict(run, folder)
    print(
        f"{told['attempts']:,} attempts: {len(told['agents'])} agents × {told['tasks']:,} tasks of "
        f"{told['nights']} nights × {len(told['wake_scales'])} wake scales"
    )
    print(
        f"{told['cue_feasible']:,} can be cued in REM, {told['restraint']:,} ask for restraint; "
        f"{told['held_out']:,} on held-out seeds"
    )
    print(f"Run {told['run']} would lie in {folder}; nothing was made")


def work_as_dict(folder: Path, plan: WorkPlan) -> dict[str, Any]:
    """What `plan --json` prints."""
    return {
        "folder": str(folder),
        "run_now": plan.run.id,
        "counts": plan.counts,
        "checker_changed": plan.checker_changed,
        "changed": list(plan.why),
        "attempts": dict(plan.needs),
    }


def print_work(folder: Path, plan: WorkPlan) -> None:
    """What must be done again, and why."""
    counts = plan.counts
    print(f"{folder}: {len(plan.needs):,} attempts")
    for need, what in (
        (Need.KEEP, "keep: same traces, same checker"),
        (Need.REGRADE, "regrade: same traces, another checker (paprika regrade)"),
        (Need.RERUN, "rerun: what settles their bytes has changed (paprika run)"),
        (Need.MAKE, "make: no trace yet (paprika run --resume)"),
    ):
        print(f"{counts[need]:8,}  {what}")
    for line in plan.why[:SHOWN_CHANGES]:
        print(f"  changed: {line}")
    if len(plan.why) > SHOWN_CHANGES:
        print(f"  and {len(plan.why) - SHOWN_CHANGES} more (--json lists all)")


def print_regraded(run: RunFolder, plan: WorkPlan) -> None:
    """Which verdict sets there are now."""
    sets = run.verdict_sets()
    if not plan.checker_changed:
        print(f"Nothing to regrade: {sets[-1].id} is by the present checker")
    for one in sets:
        verdicts = Counter(verdict.overall.value for verdict in run.verdicts(one.id).values())
        told = ", ".join(f"{count:,} {value}" for value, count in sorted(verdicts.items()))
        parent = f", regrades {one.parent}" if one.parent else ""
        print(f"  {one.id}: {told}{parent}")


def regraded_as_dict(run: RunFolder, plan: WorkPlan) -> dict[str, Any]:
    """What `regrade --json` prints."""
    return {
        "folder": str(run.path),
        "regraded": plan.counts[Need.REGRADE],
        "verdict_sets": [
            {
                "id": one.id,
                "parent": one.parent,
                "checker_sha256": one.checker_sha256,
                "verdicts": dict(
                    Counter(verdict.overall.value for verdict in run.verdicts(one.id).values())
                ),
            }
            for one in run.verdict_sets()
        ],
    }
