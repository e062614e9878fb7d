"""The `paprika` command: the front door. Each command is loaded when it is asked for."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Final

from cyclopts import App, CycloptsError

from devices.types import PaprikaError
from devices.version import VERSION

COMMANDS: Final = (
    ("replay", "replay.cli:replay", "Replay a recorded night; without one, the bundled night."),
    ("import", "replay.cli:import_recordings", "Turn recordings into night files."),
    ("hypnogram", "replay.cli:hypnogram", "Print the stages of a night."),
    ("tasks", "replay.commands.tasks:tasks", "List the tasks of a night."),
    ("run", "replay.commands.run:run", "Try agents on tasks of recorded nights, and score them."),
    ("report", "replay.commands.report:report", "Write the pages of a run."),
    ("compare", "replay.commands.compare:compare", "Put two agents, or two runs, side by side."),
    ("plan", "replay.commands.regrade:plan", "Say what of a run must be made again."),
    ("regrade", "replay.commands.regrade:regrade", "Judge the traces of a run anew."),
    ("branch", "replay.commands.branch:branch", "Play an attempt again with another action."),
    ("export", "replay.commands.export:export", "Write traces as records for learning."),
    ("validate", "replay.commands.validate:validate", "Check that the environment is sound."),
    ("check", "replay.commands.check:check", "See whether an agent keeps its promises."),
    ("simulate", "replay.commands.simulate:simulate", "Try an agent on a simulated sleeper."),
    ("inspect", "bedside.cli:inspect", "Say what a night file holds."),
    ("recover", "bedside.cli:recover", "Save what a torn night file still holds."),
)
USAGE_ERROR: Final = 2
INTERRUPTED: Final = 130

app = App(
    name="paprika",
    help="Choose what you dream about: a bedside runtime, and the same loop on recorded nights.",
    help_format="plaintext",
    version=VERSION,
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
)
for name, target, summary in COMMANDS:
    app.command(target, name=name, help=summary)


def main() -> None:
    """Run the command line; a mistake that a person can mend is one line and exit code 2."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app()
        sys.stdout.flush()
    except (PaprikaError, CycloptsError) as error:
        code = _failed(error)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = _no_more_output()
    except OSError as error:
        _no_more_output()
        code = _failed(f"standard output: {error.strerror}")
    sys.exit(code if isinstance(code, int) else 0)


def _failed(what: object) -> int:
    print(f"paprika: {' '.join(str(what).split())}", file=sys.stderr)
    return USAGE_ERROR


def _no_more_output() -> int:
    """Nobody reads it, or it cannot be written: let the interpreter end without trying again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _interrupt(number: int, frame: object) -> None:
    """End as Ctrl-C does, so that nothing is left behind."""
    signal.raise_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
