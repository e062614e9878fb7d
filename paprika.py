"""The `paprika` command: the front door. Each command is loaded when it is asked for."""

from __future__ import annotations

import os
import sys
from typing import Final

from cyclopts import App, CycloptsError

from devices.types import PaprikaError
from devices.version import VERSION

COMMANDS: Final = (
    ("replay", "replay.cli:replay", "Replay a recorded night; without one, the bundled night."),
    ("import", "replay.cli:import_recordings", "Turn recordings into night files."),
    ("hypnogram", "replay.cli:hypnogram", "Print the stages of a night."),
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
    try:
        code = app()
        sys.stdout.flush()
    except (PaprikaError, CycloptsError) as error:
        print(f"paprika: {' '.join(str(error).split())}", file=sys.stderr)
        code = USAGE_ERROR
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
