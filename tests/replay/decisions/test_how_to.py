"""The example agent and the stand-in provider of the how-to, run as a reader would run them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bedside.agent_loading import load_agent
from paprika import app
from replay.decisions import (
    CacheMode,
    DecisionOptions,
    DecisionWayOut,
    costs,
    ledger_at,
    read_prices,
)
from tests.replay.experiment.runs import small_night
from tests.replay.nights import Lived, lived, night, setting

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"
HOW_TO = EXAMPLES.parent / "how-to" / "try-a-paid-agent.md"
NIGHT = night("L" * 4 + "R" * 30 + "D" * 6)


@contextmanager
def model_server(*words: str) -> Iterator[str]:
    command = [sys.executable, str(EXAMPLES / "model_server.py"), "--port", "0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


def play(options: DecisionOptions) -> Lived:
    agent = load_agent(f"{EXAMPLES / 'paid_agent.py'}:PaidAgent")
    return lived(
        NIGHT, agent, setting(0.0), way_out=DecisionWayOut(options, task="n/t", seed=1, unit="u")
    )


def options(folder: Path, url: str, mode: CacheMode) -> DecisionOptions:
    return DecisionOptions(
        services={"model": url},
        mode=mode,
        cache=folder / "cache",
        ledger=folder / f"{mode}.jsonl",
        prices=read_prices(EXAMPLES / "prices.toml"),
    )


@pytest.mark.parametrize("share", ["0", "0.5"])
def test_the_example_agent_is_asked_recorded_and_repeated(tmp_path: Path, share: str) -> None:
    with model_server("--fail-share", share) as url:
        recording = options(tmp_path, url, CacheMode.RECORD)
        first = play(recording)
    repeating = options(tmp_path, "http://127.0.0.1:9/gone", CacheMode.REPLAY_ONLY)
    again = play(repeating)
    assert again.trace_bytes == first.trace_bytes
    assert recording.ledger is not None
    found = costs(first.trace, recording.prices, ledger_at(recording.ledger).of("u"))
    # At the change to LIGHT, REM and DEEP and every 2 min: steps 0, 4, 8, … 34, 38.
    assert found.calls + found.limit_waits <= 11
    assert found.cost_paid == found.cost_nominal
    assert found.cost_nominal is not None
    assert found.cost_nominal > 0.0
    if share == "0":
        # REM begins with step 4; asked at 8 (2.5 min), 12 (4.5 min), 16, 20, 24, … At 20 the cue is
        # not quite four minutes ago, because it came after the answer's latency.
        assert list(first.deliveries()) == [12, 24]
        assert (found.calls, found.failed_calls, found.limit_waits) == (11, 0, 0)
    else:
        assert 0 < found.failed_calls < found.calls
        assert found.client_calls <= 12


class AsWritten:
    """The how-to's `paid …` commands, on a small night and at one scale."""

    def __init__(self, folder: Path) -> None:
        text = HOW_TO.read_text(encoding="utf-8")
        always = re.compile(r'^    paid\(\) \{ paprika (.*?) "\$@"; \}$', re.MULTILINE | re.DOTALL)
        (self._always,) = always.findall(text)
        self._commands = re.findall(r"^    paid (--.*)$", text, re.M)
        self._small = f"--nights {small_night(folder)} --wake-scale 1 --jobs 1 --json"

    def run(self, capsys: pytest.CaptureFixture[str], url: str) -> dict[str, Any]:
        """What the next command says of the agent, with the provider at this address."""
        words = f"{self._always} {self._commands.pop(0)} {self._small}".replace("\\\n", " ")
        words = words.replace("http://127.0.0.1:8765", url).replace("docs/examples", str(EXAMPLES))
        assert app(shlex.split(words)) == 0
        scores = json.loads(capsys.readouterr().out)["scoreboard"]["scores"]
        (score,) = (score for score in scores if score["agent"] == "paid_agent")
        return score  # type: ignore[no-any-return]


def traces(run: str) -> dict[str, bytes]:
    files = (path for path in Path(run, "attempts").rglob("*.zst"))
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


def test_each_command_of_the_how_to_does_what_the_how_to_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAPRIKA_HOME", str(tmp_path / "home"))
    commands = AsWritten(tmp_path)
    with model_server() as url:
        recorded = commands.run(capsys, url)
    repeated = commands.run(capsys, "http://127.0.0.1:9/gone")
    with model_server("--fail-share", "0.5") as url:
        failing = commands.run(capsys, url)
    failed = traces("failing")
    with model_server() as url:
        mended = commands.run(capsys, url)
    assert traces("recorded") == traces("repeated")
    assert (repeated["cost"]["cost_paid"], recorded["cost"]["failed_calls"]) == (0.0, 0)
    # Four tasks, one of them without REM; a failure in each leaves all of them open.
    assert failing["statuses"] == {"provider_error": 4}
    assert (failing["attempts"], failing["scored"]) == (4, 0)
    passes = failing["passes"]
    assert passes["planned"] == passes["open"] == recorded["passes"]["planned"]
    assert (passes["lower"], passes["upper"]) == (0.0, 1.0)
    assert mended["passes"] == recorded["passes"]
    assert mended["cost"]["failed_calls"] == 0
    assert 0 < mended["cost"]["cached"] < mended["cost"]["calls"]
    assert traces("failing") == failed != traces("mended")


def test_the_provider_fails_the_same_questions_whenever_it_is_asked(tmp_path: Path) -> None:
    errors = []
    for name in "ab":
        with model_server("--fail-share", "0.5", "--seed", "4") as url:
            done = play(options(tmp_path / name, url, CacheMode.RECORD))
        errors.append([line["error"] for line in done.trace if line["kind"] == "call"])
    assert errors[0] == errors[1]
