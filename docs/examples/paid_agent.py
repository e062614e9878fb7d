"""Asks a model at each decision point: when the stage changes, or two minutes after the last time.

The request has the form of a chat: model, max_tokens, system, messages. The model answers with one
action as JSON text, as in docs/reference/agent-protocol.md.
"""

import json

from agents.types import Action, AgentError, Observation, Outside, Request, Session, Wait
from agents.wire import action_from_json, observation_to_json

MODEL = "stand-in-1"
SYSTEM = (
    "Somebody sleeps. Bring the theme into their dream: cue rarely, softly, in REM sleep, and wake "
    "nobody. Answer with one JSON object: "
    '{"kind": "wait"} or {"kind": "sound", "volume": "low"}, each with a "reason".'
)
EVERY_S = 120.0


class PaidAgent:
    name = "paid_agent"

    def connect(self, outside: Outside) -> None:
        self.outside = outside

    def reset(self, session: Session) -> None:
        self.asked_s = -EVERY_S
        self.stage = None

    async def decide(self, observation: Observation) -> Action:
        due = observation.clock_s >= self.asked_s + EVERY_S
        if observation.stage is self.stage and not due:
            return Wait("nothing new")
        self.stage, self.asked_s = observation.stage, observation.clock_s
        reply = await self.outside.call(Request("model", self.question(observation), 20.0))
        if reply.body is None:
            return Wait(f"no answer: {reply.error}"[:200])
        try:
            return action_from_json(json.loads(reply.body["content"][0]["text"]))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise AgentError("the model answered with something else than an action") from error

    def question(self, observation: Observation) -> dict[str, object]:
        seen = json.dumps(observation_to_json(observation))
        return {
            "model": MODEL,
            "max_tokens": 200,
            "system": SYSTEM,
            "messages": [{"role": "user", "content": seen}],
        }
