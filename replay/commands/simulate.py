"""The command `paprika simulate`: an agent on nights of the simulated sleeper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bedside.cli import print_json
from devices.types import PaprikaError
from replay.progress import output_to_errors, shown_progress

if TYPE_CHECKING:
    from replay.simulation.folder import Written, WrittenEpisode
    from replay.simulation.world import Simulation

MOST_NIGHTS = 1000
MOST_EPOCHS = 2880


class SimulateOptionError(PaprikaError):
    """An option of `paprika simulate` that cannot be; the message names it."""


def simulate(
    *,
    agent: str = "rem_rule",
    profile: str = "healthy",
    seed: int = 1,
    nights: int = 1,
    epochs: int = 960,
    effect: float = 0.0,
    wake_scale: float = 1.0,
    theme: str = "forest",
    overlay: Literal["device", "confusion", "consumer"] = "device",
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Let an agent cue a simulated sleeper, who answers cues as no recording can.

    A simulation: its sleep is fitted to real nights, its answers are assumptions.

    Parameters
    ----------
    agent
        A name (wait, fixed_timer, rem_rule, gentle_rule), file.py:Class, or "cmd:program".
    profile
        Whose sleep: healthy, apnoea or headband.
    seed
        Selects the dice: the same sleeper, agent and seed give the same bytes.
    nights
        Nights of an episode; what is left of the theme is carried from one to the next.
    epochs
        Epochs of 30 s in a night.
    effect
        How much the theme's presence adds to dreams; at 0 no agent can do anything for them.
    wake_scale
        Multiplies every chance that a cue wakes.
    theme
        One of the bundled themes.
    overlay
        The device that shows the stages; `device` shows them as they are.
    out
        Folder for traces and manifest.
    json
        One JSON object on standard output, nothing else.
    """
    from bedside.agent_loading import load_agent
    from bedside.configuration import default_toml
    from bedside.themes import bundled_theme
    from replay.setting import Setting
    from replay.simulation.folder import write_episode
    from replay.wake_rule import wake_table

    with output_to_errors():
        deciding = load_agent(agent)
    simulation = _simulation(profile, nights, epochs, effect, overlay)
    table = wake_table(default_toml("wake_table"), wake_scale)
    setting = Setting(bundled_theme(theme), table, seed=seed)
    with output_to_errors(), shown_progress("Simulating", quiet=json) as progress:
        done = write_episode(simulation, deciding, setting, nights, out=out, progress=progress)
    if json:
        print_json(as_json(done))
    else:
        _say(done, simulation)
    return 0


def as_json(done: WrittenEpisode) -> dict[str, Any]:
    """What `simulate --json` prints."""
    return {
        "simulation": True,
        "id": done.id,
        "folder": str(done.folder),
        "nights": [_figures(one) for one in done.nights],
    }


def _figures(one: Written) -> dict[str, Any]:
    summary, night = one.summary, one.night
    return {
        "night": summary.night["id"],
        "agent": summary.agent,
        "seed": summary.seed,
        "ending": summary.ending,
        "epochs": len(night.true),
        "true_stages": _counts(one),
        "cues": len(summary.cues),
        "cues_by_stage": summary.cues_by_stage,
        "wakings": len(summary.wakings),
        "violations": dict(summary.violations),
        "synthetic_dream": {
            "theme": night.dream.theme,
            "recalled": night.dream.recalled,
            "chance": night.dream.chance,
            "presence": night.dream.presence,
            "report": night.dream.report,
        },
    }


def _counts(one: Written) -> dict[str, int]:
    from replay.hypnogram import counts4

    return counts4(one.night.true)


def _simulation(profile: str, nights: int, epochs: int, effect: float, overlay: str) -> Simulation:
    from replay.overlays.named import overlay_named
    from replay.simulation.answers import bundled_theme_model
    from replay.simulation.profiles import profile_named
    from replay.simulation.world import Simulation

    if not 1 <= nights <= MOST_NIGHTS:
        raise SimulateOptionError(f"--nights {nights}: give 1 to {MOST_NIGHTS}")
    if not 1 <= epochs <= MOST_EPOCHS:
        raise SimulateOptionError(f"--epochs {epochs}: give 1 to {MOST_EPOCHS}")
    return Simulation(
        profile_named(profile),
        epochs=epochs,
        theme=bundled_theme_model().with_gain(effect),
        overlay=overlay_named(overlay),
    )


def _say(done: WrittenEpisode, simulation: Simulation) -> None:
    from replay.screen import Screen
    from replay.wording import clean, plural

    screen, first = Screen(), done.nights[0].summary
    screen.heading(
        [
            "SIMULATION",
            f"{clean(simulation.profile.name)} sleeper",
            clean(first.agent),
            f"seed {first.seed}",
            plural(len(done.nights), "night"),
        ],
        style="bold",
    )
    effect = simulation.theme.gain
    told = [f"effect of the theme's presence, assumed: {effect:g}"]
    screen.heading([*told, *([] if effect else ["no agent can do anything for dreams"])])
    screen.blank()
    screen.heading(
        ["night awake   REM light  deep  cues in true REM wakings  synthetic report"], style="bold"
    )
    for number, one in enumerate(done.nights, 1):
        screen.heading([_row(number, one)])
    screen.blank()
    screen.flow("files", [f"{clean(str(done.folder))}/"])


def _row(number: int, one: Written) -> str:
    counts, summary, dream = _counts(one), one.summary, one.night.dream
    stages = "".join(f"{counts[name]:6}" for name in ("awake", "rem", "light", "deep"))
    in_rem = sum(cue.true == "rem" for cue in summary.cues)
    told = "none recalled" if not dream.recalled else "theme" if dream.theme else "no theme"
    return f"{number:5}{stages}{len(summary.cues):6}{in_rem:12}{len(summary.wakings):8}  {told}"
