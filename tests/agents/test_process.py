"""The agent's side of a process: what it asks for, and what it makes of the replies."""

from collections.abc import Mapping
from typing import Any

import pytest

from agents.process import ProcessAgent
from agents.types import AgentError, PlaySound, Reply, Request
from agents.wire import observation_to_json, session_to_json
from tests.agents.timelines import SESSION, seen


class Scripted:
    """An Outside that keeps the requests and gives the replies it was made with."""

    def __init__(self, *replies: Mapping[str, Any] | str) -> None:
        self._replies = list(replies)
        self.requests: list[Request] = []

    async def call(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self._replies.pop(0)
        return Reply(None, 0.1, reply) if isinstance(reply, str) else Reply(reply, 0.1)


def agent(outside: Scripted) -> ProcessAgent:
    made = ProcessAgent("my_agent", timeout_s=7.0)
    made.connect(outside)
    made.reset(SESSION)
    return made


async def test_the_session_goes_out_once_before_the_first_observation() -> None:
    outside = Scripted({}, {"kind": "wait"}, {"kind": "sound", "reason": "why"})
    asked = agent(outside)
    await asked.decide(seen())
    assert await asked.decide(seen()) == PlaySound(reason="why")
    decide = {"type": "decide", "observation": observation_to_json(seen())}
    greeting = {"type": "reset", "protocol": 1, "session": session_to_json(SESSION)}
    assert [request.body for request in outside.requests] == [greeting, decide, decide]
    assert {(request.service, request.timeout_s) for request in outside.requests} == {
        ("process", 7.0)
    }


async def test_a_session_that_did_not_arrive_is_sent_again() -> None:
    outside = Scripted("no answer within 7 s", {}, {"kind": "wait"})
    asked = agent(outside)
    with pytest.raises(AgentError, match="no answer within 7 s"):
        await asked.decide(seen())
    await asked.decide(seen())
    assert [request.body["type"] for request in outside.requests] == ["reset", "reset", "decide"]


async def test_a_second_reset_sends_the_new_session() -> None:
    outside = Scripted({}, {"kind": "wait"}, {}, {"kind": "wait"})
    asked = agent(outside)
    await asked.decide(seen())
    asked.reset(SESSION)
    await asked.decide(seen())
    assert [request.body["type"] for request in outside.requests] == ["reset", "decide"] * 2


async def test_nonsense_is_an_agent_error() -> None:
    with pytest.raises(AgentError, match="kind must be one of"):
        await agent(Scripted({}, {"kind": "shout"})).decide(seen())


async def test_a_process_can_report_its_own_trouble() -> None:
    with pytest.raises(AgentError, match="cmd:my_agent reports: no model found"):
        await agent(Scripted({"error": "no model found"})).decide(seen())


async def test_without_an_outside_it_says_so() -> None:
    lonely = ProcessAgent("my_agent")
    lonely.reset(SESSION)
    with pytest.raises(AgentError, match="was not connected"):
        await lonely.decide(seen())


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./agent", "cmd:agent"),
        ("python3 /home/someone/dreams/agent.py --depth 2", "cmd:python3 agent.py --depth 2"),
        ("node 'my agents/a.js'", "cmd:node a.js"),
        ("awk 'unclosed", "cmd:awk 'unclosed"),
    ],
)
def test_its_name_shows_no_folder_of_this_machine(command: str, name: str) -> None:
    assert ProcessAgent(command).name == name
