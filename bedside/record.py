"""The lines of a trace, from the values of a night. Keys: `docs/reference/trace.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Any

from agents.types import Observation, Reading
from agents.wire import action_to_json
from bedside.decider import Decision
from bedside.epocher import Epoch
from bedside.features import EegSummary
from bedside.plan import Ending, NightPlan
from bedside.safety.caps import duration_s
from bedside.safety.gate import Verdict
from bedside.safety.rules import Shown
from bedside.trace import SCHEMA, rounded
from devices.types import EPOCH_S, Cue, CueKind, Outcome, StreamInfo

Line = dict[str, Any]


def header(plan: NightPlan, agent: str, streams: Sequence[StreamInfo]) -> Line:
    session, personal = plan.session, plan.personal
    return {
        "schema": SCHEMA,
        "session": plan.session_id,
        "session_kind": session.kind,
        "mode": plan.mode,
        "agent": agent,
        "epoch_s": EPOCH_S,
        "start_clock_s": rounded(session.start_clock_s, "clock_s"),
        "start_assumed": plan.start_assumed,
        "theme": session.theme,
        "memory": session.memory,
        "lines": session.lines,
        "volume_cap": session.volume_cap,
        "cue_budget": session.cue_budget,
        "powers": personal.powers,
        "planned_wake_clock_s": rounded(session.planned_wake_clock_s, "clock_s"),
        "digest": session.digest,
        "puffs": personal.puffs,
        "record_only": plan.record_only,
        "sound_s": duration_s(CueKind.SOUND, plan.sound_s).value,
        "whisper_s": duration_s(CueKind.WHISPER, plan.whisper_s).value,
        "object_s": plan.object_s if isfinite(plan.object_s) else None,
        "decision_limit_s": plan.decision_limit_s,
        "streams": [_stream(info) for info in streams],
        "night": plan.night,
    }


def step(seen: Line, decision: Decision, delivery: Line | None) -> Line:
    return {
        **seen,
        "action": action_to_json(decision.action),
        "decision": {
            "status": decision.status,
            "latency_s": rounded(decision.latency_s, "latency_s"),
            "error": decision.error,
        },
        "delivery": delivery,
    }


def seen(epoch: Epoch, observation: Observation) -> Line:
    """An epoch and what the agent could know after it."""
    return {
        "step": epoch.index,
        "t": epoch.end_t,
        "epoch": {
            "stage": epoch.stage,
            "fine": epoch.fine,
            "coverage": rounded(epoch.coverage, "coverage"),
            "frozen": epoch.frozen,
            "eeg": _eeg(epoch.eeg),
        },
        "observation": _observation(observation),
    }


def delivery(t: float, shown: Shown, verdict: Verdict, cue: Cue | None) -> Line:
    return {
        "t": rounded(t, "t"),
        "shown": shown.stage,
        "shown_age_s": rounded(shown.age_s, "s") if shown.age_s < float("inf") else None,
        "rules": verdict.rules,
        "rules_delivered": verdict.delivered_rules,
        "limits": verdict.limits,
        "would_refuse": verdict.would_refuse,
        "refused_by": verdict.refused_by,
        "rewritten": verdict.rewritten,
        "lowered_from": verdict.lowered_from,
        "delivered": None if verdict.delivered is None else action_to_json(verdict.delivered),
        "cue": None if cue is None else cue.number,
    }


def outcome(cue: Cue, ended: Outcome, t: float) -> Line:
    return {
        "t": rounded(t, "t"),
        "event": "outcome",
        "cue": cue.number,
        "status": ended.status,
        "onset_t": rounded(ended.onset_t, "t"),
        "ended_t": rounded(ended.ended_t, "t"),
        "level_dba": rounded(ended.level_dba, "dba"),
        "detail": ended.detail,
    }


class Tally:
    """Counts for the footer."""

    def __init__(self) -> None:
        self.steps = 0
        self._decisions: Counter[str] = Counter()
        self._cues: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._violations: Counter[str] = Counter()
        self._violations_delivered: Counter[str] = Counter()
        self._limits: Counter[str] = Counter()
        self._refused = self._rewritten = self.suspected_wakings = 0

    def step(self, decision: Decision, verdict: Verdict | None, cue: Cue | None) -> None:
        self.steps += 1
        self._decisions[decision.status] += 1
        if verdict is None:
            return
        self._violations.update(verdict.rules)
        self._limits.update(verdict.limits)
        self._violations_delivered.update(verdict.delivered_rules)
        self._refused += bool(verdict.refused_by)
        self._rewritten += verdict.rewritten
        if cue is not None:
            self._cues[cue.kind] += 1

    def outcome(self, ended: Outcome) -> None:
        self._outcomes[ended.status] += 1

    def footer(self, t: float, ending: Ending) -> Line:
        return {
            "t": rounded(t, "t"),
            "ending": ending,
            "steps": self.steps,
            "decisions": _sorted(self._decisions),
            "cues": _sorted(self._cues),
            "outcomes": _sorted(self._outcomes),
            "violations": _sorted(self._violations),
            "violations_delivered": _sorted(self._violations_delivered),
            "limit_hits": _sorted(self._limits),
            "refused": self._refused,
            "rewritten": self._rewritten,
            "suspected_wakings": self.suspected_wakings,
        }


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _stream(info: StreamInfo) -> Line:
    return {
        "stream": info.stream,
        "source": info.source,
        "interval_s": info.interval_s,
        "channels": info.channels,
        "rate_hz": info.rate_hz,
        "simulated": info.simulated,
    }


def _observation(seen: Observation) -> Line:
    return {
        "clock_s": rounded(seen.clock_s, "clock_s"),
        "has_reading": seen.has_reading,
        "stage": seen.stage,
        "fine_stage": seen.fine_stage,
        "confidence": rounded(seen.confidence, "confidence"),
        "minutes_in_stage": rounded(seen.minutes_in_stage, "minutes"),
        "rem_epochs_in_row": seen.rem_epochs_in_row,
        "rem_period": seen.rem_period,
        "cues_in_rem_period": seen.cues_in_rem_period,
        "minutes_since_onset": rounded(seen.minutes_since_onset, "minutes"),
        "cues": len(seen.cues),
        "minutes_since_cue": rounded(seen.minutes_since_cue, "minutes"),
        "last_outcome": seen.last_outcome,
        "budget_left": seen.budget_left,
        "reported_awake": seen.reported_awake,
        "paused_until_clock_s": rounded(seen.paused_until_clock_s, "clock_s"),
        "minutes_to_wake": rounded(seen.minutes_to_wake, "minutes"),
        "heart_rate_bpm": _reading(seen.heart_rate_bpm, "bpm"),
        "hrv_rmssd_ms": _reading(seen.hrv_rmssd_ms, "ms"),
        "movement_g": _reading(seen.movement_g, "g"),
        "temperature_c": _reading(seen.temperature_c, "celsius"),
        "noise_dba": _reading(seen.noise_dba, "dba"),
        "light_lux": _reading(seen.light_lux, "lux"),
        "humidity_pct": _reading(seen.humidity_pct, "pct"),
        "skin_temperature_c": _reading(seen.skin_temperature_c, "celsius"),
        "co2_ppm": _reading(seen.co2_ppm, "ppm"),
        "still_s": rounded(seen.still_s, "s"),
    }


def _reading(reading: Reading | None, unit: str) -> list[Any] | None:
    if reading is None:
        return None
    return [rounded(reading.value, unit), rounded(reading.age_s, "s"), reading.source]


def _eeg(summary: EegSummary | None) -> Line | None:
    if summary is None:
        return None
    return {
        name: [rounded(power, "uv2") for power in powers]
        for name, powers in summary.band_power_uv2.items()
    }
