"""Sections of a replay's page that are tables: shares, cues, rules, limits.

Names and reasons in them are data: `data` escapes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

from bedside.safety.limits import LIMIT_REASONS
from bedside.safety.rules import RULE_REASONS
from replay.sleep_shares import Share, is_whole_night, shares, wake_after_onset
from replay.summary import CueDone, Summary
from replay.wording import STAGE_WORDS, clean, plural, time_of_day

CUES_OPEN: Final = 12
"""A longer list of cues is folded."""
CUES_LISTED: Final = 300
"""A longer list ends there; the trace has them all."""
REASON_CHARS: Final = 240
_RULES: Final = {rule.value: reason for rule, reason in RULE_REASONS.items()}
_LIMITS: Final = {limit.value: reason for limit, reason in LIMIT_REASONS.items()}


def stage_shares_section(summary: Summary) -> str:
    found = [*shares(summary)]
    after = wake_after_onset(summary)
    rows = [_share_row(share, STAGE_WORDS[share.name]) for share in found]
    rows += [_share_row(after, after.name)] if after else []
    return "<h2>Stage shares</h2>\n" + _table(
        _shares_note(summary),
        (
            ("stage", ""),
            ("epochs", "n"),
            ("share", "n"),
            ("", "wide-only"),
            ("typical" if is_whole_night(summary) else "", "n"),
            ("", ""),
        ),
        rows,
    )


def cues_by_stage_section(summary: Summary) -> str:
    if not summary.cues:
        return "<h2>Cues by stage</h2>\n<p>No cue was delivered.</p>"
    rows = []
    for name, count in summary.cues_by_stage.items():
        woke = sum(cue.woke for cue in summary.cues if cue.shown == name)
        pct = 100.0 * count / len(summary.cues)
        rows.append(
            f'<tr><th scope="row">{STAGE_WORDS[name]}</th><td class="n">{count}</td>'
            f'<td class="n">{pct:.0f} %</td><td class="n">{woke}</td></tr>'
        )
    return "<h2>Cues by stage</h2>\n" + _table(
        f"The stage shown at delivery. {_hidden_note(summary)}",
        (("stage", ""), ("cues", "n"), ("share", "n"), ("woke", "n")),
        rows,
    )


def rules_section(summary: Summary) -> str:
    names = [*_RULES, *(name for name in summary.violations if name not in _RULES)]
    rows = (
        f'<tr><th scope="row">{_reason(name, _RULES)}</th>'
        f'<td class="n">{summary.violations.get(name, 0)}</td>'
        f'<td class="n">{summary.violations_delivered.get(name, 0)}</td></tr>'
        for name in names
    )
    return "<h2>Rules</h2>\n" + _table(
        "Asked: the agent's own wish. Delivered: what reached an actuator.",
        (("rule", ""), ("asked", "n"), ("delivered", "n")),
        rows,
    )


def limits_section(summary: Summary) -> str:
    hit = {name: count for name, count in summary.limit_hits.items() if count}
    if not hit:
        return "<h2>Limits</h2>\n<p>No limit was met.</p>"
    rows = (
        f'<tr><th scope="row">{_reason(name, _LIMITS)}</th><td class="n">{count}</td></tr>'
        for name, count in hit.items()
    )
    left = len(_LIMITS) - len(hit)
    act = "They refuse or lower." if summary.mode == "enforce" else "Written down, not applied."
    return "<h2>Limits</h2>\n" + _table(
        f"{act} {left} others were not met.", (("limit", ""), ("asked against it", "n")), rows
    )


def cue_list_section(summary: Summary) -> str:
    if not summary.cues:
        return ""
    listed = summary.cues[:CUES_LISTED]
    note = "Time of day; stage shown at delivery."
    if len(listed) < len(summary.cues):
        note += f" The first {len(listed)} of {len(summary.cues)}; the trace has them all."
    table = _table(
        note,
        (("time", ""), ("stage", ""), ("cue", ""), ("woke?", ""), ("reason", "")),
        (_cue_row(cue, summary.start_clock_s) for cue in listed),
    )
    opened = " open" if len(listed) <= CUES_OPEN else ""
    return (
        f'<h2>Every cue</h2>\n<details class="cues"{opened}>'
        f"<summary>{plural(len(summary.cues), 'cue')}, in order</summary>{table}</details>"
    )


def data(words: object) -> str:
    """Words from a recording or an agent, fit for HTML."""
    return escape(clean(str(words)))


def _share_row(share: Share, words: str) -> str:
    typical = share.typical_pct
    said = ("–".join(f"{pct:.0f}" for pct in typical) + " %") if typical else ""
    if typical and not typical[0]:
        said = f"under {typical[1]:.0f} %"
    return (
        f'<tr><th scope="row">{words}</th><td class="n">{share.epochs}</td>'
        f'<td class="n">{share.pct:.1f} %</td><td class="wide-only">{_bar(share)}</td>'
        f'<td class="n">{said}</td><td class="word">{share.word or ""}</td></tr>'
    )


def _bar(share: Share) -> str:
    """Filled: this night. Outlined: the typical range."""
    name = "awake" if share.name not in STAGE_WORDS else share.name
    filled = f'<b class="b-{name}" style="left:0;width:{share.pct:.1f}%"></b>'
    if share.typical_pct is None:
        return f'<div class="bar">{filled}</div>'
    low, high = share.typical_pct
    return f'<div class="bar">{filled}<i style="left:{low:.1f}%;width:{high - low:.1f}%"></i></div>'


def _shares_note(summary: Summary) -> str:
    none = summary.stage_counts["none"]
    scored = summary.epochs - none
    said = f"Of {plural(scored, 'scored epoch')}; {none} without a reading"
    if summary.inserted:
        said += f", {len(summary.inserted)} inserted after cues left out"
    if not is_whole_night(summary):
        return (
            f"{said}. Not compared with typical ranges: only part of a night was played or scored."
        )
    asleep = ", ".join(
        f"{STAGE_WORDS[share.name]} {share.of_sleep_pct:.1f} %"
        for share in shares(summary)
        if share.of_sleep_pct is not None
    )
    of_sleep = f" Of sleep alone: {asleep}." if asleep else ""
    return (
        f"{said}. Wake after onset: of the epochs from the first to the last of sleep.{of_sleep} "
        "Typical adult ranges are of a whole night; time awake before sleep lowers every share."
    )


def _hidden_note(summary: Summary) -> str:
    rolled = [cue for cue in summary.cues if cue.true is not None]
    differing = sum(_coarse(cue) != cue.shown for cue in rolled)
    if not differing:
        return "The hidden stage was the same wherever dice were rolled."
    return f"The hidden stage, which decides wakings, was another for {plural(differing, 'cue')}."


def _coarse(cue: CueDone) -> str:
    return "light" if cue.true in ("n1", "n2") else cue.true or "none"


def _reason(name: str, reasons: Mapping[str, str]) -> str:
    named = f"<code>{data(name)}</code>"
    return f"{data(reasons[name])} {named}" if name in reasons else named


def _cue_row(cue: CueDone, start_clock_s: float) -> str:
    stage = STAGE_WORDS[cue.shown]
    if cue.true is not None and _coarse(cue) != cue.shown:
        stage += f" (hidden: {STAGE_WORDS.get(_coarse(cue), cue.true)})"
    action = cue.kind if cue.volume is None else f"{cue.kind}, {cue.volume}"
    woke = '<strong class="alarm">woke</strong>' if cue.woke else "no"
    broke = "".join(f" <code>{data(rule)}</code>" for rule in cue.rules)
    return (
        f"<tr><td>{time_of_day(start_clock_s + cue.t)}</td><td>{data(stage)}</td>"
        f"<td>{data(action)}</td><td>{woke}</td>"
        f"<td><bdi>{data(_short(cue.reason))}</bdi>{broke}</td></tr>"
    )


def _table(caption: str, columns: Iterable[tuple[str, str]], rows: Iterable[str]) -> str:
    """columns: heading and class of each. rows: whole `tr` elements."""
    lines = "\n".join(rows)
    heads = "".join(_head(words, style) for words, style in columns)
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>{lines}</tbody></table></div>"
    )


def _head(words: str, style: str) -> str:
    named = f' class="{style}"' if style else ""
    return f'<th scope="col"{named}>{words}</th>' if words else f"<td{named}></td>"


def _short(words: str) -> str:
    return words if len(words) <= REASON_CHARS else words[: REASON_CHARS - 1] + "…"
