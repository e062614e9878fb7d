"""The Gymnasium face of the replay: the very same night as at a bedside, a step at a time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, Final

import gymnasium
from gymnasium.error import ResetNeeded

from agents.types import Action, Observation, PlaySound, Session, Stop, UseObject, Wait, Whisper
from bedside.safety.gate import Mode
from bedside.themes import Theme
from bedside.trace import Trace
from replay.conditions import Condition
from replay.env.actions import action_space, decoded
from replay.env.observations import line_of, observation_space, observed
from replay.env.options import (
    Recorded,
    Start,
    checked_reset_options,
    opened,
    options_of,
    recording_of_file,
)
from replay.env.recorders import Recorder, Sinks
from replay.env.rewards import Components, RewardWeights, SeedReward
from replay.env.starts import OptionError, Starts
from replay.env.steps import Asked, Happened, Over, SteppedNight
from replay.latency import LatencyModel
from replay.manifest import made_of, replay_id
from replay.setting import Setting
from replay.tasks.task import STEPS
from replay.world import recorded_world

INFO_KEYS: Final = ("step", "lines", "decision", "rules", "delivered", "refused_by", "rewritten")
INFO_KEYS_WHERE_THEY_APPLY: Final = ("components", "ending")

Seen = dict[str, Any]


class PaprikaEnv(gymnasium.Env[Seen, Any]):
    """One recorded night, or a task in it, with a hidden sleeper who may wake.

    Args:
        recording: a night file, a `RecordedNight`, or None for the bundled night.
        start: an epoch, a task's name, "any" (one of the night's start points at each reset), or
            None: its first REM start.
        steps: actions of an episode; None: to the end of the recording.
        theme, condition: instead of the task's; condition "any" is drawn at each reset.
        wake_scale, mode, dropout, latency, stable_deep: as in `replay.setting`; a plain number
            is a latency in seconds.
        body, room: whether those readings are observed.
        reward: "none", or the weights of a `SeedReward`.
        held_out: whether the dice of held-out seeds may be rolled.
        recorder: gets the evidence, hidden values included. agent: what the trace calls you.
    """

    def __init__(
        self,
        recording: Recorded = None,
        *,
        start: Start = None,
        steps: int | None = STEPS,
        theme: Theme | str | None = None,
        condition: Condition | str | None = None,
        wake_scale: float = 1.0,
        mode: Mode | str = Mode.OBSERVE,
        dropout: float = 0.0,
        latency: LatencyModel | float | None = None,
        stable_deep: int | None = None,
        body: bool = False,
        room: bool = False,
        reward: RewardWeights | str = "none",
        held_out: bool = False,
        recorder: Recorder | None = None,
        agent: str = "gymnasium",
        render_mode: None = None,
    ) -> None:
        self.night = opened(recording)
        self.observation_space = observation_space(body=body, room=room)
        self.action_space = action_space()
        self._space = self.observation_space
        self._options = options_of(
            start=start,
            steps=steps,
            theme=theme,
            condition=condition,
            wake_scale=wake_scale,
            mode=mode,
            dropout=dropout,
            latency=latency,
            stable_deep=stable_deep,
            held_out=held_out,
        )
        self._recorded = recording
        self._starts = Starts(self.night)
        self._reward = _reward(reward)
        self._recorder = recorder
        self._agent = agent
        self._living: SteppedNight | None = None
        self._sinks: Sinks | None = None
        self._cancelled = False
        self._steps = 0
        self._line: Mapping[str, Any] = {}
        self.setting: Setting | None = None
        self.observation_value: Observation | None = None

    @property
    def session(self) -> Session:
        """What an agent is told once, before the first observation of the episode."""
        return self._alive().session

    @property
    def session_id(self) -> str:
        """The id in the trace's header, made as that of any replay; `agent` stands for its code."""
        assert self.setting is not None, "reset() comes first"
        agent: dict[str, Any] = {"name": self._agent, "source_sha256": None, "settings": {}}
        return replay_id(made_of(self._recording, agent, self.setting))

    @cached_property
    def _recording(self) -> Mapping[str, Any]:
        return recording_of_file(self.night, self._recorded)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode; the observation is that of the epoch at which it starts.

        seed: selects the dice, and with them whatever is "any"; None: one is drawn.
        options: task or start, theme, condition.
        """
        asked = checked_reset_options(options)
        self._leave()
        super().reset(seed=seed)
        self.setting = self._options.setting(self._starts, asked, seed, self.np_random)
        self._living, begun = self._begin(self.setting)
        observation = self._seen(begun.observation)
        return observation, {**_info(0, begun.happened), "lines": begun.observation.lines}

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Act, and see what the next epoch brings.

        action: a member of the action space, or one of the agents' own values.
        """
        living = self._alive()
        own = isinstance(action, Wait | PlaySound | Whisper | UseObject | Stop)
        chosen: Action = action if own else decoded(action)
        told = living.cancel() if self._cancelled else self._act(living, chosen)
        self._steps += 1
        return self._told(told, living.session)

    def cancel(self) -> None:
        """Let the next `step()` end the episode, truncated, without an action."""
        self._cancelled = True

    def close(self) -> None:
        """End the night and close the recorder's sinks. May be called twice."""
        self._leave()
        super().close()

    def _begin(self, setting: Setting) -> tuple[SteppedNight, Asked]:
        self._sinks = None if self._recorder is None else self._recorder.episode()
        build = partial(_world, self.night, setting, self.session_id)
        living = SteppedNight(build, setting, name=self._agent, sinks=self._sinks)
        try:
            return living, living.begin()
        except BaseException:
            self._close_sinks()
            raise

    def _act(self, living: SteppedNight, action: Action) -> Asked | Over:
        try:
            return living.act(action)
        except BaseException:
            self._close_sinks()
            raise

    def _told(
        self, told: Asked | Over, session: Session
    ) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        components = _components(told.happened)
        reward = 0.0 if self._reward is None else self._reward(components)
        self._record(components, reward)
        info = _info(self._steps, told.happened) | {"components": components.shown()}
        if isinstance(told, Asked):
            return self._seen(told.observation), reward, False, False, info
        self.observation_value = None
        if told.last is not None:
            self._line = told.last["observation"]
        observation = observed(self._line, session.theme, session.memory, self._space)
        truncated = told.ending.is_truncation
        self._close_sinks()
        return observation, reward, not truncated, truncated, info | {"ending": told.ending.value}

    def _seen(self, observation: Observation) -> Seen:
        self.observation_value = observation
        self._line = line_of(observation)
        return observed(self._line, observation.theme, observation.memory, self._space)

    def _record(self, components: Components, reward: float) -> None:
        if self._sinks is None:
            return
        weights = None if self._reward is None else self._reward.weights.version
        step = {"step": self._steps - 1, **components.as_dict()}
        Trace(self._sinks.components).line(
            "components", {**step, "reward": reward, "weights": weights}
        )

    def _alive(self) -> SteppedNight:
        living = self._living
        if living is None or living.over:
            said = "the episode is over" if living is not None else "no episode has begun"
            raise ResetNeeded(f"{said}: call reset() before step()")
        return living

    def _leave(self) -> None:
        living, self._living = self._living, None
        self._steps, self._cancelled, self.observation_value = 0, False, None
        if living is not None:
            living.close()
        self._close_sinks()

    def _close_sinks(self) -> None:
        sinks, self._sinks = self._sinks, None
        if sinks is not None:
            sinks.close()


def _world(night: Any, setting: Setting, session_id: str, hidden: Trace) -> Any:
    return recorded_world(night, setting, session_id=session_id, hidden=hidden)


def _reward(asked: RewardWeights | str) -> SeedReward | None:
    if isinstance(asked, RewardWeights):
        return SeedReward(asked)
    if asked != "none":
        raise OptionError(f"reward is {asked!r}: give 'none' or RewardWeights(…)")
    return None


def _components(happened: Happened) -> Components:
    """Nothing is known here of body, theme and progress."""
    delivery = None if happened.step is None else happened.step["delivery"]
    broken = 0 if delivery is None else len(delivery["rules"])
    return Components(waking=float(happened.wakings), violation=float(broken))


def _info(steps: int, happened: Happened) -> dict[str, Any]:
    """What happened to the last action; only what a bedside would know of it."""
    if happened.step is None:
        return {"step": steps}
    delivery = happened.step["delivery"] or {}
    delivered = delivery.get("delivered")
    return {
        "step": steps,
        "decision": str(happened.step["decision"]["status"]),
        "rules": tuple(map(str, delivery.get("rules", ()))),
        "delivered": None if delivered is None else delivered["kind"],
        "refused_by": tuple(map(str, delivery.get("refused_by") or ())),
        "rewritten": bool(delivery.get("rewritten")),
    }
