"""A hypnogram: one `Stage` an epoch of 30 s, in order, without holes; and what is counted from it.

Every function is pure. Stages may be fine (N1, N2) or coarse; runs, shares and periods are counted
on the coarse stage. Epochs count from 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Final, NamedTuple

from bedside.hub import Hub
from bedside.recording import Recording
from bedside.sleep_history import REM_GAP_EPOCHS, SUSTAINED_EPOCHS
from bedside.stage_rule import ShownStages
from bedside.windows import Windows
from devices.types import EPOCH_S, Stage, Stream

COUNTED: Final = {
    Stage.AWAKE: "awake",
    Stage.LIGHT: "light",
    Stage.DEEP: "deep",
    Stage.REM: "rem",
    Stage.UNKNOWN: "none",
}
"""The coarse stages and the names their figures go by; "none" is an epoch without a label."""
SHOWN_BY: Final = frozenset({Stream.STAGE, Stream.CONTACT})
"""Streams that settle the shown stage."""
REM_PERIOD_EPOCHS: Final = 10
"""REM epochs of a period of 5 min or more."""
LONG_REM_EPOCHS: Final = 6
"""Epochs of a REM run of 3 min or more."""

_RAW: Final = {
    Stage.AWAKE: "W",
    Stage.N1: "N1",
    Stage.N2: "N2",
    Stage.LIGHT: "L",
    Stage.DEEP: "N3",
    Stage.REM: "R",
    Stage.UNKNOWN: "?",
}
_OF_LETTER: Final = {stage.letter: stage for stage in COUNTED}
_FINE: Final = {Stage.N1: "1", Stage.N2: "2"}
_OF_FINE_LETTER: Final = _OF_LETTER | {letter: stage for stage, letter in _FINE.items()}


class Run(NamedTuple):
    """An unbroken run of one coarse stage."""

    stage: Stage
    start: int
    epochs: int

    @property
    def end(self) -> int:
        """The epoch after the last."""
        return self.start + self.epochs


class Agreement(NamedTuple):
    """How a shown hypnogram fits the true one, in percent; None where there was no such epoch."""

    compared_epochs: int
    agree_5class_pct: float | None
    agree_4class_pct: float | None
    true_rem_called_rem_pct: float | None
    called_rem_truly_rem_pct: float | None


def letters(stages: Sequence[Stage]) -> str:
    """One letter an epoch: W, L, D, R or ?."""
    return "".join(stage.letter for stage in stages)


def from_letters(text: str) -> tuple[Stage, ...]:
    """The coarse stages of `letters`; KeyError on any other letter."""
    return tuple(_OF_LETTER[letter] for letter in text)


def fine_letters(stages: Sequence[Stage]) -> str:
    """One letter an epoch, N1 and N2 as 1 and 2: what a night file keeps of its shown stages."""
    return "".join(_FINE.get(stage, stage.letter) for stage in stages)


def from_fine_letters(text: str) -> tuple[Stage, ...]:
    """The stages of `fine_letters`; KeyError on any other letter."""
    return tuple(_OF_FINE_LETTER[letter] for letter in text)


def stage4_sha256(stages: Sequence[Stage]) -> str:
    """SHA-256 of the letters, without a newline."""
    return sha256(letters(stages).encode("ascii")).hexdigest()


def counts4(stages: Sequence[Stage]) -> dict[str, int]:
    """Epochs of each coarse stage; `none` has no label."""
    counts = Counter(stage.coarse for stage in stages)
    return {name: counts[stage] for stage, name in COUNTED.items()}


def counts_raw(stages: Sequence[Stage]) -> dict[str, int]:
    """Epochs of each label that occurs, N1 and N2 apart where told."""
    return dict(sorted(Counter(_RAW[stage] for stage in stages).items()))


def share_of_scored_pct(stages: Sequence[Stage]) -> dict[str, float]:
    """Percent of the epochs with a label; empty without one."""
    return _shares(stages, (Stage.AWAKE, Stage.LIGHT, Stage.DEEP, Stage.REM))


def share_of_sleep_pct(stages: Sequence[Stage]) -> dict[str, float]:
    """Percent of light, deep and REM together; empty without sleep."""
    return _shares(stages, (Stage.LIGHT, Stage.DEEP, Stage.REM))


def runs(stages: Sequence[Stage]) -> tuple[Run, ...]:
    """The night as runs of one coarse stage."""
    found, start = [], 0
    for stage, group in groupby(stage.coarse for stage in stages):
        epochs = sum(1 for _ in group)
        found.append(Run(stage, start, epochs))
        start += epochs
    return tuple(found)


def rem_runs(stages: Sequence[Stage]) -> tuple[Run, ...]:
    return tuple(run for run in runs(stages) if run.stage is Stage.REM)


def rem_run_starts(stages: Sequence[Stage]) -> tuple[int, ...]:
    return tuple(run.start for run in rem_runs(stages))


def rem_periods(stages: Sequence[Stage]) -> tuple[tuple[Run, ...], ...]:
    """REM runs, joined over gaps of at most 15 min."""
    periods: list[list[Run]] = []
    for run in rem_runs(stages):
        if periods and run.start - periods[-1][-1].end <= REM_GAP_EPOCHS:
            periods[-1].append(run)
        else:
            periods.append([run])
    return tuple(map(tuple, periods))


def first_sleep_epoch(stages: Sequence[Stage]) -> int | None:
    """The first light, deep or REM epoch: sleep onset."""
    return next((k for k, stage in enumerate(stages) if stage.is_sleep), None)


def last_sleep_epoch(stages: Sequence[Stage]) -> int | None:
    return next((k for k in reversed(range(len(stages))) if stages[k].is_sleep), None)


def first_sustained_sleep_epoch(
    stages: Sequence[Stage], in_row: int = SUSTAINED_EPOCHS
) -> int | None:
    """The first of `in_row` sleep epochs in a row."""
    row = 0
    for k, stage in enumerate(stages):
        row = row + 1 if stage.is_sleep else 0
        if row == in_row:
            return k - in_row + 1
    return None


def wake_between_sleep(stages: Sequence[Stage]) -> int:
    """AWAKE epochs between the first and the last sleep epoch."""
    first, last = first_sleep_epoch(stages), last_sleep_epoch(stages)
    if first is None or last is None:
        return 0
    return sum(stage is Stage.AWAKE for stage in stages[first : last + 1])


def longest_runs(stages: Sequence[Stage]) -> dict[str, Run]:
    """The longest run of each coarse stage that occurs; of equals the first."""
    longest: dict[Stage, Run] = {}
    for run in runs(stages):
        if run.stage not in longest or run.epochs > longest[run.stage].epochs:
            longest[run.stage] = run
    return {name: longest[stage] for stage, name in COUNTED.items() if stage in longest}


def figures(stages: Sequence[Stage]) -> dict[str, object]:
    """Every figure of a hypnogram, under the names that the recorded data's `meta` files use."""
    counts, rem, periods = counts4(stages), rem_runs(stages), rem_periods(stages)
    rem_epochs = [sum(run.epochs for run in period) for period in periods]
    return {
        "epoch_s": int(EPOCH_S),
        "epochs": len(stages),
        "scored_epochs": len(stages) - counts["none"],
        "unscored_epochs": counts["none"],
        "counts_raw": counts_raw(stages),
        "counts4": counts,
        "share_of_scored_pct": share_of_scored_pct(stages),
        "share_of_sleep_pct": share_of_sleep_pct(stages),
        "first_sleep_epoch": first_sleep_epoch(stages),
        "first_sustained_sleep_epoch_10": first_sustained_sleep_epoch(stages),
        "last_sleep_epoch": last_sleep_epoch(stages),
        "wake_epochs_between_first_and_last_sleep": wake_between_sleep(stages),
        "rem_runs": len(rem),
        "rem_runs_ge_6_epochs": sum(run.epochs >= LONG_REM_EPOCHS for run in rem),
        "rem_run_starts": [run.start for run in rem],
        "rem_periods_gap15min": len(periods),
        "rem_periods_gap15min_ge5min": sum(n >= REM_PERIOD_EPOCHS for n in rem_epochs),
        "longest_run": {
            name: {"start": run.start, "epochs": run.epochs}
            for name, run in longest_runs(stages).items()
        },
        "stage4_sha256": stage4_sha256(stages),
    }


def agreement(truth: Sequence[Stage], shown: Sequence[Stage]) -> Agreement:
    """Compare epoch by epoch where both have a label."""
    pairs = [
        (true, said)
        for true, said in zip(truth, shown, strict=True)
        if Stage.UNKNOWN not in (true, said)
    ]
    true_rem = [said for true, said in pairs if true is Stage.REM]
    called_rem = [true for true, said in pairs if said is Stage.REM]
    return Agreement(
        compared_epochs=len(pairs),
        agree_5class_pct=_percent([true is said for true, said in pairs], 1),
        agree_4class_pct=_percent([true.coarse is said.coarse for true, said in pairs], 1),
        true_rem_called_rem_pct=_percent([said is Stage.REM for said in true_rem], 1),
        called_rem_truly_rem_pct=_percent([true is Stage.REM for true in called_rem], 1),
    )


def true_stages(recording: Recording) -> tuple[Stage, ...]:
    """The expert's stages of a recording; empty where nobody scored it."""
    truth = recording.truth()
    stages = [Stage.UNKNOWN] * max((int(one.t // EPOCH_S) + 1 for one in truth), default=0)
    for one in truth:
        stages[int(one.t // EPOCH_S)] = one.stage
    return tuple(stages)


def shown_stages(recording: Recording) -> tuple[Stage, ...]:
    """The stages the `stage` stream of a recording shows, by the epoch rule; fine where told.

    What was worked out when the night was written is believed."""
    if recording.info.stages is not None:
        return from_fine_letters(recording.info.stages)
    told = [info for info in recording.info.streams if info.stream in SHOWN_BY]
    windows, hub = Windows(told), Hub()
    windows.listen(hub)
    rule, stages, sample = ShownStages(windows), list[Stage](), None
    for sample in recording.samples(SHOWN_BY):
        while sample.t >= (len(stages) + 1) * EPOCH_S:
            stages.append(_closed(rule, windows, len(stages)))
        hub(sample)
    epochs = recording.info.epochs
    if epochs is None:
        epochs = 0 if sample is None else len(stages) + 1
    while len(stages) < epochs:
        stages.append(_closed(rule, windows, len(stages)))
    return tuple(stages[:epochs])


def night_stages(recording: Recording) -> tuple[Stage, ...]:
    """The truth of a recording where it has one, else the stages it shows."""
    return true_stages(recording) or shown_stages(recording)


def _closed(rule: ShownStages, windows: Windows, epoch: int) -> Stage:
    start_t, end_t = epoch * EPOCH_S, (epoch + 1) * EPOCH_S
    rule.take(start_t, end_t)
    staged = rule.over(start_t, end_t)
    windows.forget(end_t)
    return staged.fine


def _shares(stages: Sequence[Stage], among: Sequence[Stage]) -> dict[str, float]:
    counts = Counter(stage.coarse for stage in stages)
    total = sum(counts[stage] for stage in among)
    if not total:
        return {}
    return {COUNTED[stage]: round(100 * counts[stage] / total, 2) for stage in among}


def _percent(hits: Sequence[bool], digits: int) -> float | None:
    return round(100 * sum(hits) / len(hits), digits) if hits else None
