"""A night without cues is the recording; and what the recording is like."""

from __future__ import annotations

from replay.sleep_shares import is_whole_night, shares, wake_after_onset
from replay.validation.findings import Finding, found, not_applicable
from replay.validation.ground import Ground

SHOWN_STEPS = 6
"""Steps that a line names; the numbers hold all of them."""


def wait_is_never_cued(ground: Ground) -> Finding:
    """Where the agent waits, no cue is asked, delivered or rolled for."""
    done = ground.waited
    answered = len(done.probe.answers)
    asked, rolled = len(done.deliveries), len(done.rolls)
    sometimes = [seen for spec in ("one_cue", "rem_rule") for seen in ground.on_tasks(spec)]
    waits = answered + sum(seen.steps - seen.cues for seen in sometimes)
    extra = sum(len(seen.deliveries) - seen.cues for seen in sometimes)
    cued = max(asked, rolled) + extra
    return found(cued == 0, f"{cued} of {waits:,} waits were cued", waits=waits, cued=cued)


def wait_replays_exactly(ground: Ground) -> Finding:
    """Every epoch that can be compared shows what the recording shows."""
    got = ground.waited.summary
    excluded = {one.why: list(one.steps) for one in got.excluded}
    left_out = sum(map(len, excluded.values()))
    whole = got.ending == "night_end" and got.compared + left_out == ground.night.epochs
    where = "; ".join(f"{why} ({_named(steps)})" for why, steps in excluded.items())
    matched = got.compared - got.mismatched
    return found(
        whole and got.mismatched == 0,
        f"{matched} of {got.compared} epochs match, {left_out} of {ground.night.epochs} excluded"
        + (f": {where}" if where else ""),
        compared=got.compared,
        mismatched=got.mismatched,
        excluded=excluded,
        ending=got.ending,
    )


def stage_shares(ground: Ground) -> Finding:
    """How the night lies to a typical adult's; told, never a failure."""
    summary = ground.waited.summary
    if not is_whole_night(summary):
        return not_applicable("less than a whole night")
    told = [share for share in shares(summary) if share.word is not None]
    after = wake_after_onset(summary)
    told += [after] if after is not None else []
    words = ", ".join(f"{one.name} {one.pct:.1f} % ({one.word})" for one in told)
    numbers = {
        one.name.replace(" ", "_"): {
            "pct": round(one.pct, 2),
            "typical_pct": one.typical_pct,
            "word": one.word,
        }
        for one in told
    }
    return found(True, words, **numbers)


def _named(steps: list[int]) -> str:
    more = "" if len(steps) <= SHOWN_STEPS else f" and {len(steps) - SHOWN_STEPS} more"
    return f"step {', '.join(map(str, steps[:SHOWN_STEPS]))}{more}"
