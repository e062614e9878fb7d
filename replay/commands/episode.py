"""The command that chains the nights of one person into an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from bedside.cli import print_json
from bedside.safety.gate import Mode
from devices.types import PaprikaError
from replay.progress import output_to_errors, shown_progress

if TYPE_CHECKING:
    from agents.types import Agent
    from replay.episodes import Episode, EpisodePlan
    from replay.episodes.session import SideRow
    from replay.episodes.slopes import Estimate
    from replay.recorded_night import RecordedNight

LEARNING: Final = "digest_rule"
MOST_NIGHTS: Final = 2000
"""Nights of one episode. Assumed."""


class EpisodeNightsError(PaprikaError):
    """The nights of an episode cannot be read; the message names them."""


def episode(
    nights: Sequence[Path],
    *,
    agent: str = LEARNING,
    seed: int = 1,
    wake_scale: float = 1.0,
    mode: Literal["observe", "enforce"] | None = None,
    theme: str | None = None,
    out: Path | None = None,
    resume: bool = False,
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Chain talk, night and morning over the nights of one person, with memory and without.

    Parameters
    ----------
    nights
        Night files of one person, or folders of them; they are taken in the order of their dates.
    agent
        digest_rule, which uses what earlier sessions taught, or another agent.
    seed
        Selects the dice.
    wake_scale
        Multiplies every chance that a cue wakes.
    mode
        observe: rules are written down and refuse nothing. enforce: as in a live night.
    theme
        One of the bundled themes, the same every evening.
    out
        Folder for sessions and result.
    resume
        Go on behind the last whole session there.
    dry_run
        Say what would be played, and play nothing.
    json
        One JSON object on standard output, nothing else.
    """
    from bedside.configuration import default_toml, default_value
    from bedside.themes import bundled_theme
    from replay.episodes import EpisodeSpec, plan_episode, run_episode
    from replay.setting import Setting
    from replay.wake_rule import wake_table

    setting = Setting(
        theme=bundled_theme(theme or default_value("paprika", "theme", str)),
        wake_table=wake_table(default_toml("wake_table"), wake_scale),
        seed=seed,
        mode=Mode(mode or default_value("paprika", "replay.mode", str)),
    )
    with output_to_errors():
        make = agent_maker(agent)
    recorded, spec = recorded_nights(nights), EpisodeSpec(make, setting)
    if dry_run:
        plan = plan_episode(recorded, spec, out)
        print_json(plan.as_dict()) if json else print_plan(plan)
        return 0
    with output_to_errors(), shown_progress("Episode", quiet=json) as progress:
        done = run_episode(recorded, spec, out=out, resume=resume, progress=progress)
    if json:
        print_json({**done.as_dict(), "folder": str(done.folder), "gone_on": done.gone_on})
    else:
        print_episode(done)
    return 0


def agent_maker(name: str) -> Callable[[], Agent]:
    """Makes a new agent of that name for every session."""
    if name == LEARNING:
        from replay.episodes import DigestRule

        return DigestRule
    from bedside.agent_loading import load_agent

    load_agent(name)
    return lambda: load_agent(name)


def recorded_nights(places: Sequence[Path]) -> list[RecordedNight]:
    """The whole night files of these places, found and opened as those of a run.

    Raises:
        PaprikaError: where there is none, too many, or one cannot be used.
    """
    from replay.experiment.nights import found_nights, opened

    files = {path.resolve(): path for place in places for path in found_nights(place)}
    if not 1 <= len(files) <= MOST_NIGHTS:
        raise EpisodeNightsError(
            f"--nights: {len(files)} night files (.mcap); give 1 to {MOST_NIGHTS}, or their folder"
        )
    return [opened(path, "device", in_memory=False) for path in files.values()]


def print_plan(plan: EpisodePlan) -> None:
    """The sessions that would be played."""
    from replay.screen import Screen
    from replay.wording import clean, plural

    screen = Screen()
    screen.heading(
        [f"Episode of {plural(len(plan.nights), 'session')}", clean(plan.agent), plan.memory],
        style="bold",
    )
    screen.heading([f"{plan.as_dict()['attempts']} attempts would be made; nothing was played"])
    screen.blank()
    for session, night in enumerate(plan.nights, 1):
        screen.heading([f"{session:>3}  {clean(night.info.night_id)}"])
    screen.flow("folder", [f"{clean(str(plan.folder))}/"])


def print_episode(done: Episode) -> None:
    """A row a session, then what changed over them."""
    from replay.screen import Screen
    from replay.wording import clean, plural

    screen = Screen()
    gone_on = [f"{done.gone_on} were there already"] if done.gone_on else []
    screen.heading(
        [
            f"Episode of {plural(len(done.rows), 'session')}",
            clean(done.agent),
            done.memory,
            *gone_on,
        ],
        style="bold",
    )
    screen.heading(["with memory | without; reports are SYNTHETIC"])
    screen.blank()
    screen.heading([_ROW.format("", "night", *_HEADS, *_HEADS, "theme")], style="bold")
    for row in done.rows:
        theme = "–" if row.memory.theme is None else f"{row.memory.theme:.2f}"
        cells = (*_cells(row.memory), *_cells(row.plain), theme)
        screen.heading([_ROW.format(row.session, clean(row.night)[:16], *cells)])
    screen.blank()
    screen.heading([_WIDE.format("a session", "with memory", "without", "")], style="bold")
    for metric, sides in _by_metric(done.slopes).items():
        screen.heading([_WIDE.format(metric, *map(_words, sides), "")])
    screen.blank()
    screen.heading(
        [_WIDE.format("with − w/o", "mean", "change a session", "p (mean)")], style="bold"
    )
    for metric, found in done.differences.items():
        mean = found["mean"]
        p = "" if mean is None else f"{mean.p:.4f}"
        screen.heading([_WIDE.format(metric, _words(mean), _words(found["slope"]), p)])
    screen.flow("files", [f"{clean(str(done.folder))}/"])


_HEADS: Final = ("cues", "dose", "wakings")
_ROW: Final = "{:>3}  {:<16}{:>6}{:>7}{:>9}  |{:>6}{:>7}{:>9}  {:>6}"


_WIDE: Final = "{:<11}{:<28}{:<28}{}"


def _by_metric(
    slopes: Mapping[str, Mapping[str, Estimate | None]],
) -> dict[str, tuple[Estimate | None, ...]]:
    memory, plain = slopes["memory"], slopes["plain"]
    return {metric: (memory[metric], plain[metric]) for metric in memory}


def _cells(side: SideRow) -> tuple[Any, ...]:
    return side.cues, "–" if side.dose is None else f"{side.dose:.2f}", side.wakings


def _words(one: Estimate | None) -> str:
    if one is None:
        return "too few sessions"
    return f"{one.value:+.4f} [{one.low:+.4f}, {one.high:+.4f}]"
