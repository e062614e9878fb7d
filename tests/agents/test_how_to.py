"""The examples of the documentation run as they stand there."""

import json
import re
import shutil
from pathlib import Path

import pytest

from agents.testing import check_agent
from agents.types import BedsideObject, Observation, Session
from agents.wire import action_from_json, observation_to_json, session_to_json
from bedside.agent_loading import load_agent
from bedside.agent_process import services_for
from bedside.outside import LiveOutside, SecondLoop
from devices.types import Stage
from tests.agents.timelines import SESSION, seen

DOCS = Path(__file__).parent.parent.parent / "docs"
HOW_TO = (DOCS / "how-to" / "write-an-agent.md").read_text(encoding="utf-8")
PROTOCOL = (DOCS / "reference" / "agent-protocol.md").read_text(encoding="utf-8")


def block(language: str, text: str = HOW_TO) -> str:
    found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_python_example_has_at_most_thirty_lines() -> None:
    assert len(block("python").splitlines()) <= 30


async def test_the_python_example_keeps_its_promises_and_whispers(tmp_path: Path) -> None:
    path = tmp_path / "my_agent.py"
    path.write_text(block("python"), encoding="utf-8")
    await check_agent(lambda: load_agent(f"{path}:LateWhisper"))
    agent = load_agent(f"{path}:LateWhisper")
    agent.reset(SESSION)
    late = seen(stage=Stage.REM, minutes_in_stage=6.0, rem_period=2)
    said = [(await agent.decide(late)).line for _ in range(3)]  # type: ignore[union-attr]
    assert said == ["the clock", "in the hall", "the clock"]


async def test_the_javascript_example_keeps_its_promises(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not on this machine")
    path = tmp_path / "my agent.js"
    path.write_text(block("javascript"), encoding="utf-8")
    agent = load_agent(f"cmd:node '{path}'")
    with SecondLoop() as second:
        await check_agent(lambda: agent, outside=LiveOutside(services_for(agent), second))


def test_every_answer_of_the_protocol_is_an_action() -> None:
    answers = re.findall(r"^\| `(\{\"kind\".*?\})` \|", PROTOCOL, re.MULTILINE)
    kinds = [action_from_json(json.loads(answer)) for answer in answers]
    assert len(kinds) == 5


@pytest.mark.parametrize(
    "keys", [session_to_json(SESSION), observation_to_json(seen())], ids=["session", "observation"]
)
def test_every_key_of_a_line_stands_in_the_protocol(keys: dict[str, object]) -> None:
    assert [key for key in keys if f"`{key}`" not in PROTOCOL] == []


def test_every_bedside_object_stands_in_the_protocol() -> None:
    assert [each.value for each in BedsideObject if f"`{each.value}`" not in PROTOCOL] == []


def test_every_field_of_the_types_is_told_to_a_process() -> None:
    assert set(observation_to_json(seen())) == set(Observation.__slots__)
    assert set(session_to_json(SESSION)) == set(Session.__slots__)
