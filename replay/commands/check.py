"""The command `paprika check`: whether an agent keeps what agents promise."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING

from bedside.cli import print_json
from devices.types import PaprikaError
from replay.progress import output_to_errors

if TYPE_CHECKING:
    from agents.types import Outside

BROKEN = 1


def check(agent: str, /, *, json: bool = False) -> int:
    """Play an agent a short night and see that it keeps its promises. Exit code 1: it does not.

    Parameters
    ----------
    agent
        A name, file.py:Class, or "cmd:program".
    json
        One JSON object on standard output, nothing else.
    """
    from agents.testing import Promise, check_agent
    from replay.controls.contenders import contender

    with output_to_errors(), ExitStack() as closing:
        outside = _outside(agent, closing)
        try:
            asyncio.run(check_agent(lambda: contender(agent), outside=outside))
            broken = None
        except AssertionError as error:
            broken = str(error)
        except (SystemExit, Exception) as error:
            if isinstance(error, PaprikaError):
                raise
            broken = f"it ended the check: {type(error).__name__}: {error}".rstrip(": ")
    if json:
        print_json({"agent": agent, "kept": broken is None, "broken": broken})
    elif broken is None:
        promises = ", ".join(promise.value for promise in Promise)
        print(f"{agent} keeps every promise: {promises}")
    else:
        print(f"{agent} breaks a promise: {broken}")
    return 0 if broken is None else BROKEN


def _outside(agent: str, closing: ExitStack) -> Outside | None:
    """The way out for an agent that is a process of its own."""
    from bedside.agent_loading import COMMAND

    if not agent.startswith(COMMAND):
        return None
    from bedside.agent_process import services_for
    from bedside.outside import LiveOutside, SecondLoop
    from replay.controls.contenders import contender

    second = closing.enter_context(SecondLoop())
    return LiveOutside(services_for(contender(agent)), second)
